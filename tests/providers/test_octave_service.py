"""Octave behind the real service: handoffs between engines that check each other, and a job that is cancelled."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from schemaxis.v1 import job_pb2, resource_pb2
from schemaxis_server.providers.octave.provider import PROVIDER
from service.program import Program, descendants, eventually

from providers.engines import needs

pytestmark = needs(PROVIDER)

MADE: dict[str, Any] = {
    "version": "schemaxis.numpy/1",
    "nodes": [
        {"id": "time", "filter": "linspace", "options": {"start": -1, "stop": 1, "count": 101}},
        {"id": "data", "filter": "expression", "options": {"expression": "1/x"}, "inputs": ["time"]},
    ],
    "output": "data",
}
READ: dict[str, Any] = {
    "version": "schemaxis.octave/1",
    "nodes": [{"id": "data", "filter": "readCSV", "options": {"file": None, "xColumn": "x", "yColumn": "y"}}],
    "outputs": ["data"],
}
LONG: dict[str, Any] = {
    "version": "schemaxis.octave/1",
    "nodes": [
        {
            "id": "o",
            "filter": "ode",
            "options": {
                "system": {"type": "oscillator", "angularFrequency": 10_000},
                "initial": [1, 0],
                "stop": 100_000,
                "count": 2,
            },
        }
    ],
    "outputs": ["o"],
}


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        served = Program(Path(directory) / "w")
        assert served.start()["event"] == "ready", served.ready
        yield served
        served.stop()
        assert not list(descendants(str(served.workspace)))


def _engines(program: Program, job: job_pb2.Job) -> set[str]:
    assert job.state == job_pb2.JOB_STATE_SUCCEEDED, job.fault
    assert job.verified
    checks = program.observe(job.job_id, "verification", "/checks")
    return {
        check["engine"].split()[0] + " " + check["engine"].split()[1]
        for check in checks
        if " " in check["engine"]
    }


def _series(program: Program, job: job_pb2.Job) -> resource_pb2.Resource:
    request = resource_pb2.ListResourcesRequest(job_id=job.job_id)
    for one in program.call(program.resources.ListResources, request).resources:
        if one.kind == "series/csv":
            found: resource_pb2.Resource = one
            return found
    raise AssertionError("no series was published")


def test_one_engine_s_series_is_the_other_one_s_input_and_each_checks_the_other(program: Program) -> None:
    task = program.task("numpy", "octave")
    first = program.ended(program.execute(program.plan(task.task_id, MADE)).job_id)
    assert "GNU Octave" in _engines(program, first)
    source = _series(program, first)
    bindings = {"/nodes/0/options/file": source.resource_id}
    plan = program.plan(task.task_id, READ, revision=1, bindings=bindings)
    second = program.ended(program.execute(plan).job_id)
    assert any(engine.startswith("NumPy ") for engine in _engines(program, second))
    again = _series(program, second)
    assert program.read(again.resource_id) == program.read(source.resource_id)
    assert b"0.0,Infinity\r\n" in program.read(again.resource_id)
    assert program.observe(second.job_id, "result", "/outputs/data/max/value") == {"$number": "Infinity"}


def test_a_cancelled_job_ends_octave(program: Program) -> None:
    task = program.task("octave")
    job = program.execute(program.plan(task.task_id, LONG))
    eventually(lambda: program.job(job.job_id).state == job_pb2.JOB_STATE_RUNNING, "running")
    time.sleep(0.5)
    began = time.monotonic()
    program.call(program.jobs.CancelJob, job_pb2.CancelJobRequest(job_id=job.job_id))
    ended = program.ended(job.job_id)
    assert ended.state == job_pb2.JOB_STATE_CANCELLED
    assert time.monotonic() - began < 10
