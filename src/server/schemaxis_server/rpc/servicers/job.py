"""JobService."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from schemaxis.v1 import job_pb2 as pb
from schemaxis.v1.job_pb2_grpc import JobServiceServicer

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.execution.watch import End, Events, Quiet
from schemaxis_server.rpc.codecs import job as codec


class JobServicer(JobServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._jobs = core.jobs
        self._watches = core.watches
        self._reverification = core.reverification

    async def ExecutePlan(self, request: pb.ExecutePlanRequest, context: Any) -> pb.ExecutePlanResponse:
        job = await self._jobs.execute(
            request.plan_id,
            request.expected_revision,
            request.request_id if request.HasField("request_id") else None,
        )
        return pb.ExecutePlanResponse(job=codec.job_message(job))

    async def GetJob(self, request: pb.GetJobRequest, context: Any) -> pb.GetJobResponse:
        return codec.job_response(self._jobs.get(request.job_id))

    async def ListJobs(self, request: pb.ListJobsRequest, context: Any) -> pb.ListJobsResponse:
        task_id = request.task_id if request.HasField("task_id") else None
        page = await self._jobs.list(task_id, request.page_token, request.page_size)
        return pb.ListJobsResponse(
            jobs=[codec.job_message(job) for job in page.records], next_page_token=page.next_token
        )

    async def WatchJob(self, request: pb.WatchJobRequest, context: Any) -> AsyncIterator[pb.WatchJobResponse]:
        watch = self._watches.watch(request.job_id, request.after_sequence, request.follow)
        async with aclosing(watch) as frames:
            async for frame in frames:
                match frame:
                    case Events(tail, encoded):
                        # The interceptor passes encoded frames through.
                        yield cast("pb.WatchJobResponse", codec.encode_frame(tail, encoded))
                    case Quiet(tail):
                        yield pb.WatchJobResponse(tail_sequence=tail, heartbeat=pb.Heartbeat())
                    case End():
                        yield codec.end_message(frame)

    async def CancelJob(self, request: pb.CancelJobRequest, context: Any) -> pb.CancelJobResponse:
        return pb.CancelJobResponse(job=codec.job_message(await self._jobs.cancel(request.job_id)))

    async def VerifyJob(self, request: pb.VerifyJobRequest, context: Any) -> pb.VerifyJobResponse:
        verification = await self._reverification.verify(request.job_id)
        return pb.VerifyJobResponse(verification=codec.verification_message(verification))
