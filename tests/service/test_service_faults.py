"""Every code of the catalogue is produced through the socket, and carries what a caller needs."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from schemaxis.v1 import inspection_pb2, job_pb2, observation_pb2, plan_pb2, resource_pb2, task_pb2
from schemaxis_server.faults import CATALOGUE

from service.program import Program, Refused, box, stub

Produce = Callable[[Program], str]
PRODUCERS: dict[str, Produce] = {}


def produces(code: str) -> Callable[[Produce], Produce]:
    def register(produce: Produce) -> Produce:
        PRODUCERS[code] = produce
        return produce

    return register


def refused(program: Program, method: Any, request: Any) -> str:
    with pytest.raises(Refused) as caught:
        program.call(method, request)
    fault = caught.value.fault
    assert fault.message.endswith(".")
    assert fault.retryable == CATALOGUE[fault.code].retryable
    return fault.code


def failed(program: Program, document: Any, **budget: Any) -> str:
    job = program.run(document, **budget)
    assert job.state == job_pb2.JOB_STATE_FAILED
    assert not job.verified
    assert not job.resource_ids
    assert program.observe(job.job_id, "fault")["code"] == job.fault.code
    return job.fault.code


def test_every_code_has_a_producer() -> None:
    assert set(PRODUCERS) == set(CATALOGUE)


@pytest.mark.parametrize("code", list(CATALOGUE))
def test_code(code: str, program: Program) -> None:
    assert PRODUCERS[code](program) == code


@produces("INVALID_REQUEST")
def _(program: Program) -> str:
    return refused(program, program.tasks.CreateTask, task_pb2.CreateTaskRequest(objective="x"))


def by_bridge(program: Program, line: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "schemaxis", "agent", "--workspace", str(program.workspace)],
        input=line + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    code: str = json.loads(done.stdout)["fault"]["code"]
    return code


@produces("UNKNOWN_METHOD")
def _(program: Program) -> str:
    return by_bridge(program, '{"id":1,"method":"exekute"}')


@produces("REQUEST_TOO_LARGE")
def _(program: Program) -> str:
    task = program.task()
    request = plan_pb2.CreatePlanRequest(
        task_id=task.task_id, document_json=json.dumps("x" * 2**20), expected_revision=0
    )
    return refused(program, program.plans.CreatePlan, request)


@produces("NOT_FOUND")
def _(program: Program) -> str:
    with pytest.raises(Refused, match="list its jobs") as caught:
        program.job("job_none")
    # The same text comes through every door, each of which has names of its own.
    assert "list_jobs" not in caught.value.fault.message
    return refused(program, program.jobs.GetJob, job_pb2.GetJobRequest(job_id="job_none"))


@produces("OUT_OF_RANGE")
def _(program: Program) -> str:
    job = program.run(stub())
    request = resource_pb2.ReadResourceRangeRequest(resource_id=job.resource_ids[0], offset=10**6)
    return refused(program, program.resources.ReadResourceRange, request)


@produces("REQUEST_ID_REUSED")
def _(program: Program) -> str:
    program.task(request_id="one")
    request = task_pb2.CreateTaskRequest(objective="other", allowed_providers=["stub"], request_id="one")
    return refused(program, program.tasks.CreateTask, request)


@produces("STALE_REVISION")
def _(program: Program) -> str:
    with pytest.raises(Refused) as caught:
        program.plan(program.task().task_id, stub(), revision=3)
    assert caught.value.details == {"revision": 0}
    return caught.value.code


@produces("STALE_PLAN")
def _(program: Program) -> str:
    task = program.task()
    plan = program.plan(task.task_id, stub())
    program.hold("queued")
    job = program.execute(plan)
    program.await_held("queued")
    program.engine_file.write_text("2")
    program.release("queued")
    ended = program.ended(job.job_id)
    usage = program.call(program.tasks.GetTask, task_pb2.GetTaskRequest(task_id=task.task_id)).task.usage
    assert usage.attempts == 0, "an attempt whose engine never started is given back"
    return ended.fault.code


@produces("INVALID_DOCUMENT")
def _(program: Program) -> str:
    document = {"version": "schemaxis.stub/1", "nodes": [{"id": "n", "filter": "atc"}], "output": "m"}
    with pytest.raises(Refused) as caught:
        program.plan(program.task().task_id, document)
    assert caught.value.details["total"] == 2
    assert caught.value.details["problems"][0]["nearest"] == "act"
    return caught.value.code


@produces("UNAUTHORISED_PROVIDER")
def _(program: Program) -> str:
    with pytest.raises(Refused) as caught:
        program.plan(program.task("occt").task_id, stub())
    return caught.value.code


@produces("BUDGET_EXHAUSTED")
def _(program: Program) -> str:
    task = program.task(budget={"max_attempts": 1})
    plan = program.plan(task.task_id, stub())
    program.ended(program.execute(plan).job_id)
    with pytest.raises(Refused) as caught:
        program.execute(plan)
    return caught.value.code


@produces("BUDGET_EXPIRED")
def _(program: Program) -> str:
    place = str(program.workspace.parent)
    task = program.task(budget={"max_elapsed_seconds": 0.6})
    plan = program.plan(task.task_id, stub("hang", place=place))
    ended = program.ended(program.execute(plan).job_id)
    assert ended.fault.code == "BUDGET_EXPIRED"
    with pytest.raises(Refused) as caught:
        program.execute(plan)
    return caught.value.code


@produces("REPEATED_FAILURE")
def _(program: Program) -> str:
    task = program.task(budget={"max_attempts": 9, "max_repeated_failures": 2})
    plan = program.plan(task.task_id, stub("fail"))
    for _ in range(2):
        assert program.ended(program.execute(plan).job_id).fault.code == "NATIVE_FAILURE"
    with pytest.raises(Refused) as caught:
        program.execute(plan)
    return caught.value.code


@produces("MISSING_RUNTIME")
def _(program: Program) -> str:
    program.engine_file.write_text("")
    with pytest.raises(Refused) as caught:
        program.plan(program.task().task_id, stub())
    assert caught.value.details["install"] == "nothing"
    return caught.value.code


@produces("UNSUPPORTED_INPUT")
def _(program: Program) -> str:
    return failed(program, stub("unsupported"))


@produces("NATIVE_FAILURE")
def _(program: Program) -> str:
    return failed(program, stub("no-result"))


@produces("NATIVE_TIMEOUT")
def _(program: Program) -> str:
    return failed(
        program, stub("hang", place=str(program.workspace.parent)), max_attempt_seconds=0.6, max_attempts=2
    )


@produces("VERIFICATION_FAILED")
def _(program: Program) -> str:
    return failed(program, stub("lie"))


@produces("CANCELLED")
def _(program: Program) -> str:
    program.hold("queued")
    job = program.started(stub())
    program.call(program.jobs.CancelJob, job_pb2.CancelJobRequest(job_id=job.job_id))
    program.release("queued")
    ended = program.ended(job.job_id)
    assert ended.state == job_pb2.JOB_STATE_CANCELLED
    return ended.fault.code


@produces("INTERRUPTED")
def _(program: Program) -> str:
    program.hold("queued")
    job = program.started(stub())
    program.kill()
    program.release("queued")
    program.start()
    return program.ended(job.job_id).fault.code


@produces("NOT_VERIFIED")
def _(program: Program) -> str:
    """A job that still works is worth asking again, one that has ended never is."""
    program.hold("queued")
    job = program.started(stub("fail"))
    observe = observation_pb2.ObserveRequest(job_id=job.job_id, section="verification")
    verify = job_pb2.VerifyJobRequest(job_id=job.job_id)
    for method, request in ((program.observations.Observe, observe), (program.jobs.VerifyJob, verify)):
        with pytest.raises(Refused) as caught:
            program.call(method, request)
        assert (caught.value.code, caught.value.fault.retryable) == ("NOT_VERIFIED", True)
    program.release("queued")
    program.ended(job.job_id)
    assert not program.observe(job.job_id, "verification")["verified"]
    with pytest.raises(Refused) as caught:
        program.call(program.jobs.VerifyJob, verify)
    assert not caught.value.fault.retryable
    return caught.value.code


def corrupted(program: Program) -> job_pb2.Job:
    """A succeeded job whose one artifact was changed on disk."""
    job = program.run(stub())
    (path,) = Path(program.workspace / "objects").glob("??/" + "?" * 64)
    path.chmod(0o600)
    path.write_bytes(b"x" * path.stat().st_size)
    return job


@produces("RESOURCE_CORRUPT")
def _(program: Program) -> str:
    with pytest.raises(Refused) as caught:
        program.read(corrupted(program).resource_ids[0])
    return caught.value.code


@produces("RESOURCE_BLOCKED")
def _(program: Program) -> str:
    job = corrupted(program)
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            program.read(job.resource_ids[0])
    return caught.value.code


@produces("BINDING_MISMATCH")
def _(program: Program) -> str:
    job = program.run(box())
    document = {
        "version": "schemaxis.stub/1",
        "nodes": [{"id": "n", "filter": "read", "options": {"file": None}}],
        "output": "n",
    }
    with pytest.raises(Refused) as caught:
        program.plan(
            program.task().task_id, document, bindings={"/nodes/0/options/file": job.resource_ids[0]}
        )
    assert caught.value.details["accepts"] == ["data/json"]
    return caught.value.code


@produces("EVIDENCE_CHANGED")
def _(program: Program) -> str:
    job = program.run(stub())
    request = observation_pb2.ObserveRequest(job_id=job.job_id, section="result", revision="0" * 64)
    return refused(program, program.observations.Observe, request)


@produces("OBSERVATION_LIMIT")
def _(program: Program) -> str:
    job = program.run(stub("large"))
    request = observation_pb2.ObserveRequest(job_id=job.job_id, section="result", pointer="/outputs/n/text")
    return refused(program, program.observations.Observe, request)


@produces("UNSUPPORTED_INSPECTION")
def _(program: Program) -> str:
    job = program.run(box())
    request = inspection_pb2.InspectResourceRequest(resource_id=job.resource_ids[0])
    return refused(program, program.inspections.InspectResource, request)


@produces("INSPECTION_LIMIT")
def _(program: Program) -> str:
    job = program.run(stub("large"))
    large = next(
        resource_id
        for resource_id in job.resource_ids
        if program.call(
            program.resources.GetResource, resource_pb2.GetResourceRequest(resource_id=resource_id)
        ).resource.name
        == "large.json"
    )
    request = inspection_pb2.InspectResourceRequest(resource_id=large)
    return refused(program, program.inspections.InspectResource, request)


@produces("WORKSPACE_LOCKED")
def _(program: Program) -> str:
    second = Program(program.workspace)
    code: str = second.start()["fault"]["code"]
    assert second._reap() == 1
    return code


@produces("WORKSPACE_CORRUPT")
def _(program: Program) -> str:
    plan = program.plan(program.task().task_id, stub())
    path = program.workspace / "plans" / f"{plan.plan_id}.json"
    path.chmod(0o600)
    path.write_text("{}")
    request = observation_pb2.ObserveRequest(plan_id=plan.plan_id, section="document")
    return refused(program, program.observations.Observe, request)


@produces("STORAGE_FULL")
def _(program: Program) -> str:
    # A limit on file size fails writes as a full file system does, and can be lifted again.
    before = resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        code = refused(
            program,
            program.tasks.CreateTask,
            task_pb2.CreateTaskRequest(objective="x" * 4096, allowed_providers=["stub"]),
        )
    finally:
        resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE, before)
    assert program.task().revision == 0, "there is room again"
    return code


@produces("OVERLOADED")
def _(program: Program) -> str:
    program.hold("queued")
    for _ in range(10):
        plan = program.plan(program.task().task_id, stub())
        for _ in range(100):
            program.execute(plan)
    plan = program.plan(program.task().task_id, stub())
    with pytest.raises(Refused) as caught:
        program.execute(plan)
    assert caught.value.details["retryAfterSeconds"] > 0
    program.kill()
    return caught.value.code


@produces("SHUTTING_DOWN")
def _(program: Program) -> str:
    plan = program.plan(program.task().task_id, stub())
    program.hold("dispatching")
    program.started(stub())
    program.await_held("dispatching")
    program.process.terminate()
    while True:
        try:
            program.execute(plan)
        except Refused as caught:
            program.release("dispatching")
            return caught.code


@produces("INTERNAL")
def _(program: Program) -> str:
    """Something that no code foresees: the jobs' directory is gone and cannot be made."""
    jobs = program.workspace / "jobs"
    jobs.rmdir()
    jobs.write_text("")
    job = program.run(stub())
    assert "incident" in json.loads(job.fault.details_json)
    assert str(program.workspace) not in job.fault.message
    return job.fault.code
