"""ObservationService and InspectionService: bounded looks at evidence."""

from __future__ import annotations

from typing import Any

from schemaxis.v1 import inspection_pb2, observation_pb2
from schemaxis.v1.inspection_pb2_grpc import InspectionServiceServicer
from schemaxis.v1.observation_pb2_grpc import ObservationServiceServicer

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.execution.observation import Window
from schemaxis_server.rpc.codecs.evidence import observation_message


def _window(request: observation_pb2.ObserveRequest | inspection_pb2.InspectResourceRequest) -> Window:
    return Window(
        pointer=request.pointer,
        offset=request.offset,
        limit=request.limit,
        max_bytes=request.max_bytes,
        revision=request.revision if request.HasField("revision") else None,
    )


class ObservationServicer(ObservationServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._evidence = core.evidence

    async def Observe(
        self, request: observation_pb2.ObserveRequest, context: Any
    ) -> observation_pb2.ObserveResponse:
        observation = await self._evidence.observe(
            request.section,
            _window(request),
            job_id=request.job_id if request.HasField("job_id") else None,
            plan_id=request.plan_id if request.HasField("plan_id") else None,
        )
        return observation_pb2.ObserveResponse(observation=observation_message(observation))


class InspectionServicer(InspectionServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._inspection = core.inspection

    async def InspectResource(
        self, request: inspection_pb2.InspectResourceRequest, context: Any
    ) -> inspection_pb2.InspectResourceResponse:
        observation = await self._inspection.inspect(request.resource_id, _window(request))
        return inspection_pb2.InspectResourceResponse(observation=observation_message(observation))
