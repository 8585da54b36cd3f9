"""Criteria: whether a verified result is what the user wanted.

They are fixed with the task, held against the result after verification, and never change
whether a job is verified.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

from schemaxis_server.execution.pointers import join, resolve, tokens
from schemaxis_server.execution.records import Criterion, CriterionOperator, CriterionReport, Goal
from schemaxis_server.execution.units import factor_between, unit_of
from schemaxis_server.faults import Fault

DEFAULT_RELATIVE_TOLERANCE = 1e-9
_NAMES_SHOWN = 20

_MAX = sys.float_info.max
_WITH_NUMBER = frozenset({CriterionOperator.AT_LEAST, CriterionOperator.AT_MOST})


def check_criteria(criteria: Iterable[Criterion]) -> None:
    """Raise ``INVALID_REQUEST`` with the place of the first criterion that cannot be evaluated."""
    for index, criterion in enumerate(criteria):
        problem = _problem(criterion)
        if problem:
            field, text = problem
            raise Fault("INVALID_REQUEST", text, f"/criteria/{index}/{field}")


def _problem(criterion: Criterion) -> tuple[str, str] | None:
    try:
        tokens(criterion.pointer)
    except ValueError as error:
        return "pointer", f"The pointer is wrong: {error}."
    if criterion.unit is not None and unit_of(criterion.unit) is None:
        return (
            "unit",
            f"The unit {criterion.unit[:32]!r} is not known; write for instance mm, mm^3, deg or Hz.",
        )
    if criterion.tolerance is not None and not (
        math.isfinite(criterion.tolerance) and criterion.tolerance >= 0
    ):
        return "tolerance", "tolerance must be a finite number, 0 or more."
    for name, bound in (("low", criterion.low), ("high", criterion.high)):
        if bound is not None and not math.isfinite(bound):
            return name, f"{name} must be a finite number."
    operator = criterion.operator
    if operator in _WITH_NUMBER and not _is_number(criterion.value):
        return "value", f"{operator} needs a number in value."
    if operator is CriterionOperator.EQUALS and criterion.value is None:
        return "value", "equals needs a value."
    if operator is CriterionOperator.BETWEEN:
        low, high = criterion.low, criterion.high
        if low is None or high is None or low > high:
            return "low", "between needs finite low and high, low not above high."
    return None


def evaluate(criteria: Iterable[Criterion], result: Any) -> tuple[tuple[CriterionReport, ...], Goal]:
    """Hold criteria against a verified result.

    Returns a report on each and the sum: met if all are, not-met if one is not, unknown if
    there are none or one could not be held against the result.
    """
    reports = tuple(_evaluate(criterion, result) for criterion in criteria)
    outcomes = [report.met for report in reports]
    if not outcomes:
        return reports, Goal.UNKNOWN
    if False in outcomes:
        return reports, Goal.NOT_MET
    return reports, Goal.UNKNOWN if None in outcomes else Goal.MET


def _evaluate(criterion: Criterion, result: Any) -> CriterionReport:
    try:
        observed, unit = _observed(result, criterion.pointer)
    except KeyError:
        return CriterionReport(
            criterion=criterion, met=None, reason=_nothing_there(criterion.pointer, result)
        )
    factor = 1.0
    if criterion.unit is not None:
        converted = factor_between(unit, criterion.unit) if unit else None
        if converted is None:
            reason = f"the observed unit {unit!r} does not convert to {criterion.unit!r}"
            return CriterionReport(criterion=criterion, met=None, observed=observed, unit=unit, reason=reason)
        factor = converted
        if _is_number(observed):
            observed, unit = observed * factor, criterion.unit
    met, reason = _compare(criterion, observed)
    return CriterionReport(criterion=criterion, met=met, observed=observed, unit=unit, reason=reason)


def _observed(result: Any, pointer: str) -> tuple[Any, str | None]:
    value = resolve(result, pointer)
    if isinstance(value, dict) and "value" in value:
        return value["value"], _text(value.get("unit"))
    around, unit = result, None
    for token in tokens(pointer):
        # What lies inside a measured quantity has the unit that stands beside `value`.
        if token == "value" and isinstance(around, dict):
            unit = _text(around.get("unit")) or unit
        around = resolve(around, join("", token))
    return value, unit


def _nothing_there(pointer: str, result: Any) -> str:
    """Where the pointer leaves the result, and what there is instead."""
    place = ""
    for token in tokens(pointer):
        try:
            resolve(result, join(place, token))
        except KeyError:
            break
        place = join(place, token)
    found = resolve(result, place)
    names = [str(name)[:64] for name in found][:_NAMES_SHOWN] if isinstance(found, dict) else []
    there = f"; {place or 'its root'} has {', '.join(names)}" if names else ""
    return f"the result has nothing at this pointer{there}"


def _text(unit: Any) -> str | None:
    return unit if isinstance(unit, str) else None


def _compare(criterion: Criterion, observed: Any) -> tuple[bool | None, str]:
    operator = criterion.operator
    if operator is CriterionOperator.IS_TRUE:
        return observed is True, "" if isinstance(observed, bool) else "the observed value is not a boolean"
    if operator is CriterionOperator.EQUALS and not _is_number(criterion.value):
        return observed == criterion.value and type(observed) is type(criterion.value), ""
    if not _is_number(observed):
        return None, "the observed value is not a finite number"
    if operator is CriterionOperator.BETWEEN:
        low, high = float(criterion.low or 0.0), float(criterion.high or 0.0)
        return low - _tolerance(criterion, low) <= observed <= high + _tolerance(criterion, high), ""
    wanted = criterion.value
    tolerance = _tolerance(criterion, wanted)
    if operator is CriterionOperator.EQUALS:
        return abs(observed - wanted) <= tolerance, ""
    if operator is CriterionOperator.AT_LEAST:
        return observed >= wanted - tolerance, ""
    return observed <= wanted + tolerance, ""


def _tolerance(criterion: Criterion, wanted: float) -> float:
    if criterion.tolerance is not None:
        return criterion.tolerance
    return DEFAULT_RELATIVE_TOLERANCE * max(1.0, abs(wanted))


def _is_number(value: Any) -> bool:
    # Written so that NaN fails, and an integer that no double holds is compared, not converted.
    return isinstance(value, int | float) and not isinstance(value, bool) and -_MAX <= value <= _MAX
