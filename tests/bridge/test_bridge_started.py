"""What a session remembers of the jobs that it started."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from schemaxis.bridge.link import Link
from schemaxis.bridge.started import StartedWork
from schemaxis.process import Served
from schemaxis.v1 import job_pb2

from bridge.scripted_service import ScriptedService, end, events

SUCCEEDED = job_pb2.JOB_STATE_SUCCEEDED
RUNNING = job_pb2.JOB_STATE_RUNNING


@pytest.fixture
async def started(workspace: Path, service: ScriptedService) -> AsyncIterator[StartedWork]:
    link = Link(lambda: Served(workspace / "schemaxis.sock", None))
    await link.open()
    yield StartedWork(link)
    await link.close()


def start(started: StartedWork, service: ScriptedService, *numbers: int) -> None:
    for number in numbers:
        job = job_pb2.Job(job_id=f"job_{number}", state=job_pb2.JOB_STATE_QUEUED)
        service.cancelled[job.job_id] = asyncio.Event()
        started.note(job_pb2.ExecutePlanRequest(), job_pb2.ExecutePlanResponse(job=job))


def terminal(sequence: int) -> job_pb2.WatchJobResponse:
    frame = events(sequence)
    frame.events[0].terminal.state = SUCCEEDED
    return frame


@pytest.mark.parametrize(
    ("request_", "response"),
    [
        (job_pb2.WatchJobRequest(job_id="job_1"), terminal(7)),
        (job_pb2.WatchJobRequest(job_id="job_1"), end(7)),
        (
            job_pb2.GetJobRequest(job_id="job_1"),
            job_pb2.GetJobResponse(job=job_pb2.Job(job_id="job_1", state=SUCCEEDED)),
        ),
        (
            job_pb2.ListJobsRequest(),
            job_pb2.ListJobsResponse(jobs=[job_pb2.Job(job_id="job_1", state=job_pb2.JOB_STATE_FAILED)]),
        ),
    ],
)
async def test_an_end_is_noted_wherever_it_is_seen(
    started: StartedWork,
    service: ScriptedService,
    request_: job_pb2.WatchJobRequest,
    response: job_pb2.WatchJobResponse,
) -> None:
    start(started, service, 1, 2)
    started.note(request_, response)
    await started.cancel(10)
    assert [
        request.job_id for request in service.requests if type(request).__name__.startswith("Cancel")
    ] == ["job_2"]


@pytest.mark.parametrize("reason", [job_pb2.END_REASON_TAIL, job_pb2.END_REASON_DRAINING])
async def test_the_end_of_a_watch_is_not_the_end_of_its_job(
    started: StartedWork, service: ScriptedService, reason: job_pb2.EndReason.ValueType
) -> None:
    start(started, service, 1)
    started.note(job_pb2.WatchJobRequest(job_id="job_1"), events(1))
    started.note(job_pb2.WatchJobRequest(job_id="job_1"), end(1, reason))
    started.note(
        job_pb2.GetJobRequest(job_id="job_1"),
        job_pb2.GetJobResponse(job=job_pb2.Job(job_id="job_1", state=RUNNING)),
    )
    await started.cancel(10)
    assert service.cancelled["job_1"].is_set()


async def test_jobs_that_nobody_looks_at_are_forgotten_when_they_have_ended(
    started: StartedWork, service: ScriptedService
) -> None:
    service.job_state = SUCCEEDED
    for first in range(0, 3000, 100):
        start(started, service, *range(first, first + 100))
        while started._asking is not None:
            await asyncio.sleep(0.01)
        assert len(started._jobs) <= 256


async def test_jobs_that_work_are_asked_about_ever_more_rarely(
    started: StartedWork, service: ScriptedService
) -> None:
    for first in range(0, 1200, 50):
        start(started, service, *range(first, first + 50))
        while started._asking is not None:
            await asyncio.sleep(0.01)
    assert len(started._jobs) == 1200
    assert service.calls.count("GetJob") <= 1200


async def test_all_are_cancelled_but_not_all_at_once(started: StartedWork, service: ScriptedService) -> None:
    start(started, service, *range(200))
    await started.cancel(20)
    assert all(cancelled.is_set() for cancelled in service.cancelled.values())
    assert service.calls == ["CancelJob"] * 200 + ["WatchJob"] * 200
    assert 1 < service.most_cancelling <= 16
