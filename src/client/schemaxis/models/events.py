"""The numbered events of a job, one class a kind, made for ``match``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemaxis.models.jobs import Check, Fault, Goal, JobState, Progress


@dataclass(frozen=True, slots=True)
class JobEvent:
    """What every event has: its number, dense from 1 within the job, and when it was committed."""

    sequence: int
    time: datetime


@dataclass(frozen=True, slots=True)
class StateChanged(JobEvent):
    """The job moved to another state that is not terminal."""

    state: JobState


@dataclass(frozen=True, slots=True)
class Progressed(JobEvent):
    """The job got further."""

    progress: Progress


@dataclass(frozen=True, slots=True)
class LogWritten(JobEvent):
    """The engine or the verifier wrote lines to ``stream`` (stdout or stderr).

    ``truncated`` says that lines after these were dropped.
    """

    stream: str
    lines: tuple[str, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class ResourcePublished(JobEvent):
    """A verified publication became a readable resource, in the same commit in which its job succeeded."""

    resource_id: str
    name: str
    kind: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Checked(JobEvent):
    """A check of the verification was made."""

    check: Check


@dataclass(frozen=True, slots=True)
class Ended(JobEvent):
    """The job reached its terminal state."""

    state: JobState
    verified: bool
    goal: Goal
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class Invalidated(JobEvent):
    """The job had succeeded and lost its standing."""

    fault: Fault
