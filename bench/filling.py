"""Workspaces of a given size, written through the core's own records."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from schemaxis_server.execution.events import LogWritten, StateChanged, Terminal
from schemaxis_server.execution.ledger import (
    JOB_SHELF,
    PLAN_SHELF,
    RESOURCE_SHELF,
    TASK_SHELF,
    put_evidence,
)
from schemaxis_server.execution.records import (
    Budget,
    Goal,
    Job,
    JobState,
    Plan,
    Producer,
    Receipt,
    Resource,
    ResourceState,
    Task,
    Usage,
    now,
)
from schemaxis_server.ids import new_id
from schemaxis_server.rpc.codecs.job import encode_event
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.objects import ObjectStore

EVENTS = 100_000
_GROUP = 5_000


def _open(workspace: Path) -> Database:
    workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Database.open(workspace, encode_event=encode_event)


def _task_and_plan(tx: Transaction) -> tuple[str, str]:
    task_id, plan_id = new_id("task"), new_id("plan")
    task = Task(
        task_id=task_id,
        objective="filled",
        criteria=(),
        allowed_providers=("occt",),
        budget=Budget(),
        usage=Usage(),
        revision=1,
        create_time=now(),
        current_plan_id=plan_id,
    )
    plan = Plan(
        plan_id=plan_id,
        task_id=task_id,
        revision=1,
        digest="0" * 64,
        providers=(),
        operations=(),
        bindings=(),
        create_time=now(),
        document_digest="0" * 64,
        file_sha256="0" * 64,
    )
    TASK_SHELF.put(tx, task_id, task)
    PLAN_SHELF.put(tx, plan_id, plan)
    tx.count("tasks", 1)
    tx.count("plans", 1)
    return task_id, plan_id


def _job(tx: Transaction, task_id: str, plan_id: str, resource_ids: tuple[str, ...] = ()) -> str:
    moment = now()
    job = Job(
        job_id=new_id("job"),
        plan_id=plan_id,
        task_id=task_id,
        revision=1,
        state=JobState.SUCCEEDED,
        create_time=moment,
        start_time=moment,
        end_time=moment,
        verified=True,
        resource_ids=resource_ids,
    )
    JOB_SHELF.put(tx, job.job_id, job)
    tx.count("jobs", 1)
    tx.append(job.job_id, StateChanged(JobState.QUEUED))
    return job.job_id


def _end(tx: Transaction, job_id: str) -> None:
    tx.append(job_id, Terminal(JobState.SUCCEEDED, True, Goal.UNKNOWN, None))


def fill_jobs(workspace: Path, count: int) -> list[str]:
    """``count`` finished jobs, each with its task, plan, resource, evidence and four events.

    Returns their ids, oldest first.
    """
    database = _open(workspace)
    job_ids: list[str] = []

    def unit(tx: Transaction) -> None:
        for _ in range(_GROUP):
            task_id, plan_id = _task_and_plan(tx)
            resource_id = new_id("res")
            job_id = _job(tx, task_id, plan_id, (resource_id,))
            _resource(tx, resource_id, job_id, size=1, sha256="0" * 64, digest="0" * 64)
            put_evidence(tx, job_id, "result", {"outputs": {"body": {"value": {"volume": 1000.0}}}})
            for state in (JobState.RUNNING, JobState.VERIFYING):
                tx.append(job_id, StateChanged(state))
            _end(tx, job_id)
            job_ids.append(job_id)

    for _ in range(count // _GROUP):
        database.write_blocking(unit)
    database.close()
    return job_ids


def _resource(tx: Transaction, resource_id: str, job_id: str, size: int, sha256: str, digest: str) -> None:
    resource = Resource(
        resource_id=resource_id,
        producer=Producer(job_id=job_id, operation_id="document"),
        document_digest="0" * 64,
        name="random.bin",
        kind="data/binary",
        media_type="application/octet-stream",
        size_bytes=size,
        sha256=sha256,
        receipt=Receipt(receipt_id=new_id("rcpt"), digest=digest),
        units="unknown",
        state=ResourceState.AVAILABLE,
        create_time=now(),
    )
    RESOURCE_SHELF.put(tx, resource_id, resource)
    tx.count("resources", 1)


def fill_events(workspace: Path) -> str:
    """A finished job with ``EVENTS`` events; returns its id."""
    database = _open(workspace)
    task_id, plan_id = database.write_blocking(_task_and_plan)
    job_id = database.write_blocking(lambda tx: _job(tx, task_id, plan_id))

    def unit(tx: Transaction) -> None:
        for _ in range(_GROUP):
            tx.append(job_id, LogWritten("stdout", ("a line of an engine's log",)))

    for _ in range(EVENTS // _GROUP):
        database.write_blocking(unit)
    database.write_blocking(lambda tx: _end(tx, job_id))
    database.close()
    return job_id


def fill_resource(workspace: Path, size: int = 64 * 1024 * 1024) -> str:
    """A resource of random bytes; returns its id."""
    database = _open(workspace)
    source = workspace / "source"
    source.write_bytes(os.urandom(size))
    objects = ObjectStore(workspace / "objects")
    receipt = asyncio.run(objects.add(source))
    objects.close()
    source.unlink()
    resource_id = new_id("res")

    def unit(tx: Transaction) -> None:
        task_id, plan_id = _task_and_plan(tx)
        job_id = _job(tx, task_id, plan_id, (resource_id,))
        _resource(tx, resource_id, job_id, receipt.size_bytes, receipt.sha256, receipt.pieces_digest)
        _end(tx, job_id)

    database.write_blocking(unit)
    database.close()
    return resource_id
