"""Numerics behind the real service: a verified CSV of one job is the bound input of the next."""

from __future__ import annotations

import csv
import io
from typing import Any

from schemaxis.v1 import job_pb2, plan_pb2, resource_pb2

from service.program import Program

VERSION = "schemaxis.numpy/1"
SIGNAL: dict[str, Any] = {
    "version": VERSION,
    "nodes": [
        {"id": "time", "filter": "linspace", "options": {"start": 0, "stop": 1023 / 1024, "count": 1024}},
        {
            "id": "signal",
            "filter": "expression",
            "options": {"expression": "2*sin(2*pi*50*x) + 0.5*sin(2*pi*120*x)"},
            "inputs": ["time"],
        },
    ],
    "output": "signal",
}
SPECTRUM: dict[str, Any] = {
    "version": VERSION,
    "nodes": [
        {"id": "data", "filter": "readCSV", "options": {"file": None, "xColumn": "x", "yColumn": "y"}},
        {"id": "spectrum", "filter": "spectrum", "inputs": ["data"]},
    ],
    "outputs": ["spectrum"],
}


def published(program: Program, job: job_pb2.Job) -> dict[str, resource_pb2.Resource]:
    listed = program.call(
        program.resources.ListResources, resource_pb2.ListResourcesRequest(job_id=job.job_id)
    )
    return {resource.kind: resource for resource in listed.resources}


def succeeded(program: Program, plan: plan_pb2.Plan) -> job_pb2.Job:
    job = program.ended(program.execute(plan).job_id)
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED, job.fault
    assert job.verified
    return job


def test_one_job_s_series_is_the_next_one_s_input(program: Program) -> None:
    task = program.task("numpy")
    first = succeeded(program, program.plan(task.task_id, SIGNAL))
    files = published(program, first)
    assert {"series/csv", "data/json", "picture/png", "picture/svg"} == set(files)
    assert files["picture/png"].derived_from == files["series/csv"].resource_id
    rows = list(csv.reader(io.StringIO(program.read(files["series/csv"].resource_id).decode())))
    assert rows[0] == ["x", "y"]
    assert len(rows) == 1025

    bindings = {"/nodes/0/options/file": files["series/csv"].resource_id}
    plan = program.plan(task.task_id, SPECTRUM, revision=1, bindings=bindings)
    second = succeeded(program, plan)
    result = program.observe(second.job_id, "result", "/outputs/spectrum")
    assert abs(result["peakX"]["value"] - 50) < 1e-9
    assert abs(result["peakY"]["value"] - 2) < 1e-9
    checks = program.observe(second.job_id, "verification", "/checks")
    assert any("spectrum" in check["name"] for check in checks)


def test_a_refused_input_names_its_place(program: Program) -> None:
    nodes = [
        {"id": "u", "filter": "solveLinear", "options": {"matrix": [[1, 2], [2, 4]], "rightHandSide": [1, 2]}}
    ]
    plan = program.plan(program.task("numpy").task_id, {"version": VERSION, "nodes": nodes, "output": "u"})
    job = program.ended(program.execute(plan).job_id)
    assert job.state == job_pb2.JOB_STATE_FAILED
    assert (job.fault.code, job.fault.pointer) == ("UNSUPPORTED_INPUT", "/nodes/0/options/matrix")
