"""The main study through the typed client, synchronous and with asyncio, against the real server."""

from __future__ import annotations

import hashlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemaxis
import schemaxis.aio
from schemaxis.errors import BudgetSpent, InvalidDocument, InvalidRequest, NotFound, ServerNotRunning, Stale
from schemaxis.models import Budget, Checked, Criterion, Ended, Goal, JobState, ResourcePublished
from schemaxis.process import ServerProcess

HEIGHT = 5.0
BUDGET = Budget(max_attempts=2, max_elapsed_seconds=180)
CRITERION = Criterion.equals("/outputs/body/volume", 1500)
VOLUME = "/outputs/body/volume/value"


def box(height: float) -> dict[str, Any]:
    return {
        "version": "schemaxis.occt/1",
        "nodes": [{"id": "body", "filter": "box", "options": {"length": 20, "width": 10, "height": height}}],
        "output": "body",
    }


@pytest.fixture
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        yield Path(directory) / "study"


def test_the_study(workspace: Path, tmp_path: Path) -> None:
    with schemaxis.start(workspace) as client:
        found = client.capabilities.search("extrusion", "domain/geometry")
        assert found.matches[0].capability.capability.endswith(".extrude")
        task = client.tasks.create("Produce a 1500 mm3 box", ["occt"], budget=BUDGET, criteria=[CRITERION])
        assert task.revision == 0

        plan = task.plan(box(HEIGHT))
        first = plan.execute()
        events = list(first.watch())
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        assert any(isinstance(event, Checked) for event in events)
        assert isinstance(events[-1], Ended)
        assert (first.state, first.verified, first.goal) == (JobState.SUCCEEDED, True, Goal.NOT_MET)
        assert first.observe("verification").revision
        volume = first.result["outputs"]["body"]["volume"]["value"]
        assert volume == pytest.approx(1000, rel=1e-12)

        revised = task.plan(box(HEIGHT * 1500 / volume), expected_revision=1)
        assert (revised.revision, task.revision) == (2, 2)
        with pytest.raises(Stale) as stale:
            plan.execute(expected_revision=2)
        assert stale.value.code == "STALE_PLAN"
        second = revised.execute().wait(60, raise_on_failure=True)
        assert second.observe("result", VOLUME).value == pytest.approx(1500, abs=1e-9)
        assert second.goal is Goal.MET
        assert first.evidence("result", VOLUME) == volume, "the first job is still inspectable"

        published = {event.resource_id for event in second.watch() if isinstance(event, ResourcePublished)}
        assert {resource.resource_id for resource in second.resources} == published
        for resource in second.resources:
            data = resource.save(tmp_path / resource.name).read_bytes()
            assert hashlib.sha256(data).hexdigest() == resource.sha256
            assert resource.output == "body"
        step = next(resource for resource in second.resources if resource.kind == "geometry/step")
        with step.open() as file:
            assert file.readline().rstrip() == b"ISO-10303-21;"
        assert step.range(0, 13).data == b"ISO-10303-21;"

        fresh = second.verify()
        assert fresh.verified
        assert all(check.name and check.scope and check.passed for check in fresh.checks)
        assert fresh.not_covered
        with pytest.raises(BudgetSpent) as spent:
            revised.execute()
        assert spent.value.code == "BUDGET_EXHAUSTED"
        assert task.refresh().usage.attempts == 2
    with pytest.raises(ServerNotRunning):
        schemaxis.connect(workspace)


async def test_the_study_with_asyncio(workspace: Path, tmp_path: Path) -> None:
    async with schemaxis.aio.start(workspace) as client:
        found = await client.capabilities.search("extrusion", "domain/geometry")
        assert found.matches[0].capability.capability.endswith(".extrude")
        task = await client.tasks.create(
            "Produce a 1500 mm3 box", ["occt"], budget=BUDGET, criteria=[CRITERION]
        )
        plan = await task.plan(box(HEIGHT))
        first = await plan.execute()
        sequences = [event.sequence async for event in first.watch()]
        assert sequences == list(range(1, len(sequences) + 1))
        assert (first.state, first.verified, first.goal) == (JobState.SUCCEEDED, True, Goal.NOT_MET)
        volume = (await first.result)["outputs"]["body"]["volume"]["value"]
        assert volume == pytest.approx(1000, rel=1e-12)

        revised = await task.plan(box(HEIGHT * 1500 / volume), expected_revision=1)
        with pytest.raises(Stale):
            await plan.execute(expected_revision=2)
        second = await (await revised.execute()).wait(60, raise_on_failure=True)
        assert (await second.observe("result", VOLUME)).value == pytest.approx(1500, abs=1e-9)
        assert second.goal is Goal.MET
        assert await first.evidence("result", VOLUME) == volume
        for resource in await second.resources:
            saved = await resource.save(tmp_path / resource.name)
            assert hashlib.sha256(saved.read_bytes()).hexdigest() == resource.sha256
        fresh = await second.verify()
        assert fresh.verified
        assert fresh.not_covered
        with pytest.raises(BudgetSpent):
            await revised.execute()


def test_refusals_say_where_and_what(workspace: Path) -> None:
    with schemaxis.start(workspace) as client:
        task = client.tasks.create("A box", ["occt"])
        document = box(5)
        document["nodes"][0]["options"]["hieght"] = document["nodes"][0]["options"].pop("height")
        with pytest.raises(InvalidDocument) as invalid:
            task.plan(document)
        assert any(problem.pointer.startswith("/nodes/0/options") for problem in invalid.value.problems)
        assert any(problem.nearest == "height" for problem in invalid.value.problems)
        assert task.refresh().revision == 0
        with pytest.raises(InvalidRequest, match="occt"):
            client.tasks.create("A box", ["no-such-engine"])
        with pytest.raises(NotFound):
            client.jobs.get("job_none")
        with pytest.raises(schemaxis.FaultError):
            client.tasks.create("", ["occt"])


def test_a_cancelled_job(workspace: Path) -> None:
    with schemaxis.start(workspace) as client:
        task = client.tasks.create("A box", ["occt"])
        job = task.plan(box(5)).execute().cancel()
        assert job.wait(60).state in {JobState.CANCELLED, JobState.SUCCEEDED}
        assert job.cancel().state is job.wait().state, "a terminal job answers as it is"


def test_a_client_outlives_its_server(workspace: Path) -> None:
    """The server is killed under the client; the next one serves the same handles."""
    with ServerProcess(workspace) as server, schemaxis.connect(workspace) as client:
        task = client.tasks.create("A box", ["occt"])
        job = task.plan(box(5)).execute().wait(60)
        events = job.watch()
        assert next(events).sequence == 1
        os.kill(server.ready.pid, signal.SIGKILL)
        server.stop()
        with ServerProcess(workspace):
            assert [event.sequence for event in events] == list(range(2, job.last_sequence + 1))
            assert job.refresh().state is JobState.SUCCEEDED
            assert job.resources[0].read()
            assert [found.task_id for found in client.tasks.list()] == [task.task_id]
