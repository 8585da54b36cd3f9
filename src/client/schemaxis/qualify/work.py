"""Work through the bridge, and the evidence of every job that was done."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemaxis._evidence import Look, whole_value
from schemaxis.models import Observation, ObservationMember, ObservationMode, ObservationPage
from schemaxis.qualify.bridge import Bridge

_RANGE_BYTES = 16_384


class Unmet(Exception):
    """Something is not as it must be; the message says what."""


def require(holds: bool, otherwise: str) -> None:
    """Raise :class:`Unmet` with ``otherwise`` unless it holds."""
    if not holds:
        raise Unmet(otherwise)


def near(observed: float, expected: float, relative: float, what: str) -> None:
    """Raise :class:`Unmet` unless ``observed`` is ``expected`` but for a relative error."""
    require(
        abs(observed - expected) <= relative * abs(expected),
        f"{what} is {observed!r} and must be {expected!r} to a relative {relative:g}.",
    )


@dataclass
class Task:
    """A task with the revision that the next plan has to expect."""

    task_id: str
    revision: int = 0


@dataclass(frozen=True)
class Job:
    """A terminal job with its evidence; without success, result and verification are None."""

    status: Any
    plan: Any
    result: Any
    verification: Any
    resources: list[Any]

    def succeeded(self) -> Job:
        """This job. Raises :class:`Unmet` unless it succeeded and was verified."""
        fault = self.status.get("fault", {})
        why = f": {fault.get('code')}, {fault.get('message')}" if fault else ""
        require(
            self.status["state"] == "succeeded" and self.status["verified"],
            f"{self.status['jobId']} is {self.status['state']}{why}",
        )
        return self

    def quantity(self, output: str, name: str) -> Any:
        """The value of a quantity of an output."""
        return self.result["outputs"][output][name]["value"]

    def published(self, *kinds: str) -> Any:
        """The first resource of one of the kinds. Raises :class:`Unmet` without one."""
        for resource in self.resources:
            if resource["kind"] in kinds:
                return resource
        found = ", ".join(resource["kind"] for resource in self.resources) or "nothing"
        raise Unmet(f"{self.status['jobId']} published {found} and no {' or '.join(kinds)}")


@dataclass
class Work:
    """What is done over a session, and what is kept of it for the report."""

    bridge: Bridge
    directory: Path
    jobs: list[dict[str, Any]] = field(default_factory=list)
    pictures: list[dict[str, Any]] = field(default_factory=list)
    resources: list[Any] = field(default_factory=list)
    attempts: int = 0

    def task(self, objective: str, providers: Iterable[str], **more: Any) -> Task:
        """A new task; ``more`` are its criteria and its budget."""
        providers = list(providers)
        made = self.bridge.call("create_task", objective=objective, allowed_providers=providers, **more)
        return Task(made["taskId"], made["revision"])

    def plan(self, task: Task, document: Any, bindings: Mapping[str, str] | None = None) -> Any:
        """The captured plan; the task's revision moves on."""
        plan = self.bridge.call(
            "plan",
            task_id=task.task_id,
            document=document,
            expected_revision=task.revision,
            bindings=dict(bindings or {}),
        )
        require(
            plan["revision"] == task.revision + 1,
            f"{plan['planId']} is at revision {plan['revision']}, after {task.revision}",
        )
        task.revision = plan["revision"]
        return plan

    def execute(self, plan: Any) -> str:
        """The id of the job that was started."""
        job = self.bridge.call("execute", plan_id=plan["planId"], expected_revision=plan["revision"])
        self.attempts += 1
        return str(job["jobId"])

    def perform(self, what: str, task: Task, document: Any, bindings: Mapping[str, str] | None = None) -> Job:
        """Plan, execute and watch to the end; the job with its evidence, which the report takes up."""
        plan = self.plan(task, document, bindings)
        return self.finished(what, plan, self.execute(plan))

    def finished(self, what: str, plan: Any, job_id: str) -> Job:
        """The job once it is terminal, with its evidence, which the report takes up."""
        events = self.bridge.stream("watch_job", job_id=job_id)
        sequences = [event["sequence"] for event in events]
        require(
            sequences == list(range(1, len(events) + 1)),
            f"the events of {job_id} came as {sequences[:20]}, with gaps or out of order",
        )
        require(bool(events) and "terminal" in events[-1], f"the last event of {job_id} is not its end")
        status = self.bridge.call("job", job_id=job_id)
        result = verification = None
        resources: list[Any] = []
        if status["state"] == "succeeded":
            result = self.observed(job_id, "result")
            verification = self.observed(job_id, "verification")
            listed = self.bridge.call("list_resources", job_id=job_id, page_size=500)
            resources = listed["resources"][::-1]
            self.resources += resources
        job = Job(status, plan, result, verification, resources)
        self.jobs.append(_summary(what, job))
        return job

    def observed(self, job_id: str, section: str) -> Any:
        """The whole of a section of a job's evidence, in as many bounded looks as it takes."""
        return self._whole("observe", job_id=job_id, section=section)

    def inspected(self, resource_id: str) -> Any:
        """The whole value of a JSON or CSV resource, in as many bounded looks as it takes."""
        return self._whole("inspect_resource", resource_id=resource_id)

    def _whole(self, method: str, **target: Any) -> Any:
        looks: Generator[Look, Observation, Any] = whole_value("")
        look = next(looks)
        while True:
            revision = {"revision": look.revision} if look.revision else {}
            seen = self.bridge.call(
                method,
                **target,
                pointer=look.pointer,
                offset=look.offset,
                limit=look.limit,
                max_bytes=look.max_bytes,
                **revision,
            )
            try:
                look = looks.send(_observation(seen))
            except StopIteration as end:
                return end.value

    def save_pictures(self, job: Job) -> int:
        """Download every picture of a job by small ranges, check its digest and keep it; how many."""
        found = [one for one in job.resources if one["mediaType"].startswith("image/")]
        for number, resource in enumerate(found):
            data, ranges = self._bytes(resource)
            name = f"{job.status['jobId']}-{number + 1}{Path(resource['name']).suffix}"
            path = self.directory / "pictures" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            self.pictures.append(
                {
                    "path": f"pictures/{name}",
                    "name": resource["name"],
                    "jobId": job.status["jobId"],
                    "resourceId": resource["resourceId"],
                    "kind": resource["kind"],
                    "sizeBytes": len(data),
                    "sha256": resource["sha256"],
                    "ranges": ranges,
                }
            )
        return len(found)

    def _bytes(self, resource: Any) -> tuple[bytes, int]:
        data, ranges, offset = b"", 0, 0
        while True:
            part = self.bridge.call(
                "resource", resource_id=resource["resourceId"], offset=offset, length=_RANGE_BYTES
            )
            data += base64.b64decode(part["data"], validate=True)
            ranges += 1
            if "nextOffset" not in part:
                break
            require(
                part["nextOffset"] == len(data) > offset,
                f"a range of {resource['resourceId']} goes on at {part['nextOffset']} after {len(data)} bytes",
            )
            offset = part["nextOffset"]
        found = hashlib.sha256(data).hexdigest()
        require(
            found == resource["sha256"] and len(data) == resource["sizeBytes"],
            f"the bytes of {resource['resourceId']} have the SHA-256 {found}, not the resource's",
        )
        return data, ranges


