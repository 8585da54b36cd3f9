"""What happens to a job, as the numbered events of its log.

``rpc`` encodes them once, when they are committed.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemaxis_server.execution.records import Check, FaultView, Goal, JobState


@dataclass(frozen=True, slots=True)
class StateChanged:
    state: JobState


@dataclass(frozen=True, slots=True)
class ProgressMade:
    fraction: float
    operation: str


@dataclass(frozen=True, slots=True)
class LogWritten:
    """Lines of ``stdout`` or ``stderr``; ``truncated`` says that later ones were dropped."""

    stream: str
    lines: tuple[str, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ResourcePublished:
    resource_id: str
    name: str
    kind: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CheckMade:
    check: Check


@dataclass(frozen=True, slots=True)
class Terminal:
    state: JobState
    verified: bool
    goal: Goal
    fault: FaultView | None


@dataclass(frozen=True, slots=True)
class Invalidated:
    fault: FaultView


JobEvent = StateChanged | ProgressMade | LogWritten | ResourcePublished | CheckMade | Terminal | Invalidated
