"""Calc behind the real service: tables handed from one engine to the other, files that only Calc makes."""

from __future__ import annotations

from typing import Any

import pytest
from providers.engines import needs
from schemaxis.v1 import job_pb2, plan_pb2, resource_pb2
from schemaxis_server.providers.calc.provider import PROVIDER

from service.program import Program

pytestmark = needs(PROVIDER)


def priced(version: str) -> dict[str, Any]:
    rows = [[1, 2.5], [2, 4], [3, 1.25]]
    return {
        "version": version,
        "nodes": [
            {"id": "data", "filter": "cells", "options": {"columns": ["units", "price"], "rows": rows}},
            {
                "id": "bill",
                "filter": "formulaColumn",
                "options": {"column": "amount", "formula": "=[@units]*[@price]/3"},
                "inputs": ["data"],
            },
        ],
        "output": "bill",
    }


def totalled(version: str) -> dict[str, Any]:
    values = [{"name": "total", "function": "sum", "column": "amount"}]
    return {
        "version": version,
        "nodes": [
            {"id": "data", "filter": "readCSV", "options": {"file": None}},
            {"id": "total", "filter": "aggregate", "options": {"values": values}, "inputs": ["data"]},
        ],
        "output": "total",
    }


def succeeded(program: Program, plan: plan_pb2.Plan) -> job_pb2.Job:
    job = program.ended(program.execute(plan).job_id)
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED, job.fault
    assert job.verified
    return job


def published(program: Program, job: job_pb2.Job) -> dict[str, resource_pb2.Resource]:
    request = resource_pb2.ListResourcesRequest(job_id=job.job_id)
    return {one.kind: one for one in program.call(program.resources.ListResources, request).resources}


@pytest.mark.parametrize(("first", "second"), [("calc", "sheet"), ("sheet", "calc")])
def test_a_table_of_one_engine_is_the_other_one_s_input(program: Program, first: str, second: str) -> None:
    task = program.task(first, second)
    made = succeeded(program, program.plan(task.task_id, priced(f"schemaxis.{first}/1")))
    files = published(program, made)
    assert {"table/csv", "table/xlsx"} <= set(files)
    assert ({"table/ods", "document/pdf"} <= set(files)) is (first == "calc")
    if first == "calc":
        assert program.read(files["document/pdf"].resource_id).startswith(b"%PDF-")
    bindings = {"/nodes/0/options/file": files["table/csv"].resource_id}
    asked = totalled(f"schemaxis.{second}/1")
    total = succeeded(program, program.plan(task.task_id, asked, revision=1, bindings=bindings))
    values = program.observe(total.job_id, "result", "/outputs/total/values/value")
    assert abs(values["total"] - 14.25 / 3) < 1e-12
