"""Cancelling in every phase: one terminal state, one event, and reply, store and stream agree."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from schemaxis.v1 import job_pb2, task_pb2

from service.program import Program, descendants, eventually, stub

INSTANTS = ("queued", "planned", "dispatching", "publishing", "verifying", "verified", "committing")
CANCELLED, SUCCEEDED = job_pb2.JOB_STATE_CANCELLED, job_pb2.JOB_STATE_SUCCEEDED
REQUESTED = job_pb2.JOB_STATE_CANCELLATION_REQUESTED


def cancel(program: Program, job_id: str) -> job_pb2.Job:
    answered: job_pb2.Job = program.call(program.jobs.CancelJob, job_pb2.CancelJobRequest(job_id=job_id)).job
    return answered


def settled(program: Program, job: job_pb2.Job) -> job_pb2.Job:
    """The ended job, after holding its event, its record and its resources against each other."""
    events = program.events(job.job_id)
    (terminal,) = [event.terminal for event in events if event.HasField("terminal")]
    assert events[-1].HasField("terminal")
    stored = program.job(job.job_id)
    assert stored.state == terminal.state
    assert stored.verified == terminal.verified == (stored.state == SUCCEEDED)
    assert bool(stored.resource_ids) == (stored.state == SUCCEEDED)
    assert stored.last_sequence == len(events)
    assert stored.fault == terminal.fault
    if stored.state == CANCELLED:
        assert stored.fault.code == "CANCELLED"
        assert program.observe(job.job_id, "result")["partial"] is True
    return stored


@pytest.mark.parametrize("instant", INSTANTS)
def test_cancelled_at(instant: str, program: Program) -> None:
    program.hold(instant)
    job = program.started(stub())
    program.await_held(instant)
    answered = cancel(program, job.job_id)
    assert answered.state == (CANCELLED if instant == "queued" else REQUESTED)
    assert cancel(program, job.job_id).state == answered.state
    program.release(instant)
    ended = settled(program, job)
    assert ended.state == CANCELLED
    used = program.call(program.tasks.GetTask, task_pb2.GetTaskRequest(task_id=job.task_id)).task.usage
    started = instant in INSTANTS[3:]
    assert used.attempts == int(started)
    unknown, untouched = job_pb2.NATIVE_STATE_UNKNOWN, job_pb2.NATIVE_STATE_NOT_STARTED
    assert ended.native_state == (unknown if started else untouched)
    assert cancel(program, job.job_id) == ended


@pytest.mark.parametrize("mode", ["hang", "stubborn", "verifier-hangs", "escape"])
def test_cancelled_in_mid_work(mode: str, program: Program) -> None:
    place = program.workspace.parent
    token = f"86400.{program.process.pid:012d}"
    (place / "token").write_text(token)
    job = program.started(stub(mode, place=str(place)))
    eventually((place / ("escaped" if mode == "escape" else "hanging")).exists, "the work")
    assert cancel(program, job.job_id).state == REQUESTED
    ended = settled(program, job)
    assert ended.state == CANCELLED
    assert ended.native_state == job_pb2.NATIVE_STATE_UNKNOWN
    assert not list(descendants(token))


def test_a_succeeded_job_stays_succeeded(program: Program) -> None:
    job = program.run(stub())
    assert cancel(program, job.job_id) == job


def race(program: Program, delay: float) -> str:
    """Cancel a job a moment after it was started; returns the name of the state in which it ended."""
    job = program.started(stub())
    waiting = threading.Event()
    waiting.wait(delay)
    answered = cancel(program, job.job_id)
    ended = settled(program, job)
    if answered.state in (CANCELLED, REQUESTED):
        assert ended.state == CANCELLED
    else:
        assert answered.state == ended.state == SUCCEEDED
    return job_pb2.JobState.Name(ended.state)


def test_cancelled_around_completion(program: Program) -> None:
    program.run(stub())
    assert {race(program, step * 0.008) for step in range(20)} <= {
        "JOB_STATE_CANCELLED",
        "JOB_STATE_SUCCEEDED",
    }


@pytest.mark.campaign
def test_five_hundred_cancellations(program: Program) -> None:
    """At each barrier and around completion; each outcome at least fifty times."""
    outcomes: Counter[str] = Counter()
    program.run(stub())
    for round_ in range(50):
        for instant in INSTANTS:
            program.hold(instant)
            job = program.started(stub())
            program.await_held(instant)
            cancel(program, job.job_id)
            program.release(instant)
            outcomes[f"{instant}: {job_pb2.JobState.Name(settled(program, job).state)}"] += 1
        for step in range(2):
            state = race(program, (round_ + step * 50) * 0.002)
            outcomes[f"around completion: {state}"] += 1
        job = program.run(stub())
        cancel(program, job.job_id)
        outcomes[f"after completion: {job_pb2.JobState.Name(settled(program, job).state)}"] += 1
    assert sum(outcomes.values()) == 500
    for instant in INSTANTS:
        assert outcomes[f"{instant}: JOB_STATE_CANCELLED"] == 50
    assert outcomes["after completion: JOB_STATE_SUCCEEDED"] == 50


def test_a_job_that_the_service_s_end_cancelled_says_so(tmp_path: Path) -> None:
    program = Program(tmp_path / "w", "--drain-seconds", "0.1")
    program.start()
    job = program.started(stub("hang", place=str(tmp_path)))
    eventually((tmp_path / "hanging").exists, "the engine")
    assert program.stop() == 0
    program.start()
    ended = program.call(program.jobs.GetJob, job_pb2.GetJobRequest(job_id=job.job_id)).job
    assert (ended.state, ended.fault.code) == (job_pb2.JOB_STATE_CANCELLED, "CANCELLED")
    assert ended.fault.message.startswith("The service was stopped.")
    assert program.stop() == 0
