"""What the running service is, has found and allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version

from schemaxis_server.documents import MAX_DEPTH, MAX_DOCUMENT_BYTES
from schemaxis_server.execution import observation, tasks
from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.execution.inspection import MAX_INSPECTED_BYTES
from schemaxis_server.execution.jobs import MAX_QUEUED
from schemaxis_server.execution.resources import MAX_RANGE_BYTES
from schemaxis_server.native.containment import HARDENING, Containment
from schemaxis_server.native.pool import HostStats
from schemaxis_server.providers.contract import Engine
from schemaxis_server.store.records import count

PROTOCOL = "schemaxis.agent/1"

_COUNTS = ("tasks", "plans", "jobs", "unfinished_jobs", "resources", "quarantined")


@dataclass(frozen=True, slots=True)
class ProviderEngine:
    provider: str
    document_version: str
    engine: Engine


@dataclass(frozen=True, slots=True)
class Limit:
    name: str
    value: int
    unit: str


@dataclass(frozen=True, slots=True)
class Status:
    """A snapshot of the service. ``problems`` is empty when all is well."""

    workspace_id: str
    server_version: str
    protocol: str
    start_time: datetime
    engines: tuple[ProviderEngine, ...]
    limits: tuple[Limit, ...]
    counts: Mapping[str, int]
    containment: Containment
    hosts: Mapping[str, HostStats]
    serving: bool
    missing_hardening: tuple[str, ...]
    problems: tuple[str, ...]


_LIMITS = (
    Limit("document", MAX_DOCUMENT_BYTES, "bytes"),
    Limit("documentDepth", MAX_DEPTH, "levels"),
    Limit("criteria", tasks.MAX_CRITERIA, "entries"),
    Limit("objective", tasks.MAX_OBJECTIVE_CHARACTERS, "characters"),
    Limit("unfinishedJobs", MAX_QUEUED, "entries"),
    Limit("observationMaxBytes", observation.MAX_MAX_BYTES, "bytes"),
    Limit("observationLimit", observation.MAX_LIMIT, "entries"),
    Limit("rangeLength", MAX_RANGE_BYTES, "bytes"),
    Limit("inspectedResource", MAX_INSPECTED_BYTES, "bytes"),
    Limit("elapsedSeconds", int(tasks.MAX_SECONDS), "seconds"),
)


async def status(core: ExecutionCore) -> Status:
    """The service as it is now."""
    reader = core.database.reader
    engines = tuple(
        ProviderEngine(provider.manifest.name, provider.manifest.version, core.engines.of(provider))
        for provider in core.registry.values()
    )
    counts = {name: count(reader, name) for name in _COUNTS}
    containment = await core.containment()
    return Status(
        workspace_id=core.database.workspace_id,
        server_version=version("schemaxis"),
        protocol=PROTOCOL,
        start_time=core.start_time,
        engines=engines,
        limits=_LIMITS,
        counts=counts,
        containment=containment,
        hosts=core.hosts.stats(),
        serving=core.jobs.accepting and not core.database.problem,
        missing_hardening=tuple(one for one in HARDENING if one not in containment.hardening),
        problems=tuple(_problems(core, engines, counts)),
    )


def _problems(
    core: ExecutionCore, engines: tuple[ProviderEngine, ...], counts: Mapping[str, int]
) -> list[str]:
    problems = [
        f"{one.engine.name} of provider {one.provider} is missing: install {one.engine.install}."
        for one in engines
        if not one.engine.available
    ]
    problems += [f"Provider {one.name} could not be loaded: {one.problem}." for one in core.registry.broken]
    if counts["quarantined"]:
        problems.append(
            f"{counts['quarantined']} damaged records were set aside; run `schemaxis doctor --deep`."
        )
    if core.database.problem:
        problems.append(core.database.problem)
    if not core.jobs.accepting:
        problems.append("The service is stopping.")
    return problems
