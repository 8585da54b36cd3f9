"""Criteria that no result can answer are told beforehand; what might be answered is let through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from schemaxis_server.execution.criteria import evaluate
from schemaxis_server.execution.reachable import check_reachable
from schemaxis_server.execution.records import Criterion, CriterionOperator
from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import Quantity
from schemaxis_server.providers.occt.provider import MANIFEST as OCCT

EQUALS, LEAST, MOST, BETWEEN, TRUE = CriterionOperator
OTHER = replace(
    OCCT,
    name="numeric",
    version="numeric/1",
    quantities=(Quantity("peaks", "", "Each peak."), Quantity("volume", "dB", "How loud.")),
)
UNTOLD = replace(OCCT, name="untold", version="untold/1", quantities=())


def equals(pointer: str, value: Any = 1, **more: Any) -> Criterion:
    return Criterion(pointer=pointer, operator=EQUALS, value=value, **more)


@pytest.mark.parametrize(
    ("pointer", "right"),
    [
        ("/outputs/b/volumen", "/outputs/b/volume"),
        ("/outputs/b/Volume/value", "/outputs/b/volume/value"),
        ("/outputs/b/boundingbox/value/max/2", "/outputs/b/boundingBox/value/max/2"),
        ("/outputs/b/boundingBox/max/2", "/outputs/b/boundingBox/value/max/2"),
        ("/outputs/b/centerOfMass/0", "/outputs/b/centerOfMass/value/0"),
        ("/output/b/volume", "/outputs/b/volume"),
        ("/result/outputs/b/volume", "/outputs/b/volume"),
        ("/b/volume", "/outputs/b/volume"),
        ("/volume", "/outputs/<id>/volume"),
        ("/outputs/b", "/outputs/b/volume"),
        ("/outputs", "/outputs/<id>/volume"),
        ("/outputs/b/colour", None),
        ("/outputs/b/volume/unit/0", None),
        ("/", None),
    ],
)
def test_a_pointer_to_what_no_result_has_is_refused_with_the_right_one(
    pointer: str, right: str | None
) -> None:
    with pytest.raises(Fault) as refused:
        check_reachable([equals("/outputs/b/volume"), equals(pointer)], [OCCT])
    fault = refused.value.record
    assert (fault.code, fault.pointer) == ("INVALID_REQUEST", "/criteria/1/pointer")
    assert fault.details.get("nearest") == right
    assert "/outputs/" in fault.message or "text" in fault.message


@pytest.mark.parametrize(
    "one",
    [
        equals("/outputs/b/volume"),
        equals("/outputs/b/volume/value"),
        equals("/outputs/b/volume/unit", "mm^3"),
        equals("/outputs/any id/boundingBox/value/whatever/deep"),
        equals("/outputs/b/solids/deeper/than/known"),
        equals("/outputs/b/solids/value/deeper", unit="mm"),
        equals("/outputs/b/volume", 1, unit="cm^3"),
        equals("/outputs/b/centerOfMass/value/0", 1, unit="in"),
        equals("/outputs/b", {"volume": 1}),
        equals("/warnings", []),
        equals("/engines/document/version", "7.8"),
    ],
)
def test_what_may_be_answered_is_let_through(one: Criterion) -> None:
    check_reachable([one], [OCCT])


def test_it_is_enough_that_one_allowed_provider_may_answer() -> None:
    check_reachable([equals("/outputs/b/peaks/0/width/value")], [OCCT, OTHER])
    check_reachable([equals("/outputs/b/volume", unit="L")], [OTHER, OCCT])
    check_reachable([equals("/outputs/b/anything")], [OCCT, UNTOLD])
    with pytest.raises(Fault):
        check_reachable([equals("/outputs/b/anything")], [OCCT, OTHER])


@pytest.mark.parametrize(("name", "unit", "known"), [("volume", "mm", "mm^3"), ("solids", "mm", None)])
def test_a_unit_that_never_converts_is_refused(name: str, unit: str, known: str | None) -> None:
    with pytest.raises(Fault) as refused:
        check_reachable([equals(f"/outputs/b/{name}", unit=unit)], [OCCT])
    assert refused.value.record.pointer == "/criteria/0/unit"
    assert refused.value.record.details.get("nearest") == known


def test_a_criterion_that_was_not_answered_tells_what_the_result_has() -> None:
    result = {"outputs": {"body": {"volume": {"value": 1, "unit": "mm^3"}}}}
    reasons = [
        report.reason
        for report in evaluate([equals("/outputs/bodi/volume"), equals("/outputs/body/area")], result)[0]
    ]
    assert [reason.partition("; ")[2] for reason in reasons] == [
        "/outputs has body",
        "/outputs/body has volume",
    ]


@pytest.mark.parametrize(
    ("pointer", "met"),
    [
        ("/outputs/b/volume", True),
        ("/outputs/b/volume/value", True),
        ("/outputs/b/field/value/peak/0", True),
        ("/outputs/b/field/value/inner", True),
        ("/outputs/b/field/value/inner/value", True),
        ("/outputs/b/field/unit", None),
    ],
)
def test_what_lies_inside_a_quantity_has_its_unit(pointer: str, met: bool | None) -> None:
    inner = {"value": 10, "unit": "mm"}
    field = {"value": {"peak": [1.0], "inner": inner}, "unit": "cm"}
    result = {"outputs": {"b": {"volume": {"value": 1, "unit": "cm"}, "field": field}}}
    (report,), _ = evaluate([equals(pointer, 10, unit="mm")], result)
    assert report.met is met


def test_an_integer_that_no_double_holds_is_no_number() -> None:
    (report,), _ = evaluate([equals("/n", 1, unit=None)], {"n": 10**400})
    assert report.met is None
