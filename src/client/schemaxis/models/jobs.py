"""Jobs, their faults and their verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from schemaxis.models.base import OpenEnum


class JobState(OpenEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    VERIFYING = "verifying"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLATION_REQUESTED = "cancellation-requested"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    INVALIDATED = "invalidated"

    @property
    def is_terminal(self) -> bool:
        """Whether the job has ended, well or not."""
        return self in _TERMINAL


_TERMINAL = frozenset(
    {
        JobState.SUCCEEDED,
        JobState.FAILED,
        JobState.CANCELLED,
        JobState.INTERRUPTED,
        JobState.INVALIDATED,
    }
)


class Goal(OpenEnum):
    """Whether the task's criteria hold; ``UNKNOWN`` without criteria or without a verified result."""

    MET = "met"
    NOT_MET = "not-met"
    UNKNOWN = "unknown"


class NativeState(OpenEnum):
    """What is known of a job's native processes."""

    NOT_STARTED = "not-started"
    RUNNING = "running"
    EXITED = "exited"
    KILLED = "killed"
    UNKNOWN = "unknown"


class EndReason(OpenEnum):
    """Why a watch ended."""

    TERMINAL = "terminal"
    TAIL = "tail"
    DRAINING = "draining"


@dataclass(frozen=True, slots=True)
class Fault:
    """A refusal or a failure: what is wrong and what to do. ``pointer`` is empty when it has no place."""

    code: str
    message: str
    retryable: bool = False
    pointer: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: a fraction from 0 to 1 and what is being worked on."""

    fraction: float
    operation: str


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as the service last told it; small, however much the job produced."""

    job_id: str
    plan_id: str
    task_id: str
    revision: int
    state: JobState
    verified: bool
    goal: Goal
    native_state: NativeState
    progress: Progress
    fault: Fault | None
    resource_ids: tuple[str, ...]
    last_sequence: int
    create_time: datetime
    start_time: datetime | None
    end_time: datetime | None


@dataclass(frozen=True, slots=True)
class Check:
    """One independent check: what, how far it reaches, by which engine, and what was seen.

    ``expected`` and ``observed`` are JSON values, ``None`` where the check has none.
    """

    name: str
    scope: str
    engine: str
    passed: bool
    expected: Any = None
    observed: Any = None
    tolerance: str | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """What a fresh verification found, and in ``not_covered`` what no check can say."""

    verified: bool
    checks: tuple[Check, ...]
    not_covered: tuple[str, ...]
    time: datetime
