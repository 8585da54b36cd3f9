"""What a document is told: all that is wrong with it at once, also when its version is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from schemaxis.v1 import job_pb2, plan_pb2, task_pb2

from service.program import Program, Refused, box, stub


def refused_plan(program: Program, task_id: str, text: str) -> Refused:
    request = plan_pb2.CreatePlanRequest(task_id=task_id, document_json=text, expected_revision=0)
    with pytest.raises(Refused) as caught:
        program.call(program.plans.CreatePlan, request)
    assert caught.value.code == "INVALID_DOCUMENT"
    return caught.value


def pointers(refused: Refused) -> list[str]:
    assert refused.details["total"] == len(refused.details["problems"])
    return [problem["pointer"] for problem in refused.details["problems"]]


@pytest.mark.parametrize("text", ["[]", '"text"', "null", "17", "true"])
def test_what_is_no_object_is_told_as_that(shared: Program, text: str) -> None:
    refused = refused_plan(shared, shared.task().task_id, text)
    assert pointers(refused) == [""]
    assert "object" in refused.details["problems"][0]["expected"]
    assert "version" not in refused.fault.message


def test_a_missing_version_does_not_hide_the_rest_when_one_provider_is_allowed(shared: Program) -> None:
    document = {"nodes": [{"id": "n", "filter": "atc"}], "output": "m"}
    refused = refused_plan(shared, shared.task("stub").task_id, json.dumps(document))
    assert pointers(refused) == ["/version", "/nodes/0/filter", "/output"]
    assert refused.details["problems"][0]["expected"] == "one of schemaxis.stub/1"


def test_a_wrong_version_does_not_hide_the_rest_when_one_is_near(shared: Program) -> None:
    document = {"version": "schemaxis.stub/2", "nodes": [{"id": "n", "filter": "atc"}], "output": "m"}
    refused = refused_plan(shared, shared.task().task_id, json.dumps(document))
    assert pointers(refused) == ["/version", "/nodes/0/filter", "/output"]
    assert refused.details["problems"][0]["nearest"] == "schemaxis.stub/1"
    assert "schemaxis.stub/1" in refused.fault.message


@pytest.mark.parametrize("version", [{}, {"version": 7}, {"version": "v"}])
def test_without_a_hint_only_the_version_is_told(shared: Program, version: dict[str, Any]) -> None:
    refused = refused_plan(shared, shared.task("occt", "stub").task_id, json.dumps(version))
    assert pointers(refused) == ["/version"]
    assert refused.details["problems"][0]["expected"] == "one of schemaxis.occt/1, schemaxis.stub/1"


def criterion(pointer: str, **fields: Any) -> task_pb2.Criterion:
    return task_pb2.Criterion(
        pointer=pointer, operator=task_pb2.CRITERION_OPERATOR_EQUALS, value_json="1000", **fields
    )


def test_criteria_that_no_result_can_answer_are_told_before_anything_runs(shared: Program) -> None:
    for fields in ({"pointer": "/outputs/body/volumen"}, {"pointer": "/outputs/body/volume", "unit": "mm"}):
        with pytest.raises(Refused) as caught:
            shared.task("occt", criteria=[criterion(**fields)])
        assert caught.value.code == "INVALID_REQUEST"
        assert caught.value.details["nearest"] in ("/outputs/body/volume", "mm^3")


def test_a_step_on_the_way_to_what_the_criteria_name_leaves_the_goal_unknown(shared: Program) -> None:
    task = shared.task("occt", "stub", criteria=[criterion("/outputs/body/volume")])
    step = shared.ended(shared.execute(shared.plan(task.task_id, stub())).job_id)
    assert step.goal == job_pb2.GOAL_UNKNOWN
    (report,) = shared.observe(step.job_id, "criteria")
    assert report["reason"].endswith("/outputs has n")
    last = shared.ended(shared.execute(shared.plan(task.task_id, box(), revision=1)).job_id)
    assert last.goal == job_pb2.GOAL_MET


@pytest.mark.parametrize("pointer", ["/outputs/body/volume", "/outputs/body/volume/value"])
def test_both_pointers_of_a_quantity_are_judged(shared: Program, pointer: str) -> None:
    task = shared.task("occt", criteria=[criterion(pointer)])
    job = shared.ended(shared.execute(shared.plan(task.task_id, box())).job_id)
    (report,) = shared.observe(job.job_id, "criteria")
    assert (report["met"], report["unit"]) == (True, "mm^3")
    assert report["observed"] == pytest.approx(1000, rel=1e-12)


def test_every_file_option_that_nothing_is_bound_to_is_told(shared: Program) -> None:
    nodes = [{"id": name, "filter": "read", "options": {"file": None}} for name in ("a", "b")]
    document = {"version": "schemaxis.stub/1", "nodes": nodes, "output": "a"}
    refused = refused_plan(shared, shared.task().task_id, json.dumps(document))
    assert pointers(refused) == ["/nodes/0/options/file", "/nodes/1/options/file"]
    assert refused.details["problems"][0]["expected"] == "a data/json resource"
