"""The work that a session started, which ends with the session."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import grpc
from google.protobuf.message import Message

from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.link import Link
from schemaxis.v1 import job_pb2, job_pb2_grpc

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


class StartedWork:
    """The jobs that this session started and that it has not seen end."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._jobs: dict[str, None] = {}

    def note(self, response: Message) -> None:
        """Learn from an answer: a job that was started, or one that has ended."""
        job = getattr(response, "job", None)
        if not isinstance(job, job_pb2.Job):
            return
        if job.state in _TERMINAL:
            self._jobs.pop(job.job_id, None)
        elif isinstance(response, job_pb2.ExecutePlanResponse):
            self._jobs[job.job_id] = None

    async def cancel(self, seconds: float) -> None:
        """Ask every job to stop and wait until each is terminal, at most ``seconds`` in all."""
        if not self._jobs:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._link.ready()
                stub: Any = job_pb2_grpc.JobServiceStub(self._link.channel)
                await asyncio.gather(*(_end(stub, job_id) for job_id in self._jobs))
        except (TimeoutError, BridgeFault) as error:
            _log.warning("Some work of this session may still run: %s", error or "it did not stop in time")


async def _end(stub: Any, job_id: str) -> None:
    try:
        answer = await stub.CancelJob(job_pb2.CancelJobRequest(job_id=job_id))
        if answer.job.state in _TERMINAL:
            return
        frames = stub.WatchJob(
            job_pb2.WatchJobRequest(job_id=job_id, after_sequence=answer.job.last_sequence)
        )
        async for frame in frames:
            if frame.HasField("end"):
                return
    except grpc.aio.AioRpcError as error:
        _log.warning("Job %s could not be cancelled: %s", job_id, error.details())
