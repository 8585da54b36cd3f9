"""FreeCAD behind the real service: a verified model, its reuse, and what a machine without it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from providers.engines import needs
from schemaxis.v1 import job_pb2, resource_pb2
from schemaxis_server.providers.freecad.provider import PROVIDER

from service.program import Program, Refused

VERSION = "schemaxis.freecad/1"


def box(height: float) -> dict[str, Any]:
    options = {"length": 20, "width": 10, "height": height}
    return {
        "version": VERSION,
        "nodes": [{"id": "body", "filter": "box", "options": options}],
        "output": "body",
    }


def resources(program: Program, job: job_pb2.Job) -> dict[str, resource_pb2.Resource]:
    listed = program.call(
        program.resources.ListResources, resource_pb2.ListResourcesRequest(job_id=job.job_id)
    )
    return {one.kind: one for one in listed.resources}


@needs(PROVIDER)
def test_a_model_is_made_verified_and_used_by_the_other_kernel(program: Program) -> None:
    task = program.task("freecad", "occt")
    job = program.ended(program.execute(program.plan(task.task_id, box(7.5))).job_id)
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED, job.fault
    assert program.observe(job.job_id, "result", "/outputs/body/volume/value") == pytest.approx(1500)
    assert program.observe(job.job_id, "result", "/engines/document/name") == "FreeCAD"
    names = {one["name"].split()[0] for one in program.observe(job.job_id, "verification", "/checks")}
    assert {"closed", "second", "same", "STEP", "BREP", "FCSTD", "STL", "objects"} <= names
    kept = resources(program, job)
    assert {"geometry/step", "geometry/stl", "geometry/brep", "geometry/fcstd", "picture/preview"} <= set(
        kept
    )
    assert program.read(kept["geometry/fcstd"].resource_id).startswith(b"PK")
    nodes = [
        {"id": "part", "filter": "importSTEP", "options": {"file": None}},
        {"id": "twice", "filter": "scale", "options": {"factor": 2}, "inputs": ["part"]},
    ]
    bindings = {"/nodes/0/options/file": kept["geometry/step"].resource_id}
    document = {"version": "schemaxis.occt/1", "nodes": nodes, "output": "twice"}
    again = program.ended(program.execute(program.plan(task.task_id, document, 1, bindings=bindings)).job_id)
    assert again.state == job_pb2.JOB_STATE_SUCCEEDED, again.fault
    assert program.observe(again.job_id, "result", "/outputs/twice/volume/value") == pytest.approx(12000)


@needs(PROVIDER)
def test_what_it_cannot_build_is_told_at_its_node(program: Program) -> None:
    nodes = [
        *box(5)["nodes"],
        {"id": "far", "filter": "translate", "options": {"offset": [90, 0, 0]}, "inputs": ["body"]},
        {"id": "both", "filter": "intersect", "inputs": ["body", "far"]},
    ]
    task = program.task("freecad")
    document = {"version": VERSION, "nodes": nodes, "output": "both"}
    job = program.ended(program.execute(program.plan(task.task_id, document)).job_id)
    assert job.fault.code == "UNSUPPORTED_INPUT"
    assert job.fault.pointer == "/nodes/2"
    assert "no common part" in job.fault.message
    assert not job.resource_ids


def test_where_it_is_missing_the_plan_says_what_to_install(workspace: Path) -> None:
    workspace.mkdir()
    (workspace / "schemaxis.toml").write_text(f'[engines]\nfreecad = "{workspace}/none"\n')
    program = Program(workspace)
    assert program.start()["event"] == "ready", program.ready
    try:
        with pytest.raises(Refused) as refused:
            program.plan(program.task("freecad").task_id, box(5))
        assert refused.value.code == "MISSING_RUNTIME"
        assert refused.value.details["install"] == "apt-get install freecad-python3"
        assert f"{workspace}/none" in refused.value.fault.message
    finally:
        program.stop()
