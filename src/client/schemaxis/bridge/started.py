"""The work that a session started, which ends with the session."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.link import Link
from schemaxis.v1 import job_pb2, job_pb2_grpc

T = TypeVar("T")
U = TypeVar("U")

_log = logging.getLogger("schemaxis.bridge")
_TERMINAL = frozenset(
    {
        job_pb2.JOB_STATE_SUCCEEDED,
        job_pb2.JOB_STATE_FAILED,
        job_pb2.JOB_STATE_CANCELLED,
        job_pb2.JOB_STATE_INTERRUPTED,
        job_pb2.JOB_STATE_INVALIDATED,
    }
)
# So many jobs are kept without asking whether they still work.
_MOST_UNASKED = 256
_CALLS_AT_ONCE = 16


class StartedWork:
    """The jobs that this session started and that it has not seen end.

    A client may start work and never look at it again. So the service is asked about what is kept
    whenever that has doubled: what still works is bounded by the service, and this by that.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._jobs: dict[str, None] = {}
        self._ask_above = _MOST_UNASKED
        self._asking: asyncio.Task[None] | None = None

    def note(self, request: Message, response: Message) -> None:
        """Learn from an answer, or a frame of a watch: a job that was started, or jobs that have ended."""
        if isinstance(request, job_pb2.WatchJobRequest) and isinstance(response, job_pb2.WatchJobResponse):
            ended = response.end.reason == job_pb2.END_REASON_TERMINAL
            if ended or any(event.HasField("terminal") for event in response.events):
                self._jobs.pop(request.job_id, None)
            return
        job = getattr(response, "job", None)
        for told in getattr(response, "jobs", ()) if job is None else (job,):
            if told.state in _TERMINAL:
                self._jobs.pop(told.job_id, None)
            elif isinstance(response, job_pb2.ExecutePlanResponse):
                self._jobs[told.job_id] = None
        if len(self._jobs) > self._ask_above and self._asking is None:
            self._asking = asyncio.create_task(self._forget_ended())

    async def cancel(self, seconds: float) -> None:
        """Ask every job to stop and wait until each is terminal, at most ``seconds`` in all."""
        if self._asking is not None:
            self._asking.cancel()
        if not self._jobs:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._link.ready()
                stub: Any = job_pb2_grpc.JobServiceStub(self._link.channel)
                # Each is asked before any is waited for, so that none begins in the place of another.
                asked = await _each(partial(_cancel, stub), list(self._jobs))
                await _each(partial(_wait, stub), [job for job in asked if job is not None])
        except (TimeoutError, BridgeFault) as error:
            _log.warning("Some work of this session may still run: %s", error or "it did not stop in time")

    async def _forget_ended(self) -> None:
        stub: Any = job_pb2_grpc.JobServiceStub(self._link.channel)
        try:
            for job_id in list(self._jobs):
                if await _has_ended(stub, job_id):
                    self._jobs.pop(job_id, None)
        except grpc.aio.AioRpcError as error:
            _log.info("The jobs of this session could not be asked about: %s", error.details())
        finally:
            self._ask_above = max(_MOST_UNASKED, 2 * len(self._jobs))
            self._asking = None


async def _has_ended(stub: Any, job_id: str) -> bool:
    try:
        answer = await stub.GetJob(job_pb2.GetJobRequest(job_id=job_id))
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.NOT_FOUND:
            return True
        raise
    return answer.job.state in _TERMINAL


async def _cancel(stub: Any, job_id: str) -> job_pb2.Job | None:
    """The job, unless it has ended or cannot be cancelled."""
    with _logged(job_id):
        answer = await stub.CancelJob(job_pb2.CancelJobRequest(job_id=job_id))
        if answer.job.state not in _TERMINAL:
            job: job_pb2.Job = answer.job
            return job
    return None


async def _wait(stub: Any, job: job_pb2.Job) -> None:
    with _logged(job.job_id):
        frames = stub.WatchJob(job_pb2.WatchJobRequest(job_id=job.job_id, after_sequence=job.last_sequence))
        async for frame in frames:
            if frame.HasField("end"):
                return


@contextlib.contextmanager
def _logged(job_id: str) -> Iterator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        _log.warning("Job %s could not be cancelled: %s", job_id, error.details())


async def _each(work: Callable[[T], Awaitable[U]], things: Iterable[T]) -> list[U]:
    """The results of ``work`` on each, in their order, a few at a time."""
    room = asyncio.Semaphore(_CALLS_AT_ONCE)

    async def one(thing: T) -> U:
        async with room:
            return await work(thing)

    return await asyncio.gather(*(one(thing) for thing in things))
