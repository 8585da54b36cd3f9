"""Criteria: what is accepted, how units convert, and how outcomes sum up."""

from __future__ import annotations

import math
from typing import Any

import pytest
from schemaxis_server.execution.criteria import check_criteria, evaluate
from schemaxis_server.execution.records import Criterion, CriterionOperator, Goal
from schemaxis_server.execution.units import factor_between
from schemaxis_server.faults import Fault

RESULT = {
    "outputs": {
        "body": {
            "volume": {"value": 1500.0000000000002, "unit": "mm^3"},
            "boundingBox": {"value": {"min": [0, 0, 0], "max": [20, 10, 7.5]}, "unit": "mm"},
            "solids": {"value": 1, "unit": ""},
            "valid": {"value": True, "unit": ""},
        }
    }
}
EQUALS, LEAST, MOST, BETWEEN, TRUE = CriterionOperator


def criterion(pointer: str, operator: CriterionOperator, value: Any = None, **more: Any) -> Criterion:
    return Criterion(pointer=f"/outputs/body/{pointer}", operator=operator, value=value, **more)


@pytest.mark.parametrize(
    ("one", "met"),
    [
        (criterion("volume", EQUALS, 1500), True),
        (criterion("volume/value", EQUALS, 1500), True),
        (criterion("volume", EQUALS, 1500.001), False),
        (criterion("volume", EQUALS, 1500.001, tolerance=0.01), True),
        (criterion("volume", EQUALS, 1.5, unit="cm^3"), True),
        (criterion("volume/value", EQUALS, 1.5, unit="cm^3"), True),
        (criterion("volume", EQUALS, 1.5e-6, unit="m^3", tolerance=0), False),
        (criterion("volume", EQUALS, 1.5, unit="mm"), None),
        (criterion("volume", LEAST, 1500), True),
        (criterion("volume", LEAST, 1501), False),
        (criterion("volume", MOST, 1500), True),
        (criterion("volume", BETWEEN, low=1499, high=1501), True),
        (criterion("volume", BETWEEN, low=0, high=1499), False),
        (criterion("volume", BETWEEN, low=1.4, high=1.6, unit="mL"), True),
        (criterion("boundingBox/value/max/2", EQUALS, 0.75, unit="cm"), True),
        (criterion("boundingBox/value/max/2", EQUALS, 7.5), True),
        (criterion("solids", EQUALS, 1), True),
        (criterion("solids", EQUALS, 1, unit="mm"), None),
        (criterion("valid", TRUE), True),
        (criterion("solids", TRUE), False),
        (criterion("valid", EQUALS, True), True),
        (criterion("valid", LEAST, 1), None),
        (criterion("nothing", EQUALS, 1), None),
    ],
)
def test_a_criterion_is_met_missed_or_undecided(one: Criterion, met: bool | None) -> None:
    (report,), goal = evaluate([one], RESULT)
    assert report.met is met
    assert goal is {True: Goal.MET, False: Goal.NOT_MET, None: Goal.UNKNOWN}[met]
    assert (met is None) == (report.reason != "" and one.operator is not TRUE)


def test_a_converted_value_is_reported_in_the_criterions_unit() -> None:
    (report,), _ = evaluate([criterion("volume", EQUALS, 1.5, unit="cm^3")], RESULT)
    assert report.unit == "cm^3"
    assert report.observed == pytest.approx(1.5, rel=1e-12)


def test_the_sum_is_met_only_if_all_are() -> None:
    good, bad, open_ = (
        criterion("volume", EQUALS, 1500),
        criterion("volume", EQUALS, 1),
        criterion("nothing", EQUALS, 1),
    )
    assert evaluate([], RESULT)[1] is Goal.UNKNOWN
    assert evaluate([good, good], RESULT)[1] is Goal.MET
    assert evaluate([good, open_], RESULT)[1] is Goal.UNKNOWN
    assert evaluate([good, open_, bad], RESULT)[1] is Goal.NOT_MET


@pytest.mark.parametrize(
    ("one", "field"),
    [
        (Criterion(pointer="outputs", operator=EQUALS, value=1), "pointer"),
        (Criterion(pointer="/a~2", operator=EQUALS, value=1), "pointer"),
        (Criterion(pointer="", operator=EQUALS), "value"),
        (Criterion(pointer="", operator=LEAST, value=True), "value"),
        (Criterion(pointer="", operator=LEAST, value="1"), "value"),
        (Criterion(pointer="", operator=BETWEEN, low=2, high=1), "low"),
        (Criterion(pointer="", operator=BETWEEN, low=math.nan, high=1), "low"),
        (Criterion(pointer="", operator=EQUALS, value=1, tolerance=-1), "tolerance"),
        (Criterion(pointer="", operator=EQUALS, value=1, tolerance=math.inf), "tolerance"),
        (Criterion(pointer="", operator=EQUALS, value=1, unit="furlong"), "unit"),
        (criterion("volume", LEAST, 1, low=float("nan")), "low"),
        (criterion("volume", EQUALS, 1, high=float("inf")), "high"),
    ],
)
def test_a_criterion_that_cannot_be_evaluated_is_refused_with_its_place(one: Criterion, field: str) -> None:
    with pytest.raises(Fault) as refused:
        check_criteria([one])
    assert refused.value.code == "INVALID_REQUEST"
    assert refused.value.record.pointer == f"/criteria/0/{field}"


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [
        ("mm", "mm", 1.0),
        ("in", "mm", 25.4),
        ("mm^2", "cm^2", 0.01),
        ("ft^3", "L", 28.316846592),
        ("deg", "rad", math.pi / 180),
        ("kHz", "Hz", 1000.0),
        ("mm", "mm^2", None),
        ("deg", "mm", None),
        ("mm^4", "mm^4", 1.0),
        ("mm^4", "cm^4", None),
    ],
)
def test_units_convert_within_their_dimension(source: str, target: str, factor: float | None) -> None:
    assert factor_between(source, target) == (None if factor is None else pytest.approx(factor, rel=1e-12))
