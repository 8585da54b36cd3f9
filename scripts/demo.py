"""``make demo``: an agent's study over the real service, through the JSON-lines bridge.

A box is designed, verified, refined until its goal is met and refused a third attempt; then
a flange shows what a part of several operations looks like. An argument names another workspace
than ``demo-workspace``; a workspace that lies there is removed.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent
WORKSPACE = Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT / "demo-workspace"

_FLANGE = {
    "version": "schemaxis.occt/1",
    "nodes": [
        {"id": "plate", "filter": "cylinder", "options": {"radius": 40, "height": 8}},
        {"id": "neck", "filter": "cylinder", "options": {"radius": 18, "height": 30}},
        {"id": "blank", "filter": "union", "inputs": ["plate", "neck"]},
        {"id": "rounded", "filter": "fillet", "options": {"radius": 2}, "inputs": ["blank"]},
        {"id": "bore", "filter": "cylinder", "options": {"radius": 11, "height": 30}},
        {"id": "hole", "filter": "cylinder", "options": {"radius": 4, "height": 8}},
        {"id": "first", "filter": "translate", "options": {"offset": [29, 0, 0]}, "inputs": ["hole"]},
        {"id": "holes", "filter": "polarPattern", "options": {"count": 6}, "inputs": ["first"]},
        {"id": "flange", "filter": "cut", "inputs": ["rounded", "bore", "holes"]},
    ],
    "output": "flange",
}


class Refused(Exception):
    """The service refused a request; the fault is in ``args[0]``."""


class Unexpected(Exception):
    """The service did something else than the study expects."""


def expect(holds: bool, what: str) -> None:
    """Raise :class:`Unexpected` unless it holds: a demonstration must not pass over a wrong answer."""
    if not holds:
        raise Unexpected(f"expected {what}")


class Bridge:
    """A session with ``schemaxis agent``: one JSON object a line, each way."""

    def __init__(self, workspace: Path) -> None:
        command = [sys.executable, "-m", "schemaxis", "agent", "--workspace", str(workspace)]
        log = (workspace.parent / f"{workspace.name}.log").open("wb")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        log.close()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)

    def call(self, method: str, /, **params: Any) -> Any:
        """One request and its answer. Raises :class:`Refused`."""
        assert self._process.stdin
        assert self._process.stdout
        self._count += 1
        self._process.stdin.write(json.dumps({"id": self._count, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        while True:
            line = self._process.stdout.readline()
            expect(bool(line), f"an answer to {method}; the service's log is in {WORKSPACE.name}.log")
            reply = json.loads(line)
            if "event" in reply:
                continue
            if not reply["ok"]:
                raise Refused(reply["fault"])
            return reply["result"]


def shown(path: Path) -> str:
    """A path as its reader would type it."""
    return os.path.relpath(path)


def tell(method: str, text: str) -> None:
    print(f"  {method:<22}{text}")


def box(height: float) -> dict[str, Any]:
    options = {"length": 20, "width": 10, "height": height}
    nodes = [{"id": "body", "filter": "box", "options": options}]
    return {"version": "schemaxis.occt/1", "nodes": nodes, "output": "body"}


def perform(bridge: Bridge, task_id: str, revision: int, document: dict[str, Any]) -> dict[str, Any]:
    """Plan and execute a document; returns the finished, verified job."""
    plan = bridge.call("plan", task_id=task_id, expected_revision=revision, document=document)
    tell("plan", f"revision {plan['revision']}, digest {plan['digest'][:12]}…")
    began = time.monotonic()
    started = bridge.call("execute", plan_id=plan["planId"], expected_revision=plan["revision"])
    bridge.call("watch_job", job_id=started["jobId"])
    job: dict[str, Any] = bridge.call("job", job_id=started["jobId"])
    seconds = time.monotonic() - began
    expect(job["state"] == "succeeded" and job["verified"], "a verified job")
    checks, open_points = strength_of(bridge, job)
    tell(
        "execute, watch_job",
        f"{job['state']} in {seconds:.2f} s, verified by {checks} checks with {open_points} points open, "
        f"{'no criteria' if job['goal'] == 'unknown' else 'goal ' + job['goal']}",
    )
    return job


def show_refusal(bridge: Bridge, code: str, method: str, /, **params: Any) -> None:
    """Send a request that must be refused, and show why it was."""
    try:
        bridge.call(method, **params)
    except Refused as refused:
        fault = refused.args[0]
        expect(fault["code"] == code, f"{code}, not {fault['code']}")
        tell(method, f"refused, {code}: {fault['message']}")
        return
    raise Unexpected(f"expected that {method} is refused with {code}")


def save_picture(bridge: Bridge, job: dict[str, Any], path: Path) -> None:
    listed = bridge.call("list_resources", job_id=job["jobId"])["resources"]
    picture = next(one for one in listed if one["kind"] == "picture/preview")
    data, offset = b"", 0
    while offset is not None:
        part = bridge.call("resource", resource_id=picture["resourceId"], offset=offset, length=16384)
        data += base64.b64decode(part["data"])
        offset = part.get("nextOffset")
    path.write_bytes(data)
    tell("resource", f"{picture['name']}, {len(data)} bytes, saved as {shown(path)}")


def study(bridge: Bridge) -> None:
    """A 1500 mm³ box within two attempts."""
    print("\nA box of 1500 mm³, in two attempts at most")
    listed = bridge.call("methods")["methods"]
    tell("methods", f"{len(listed)} methods")
    match = bridge.call("capabilities.search", query="extrusion", scope="domain/geometry")["matches"][0]
    tell("capabilities.search", f"{match['capability']['capability']}: {match['why']}")
    task = bridge.call(
        "create_task",
        objective="Produce a 1500 mm3 box",
        allowed_providers=["occt"],
        budget={"maxAttempts": 2, "maxElapsedSeconds": 180},
        criteria=[{"pointer": "/outputs/body/volume", "operator": "equals", "value": 1500}],
    )
    tell("create_task", f"{task['taskId']}, {task['budget']['maxAttempts']} attempts")
    first = perform(bridge, task["taskId"], 0, box(5))
    volume = volume_of(bridge, first)
    expect(first["goal"] == "not-met", "a goal that is not met")
    tell("observe", f"the volume is {volume:.6g} mm³, so the height becomes 5 × {1500 / volume:.6g}")
    second = perform(bridge, task["taskId"], 1, box(5 * 1500 / volume))
    expect(second["goal"] == "met", "a goal that is met")
    tell("observe", f"the volume is {volume_of(bridge, second):.12g} mm³")
    show_verification(bridge, second)
    save_picture(bridge, second, WORKSPACE / "box.png")
    tell("observe", f"the first job still tells its volume, {volume_of(bridge, first):.6g} mm³")
    show_refusal(bridge, "STALE_PLAN", "execute", plan_id=first["planId"], expected_revision=2)
    show_refusal(bridge, "BUDGET_EXHAUSTED", "execute", plan_id=second["planId"], expected_revision=2)


def volume_of(bridge: Bridge, job: dict[str, Any]) -> float:
    """The volume of the job's body in mm³, from its retained evidence."""
    seen = bridge.call("observe", job_id=job["jobId"], section="result", pointer="/outputs/body/volume")
    return float(seen["value"]["value"])


