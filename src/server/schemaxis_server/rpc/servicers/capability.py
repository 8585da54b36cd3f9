"""CapabilityService."""

from __future__ import annotations

from typing import Any

from schemaxis.v1 import capability_pb2 as pb
from schemaxis.v1.capability_pb2_grpc import CapabilityServiceServicer

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.rpc.codecs import capability as codec
from schemaxis_server.rpc.codecs.common import json_text


class CapabilityServicer(CapabilityServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._capabilities = core.capabilities
        self._engines = core.engines

    async def BrowseCapabilities(
        self, request: pb.BrowseCapabilitiesRequest, context: Any
    ) -> pb.BrowseCapabilitiesResponse:
        return codec.level_message(self._capabilities.browse(request.scope))

    async def SearchCapabilities(
        self, request: pb.SearchCapabilitiesRequest, context: Any
    ) -> pb.SearchCapabilitiesResponse:
        matches, total = self._capabilities.search(request.query, request.scope, request.limit)
        return pb.SearchCapabilitiesResponse(
            matches=[codec.match_message(match) for match in matches],
            total=total,
            advice=None if matches else self._capabilities.advice(request.query, request.scope),
        )

    async def DescribeCapability(
        self, request: pb.DescribeCapabilityRequest, context: Any
    ) -> pb.DescribeCapabilityResponse:
        capability = self._capabilities.get(request.capability)
        engine = self._engines.of(capability.provider)
        return pb.DescribeCapabilityResponse(description=codec.description_message(capability, engine))

    async def GetCapabilitySchema(
        self, request: pb.GetCapabilitySchemaRequest, context: Any
    ) -> pb.GetCapabilitySchemaResponse:
        found = self._capabilities.schema(
            request.capability if request.HasField("capability") else None,
            request.version if request.HasField("version") else None,
        )
        return pb.GetCapabilitySchemaResponse(version=found.version, schema_json=json_text(found.schema))
