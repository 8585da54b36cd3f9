"""WorkspaceService."""

from __future__ import annotations

from typing import Any

from schemaxis.v1 import workspace_pb2 as pb
from schemaxis.v1.workspace_pb2_grpc import WorkspaceServiceServicer

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.execution.status import Status, status
from schemaxis_server.rpc.codecs.common import timestamp


class WorkspaceServicer(WorkspaceServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._core = core

    async def GetWorkspace(self, request: pb.GetWorkspaceRequest, context: Any) -> pb.GetWorkspaceResponse:
        return pb.GetWorkspaceResponse(workspace=_message(await status(self._core)))


def _message(status: Status) -> pb.Workspace:
    return pb.Workspace(
        workspace_id=status.workspace_id,
        server_version=status.server_version,
        protocol=status.protocol,
        start_time=timestamp(status.start_time),
        engines=[
            pb.EngineStatus(
                provider=one.provider,
                document_version=one.document_version,
                engine=one.engine.name,
                engine_version=one.engine.version,
                available=one.engine.available,
                problem=None if one.engine.available else one.engine.problem,
                install=None if one.engine.available else one.engine.install,
            )
            for one in status.engines
        ],
        limits=[pb.Limit(name=one.name, value=one.value, unit=one.unit) for one in status.limits],
        counts=pb.Counts(**status.counts),
        sandbox=pb.Sandbox(
            level=status.containment.level,
            reached=status.containment.hardening,
            missing=status.missing_hardening,
        ),
        health=pb.Health(serving=status.serving, problems=status.problems),
        hosts=[
            pb.HostStatus(
                name=name, state=one.state, rss_bytes=one.rss_bytes, starts=one.starts, runs=one.jobs
            )
            for name, one in status.hosts.items()
        ],
    )