def strength_of(bridge: Bridge, job: dict[str, Any]) -> tuple[int, int]:
    """How many checks the job passed before it succeeded, and how many points none of them covers."""
    seen = bridge.call("observe", job_id=job["jobId"], section="verification", max_bytes=65536)
    captured = seen["value"]
    return len(captured["checks"]), len(captured["notCovered"])


def show_verification(bridge: Bridge, job: dict[str, Any]) -> None:
    """Check the job's artifacts afresh; show each check and what none of them covers."""
    verification = bridge.call("verify", job_id=job["jobId"])
    for check in verification["checks"]:
        tell("verify", f"{'passed' if check['passed'] else 'FAILED'}  {check['name']}  ({check['engine']})")
    for text in verification["notCovered"]:
        tell("not covered", text)
    expect(verification["verified"], "a passed verification")


def flange(bridge: Bridge) -> None:
    """A part of several operations."""
    print("\nA flange with a neck, a bore, six holes and rounded edges")
    task = bridge.call("create_task", objective="A flange", allowed_providers=["occt"])
    job = perform(bridge, task["taskId"], 0, _FLANGE)
    result = bridge.call("observe", job_id=job["jobId"], section="result", pointer="/outputs/flange")["value"]
    size = result["boundingBox"]["value"]["size"]
    tell("observe", f"{result['volume']['value']:.3f} mm³, {' × '.join(f'{edge:g}' for edge in size)} mm")
    show_verification(bridge, job)
    save_picture(bridge, job, WORKSPACE / "flange.png")


def main() -> int:
    if WORKSPACE.exists():
        if not (WORKSPACE / "schemaxis.format").exists() and any(WORKSPACE.iterdir()):
            print(f"{shown(WORKSPACE)} holds something else than a workspace; name another.", file=sys.stderr)
            return 2
        shutil.rmtree(WORKSPACE)
    WORKSPACE.mkdir(mode=0o700)
    print(f"Starting `schemaxis agent` on {shown(WORKSPACE)} and speaking JSON lines to it.")
    try:
        with Bridge(WORKSPACE) as bridge:
            study(bridge)
            flange(bridge)
    except Refused as refused:
        print(
            f"\nThe demonstration failed: {refused.args[0]['code']}: {refused.args[0]['message']}",
            file=sys.stderr,
        )
        return 1
    except Unexpected as unexpected:
        print(f"\nThe demonstration failed: {unexpected}", file=sys.stderr)
        return 1
    print(f"\nThe pictures: {shown(WORKSPACE / 'box.png')} and {shown(WORKSPACE / 'flange.png')}")
    print(f"Ask the workspace yourself: .venv/bin/schemaxis jobs --workspace {shown(WORKSPACE)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
