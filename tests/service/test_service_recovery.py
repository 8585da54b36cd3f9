"""``kill -9`` at any instant: nothing acknowledged is lost, nothing unproved is offered, nothing runs on."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from schemaxis.v1 import job_pb2, plan_pb2, resource_pb2, task_pb2

from service.program import STUB_PACKAGE, Program, Refused, box, descendants, eventually, stub

BEFORE_THE_ENGINE = ("queued", "planned", "dispatching")
AFTER_THE_ENGINE = ("publishing", "verifying", "verified", "committing")


def usage(program: Program, task_id: str) -> task_pb2.Usage:
    found: task_pb2.Usage = program.call(
        program.tasks.GetTask, task_pb2.GetTaskRequest(task_id=task_id)
    ).task.usage
    return found


def gone(marker: str) -> None:
    eventually(lambda: not list(descendants(marker)), f"no process of {marker}", 10)


def told_as_interrupted(program: Program, job: job_pb2.Job, *, started: bool) -> None:
    """Everything that a reader may rely on after a crash."""
    ended = program.ended(job.job_id)
    assert ended.state == job_pb2.JOB_STATE_INTERRUPTED
    assert ended.fault.code == "INTERRUPTED"
    assert ended.fault.retryable
    assert not ended.verified
    assert not ended.resource_ids
    unknown, untouched = job_pb2.NATIVE_STATE_UNKNOWN, job_pb2.NATIVE_STATE_NOT_STARTED
    assert ended.native_state == (unknown if started else untouched)
    spent = usage(program, job.task_id)
    assert spent.attempts == int(started)
    assert 0 <= spent.elapsed_seconds < 60
    assert program.observe(job.job_id, "document")["nodes"]
    assert program.observe(job.job_id, "plan")["resolvedDocument"]["nodes"]
    assert program.observe(job.job_id, "summary")["state"] == "interrupted"
    assert program.observe(job.job_id, "result")["partial"] is True
    assert program.observe(job.job_id, "verification")["verified"] is False
    with pytest.raises(Refused) as caught:
        program.call(program.jobs.VerifyJob, job_pb2.VerifyJobRequest(job_id=job.job_id))
    assert caught.value.code == "NOT_VERIFIED"
    listed = program.call(program.resources.ListResources, resource_pb2.ListResourcesRequest())
    assert not listed.resources


@pytest.mark.parametrize("instant", BEFORE_THE_ENGINE + AFTER_THE_ENGINE)
def test_killed_at(instant: str, program: Program) -> None:
    marker = program.ready["workspaceId"]
    program.hold(instant)
    job = program.started(stub("log", count=3))
    program.await_held(instant)
    program.kill()
    gone(marker)
    program.release(instant)
    program.start()
    started = instant in AFTER_THE_ENGINE
    told_as_interrupted(program, job, started=started)
    if started:
        assert program.observe(job.job_id, "result")["outputs"]["n"]["value"]["value"] == 1
        assert program.observe(job.job_id, "log")["document"]["stdout"] == ["line 0", "line 1", "line 2"]
    after = program.run(stub())
    assert after.state == job_pb2.JOB_STATE_SUCCEEDED
    assert after.job_id > job.job_id


def test_killed_while_the_engine_works_with_an_escaped_grandchild(program: Program) -> None:
    place, marker = program.workspace.parent, program.ready["workspaceId"]
    token = f"86400.{program.process.pid:012d}"
    (place / "token").write_text(token)
    job = program.started(stub("escape", place=str(place)))
    eventually((place / "escaped").exists, "the grandchild")
    assert list(descendants(token))
    program.kill()
    gone(token)
    gone(marker)
    program.start()
    told_as_interrupted(program, job, started=True)
    gone(token)


def test_killed_again_and_again_what_was_answered_stays(program: Program) -> None:
    made: list[tuple[str, str, str]] = []
    for round_ in range(3):
        task = program.task(request_id=f"task {round_}")
        plan = program.plan(task.task_id, stub(value=round_), request_id=f"plan {round_}")
        job = program.execute(plan, request_id=f"job {round_}")
        made.append((task.task_id, plan.plan_id, job.job_id))
        program.kill()
        program.start()
    for round_, (task_id, plan_id, job_id) in enumerate(made):
        again = program.call(
            program.tasks.CreateTask,
            task_pb2.CreateTaskRequest(
                objective="test",
                allowed_providers=["stub", "occt"],
                budget=task_pb2.Budget(max_attempts=100),
                request_id=f"task {round_}",
            ),
        ).task
        assert again.task_id == task_id
        assert program.plan(task_id, stub(value=round_), request_id=f"plan {round_}").plan_id == plan_id
        found = program.call(program.plans.GetPlan, plan_pb2.GetPlanRequest(plan_id=plan_id)).plan
        assert program.execute(found, request_id=f"job {round_}").job_id == job_id
        assert program.ended(job_id).state in (
            job_pb2.JOB_STATE_INTERRUPTED,
            job_pb2.JOB_STATE_SUCCEEDED,
        )


def test_a_watch_over_a_restart_goes_on_from_its_cursor(program: Program) -> None:
    program.hold("dispatching")
    job = program.started(stub())
    program.await_held("dispatching")
    stream = program.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=job.job_id))
    seen = [event.sequence for event in next(stream).events]
    program.kill()
    with pytest.raises(grpc.RpcError):
        list(stream)
    program.release("dispatching")
    program.start()
    rest = program.events(job.job_id, after=seen[-1])
    assert rest[-1].terminal.state == job_pb2.JOB_STATE_INTERRUPTED


@pytest.mark.parametrize("damage", ["empty", "nul", "truncated", "missing", "text"])
def test_a_damaged_database_is_told_and_never_replaced(damage: str, program: Program) -> None:
    program.task()
    program.stop()
    path = program.workspace / "schemaxis.db"
    whole = path.read_bytes()
    contents = {
        "empty": b"",
        "nul": bytes(len(whole)),
        "truncated": whole[: len(whole) // 2],
        "text": b"hello\n" * 99,
    }
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(contents[damage])
    left = path.read_bytes() if path.exists() else None
    refused = program.start()
    assert refused["event"] == "refused"
    assert refused["fault"]["code"] == "WORKSPACE_CORRUPT"
    assert program._reap() == 1
    assert (path.read_bytes() if path.exists() else None) == left
    path.write_bytes(whole)
    assert program.start()["event"] == "ready"


class Trace:
    """The file system calls of a server under strace, in order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def since(self) -> list[str]:
        """The calls that ended since the last look."""
        lines = self._path.read_text().splitlines()[self._read :]
        self._read += len(lines)
        return lines


