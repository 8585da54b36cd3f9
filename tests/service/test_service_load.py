"""Many jobs of all kinds, and many clients at once: nothing leaks, nothing is overspent."""

from __future__ import annotations

import json
import os
import random
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import grpc
import pytest
from schemaxis.v1 import job_pb2, observation_pb2, plan_pb2

from service.program import Program, box, descendants, eventually, refusal, stub

ALLOWED_GROWTH = 20 * 2**20


def measured(program: Program) -> tuple[int, int, int]:
    """Open descriptors, resident bytes and the number of processes of the service."""
    pid = program.process.pid
    status = Path(f"/proc/{pid}/status").read_text()
    resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])
    processes = len(list(descendants(program.ready["workspaceId"])))
    return len(os.listdir(f"/proc/{pid}/fd")), resident * 1024, processes


def settled(program: Program) -> tuple[int, int, int]:
    """The same once the next job's processes stand by."""
    seen = [measured(program)]
    while len(seen) < 20 or len({processes for _, _, processes in seen[-20:]}) > 1:
        threading.Event().wait(0.02)
        seen.append(measured(program))
    return seen[-1]


def mixed_jobs(program: Program, count: int, seed: int) -> Counter[str]:
    """Run jobs that succeed, fail, hang and flood, half of them cancelled at a random instant."""
    chance = random.Random(seed)
    place = str(program.workspace.parent)
    outcomes: Counter[str] = Counter()
    for number in range(count):
        documents = [
            stub(value=number),
            stub("fail"),
            stub("hang", place=place),
            stub("log", count=500),
            box(1 + number / 100),
        ]
        job = program.started(chance.choice(documents), max_attempts=1, max_attempt_seconds=0.5)
        if chance.random() < 0.5:
            threading.Event().wait(chance.random() * 0.2)
            program.call(program.jobs.CancelJob, job_pb2.CancelJobRequest(job_id=job.job_id))
        outcomes[job_pb2.JobState.Name(program.ended(job.job_id).state)] += 1
    return outcomes


def nothing_leaked(program: Program, count: int) -> None:
    program.run(stub())
    program.run(box())
    before = settled(program)
    outcomes = mixed_jobs(program, count, seed=count)
    assert {"JOB_STATE_SUCCEEDED", "JOB_STATE_CANCELLED", "JOB_STATE_FAILED"} <= set(outcomes)
    eventually(lambda: measured(program)[2] <= before[2], "no process more than before")
    after = measured(program)
    assert after[0] <= before[0] + 2
    assert after[1] - before[1] < ALLOWED_GROWTH


def test_twenty_mixed_jobs_leave_nothing(program: Program) -> None:
    nothing_leaked(program, 20)


@pytest.mark.campaign
def test_two_hundred_mixed_jobs_leave_nothing(program: Program) -> None:
    nothing_leaked(program, 200)


def test_twenty_clients_cannot_overspend_together(program: Program) -> None:
    plan = program.plan(program.task(budget={"max_attempts": 5}).task_id, stub())
    request = job_pb2.ExecutePlanRequest(plan_id=plan.plan_id, expected_revision=1)
    calls = [program.jobs.ExecutePlan.future(request) for _ in range(20)]
    outcomes = Counter(call.exception() is None for call in calls)
    assert outcomes == {True: 5, False: 15}


def test_a_plan_asked_for_twenty_times_at_once_is_one(program: Program) -> None:
    request = plan_pb2.CreatePlanRequest(
        task_id=program.task().task_id,
        document_json='{"version":"schemaxis.stub/1","nodes":[{"id":"n","filter":"act"}],"output":"n"}',
        expected_revision=0,
        request_id="one",
    )
    calls = [program.plans.CreatePlan.future(request) for _ in range(20)]
    assert len({call.result().plan.plan_id for call in calls}) == 1
    assert len(list((program.workspace / "plans").iterdir())) == 1


def test_of_twenty_plans_for_one_revision_one_is_kept(program: Program) -> None:
    request = plan_pb2.CreatePlanRequest(
        task_id=program.task().task_id, document_json=json.dumps(stub()), expected_revision=0
    )
    calls = [program.plans.CreatePlan.future(request) for _ in range(20)]
    assert Counter(call.exception() is None for call in calls) == {True: 1, False: 19}
    assert len(list((program.workspace / "plans").iterdir())) == 1


@pytest.mark.parametrize("wait", [0.0, 0.05, 0.2])
def test_stopping_under_reads_ends_well(program: Program, wait: float) -> None:
    job_id = program.run(stub()).job_id
    over = threading.Event()
    codes: Counter[Any] = Counter()

    def read() -> None:
        while not over.is_set():
            try:
                program.observations.Observe(
                    observation_pb2.ObserveRequest(job_id=job_id, section="result"), timeout=10
                )
                program.jobs.ListJobs(job_pb2.ListJobsRequest())
            except grpc.RpcError as error:
                codes[error.code()] += 1

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    over.wait(wait)
    program.process.terminate()
    assert program._reap() == 0
    over.set()
    for reader in readers:
        reader.join()
    assert set(codes) <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}


def test_a_job_goes_on_when_the_call_that_asked_for_it_is_gone(program: Program) -> None:
    made = []
    for number in range(20):
        plan = program.plan(program.task().task_id, stub())
        call = program.jobs.ExecutePlan.future(
            job_pb2.ExecutePlanRequest(plan_id=plan.plan_id, expected_revision=1)
        )
        threading.Event().wait(number * 0.0002)
        call.cancel()
        made.append(plan.plan_id)
    program.run(stub())
    jobs = program.call(program.jobs.ListJobs, job_pb2.ListJobsRequest(page_size=100)).jobs
    states = {job.state for job in jobs if job.plan_id in made}
    assert states <= {job_pb2.JOB_STATE_SUCCEEDED}


def test_two_verifications_share_a_run_that_outlives_one_of_them(program: Program) -> None:
    request = job_pb2.VerifyJobRequest(job_id=program.run(box()).job_id)
    first, second = (program.jobs.VerifyJob.future(request) for _ in range(2))
    first.cancel()
    assert second.result().verification.verified


def test_a_killed_host_fails_its_job_and_serves_the_next(program: Program) -> None:
    place = program.workspace.parent
    job = program.started(stub("hang", place=str(place)))
    eventually((place / "hanging").exists, "the engine")
    killed = 0
    for pid in descendants("zygote"):
        if program.ready["workspaceId"].encode() in Path(f"/proc/{pid}/environ").read_bytes():
            os.kill(pid, 9)
            killed += 1
    assert killed
    ended = program.ended(job.job_id)
    assert (ended.state, ended.fault.code) == (job_pb2.JOB_STATE_FAILED, "NATIVE_FAILURE")
    assert program.run(stub()).state == job_pb2.JOB_STATE_SUCCEEDED


def test_bytes_that_are_no_message_are_refused_as_any_request(program: Program) -> None:
    call: Any = program.channel.unary_unary("/schemaxis.v1.JobService/GetJob")
    for data, code in ((b"\xff\xff\xff", "INVALID_REQUEST"), (b"\x0a\x03abc\xf8\x07\x01", "NOT_FOUND")):
        with pytest.raises(grpc.RpcError) as caught:
            call(data)
        assert refusal(caught.value).code == code
