"""ResourceService."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from schemaxis.v1 import resource_pb2 as pb
from schemaxis.v1.resource_pb2_grpc import ResourceServiceServicer

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.execution.records import Resource
from schemaxis_server.rpc.codecs import evidence as codec


class ResourceServicer(ResourceServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._resources = core.resources

    async def GetResource(self, request: pb.GetResourceRequest, context: Any) -> pb.GetResourceResponse:
        resource = self._resources.get(request.resource_id)
        return pb.GetResourceResponse(resource=codec.resource_message(resource))

    async def ListResources(self, request: pb.ListResourcesRequest, context: Any) -> pb.ListResourcesResponse:
        job_id = request.job_id if request.HasField("job_id") else None
        page = await self._resources.list(job_id, request.page_token, request.page_size)
        return pb.ListResourcesResponse(
            resources=[codec.resource_message(resource) for resource in page.records],
            next_page_token=page.next_token,
        )

    async def ReadResource(
        self, request: pb.ReadResourceRequest, context: Any
    ) -> AsyncIterator[pb.ReadResourceResponse]:
        length = request.length if request.HasField("length") else None
        resource, chunks = await self._resources.read(
            request.resource_id, request.offset, length, request.chunk_bytes
        )
        shown: Resource | None = resource
        async with aclosing(chunks):
            async for chunk in chunks:
                # The interceptor passes encoded frames through.
                frame = codec.encode_chunk(shown, chunk.offset, chunk.data, chunk.last)
                yield cast("pb.ReadResourceResponse", frame)
                shown = None

    async def ReadResourceRange(
        self, request: pb.ReadResourceRangeRequest, context: Any
    ) -> pb.ReadResourceRangeResponse:
        part = await self._resources.read_range(request.resource_id, request.offset, request.length)
        return pb.ReadResourceRangeResponse(range=codec.range_message(part))
