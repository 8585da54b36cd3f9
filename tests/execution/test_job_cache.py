"""The cache of jobs never answers with less than was committed and told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from schemaxis_server import ExecutionService
from schemaxis_server.execution.job_cache import JobCache
from schemaxis_server.execution.records import Job, JobState, now
from schemaxis_server.store.database import Database, Transaction

DOCUMENT = {
    "version": "schemaxis.occt/1",
    "nodes": [{"id": "body", "filter": "box", "options": {"length": 1, "width": 1, "height": 1}}],
    "output": "body",
}


def job(sequence: int) -> Job:
    return Job(
        job_id="job_1",
        plan_id="p",
        task_id="t",
        revision=1,
        state=JobState.QUEUED,
        create_time=now(),
        last_sequence=sequence,
    )


def change(tx: Transaction, state: JobState) -> None:
    """What a shelf tells of a job that it puts, with two events."""
    tx.told["job_1"] = replace(job(0), state=state)
    tx.append("job_1", "one")
    tx.append("job_1", "two")


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.open(tmp_path, encode_event=lambda sequence, time, event: b"")


async def test_a_commit_renews_what_it_changed_and_nothing_else(database: Database) -> None:
    reads: list[str] = []

    def read(job_id: str) -> Job:
        reads.append(job_id)
        return job(7)

    cache = JobCache(database, read)
    assert cache.get("a") is cache.get("a")
    b = cache.get("b")
    await database.write(lambda tx: tx.append("a", "event"))
    assert cache.get("a").last_sequence == 1
    await database.write(lambda tx: change(tx, JobState.RUNNING))
    assert (cache.get("job_1").state, cache.get("job_1").last_sequence) == (JobState.RUNNING, 2)
    assert cache.get("b") is b
    assert reads == ["a", "b"]
    database.close()


async def test_what_was_undone_is_not_shown(database: Database) -> None:
    cache = JobCache(database, lambda job_id: job(7))
    await database.write(lambda tx: change(tx, JobState.QUEUED))

    def fail(tx: Transaction) -> None:
        change(tx, JobState.RUNNING)
        raise ValueError

    with pytest.raises(ValueError):
        await database.write(fail)
    assert (cache.get("job_1").state, cache.get("job_1").last_sequence) == (JobState.QUEUED, 2)
    database.close()


async def test_what_is_kept_is_bounded(database: Database) -> None:
    reads: list[str] = []

    def read(job_id: str) -> Job:
        reads.append(job_id)
        return job(1)

    cache = JobCache(database, read)
    for number in [*range(1025), 0]:
        cache.get(str(number))
    assert reads[-1] == "0"
    database.close()


async def test_what_was_read_before_a_commit_is_not_kept(database: Database) -> None:
    reads = 0

    def read(job_id: str) -> Job:
        nonlocal reads
        reads += 1
        if reads == 1:
            # The commit comes between the reading and the keeping.
            database.write_blocking(lambda tx: tx.append("a", "event"))
        return job(reads)

    cache = JobCache(database, read)
    assert (await asyncio.to_thread(cache.get, "a")).last_sequence == 1
    assert cache.get("a").last_sequence == 2
    database.close()


def test_a_job_is_seen_to_move_on(tmp_path: Path) -> None:
    with ExecutionService(tmp_path / "w") as service:
        task = service.create_task("cache", ["occt"])
        plan = service.plan(task.task_id, DOCUMENT, 0)
        started = service.execute(plan.plan_id, 1)
        seen = {service.job(started.job_id).state for _ in service.watch_job(started.job_id)}
        ended = service.job(started.job_id)
        assert ended.state is JobState.SUCCEEDED
        assert seen - {JobState.QUEUED, JobState.RUNNING, JobState.VERIFYING, JobState.SUCCEEDED} == set()
    with ExecutionService(tmp_path / "w") as service:
        assert service.job(started.job_id) == ended
