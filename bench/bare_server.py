"""The other side of each ratio: the same messages over grpc.aio, with nothing behind them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import grpc
from grpc import aio
from schemaxis.v1 import job_pb2, resource_pb2

PAYLOAD_BYTES = 64 * 1024 * 1024


class Echo:
    """Answers with a job that is made once."""

    def __init__(self) -> None:
        self._job = job_pb2.Job(
            job_id="job_" + "0" * 26,
            plan_id="plan_" + "0" * 26,
            task_id="task_" + "0" * 26,
            revision=1,
            state=job_pb2.JOB_STATE_SUCCEEDED,
            verified=True,
            goal=job_pb2.GOAL_MET,
            native_state=job_pb2.NATIVE_STATE_EXITED,
            progress=job_pb2.Progress(fraction=1.0),
            resource_ids=["res_" + "0" * 26] * 4,
            last_sequence=18,
        )
        for moment in (self._job.create_time, self._job.start_time, self._job.end_time):
            moment.GetCurrentTime()

    async def get_job(self, request: job_pb2.GetJobRequest, context: Any) -> job_pb2.GetJobResponse:
        return job_pb2.GetJobResponse(job=self._job)


class Stream:
    """Streams zeros. With ``resource_id`` "raw" the frames are bytes that Protobuf never sees."""

    async def read_resource(
        self, request: resource_pb2.ReadResourceRequest, context: Any
    ) -> AsyncIterator[resource_pb2.ReadResourceResponse]:
        size = request.chunk_bytes
        chunk = bytes(size)
        for offset in range(0, PAYLOAD_BYTES, size):
            if request.resource_id == "raw":
                yield cast("resource_pb2.ReadResourceResponse", chunk)
            else:
                yield resource_pb2.ReadResourceResponse(
                    offset=offset, data=chunk, last=offset + size >= PAYLOAD_BYTES
                )


def _plain(message: Any) -> bytes:
    return message if type(message) is bytes else message.SerializeToString()


async def serve(socket: str) -> None:
    server = aio.server()
    echo = grpc.unary_unary_rpc_method_handler(
        Echo().get_job,
        request_deserializer=job_pb2.GetJobRequest.FromString,
        response_serializer=job_pb2.GetJobResponse.SerializeToString,
    )
    stream = grpc.unary_stream_rpc_method_handler(
        Stream().read_resource,
        request_deserializer=resource_pb2.ReadResourceRequest.FromString,
        response_serializer=_plain,
    )
    # Registered as generated code registers.
    for service, handlers in (
        ("schemaxis.v1.JobService", {"GetJob": echo}),
        ("schemaxis.v1.ResourceService", {"ReadResource": stream}),
    ):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        server.add_registered_method_handlers(service, handlers)
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    sys.stdout.write(json.dumps({"socket": socket}) + "\n")
    sys.stdout.flush()
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
