"""The workspace between model and message."""

from __future__ import annotations

from schemaxis._codec.common import time
from schemaxis.models import Counts, EngineStatus, Health, HostStatus, Limit, Sandbox, WorkspaceRecord
from schemaxis.v1 import workspace_pb2


def workspace_record(message: workspace_pb2.Workspace) -> WorkspaceRecord:
    counts, sandbox, health = message.counts, message.sandbox, message.health
    return WorkspaceRecord(
        workspace_id=message.workspace_id,
        server_version=message.server_version,
        protocol=message.protocol,
        start_time=time(message.start_time),
        engines=tuple(_engine(item) for item in message.engines),
        limits=tuple(Limit(item.name, item.value, item.unit) for item in message.limits),
        counts=Counts(
            tasks=counts.tasks,
            plans=counts.plans,
            jobs=counts.jobs,
            unfinished_jobs=counts.unfinished_jobs,
            resources=counts.resources,
            quarantined=counts.quarantined,
        ),
        sandbox=Sandbox(sandbox.level, tuple(sandbox.reached), tuple(sandbox.missing)),
        health=Health(health.serving, tuple(health.problems)),
        hosts=tuple(
            HostStatus(item.name, item.state, item.rss_bytes, item.starts, item.runs)
            for item in message.hosts
        ),
    )


def _engine(message: workspace_pb2.EngineStatus) -> EngineStatus:
    return EngineStatus(
        provider=message.provider,
        document_version=message.document_version,
        engine=message.engine,
        engine_version=message.engine_version,
        available=message.available,
        problem=message.problem if message.HasField("problem") else None,
        install=message.install if message.HasField("install") else None,
    )
