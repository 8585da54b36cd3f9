"""The nouns of the execution core as frozen records.

They are stored as JSON and shown to agents in ``summary`` and the other sections under the
same lowerCamelCase names that the bridge writes, so one definition serves both.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """Base of all records: frozen, keyword-only, lowerCamelCase in JSON."""


def now() -> datetime:
    """The present instant, in UTC."""
    return datetime.now(UTC)


class JobState(StrEnum):
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
    def terminal(self) -> bool:
        return self in _TERMINAL


_TERMINAL = frozenset(
    {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.INTERRUPTED, JobState.INVALIDATED}
)


class Goal(StrEnum):
    MET = "met"
    NOT_MET = "not-met"
    UNKNOWN = "unknown"


class NativeState(StrEnum):
    NOT_STARTED = "not-started"
    RUNNING = "running"
    EXITED = "exited"
    KILLED = "killed"
    UNKNOWN = "unknown"


class CriterionOperator(StrEnum):
    EQUALS = "equals"
    AT_LEAST = "at-least"
    AT_MOST = "at-most"
    BETWEEN = "between"
    IS_TRUE = "is-true"


class ResourceState(StrEnum):
    AVAILABLE = "available"
    BLOCKED = "blocked"


class FaultView(Record, frozen=True):
    """A fault as it is kept in a job."""

    code: str
    message: str
    retryable: bool = False
    pointer: str = ""
    details: dict[str, Any] = {}


class Budget(Record, frozen=True):
    """What a task may use; seconds are seconds of execution."""

    max_attempts: int = 5
    max_repeated_failures: int = 2
    max_elapsed_seconds: float = 900.0
    max_attempt_seconds: float = 300.0


class Usage(Record, frozen=True):
    attempts: int = 0
    repeated_failures: int = 0
    elapsed_seconds: float = 0.0


class Criterion(Record, frozen=True, omit_defaults=True):
    """One condition over a result. ``value`` is any JSON; ``tolerance`` is absolute, in ``unit``."""

    pointer: str
    operator: CriterionOperator
    value: Any = None
    low: float | None = None
    high: float | None = None
    tolerance: float | None = None
    unit: str | None = None


class LatestFailure(Record, frozen=True):
    """The latest failure in a row: the plan's digest, the fault's code and how often."""

    digest: str
    code: str
    count: int


class Task(Record, frozen=True):
    """A task. ``failure`` is bookkeeping of REPEATED_FAILURE and no part of the surface."""

    task_id: str
    objective: str
    criteria: tuple[Criterion, ...]
    allowed_providers: tuple[str, ...]
    budget: Budget
    usage: Usage
    revision: int
    create_time: datetime
    current_plan_id: str | None = None
    failure: LatestFailure | None = None


class PlanProvider(Record, frozen=True):
    provider: str
    document_version: str
    engine: str
    engine_version: str


class PlanOperation(Record, frozen=True):
    """One operation of a plan's graph. ``after`` names the operations that must end before it."""

    operation_id: str
    provider: str
    nodes: tuple[str, ...]
    outputs: tuple[str, ...]
    after: tuple[str, ...] = ()


class Binding(Record, frozen=True):
    pointer: str
    resource_id: str
    kind: str
    sha256: str


class Plan(Record, frozen=True):
    """A captured plan in short. ``file_sha256`` is the digest of its immutable file."""

    plan_id: str
    task_id: str
    revision: int
    digest: str
    providers: tuple[PlanProvider, ...]
    operations: tuple[PlanOperation, ...]
    bindings: tuple[Binding, ...]
    create_time: datetime
    document_digest: str
    file_sha256: str


class PlanFile(Record, frozen=True):
    """What a plan's immutable file holds: the document as authored and as resolved."""

    plan_id: str
    task_id: str
    revision: int
    digest: str
    document: Any
    resolved: Any
    providers: tuple[PlanProvider, ...]
    operations: tuple[PlanOperation, ...]
    bindings: tuple[Binding, ...]


class Progress(Record, frozen=True):
    fraction: float = 0.0
    operation: str = ""


class Job(Record, frozen=True):
    """A job. Sizes are bounded: what it produced lies in sections and resources."""

    job_id: str
    plan_id: str
    task_id: str
    revision: int
    state: JobState
    create_time: datetime
    verified: bool = False
    goal: Goal = Goal.UNKNOWN
    native_state: NativeState = NativeState.NOT_STARTED
    progress: Progress = Progress()
    fault: FaultView | None = None
    resource_ids: tuple[str, ...] = ()
    last_sequence: int = 0
    start_time: datetime | None = None
    end_time: datetime | None = None


class Check(Record, frozen=True):
    """One check of a verification. ``expected`` and ``observed`` are any JSON."""

    name: str
    scope: str
    engine: str
    passed: bool
    expected: Any = None
    observed: Any = None
    tolerance: str | None = None


class Verification(Record, frozen=True):
    verified: bool
    checks: tuple[Check, ...]
    not_covered: tuple[str, ...]
    time: datetime


class Producer(Record, frozen=True, omit_defaults=True):
    job_id: str | None = None
    operation_id: str | None = None
    turn_id: str | None = None


class Receipt(Record, frozen=True):
    """``digest`` is BLAKE3 of the list of the BLAKE3 digests of the artifact's 256 KiB pieces."""

    receipt_id: str
    digest: str


class Resource(Record, frozen=True):
    resource_id: str
    producer: Producer
    document_digest: str
    name: str
    kind: str
    media_type: str
    size_bytes: int
    sha256: str
    receipt: Receipt
    units: str
    state: ResourceState
    create_time: datetime
    output: str = ""
    derived_from: str | None = None


class CriterionReport(Record, frozen=True):
    """How one criterion came out. ``met`` is None when it could not be held against the result."""

    criterion: Criterion
    met: bool | None
    observed: Any = None
    unit: str | None = None
    reason: str = ""
