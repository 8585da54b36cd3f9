"""The workspace and the service that owns it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """An engine that a provider needs; when it is not available, why, and what to install."""

    provider: str
    document_version: str
    engine: str
    engine_version: str
    available: bool
    problem: str | None
    install: str | None


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of the surface; ``unit`` is bytes, characters, entries, levels or seconds."""

    name: str
    value: int
    unit: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the workspace holds, and how many records were set aside as damaged."""

    tasks: int
    plans: int
    jobs: int
    unfinished_jobs: int
    resources: int
    quarantined: int


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How native processes are contained: the level, and what hardening is and is not in force."""

    level: str
    reached: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether new work is taken, and what is wrong, one sentence each."""

    serving: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostStatus:
    """A host that the service keeps warm: its state, resident bytes, starts and runs served."""

    name: str
    state: str
    rss_bytes: int
    starts: int
    runs: int


@dataclass(frozen=True, slots=True)
class WorkspaceRecord:
    """The workspace as it is now."""

    workspace_id: str
    server_version: str
    protocol: str
    start_time: datetime
    engines: tuple[EngineStatus, ...]
    limits: tuple[Limit, ...]
    counts: Counts
    sandbox: Sandbox
    health: Health
    hosts: tuple[HostStatus, ...]
