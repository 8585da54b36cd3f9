"""What users write, for the type checker alone; the marked lines are the mistakes that it must find."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, assert_type

import schemaxis
from schemaxis.models import (
    Budget,
    Criterion,
    Ended,
    Goal,
    JobEvent,
    JobState,
    LogWritten,
    Observation,
    Verification,
)


def study(workspace: Path) -> None:
    with schemaxis.start(workspace) as client:
        task = client.tasks.create(
            "A box", ["occt"], budget=Budget(max_attempts=2), criteria=[Criterion.is_true("/ok")]
        )
        assert_type(task, schemaxis.Task)
        plan = task.plan({"version": "schemaxis.occt/1"}, bindings={"/nodes/0/options/file": "res_1"})
        job = plan.execute().wait(60, raise_on_failure=True)
        assert_type(job, schemaxis.Job)
        assert_type(job.state, JobState)
        assert_type(job.goal, Goal)
        assert_type(job.result, dict[str, Any])
        for event in job.watch():
            assert_type(event, JobEvent)
            match event:
                case LogWritten(lines=lines):
                    assert_type(lines, tuple[str, ...])
                case Ended(verified=verified):
                    assert_type(verified, bool)
        assert_type(job.verify(), Verification)
        assert_type(job.observe("log"), Observation)
        for resource in job.resources:
            assert_type(resource.read(), bytes)
            assert_type(resource.save("x"), Path)
            with resource.open() as file:
                assert_type(file.read(3), bytes)
        assert_type(client.tasks.list(), Iterator[schemaxis.Task])
        task.plan(b"{}")  # type: ignore[arg-type]
        job.wait("60")  # type: ignore[arg-type]
        job.stat  # type: ignore[attr-defined]  # noqa: B018
        client.tasks.create("A box", ["occt"], budget={"maxAttempts": 2})  # type: ignore[arg-type]
        job.record.state = JobState.FAILED  # type: ignore[misc]


async def study_with_asyncio(workspace: Path) -> None:
    async with schemaxis.aio.start(workspace) as client:
        task = await client.tasks.create("A box", ["occt"])
        assert_type(task, schemaxis.aio.Task)
        job = await (await task.plan("{}")).execute()
        assert_type(await job.wait(), schemaxis.aio.Job)
        assert_type(await job.result, dict[str, Any])
        async for event in job.watch():
            assert_type(event, JobEvent)
        for resource in await job.resources:
            assert_type(await resource.read(), bytes)
            async with resource.open() as file:
                assert_type(await file.read(3), bytes)
        assert_type(client.tasks.list(), AsyncIterator[schemaxis.aio.Task])
        job.result["outputs"]  # type: ignore[index]
    client = await schemaxis.aio.connect(workspace)
    assert_type(client, schemaxis.aio.Client)


def handle(error: schemaxis.SchemaxisError) -> str:
    if isinstance(error, schemaxis.errors.InvalidDocument):
        return error.problems[0].pointer
    return error.code
