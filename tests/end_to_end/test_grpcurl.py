"""The main study by grpcurl, which knows nothing but the socket."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

GRPCURL = str(Path(sys.prefix) / "bin" / "grpcurl")
Call = Callable[..., list[Any]]


class Refused(Exception):
    """grpcurl's report of a refusal is in ``args[0]``."""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """Calls a method by its full name with a request as JSON; returns every reply message."""
    workspace = tmp_path_factory.mktemp("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "schemaxis_server", "--workspace", str(workspace), "--log-level", "ERROR"],
        stdout=subprocess.PIPE,
    )
    assert server.stdout
    socket = json.loads(server.stdout.readline())["socket"]

    def run(method: str, **request: Any) -> list[Any]:
        command = [GRPCURL, "-plaintext", "-unix", "-authority", "localhost", "-emit-defaults"]
        done = subprocess.run(
            [*command, "-d", json.dumps(request), socket, f"schemaxis.v1.{method}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise Refused(done.stderr)
        decoder, text, replies = json.JSONDecoder(), done.stdout.strip(), []
        while text:
            reply, end = decoder.raw_decode(text)
            replies.append(reply)
            text = text[end:].lstrip()
        return replies

    yield run
    server.terminate()
    assert server.wait(30) == 0
    server.stdout.close()


def box(height: float) -> str:
    options = {"length": 20, "width": 10, "height": height}
    nodes = [{"id": "body", "filter": "box", "options": options}]
    return json.dumps({"version": "schemaxis.occt/1", "nodes": nodes, "output": "body"})


def execute(call: Call, plan: dict[str, Any]) -> dict[str, Any]:
    (started,) = call("JobService/ExecutePlan", plan_id=plan["plan_id"], expected_revision=plan["revision"])
    frames = call("JobService/WatchJob", job_id=started["job"]["job_id"])
    assert frames[-1]["end"]["reason"] == "END_REASON_TERMINAL"
    sequences = [int(event["sequence"]) for frame in frames for event in frame["events"]]
    assert sequences == list(range(1, len(sequences) + 1))
    (got,) = call("JobService/GetJob", job_id=started["job"]["job_id"])
    job: dict[str, Any] = got["job"]
    return job


def test_the_study_from_search_to_an_exhausted_budget(call: Call) -> None:
    (found,) = call("CapabilityService/SearchCapabilities", query="extrusion", scope="domain/geometry")
    assert found["matches"][0]["capability"]["capability"].endswith(".extrude")
    (created,) = call(
        "TaskService/CreateTask",
        objective="Produce a 1500 mm3 box",
        allowed_providers=["occt"],
        budget={"max_attempts": 2, "max_elapsed_seconds": 180},
        criteria=[
            {"pointer": "/outputs/body/volume", "operator": "CRITERION_OPERATOR_EQUALS", "value_json": "1500"}
        ],
    )
    task_id = created["task"]["task_id"]
    (first,) = call("PlanService/CreatePlan", task_id=task_id, document_json=box(5), expected_revision=0)
    job = execute(call, first["plan"])
    assert (job["state"], job["goal"]) == ("JOB_STATE_SUCCEEDED", "GOAL_NOT_MET")
    (seen,) = call(
        "ObservationService/Observe",
        job_id=job["job_id"],
        section="result",
        pointer="/outputs/body/volume/value",
    )
    volume = json.loads(seen["observation"]["value_json"])
    assert volume == pytest.approx(1000, abs=1e-9)

    (second,) = call(
        "PlanService/CreatePlan", task_id=task_id, document_json=box(5 * 1.5), expected_revision=1
    )
    with pytest.raises(Refused, match="STALE_PLAN"):
        call("JobService/ExecutePlan", plan_id=first["plan"]["plan_id"], expected_revision=2)
    revised = execute(call, second["plan"])
    assert (revised["state"], revised["goal"]) == ("JOB_STATE_SUCCEEDED", "GOAL_MET")
    (verified,) = call("JobService/VerifyJob", job_id=revised["job_id"])
    assert verified["verification"]["verified"] is True
    assert verified["verification"]["not_covered"]
    (still,) = call("JobService/GetJob", job_id=job["job_id"])
    assert still["job"] == job
    with pytest.raises(Refused, match="BUDGET_EXHAUSTED"):
        call("JobService/ExecutePlan", plan_id=second["plan"]["plan_id"], expected_revision=2)


def test_a_resource_comes_in_chunks(call: Call) -> None:
    (listed,) = call("ResourceService/ListResources", page_size=1)
    resource = listed["resources"][0]
    frames = call("ResourceService/ReadResource", resource_id=resource["resource_id"], chunk_bytes=4096)
    assert frames[0]["resource"]["sha256"] == resource["sha256"]
    assert [frame["last"] for frame in frames] == [False] * (len(frames) - 1) + [True]
