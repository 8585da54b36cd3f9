"""Result files and verdicts of every wrong kind: a fault that says so, never ``succeeded``, never an incident."""

from __future__ import annotations

import json
from typing import Any

import pytest
from schemaxis.v1 import job_pb2

from service.program import Program, descendants, eventually, stub

PUBLISHED = {
    "name": "n.json",
    "file": "publications/n.json",
    "kind": "data/json",
    "mediaType": "application/json",
    "operation": "n",
    "units": "mm",
}
OUTPUTS = {"n": {"value": {"value": 1, "unit": "mm"}}}
CHECK = {"name": "value", "scope": "s", "engine": "e", "passed": True, "expected": 1, "observed": 1}


def result(**changes: Any) -> str:
    return json.dumps({"outputs": OUTPUTS, "publications": [PUBLISHED], **changes})


def listed(**changes: Any) -> str:
    return result(publications=[PUBLISHED | changes])


def verdict(**changes: Any) -> str:
    return json.dumps({"checks": [CHECK | changes], "notCovered": []})


RESULTS = {
    "empty": "",
    "zero bytes": "\0" * 4096,
    "white space": " \n\t ",
    "null": "null",
    "a list": "[]",
    "a string": '"success"',
    "not a number": '{"outputs":{"n":NaN},"publications":[]}',
    "beyond a double": '{"outputs":{"n":1e999},"publications":[]}',
    "no UTF-8": '{"outputs":{"n":"<ff>"},"publications":[]}',
    "a lone surrogate": '{"outputs":{"n":"\\ud800"},"publications":[]}',
    "deep": '{"outputs":{"n":' + "[" * 100_000 + "]" * 100_000 + "}}",
    "two values": result() + result(),
    "a comment": "// success\n" + result(),
    "no outputs": '{"publications":[]}',
    "outputs are a list": '{"outputs":["n"],"publications":[]}',
    "publications are null": result(publications=None),
    "publications are an object": result(publications={}),
    "a publication is null": result(publications=[None]),
    "the same name twice": result(publications=[PUBLISHED, PUBLISHED]),
    "thousands of publications": result(
        publications=[PUBLISHED | {"name": f"{number}"} for number in range(1001)]
    ),
    "no name": listed(name=""),
    "a long name": listed(name="é" * 200),
    "a name with a slash": listed(name="a/b"),
    "the directory's name": listed(name="."),
    "the parent's name": listed(name=".."),
    "a name with a line break": listed(name="a\nb"),
    "a name with zero": listed(name="a\0b"),
    "a name with an escape": listed(name="\x1b[31m"),
    "a file with zero": listed(file="publications/n.json\0"),
    "a file of 5,000 characters": listed(file="publications/" + "x" * 5000),
    "no file": listed(file=""),
    "the directory": listed(file="publications"),
    "a file in a file": listed(file="publications/n.json/x"),
    "somewhere above": listed(file="publications/../../../../schemaxis.db"),
    "a wrong type": listed(mediaType=7),
}

VERDICTS = {
    "empty": "",
    "null": "null",
    "no checks": '{"notCovered":[]}',
    "checks are true": '{"checks":true}',
    "a check that is true": '{"checks":[true]}',
    "passed is a word": verdict(passed="yes"),
    "passed is one": verdict(passed=1),
    "passed is null": verdict(passed=None),
    "no name": json.dumps({"checks": [{"passed": True}]}),
    "a lone surrogate": '{"checks":[{"name":"\\ud800","scope":"s","engine":"e","passed":true}]}',
    "thousands": json.dumps({"checks": [CHECK] * 1001}),
}


def refused(job: job_pb2.Job, program: Program) -> None:
    assert (job.state, job.fault.code) == (job_pb2.JOB_STATE_FAILED, "NATIVE_FAILURE"), job.fault
    assert not job.verified
    assert not job.resource_ids
    assert len(job.fault.message) < 1000
    assert str(program.workspace) not in job.fault.message
    assert program.observe(job.job_id, "result")["partial"] is True
    assert program.observe(job.job_id, "verification")["verified"] is False


@pytest.mark.parametrize("what", RESULTS)
def test_a_result_that_is(what: str, shared: Program) -> None:
    refused(shared.run(stub("raw", text=RESULTS[what])), shared)


@pytest.mark.parametrize("what", ["a directory", "a pipe", "a link", "a device", "too large"])
def test_at_the_result_s_place_is(what: str, shared: Program) -> None:
    refused(shared.run(stub("result-is", text=what)), shared)


@pytest.mark.parametrize("what", VERDICTS)
def test_a_verdict_that_is(what: str, shared: Program) -> None:
    refused(shared.run(stub("verifier-raw", text=VERDICTS[what])), shared)


def test_a_sound_result_written_that_way_is_taken(shared: Program) -> None:
    assert shared.run(stub("raw", text=result())).state == job_pb2.JOB_STATE_SUCCEEDED
    assert shared.run(stub("verifier-raw", text=verdict())).state == job_pb2.JOB_STATE_SUCCEEDED


def test_who_takes_the_verifier_s_place_is_refused(shared: Program) -> None:
    refused(shared.run(stub("takes-verify")), shared)


def test_a_verdict_of_large_parts_stays_a_small_fault(shared: Program) -> None:
    checks = [CHECK | {"name": f"{number} " + "x" * 30_000, "passed": False} for number in range(20)]
    job = shared.run(stub("verifier-raw", text=json.dumps({"checks": checks})))
    assert job.fault.code == "VERIFICATION_FAILED"
    assert job.fault.ByteSize() <= 4096
    assert len(shared.observe(job.job_id, "verification", "/checks/1/name")) > 30_000


def test_numbers_at_the_edge_of_a_double_keep_their_value(shared: Program) -> None:
    values = "[-1e-999,12345678901234567890123,-0.0,1.50,5e-324,1.7976931348623157e308]"
    text = result(outputs={"n": {"value": {"value": 1}, "more": "VALUES"}}).replace('"VALUES"', values)
    job = shared.run(stub("raw", text=text))
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED
    seen = shared.observe(job.job_id, "result", "/outputs/n/more")
    assert [str(value) for value in map(float, seen)] == [
        str(value) for value in map(float, json.loads(values))
    ]


def test_progress_of_every_kind_does_not_matter(shared: Program) -> None:
    job = shared.run(stub("wild-progress"))
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED
    told = [event.progress for event in shared.events(job.job_id) if event.HasField("progress")]
    assert all(0 <= progress.fraction <= 1 and len(progress.operation) <= 256 for progress in told)


@pytest.mark.parametrize("mode", ["litter", "verifier-litters"])
def test_what_a_host_leaves_running_is_ended_with_it(mode: str, shared: Program) -> None:
    place = shared.workspace.parent
    token = f"86400.{shared.process.pid:06d}{len(mode):06d}"
    (place / "token").write_text(token)
    (place / "escaped").unlink(missing_ok=True)
    job = shared.run(stub(mode, place=str(place)))
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED
    eventually((place / "escaped").exists, "the grandchild")
    assert not list(descendants(token))
