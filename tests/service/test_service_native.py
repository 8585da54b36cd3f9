"""Hosts that misbehave: always the right fault, never ``succeeded``, and no trace of a process."""

from __future__ import annotations

import json

import pytest
from schemaxis.v1 import inspection_pb2, job_pb2, resource_pb2

from service.program import Program, stub

FAULTS = {
    "fail": "NATIVE_FAILURE",
    "unsupported": "UNSUPPORTED_INPUT",
    "no-result": "NATIVE_FAILURE",
    "half-result": "NATIVE_FAILURE",
    "late-result": "NATIVE_FAILURE",
    "segmentation-fault": "NATIVE_FAILURE",
    "outside": "NATIVE_FAILURE",
    "absolute": "NATIVE_FAILURE",
    "linked": "NATIVE_FAILURE",
    "unlisted-kind": "NATIVE_FAILURE",
    "other-outputs": "NATIVE_FAILURE",
    "misshapen": "NATIVE_FAILURE",
    "lie": "VERIFICATION_FAILED",
    "lie-throughout": "VERIFICATION_FAILED",
    "verifier-fails": "NATIVE_FAILURE",
    "verifier-silent": "NATIVE_FAILURE",
}


@pytest.mark.parametrize("mode", FAULTS)
def test_a_host_that(mode: str, shared: Program) -> None:
    job = shared.run(stub(mode, value=3))
    assert job.state == job_pb2.JOB_STATE_FAILED
    assert job.fault.code == FAULTS[mode]
    assert not job.verified
    assert not job.resource_ids
    assert str(shared.workspace) not in job.fault.message


def test_a_host_that_lies_is_told_by_the_failed_check(shared: Program) -> None:
    job = shared.run(stub("lie-throughout", value=3))
    verification = shared.observe(job.job_id, "verification")
    assert verification["verified"] is False
    failed = [check for check in verification["checks"] if not check["passed"]]
    assert [check["expected"] for check in failed] == [3]
    assert shared.observe(job.job_id, "result")["partial"] is True


def test_a_picture_that_is_amiss_is_a_warning(shared: Program) -> None:
    job = shared.run(stub("bad-picture"))
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED
    (warning,) = shared.observe(job.job_id, "result", "/warnings")
    assert "picture" in warning.lower()


@pytest.mark.parametrize("mode", ["hang", "stubborn", "verifier-hangs"])
def test_a_host_that_does_not_end_is_ended(mode: str, shared: Program) -> None:
    place = str(shared.workspace.parent)
    job = shared.run(stub(mode, place=place), max_attempts=1, max_attempt_seconds=0.7)
    assert job.state == job_pb2.JOB_STATE_FAILED
    assert job.fault.code == "NATIVE_TIMEOUT"
    assert shared.run(stub()).state == job_pb2.JOB_STATE_SUCCEEDED


def test_the_inspection_of_a_table_keeps_text_as_text(shared: Program) -> None:
    job = shared.run(stub("table"))
    listed = shared.call(shared.resources.ListResources, resource_pb2.ListResourcesRequest(job_id=job.job_id))
    table = next(resource for resource in listed.resources if resource.kind == "series/csv")
    request = inspection_pb2.InspectResourceRequest(resource_id=table.resource_id)
    seen = shared.call(shared.inspections.InspectResource, request).observation
    assert json.loads(seen.value_json) == {
        "columns": ["a", 'b "q"'],
        "rows": [["007", "1\n2"], ["=1+2", "é"]],
        "units": "unknown",
    }
