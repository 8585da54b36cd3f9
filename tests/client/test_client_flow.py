"""The whole flow through both clients against a service behind a real socket."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest
import schemaxis
import schemaxis.aio
from schemaxis.errors import InvalidRequest, JobFailed, JobUnfinished, NotFound, Stale
from schemaxis.models import (
    Budget,
    Criterion,
    CriterionOperator,
    Ended,
    EndReason,
    Goal,
    JobState,
    ObservationMode,
    Progressed,
)
from schemaxis.v1 import job_pb2

from client.model_service import MESH, PICTURE, Model

DOCUMENT = {"version": "model/1", "nodes": [{"id": "body", "filter": "box", "options": {"length": 20}}]}


def test_the_flow(client: schemaxis.Client, model: Model) -> None:
    task = client.tasks.create(
        "Produce a box",
        ["model"],
        budget=Budget(max_attempts=2, max_elapsed_seconds=180),
        criteria=[Criterion.equals("/outputs/body/volume", 1500)],
    )
    assert (task.task_id, task.revision, task.current_plan_id) == ("task_1", 0, None)
    assert task.budget == Budget(
        max_attempts=2, max_repeated_failures=2, max_elapsed_seconds=180.0, max_attempt_seconds=300.0
    )
    assert task.criteria == (Criterion("/outputs/body/volume", CriterionOperator.EQUALS, 1500),)
    assert task.create_time == datetime.fromtimestamp(1_790_000_000.5, UTC)

    plan = task.plan(DOCUMENT)
    assert json.loads(model.documents[plan.plan_id]) == DOCUMENT
    assert (task.revision, task.current_plan_id) == (1, plan.plan_id)
    job = plan.execute()
    assert job.state is JobState.QUEUED
    assert job.wait(10) is job
    assert (job.state, job.verified, job.goal) == (JobState.SUCCEEDED, True, Goal.MET)
    volume = job.result["outputs"]["body"]
    assert volume["volume"] == {"value": 1000.0, "unit": "mm3"}
    assert math.isnan(volume["spread"])
    assert [resource.name for resource in job.resources] == ["body.stl", "body.png"]
    found = job.verify()
    assert found.verified
    assert found.checks[0].expected == 1000
    assert found.checks[0].observed is None
    assert found.not_covered == ("appearance",)
    with pytest.raises(Stale) as stale:
        task.plan(DOCUMENT, expected_revision=0)
    assert stale.value.code == "STALE_REVISION"
    assert stale.value.details == {"revision": 1}
    assert stale.value.pointer == "/here"


async def test_the_flow_with_asyncio(aclient: schemaxis.aio.Client, model: Model) -> None:
    task = await aclient.tasks.create("Produce a box", ["model"])
    plan = await task.plan(DOCUMENT)
    assert task.revision == 1
    job = await plan.execute()
    assert await job.wait(10) is job
    assert job.state is JobState.SUCCEEDED
    assert (await job.result)["outputs"]["body"]["volume"]["value"] == 1000.0
    assert [resource.name for resource in await job.resources] == ["body.stl", "body.png"]
    assert (await job.verify()).verified
    with pytest.raises(Stale):
        await task.plan(DOCUMENT, expected_revision=0)


def test_every_event_comes_once(client: schemaxis.Client) -> None:
    job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
    with job.watch() as events:
        seen = list(events)
        assert events.end is EndReason.TERMINAL
        assert events.cursor == 5
    assert [event.sequence for event in seen] == [1, 2, 3, 4, 5]
    assert isinstance(seen[0], Progressed)
    assert isinstance(seen[-1], Ended)
    assert job.state is JobState.SUCCEEDED, "the end of a watch refreshes its job"
    assert [event.sequence for event in job.watch(after=3, follow=False)] == [4, 5]


async def test_every_event_comes_once_with_asyncio(aclient: schemaxis.aio.Client) -> None:
    job = await (await (await aclient.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()
    assert [event.sequence async for event in job.watch()] == [1, 2, 3, 4, 5]
    assert job.state is JobState.SUCCEEDED
    assert [event.sequence async for event in job.watch(after=3, follow=False)] == [4, 5]


def test_a_failed_job(client: schemaxis.Client, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_FAILED
    job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
    assert job.wait().state is JobState.FAILED
    with pytest.raises(JobFailed) as failed:
        job.wait(raise_on_failure=True)
    assert failed.value.code == "NATIVE_FAILURE"
    assert failed.value.job.job_id == job.job_id
    with pytest.raises(JobFailed):
        _ = job.result
    assert job.evidence("result")["engine"]["name"] == "model"


def test_a_result_asked_too_early(client: schemaxis.Client, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
    with pytest.raises(JobUnfinished):
        _ = job.result


def test_lists_walk_all_pages(client: schemaxis.Client, model: Model) -> None:
    tasks = [client.tasks.create(f"task {number}", ["model"]) for number in range(5)]
    assert [task.objective for task in client.tasks.list()] == [f"task {n}" for n in (4, 3, 2, 1, 0)]
    assert len(model.asked("ListTasks")) == 3
    plan = tasks[0].plan(DOCUMENT)
    for _ in range(3):
        plan.execute()
    assert len(list(tasks[0].jobs())) == len(list(client.jobs.list())) == 3
    assert not list(tasks[1].jobs())
    assert [found.plan_id for found in tasks[0].plans()] == [plan.plan_id]
    assert client.plans.get(plan.plan_id).digest == plan.digest
    assert len(list(client.resources.list())) == 6


async def test_lists_walk_all_pages_with_asyncio(aclient: schemaxis.aio.Client) -> None:
    for number in range(5):
        await aclient.tasks.create(f"task {number}", ["model"])
    assert [task.objective async for task in aclient.tasks.list()] == [f"task {n}" for n in (4, 3, 2, 1, 0)]


def test_a_large_value_is_put_together(client: schemaxis.Client, model: Model) -> None:
    job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute().wait()
    long = "y" * 100
    model.evidence = {
        "rows": [[long] * 5 for _ in range(200)],
        "a/b~c": {"": {str(index): [index, long] for index in range(150)}},
        "none": None,
        "pad": [long] * 300,
    }
    assert len(json.dumps(model.evidence)) > 65_536
    assert job.evidence("result") == model.evidence
    assert job.evidence("result", "/a~1b~0c") == model.evidence["a/b~c"]
    model.evidence = {str(index): long for index in range(1000)}
    assert job.evidence("log") == model.evidence
    model.evidence = [long] * 1000
    assert job.evidence("log") == model.evidence
    look = job.observe("log", limit=3, max_bytes=2048)
    assert look.mode is ObservationMode.MEMBERS
    assert look.page
    assert (look.page.next_offset, look.page.total) == (3, 1000)


async def test_a_large_value_is_put_together_with_asyncio(
    aclient: schemaxis.aio.Client, model: Model
) -> None:
    job = await (await (await aclient.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()
    model.evidence = {"rows": [["y" * 100] * 5 for _ in range(200)]}
    assert await job.evidence("result") == model.evidence
    resource = (await job.resources)[0]
    assert await resource.contents() == model.evidence


def test_resources(client: schemaxis.Client, tmp_path: Path) -> None:
    mesh, picture = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute().resources
    assert mesh.read() == MESH
    assert mesh.read(100, 50) == MESH[100:150]
    assert mesh.read(len(MESH)) == b""
    assert mesh.save(tmp_path / "body.stl").read_bytes() == MESH
    assert [path.name for path in tmp_path.iterdir()] == ["body.stl"]
    assert b"".join(mesh.chunks()) == MESH
    part = mesh.range(len(MESH) - 10, 16_384)
    assert (part.data, part.next_offset) == (MESH[-10:], None)
    with mesh.open() as file:
        assert file.read(7) == MESH[:7]
        file.seek(-5, 2)
        assert file.read() == MESH[-5:]
        file.seek(70_000)
        assert file.read(300_000) == MESH[70_000:370_000]
    assert picture._repr_png_() == PICTURE
    assert mesh._repr_png_() is None
    assert client.resources.get(mesh.resource_id).record == mesh.record


async def test_resources_with_asyncio(aclient: schemaxis.aio.Client, tmp_path: Path) -> None:
    job = await (await (await aclient.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()
    mesh, _ = await job.resources
    assert await mesh.read() == MESH
    assert await mesh.read(100, 50) == MESH[100:150]
    assert (await mesh.save(tmp_path / "body.stl")).read_bytes() == MESH
    async with mesh.open() as file:
        assert await file.read(7) == MESH[:7]
        file.seek(-5, 2)
        assert await file.read() == MESH[-5:]
        assert await file.read() == b""


def test_capabilities_and_workspace(client: schemaxis.Client) -> None:
    level = client.capabilities.browse()
    assert level.scopes[0].scope == "domain/geometry"
    matches = client.capabilities.search("box", level.scopes[0].scope, limit=3)
    assert matches.matches[0].capability.capability == "model.box"
    described = client.capabilities.describe("model.box")
    assert described.options[0].has_default
    assert described.options[0].default is None
    assert described.options[0].schema == {"type": "number"}
    assert described.example == {"version": "model/1"}
    assert client.capabilities.schema("model.box").schema == {"type": "object"}
    workspace = client.workspace()
    assert workspace.workspace_id == "ws_1"
    assert workspace.engines[0].problem is None


def test_faults_come_as_their_family(client: schemaxis.Client) -> None:
    with pytest.raises(NotFound) as missing:
        client.tasks.get("task_none")
    assert missing.value.details == {"what": "task_none"}
    assert str(missing.value) == "NOT_FOUND: NOT_FOUND was scripted: go on. (at /here)"
    assert not isinstance(missing.value, InvalidRequest)


def test_a_string_is_no_list_of_providers(client: schemaxis.Client) -> None:
    with pytest.raises(TypeError, match="allowed_providers"):
        client.tasks.create("x", "model")


def test_handles_show_themselves(client: schemaxis.Client) -> None:
    task = client.tasks.create("<b>Box</b>", ["model"])
    plan = task.plan(DOCUMENT)
    job = plan.execute().wait()
    assert "&lt;b&gt;Box&lt;/b&gt;" in task._repr_html_()
    assert plan.digest in plan._repr_html_()
    assert "succeeded" in job._repr_html_()
    assert "body.stl" in job.resources[0]._repr_html_()
    assert repr(job) == "<Job job_1 succeeded, verified, goal met>"
