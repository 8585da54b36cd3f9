"""What is downloaded measures what the result says, by readers that share no code with the product."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from providers.foreign_readers import step_by_other_path, stl_quantities
from providers.random_documents import random_document
from schemaxis.v1 import job_pb2, resource_pb2

from service.program import Program

WANTED = {"cut", "union", "fillet", "revolve", "linearPattern", "polarPattern"}
DOCUMENTS = 30
SEEDS = range(500, 560)


def downloaded(program: Program, job: job_pb2.Job, folder: Path) -> dict[str, Path]:
    """The job's artifacts by kind, as files."""
    listed = program.call(
        program.resources.ListResources, resource_pb2.ListResourcesRequest(job_id=job.job_id)
    )
    files = {}
    for resource in listed.resources:
        files[resource.kind] = folder / resource.name
        files[resource.kind].write_bytes(program.read(resource.resource_id))
    return files


def test_downloads_of_random_parts_measure_what_the_result_says(program: Program, tmp_path: Path) -> None:
    used: Counter[str] = Counter()
    built = 0
    for seed in SEEDS:
        document = random_document("schemaxis.occt/1", seed)
        job = program.run(document, max_attempts=1)
        if job.state == job_pb2.JOB_STATE_FAILED:
            assert job.fault.code == "UNSUPPORTED_INPUT", job.fault
            continue
        result = program.observe(job.job_id, "result", f"/outputs/{document['output']}")
        folder = tmp_path / str(seed)
        folder.mkdir()
        files = downloaded(program, job, folder)
        for measured in (
            stl_quantities(files["geometry/stl"]),
            step_by_other_path(files["geometry/step"], folder),
        ):
            volume, low, high = measured
            bounds = result["boundingBox"]["value"]
            size = max(bounds["size"])
            assert volume == pytest.approx(result["volume"]["value"], rel=2e-2)
            assert low == pytest.approx(bounds["min"], abs=5e-3 * size)
            assert high == pytest.approx(bounds["max"], abs=5e-3 * size)
        used.update({node["filter"] for node in document["nodes"]})
        built += 1
        if built >= DOCUMENTS and set(used) >= WANTED:
            break
    assert built >= DOCUMENTS
    assert set(used) >= WANTED


def plate(output: str) -> dict[str, Any]:
    nodes = [{"id": output, "filter": "box", "options": {"length": 20, "width": 10, "height": 5}}]
    return {"version": "schemaxis.liar/1", "nodes": nodes, "output": output}


@pytest.mark.parametrize("lie", ["throughout", "result", "other_step"])
def test_a_lying_kernel_is_caught(lie: str, shared: Program) -> None:
    task = shared.task("liar")
    job = shared.ended(shared.execute(shared.plan(task.task_id, plate(lie))).job_id)
    assert job.state == job_pb2.JOB_STATE_FAILED
    assert job.fault.code == "VERIFICATION_FAILED"
    assert not job.resource_ids
    failed = [
        check["name"]
        for check in shared.observe(job.job_id, "verification", "/checks")
        if not check["passed"]
    ]
    assert failed


def test_an_honest_kernel_behind_the_same_door_is_not(shared: Program) -> None:
    task = shared.task("liar")
    job = shared.ended(shared.execute(shared.plan(task.task_id, plate("honest"))).job_id)
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED
