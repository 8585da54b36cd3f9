"""The gRPC server over an execution core."""

from __future__ import annotations

from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from schemaxis.v1 import (
    capability_pb2,
    capability_pb2_grpc,
    inspection_pb2,
    inspection_pb2_grpc,
    job_pb2,
    job_pb2_grpc,
    observation_pb2,
    observation_pb2_grpc,
    plan_pb2,
    plan_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
    task_pb2,
    task_pb2_grpc,
    workspace_pb2,
    workspace_pb2_grpc,
)

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.rpc.interceptor import FaultInterceptor
from schemaxis_server.rpc.reflection import add_reflection
from schemaxis_server.rpc.servicers.capability import CapabilityServicer
from schemaxis_server.rpc.servicers.evidence import InspectionServicer, ObservationServicer
from schemaxis_server.rpc.servicers.job import JobServicer
from schemaxis_server.rpc.servicers.plan import PlanServicer
from schemaxis_server.rpc.servicers.resource import ResourceServicer
from schemaxis_server.rpc.servicers.task import TaskServicer
from schemaxis_server.rpc.servicers.workspace import WorkspaceServicer

MAX_MESSAGE_BYTES = 4 * 1024 * 1024

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
)
_MODULES = (
    workspace_pb2,
    capability_pb2,
    task_pb2,
    plan_pb2,
    job_pb2,
    observation_pb2,
    resource_pb2,
    inspection_pb2,
)


class Server:
    """Serves a core on one address, with health and reflection."""

    def __init__(self, core: ExecutionCore) -> None:
        self._server = server = aio.server(interceptors=(FaultInterceptor(),), options=_OPTIONS)
        workspace_pb2_grpc.add_WorkspaceServiceServicer_to_server(WorkspaceServicer(core), server)
        capability_pb2_grpc.add_CapabilityServiceServicer_to_server(CapabilityServicer(core), server)
        task_pb2_grpc.add_TaskServiceServicer_to_server(TaskServicer(core), server)
        plan_pb2_grpc.add_PlanServiceServicer_to_server(PlanServicer(core), server)
        job_pb2_grpc.add_JobServiceServicer_to_server(JobServicer(core), server)
        observation_pb2_grpc.add_ObservationServiceServicer_to_server(ObservationServicer(core), server)
        resource_pb2_grpc.add_ResourceServiceServicer_to_server(ResourceServicer(core), server)
        inspection_pb2_grpc.add_InspectionServiceServicer_to_server(InspectionServicer(core), server)
        self._services = tuple(
            service.full_name
            for module in _MODULES
            for service in module.DESCRIPTOR.services_by_name.values()
        )
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        add_reflection(server, (*self._services, health.SERVICE_NAME))

    async def start(self, address: str) -> None:
        """Bind ``address`` (for instance ``unix:/run/x.sock``) and serve. Raises RuntimeError if it cannot."""
        if self._server.add_insecure_port(address) == 0:
            raise RuntimeError(f"cannot bind {address}")
        await self._server.start()
        for name in ("", *self._services):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    async def refuse(self) -> None:
        """Tell health watchers that the service is going, which also ends their streams."""
        await self._health.enter_graceful_shutdown()

    async def stop(self, grace_seconds: float) -> None:
        """Answer what is in flight for at most the grace, then close."""
        await self._server.stop(grace_seconds)