def _observation(seen: Any) -> Observation:
    page = seen.get("page")
    return Observation(
        mode=ObservationMode(seen["mode"]),
        value=seen.get("value"),
        members=tuple(
            ObservationMember(one["pointer"], one["type"], one["sizeBytes"], one.get("value"), "value" in one)
            for one in seen["members"]
        ),
        page=ObservationPage(page["offset"], page.get("nextOffset"), page["total"]) if page else None,
        revision=seen["revision"],
        type=seen.get("type"),
    )


def _summary(what: str, job: Job) -> dict[str, Any]:
    status, verification = job.status, job.verification or {"checks": [], "notCovered": []}
    by_engine: dict[str, list[Any]] = {}
    for check in verification["checks"]:
        told = {"name": check["name"], "scope": check["scope"], "passed": check["passed"]}
        by_engine.setdefault(check["engine"], []).append(told)
    return {
        "what": what,
        "jobId": status["jobId"],
        "taskId": status["taskId"],
        "engines": [f"{one['engine']} {one['engineVersion']}" for one in job.plan["providers"]],
        "bindings": [one["resourceId"] for one in job.plan["bindings"]],
        "state": status["state"],
        "verified": status["verified"],
        "goal": status["goal"],
        "fault": status.get("fault", {}).get("code"),
        "checks": by_engine,
        "notCovered": verification["notCovered"],
        "warnings": (job.result or {}).get("warnings", []),
    }
