"""Tasks, their budgets and their criteria."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schemaxis.models.base import OpenEnum


class CriterionOperator(OpenEnum):
    """How a criterion compares the observed value."""

    EQUALS = "equals"
    AT_LEAST = "at-least"
    AT_MOST = "at-most"
    BETWEEN = "between"
    IS_TRUE = "is-true"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a task may use; fixed when it is created. ``None`` in a request is the service's default.

    ``max_attempts`` and ``max_repeated_failures`` are 1 to 100; the two times are seconds, above 0
    and at most 86,400. In a task's record all four are set.
    """

    max_attempts: int | None = None
    max_repeated_failures: int | None = None
    max_elapsed_seconds: float | None = None
    max_attempt_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a task has used: attempts, failures repeated in a row, and seconds of execution."""

    attempts: int
    repeated_failures: int
    elapsed_seconds: float


@dataclass(frozen=True, slots=True)
class Criterion:
    """One condition over a verified result.

    ``pointer`` (RFC 6901) names the value in the result, for instance ``/outputs/body/volume``.
    ``tolerance`` is absolute, in ``unit``; without one it is a billionth of the value. ``unit`` is the
    unit of all the numbers here; without one it is the result's.
    """

    pointer: str
    operator: CriterionOperator
    value: Any = None
    low: float | None = None
    high: float | None = None
    tolerance: float | None = None
    unit: str | None = None

    @classmethod
    def equals(
        cls, pointer: str, value: Any, *, tolerance: float | None = None, unit: str | None = None
    ) -> Criterion:
        """The value at ``pointer`` equals ``value``, any JSON; numbers within ``tolerance``."""
        return cls(pointer, CriterionOperator.EQUALS, value, tolerance=tolerance, unit=unit)

    @classmethod
    def at_least(
        cls, pointer: str, value: float, *, tolerance: float | None = None, unit: str | None = None
    ) -> Criterion:
        """The number at ``pointer`` is at least ``value``, less ``tolerance``."""
        return cls(pointer, CriterionOperator.AT_LEAST, value, tolerance=tolerance, unit=unit)

    @classmethod
    def at_most(
        cls, pointer: str, value: float, *, tolerance: float | None = None, unit: str | None = None
    ) -> Criterion:
        """The number at ``pointer`` is at most ``value``, plus ``tolerance``."""
        return cls(pointer, CriterionOperator.AT_MOST, value, tolerance=tolerance, unit=unit)

    @classmethod
    def between(
        cls,
        pointer: str,
        low: float,
        high: float,
        *,
        tolerance: float | None = None,
        unit: str | None = None,
    ) -> Criterion:
        """The number at ``pointer`` lies from ``low`` to ``high``, both widened by ``tolerance``."""
        return cls(pointer, CriterionOperator.BETWEEN, low=low, high=high, tolerance=tolerance, unit=unit)

    @classmethod
    def is_true(cls, pointer: str) -> Criterion:
        """The value at ``pointer`` is the boolean true."""
        return cls(pointer, CriterionOperator.IS_TRUE)


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task as the service last told it."""

    task_id: str
    objective: str
    criteria: tuple[Criterion, ...]
    allowed_providers: tuple[str, ...]
    budget: Budget
    usage: Usage
    revision: int
    current_plan_id: str | None
    create_time: datetime
