"""The command as its user meets it: a real server, real documents, exit codes and what is printed."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from cli.commands import BOX, SECONDS, environment, schemaxis


def test_run_shows_and_saves_a_verified_result(served: Path, document: Path, tmp_path: Path) -> None:
    done = schemaxis(
        served, "run", str(document), "--set", "/nodes/0/options/height=7.5", "-o", str(tmp_path), "--verify"
    )
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert "succeeded, verified" in shown
    assert ["volume", "1500", "mm^3"] in [line.split() for line in shown.splitlines()]
    assert "Not covered" in shown
    assert "Verified afresh" in shown
    assert {path.suffix for path in tmp_path.iterdir()} == {".step", ".stl", ".brep", ".png"}
    assert (tmp_path / "body.png").read_bytes().startswith(b"\x89PNG")
    assert "\x1b" not in shown
    assert b"running" in done.stderr


def test_run_as_json_is_one_document(finished: Any) -> None:
    assert finished["job"]["state"] == "succeeded"
    assert finished["result"]["outputs"]["body"]["volume"]["value"] == pytest.approx(1000)
    assert finished["verification"]["notCovered"]
    assert len(finished["resources"]) == 4


def test_a_document_with_problems_fails_with_each_of_them(served: Path) -> None:
    wrong = json.dumps({**BOX, "output": "bdy"}).replace('"filter": "box"', '"filter": "bx"')
    done = schemaxis(served, "run", "-", stdin=wrong.encode())
    assert done.returncode == 1
    said = done.stderr.decode()
    assert "/nodes/0/filter" in said
    assert "Did you mean box?" in said
    assert "/output" in said


SLOW = {
    "version": "schemaxis.numpy/1",
    "nodes": [
        {"id": "x", "filter": "linspace", "options": {"start": 0, "stop": 1, "count": 200_000}},
        {"id": "y", "filter": "expression", "options": {"expression": "sin(99*x)"}, "inputs": ["x"]},
    ],
    "output": "y",
}
"""Works for several seconds."""


def test_an_interrupted_run_cancels_its_job(served: Path, tmp_path: Path) -> None:
    document = tmp_path / "slow.json"
    document.write_text(json.dumps(SLOW))
    with subprocess.Popen(
        [sys.executable, "-m", "schemaxis", "run", str(document)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(served),
    ) as process:
        assert process.stderr is not None
        job_id = next(line.strip() for line in process.stderr if line.startswith(b"job_"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert job_id + b" is cancelled; nothing was published." in said
    status = json.loads(schemaxis(served, "job", job_id.decode(), "--json").stdout)
    assert status["state"] == "cancelled"


def test_lists_and_single_things(served: Path, finished: Any) -> None:
    job_id = finished["job"]["jobId"]
    assert job_id in schemaxis(served, "jobs").stdout.decode()
    assert len(json.loads(schemaxis(served, "jobs", "--json", "-n", "1").stdout)) == 1
    assert b"volume" in schemaxis(served, "job", job_id).stdout
    assert json.loads(schemaxis(served, "job", job_id, "--json").stdout) == finished["job"]
    assert len(json.loads(schemaxis(served, "resources", "--job", job_id, "--json").stdout)) == 4
    assert schemaxis(served, "cancel", job_id).stdout.startswith(job_id.encode())


def test_watch(served: Path, finished: Any) -> None:
    job_id = finished["job"]["jobId"]
    shown = schemaxis(served, "watch", job_id).stdout.decode().splitlines()
    assert len(shown) == finished["job"]["lastSequence"]
    assert shown[-1].endswith("succeeded, verified")
    lines = schemaxis(served, "watch", job_id, "--after", "3", "--no-follow", "--json").stdout.splitlines()
    assert json.loads(lines[0])["sequence"] == 4
    assert json.loads(lines[-1])["lastSequence"] == finished["job"]["lastSequence"]


def test_read(served: Path, finished: Any, tmp_path: Path) -> None:
    (stl,) = [one for one in finished["resources"] if one["kind"] == "geometry/stl"]
    piped = schemaxis(served, "read", stl["resourceId"], "-o", "-")
    assert len(piped.stdout) == stl["sizeBytes"]
    for code in (0, 2):
        assert schemaxis(served, "read", stl["resourceId"], cwd=tmp_path).returncode == code
        assert (
            schemaxis(served, "read", stl["resourceId"], "-o", "named.stl", cwd=tmp_path).returncode == code
        )
    assert (tmp_path / stl["name"]).read_bytes() == piped.stdout
    unknown = schemaxis(served, "read", "res_unknown")
    assert (unknown.returncode, b"NOT_FOUND" in unknown.stderr) == (1, True)


def test_call(served: Path, tmp_path: Path) -> None:
    params = b'{"objective":"A box","allowedProviders":["occt"]}'
    from_stdin = schemaxis(served, "call", "create_task", "-", stdin=params)
    task = json.loads(from_stdin.stdout)
    assert task["revision"] == 0
    (tmp_path / "p.json").write_text(json.dumps({"task_id": task["taskId"]}))
    from_file = schemaxis(served, "call", "task", f"@{tmp_path / 'p.json'}", "--json")
    assert json.loads(from_file.stdout)["taskId"] == task["taskId"]
    assert from_file.stdout.count(b"\n") == 1
    refused = schemaxis(served, "call", "task", '{"task_id":"task_x"}', "--json")
    assert (refused.returncode, json.loads(refused.stdout)["fault"]["code"]) == (1, "NOT_FOUND")


def test_capabilities(served: Path) -> None:
    assert b"domain/geometry/primitives" in schemaxis(served, "capabilities", "domain/geometry").stdout
    assert b"occt.extrude" in schemaxis(served, "capabilities", "--search", "extrusion").stdout
    described = schemaxis(served, "capabilities", "occt.box").stdout
    assert b"Example:" in described
    assert json.loads(described.split(b"Example:")[1])["version"] == "schemaxis.occt/1"
    assert schemaxis(served, "capabilities", "nowhere/at/all").returncode == 1


def test_doctor_needs_no_server(nowhere: Path) -> None:
    done = schemaxis(nowhere, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, checks
    assert {"python", "grpcio", "engine of occt", "containment", "workspace"} <= set(checks)
    assert "ok  python" in schemaxis(nowhere, "doctor").stdout.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("frobnicate",),
        ("jobs", "-n", "0"),
        ("run", "/no/such/file"),
        ("run", "-"),
        ("call", "no_such_method"),
        ("call", "task", "{"),
        ("call", "task", '{"task_idd":"x"}'),
        ("call", "task", "@/no/such/file"),
        ("call", "task", '{"a":NaN}'),
    ],
)
def test_usage_is_told_without_starting_anything(nowhere: Path, arguments: tuple[str, ...]) -> None:
    done = schemaxis(nowhere, *arguments)
    assert done.returncode == 2
    assert done.stderr
    assert b"Traceback" not in done.stderr


def test_call_methods_needs_no_server(nowhere: Path) -> None:
    listed = json.loads(schemaxis(nowhere, "call", "methods").stdout)
    assert listed["protocol"] == "schemaxis.agent/1"


def test_something_else_at_the_sockets_path_is_no_server(tmp_path: Path) -> None:
    (tmp_path / "schemaxis.sock").write_text("precious")
    for command in (("jobs",), ("agent",)):
        done = schemaxis(tmp_path, *command)
        assert done.returncode == 3
        assert b"is not a socket" in done.stderr
    assert (tmp_path / "schemaxis.sock").read_text() == "precious"


def test_serve_says_where_and_drains_on_a_signal() -> None:
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        workspace = Path(directory)
        process = subprocess.Popen(
            [sys.executable, "-m", "schemaxis", "serve", "--workspace", directory],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert (ready["socket"], ready["pid"]) == (str(workspace / "schemaxis.sock"), process.pid)
        assert schemaxis(workspace, "jobs").stdout.startswith(b"No jobs yet")
        process.terminate()
        assert process.wait(SECONDS) == 0
        process.stdout.close()


def test_a_reader_that_goes_away_is_no_error(served: Path, finished: Any) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-m", "schemaxis", "jobs"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
        env=environment(served),
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_terminals_that_want_it(
    served: Path, finished: Any, no_color: str, coloured: bool
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "schemaxis", "jobs", "-n", "1"],
        stdout=theirs,
        env=environment(served, NO_COLOR=no_color, TERM="xterm"),
    )
    assert process.wait(SECONDS) == 0
    os.close(theirs)
    shown = os.read(ours, 65536)
    os.close(ours)
    assert (b"\x1b[" in shown) is coloured


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from schemaxis.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'grpc', 'google.protobuf', 'asyncio', 'numpy', 'schemaxis_server'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