def test_every_change_is_on_the_disk_before_its_reply(workspace: Path) -> None:
    strace = shutil.which("strace")
    assert strace, "strace is installed by make setup"
    program = Program(workspace)
    trace_file = workspace.parent / "trace"
    program.process = subprocess.Popen(
        [
            *(strace, "-f", "-y", "-qq", "-o", str(trace_file)),
            *("-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-e", "signal=none"),
            *(sys.executable, "-m", "schemaxis_server", "--workspace", str(workspace)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(STUB_PACKAGE), "PATH": "/usr/bin:/bin"},
    )
    assert program.process.stdout
    program.ready = json.loads(program.process.stdout.readline())
    program.connect()
    trace = Trace(trace_file)
    log = r"f(data)?sync\(\d+<[^>]*schemaxis\.db-wal>"
    try:
        trace.since()
        task = program.task()
        assert in_order(trace.since(), log)
        plan = program.plan(task.task_id, stub())
        file, folder = r"fsync\(\d+<[^>]*/plans/\.[^>]*>", r"fsync\(\d+<[^>]*/plans>"
        assert in_order(trace.since(), file, r"rename.*plan_.*\.json", folder, log)
        job = program.execute(plan)
        assert in_order(trace.since(), log)
        program.ended(job.job_id)
        piece, shard = r"rename.*/objects/../[0-9a-f]{64}\"", r"fsync\(\d+<[^>]*/objects/..>"
        assert in_order(trace.since(), r"fsync\(\d+<[^>]*/objects/", piece, shard, log)
        (path,) = Path(workspace / "objects").glob("??/" + "?" * 64)
        path.chmod(0o600)
        path.write_bytes(b"x" * path.stat().st_size)
        program.call(program.jobs.VerifyJob, job_pb2.VerifyJobRequest(job_id=job.job_id))
        assert in_order(trace.since(), log)
        working = program.execute(program.plan(task.task_id, stub("hang", place=str(workspace.parent)), 1))
        eventually((workspace.parent / "hanging").exists, "the engine")
        trace.since()
        program.call(program.jobs.CancelJob, job_pb2.CancelJobRequest(job_id=working.job_id))
        assert in_order(trace.since(), log)
    finally:
        program.channel.close()
        os.kill(program.ready["pid"], signal.SIGTERM)
        program._reap()


def in_order(lines: list[str], *patterns: str) -> bool:
    """Whether lines that match the patterns stand in this order, others between them."""
    rest = iter(lines)
    return all(any(re.search(pattern, line) for line in rest) for pattern in patterns)


def test_a_box_survives_too(program: Program) -> None:
    """The same on the real engine: its zygotes and jobs end with the service."""
    marker = program.ready["workspaceId"]
    program.hold("verifying")
    job = program.started(box())
    program.await_held("verifying")
    program.kill()
    gone(marker)
    program.release("verifying")
    program.start()
    told_as_interrupted(program, job, started=True)
    assert program.observe(job.job_id, "result", "/outputs/body/volume/value") == pytest.approx(1000)
