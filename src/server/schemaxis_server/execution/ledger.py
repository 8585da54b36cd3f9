"""Typed access to the stored records: every read is checked, every write keeps its projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from schemaxis_server.execution.records import Job, Plan, Record, Resource, Task
from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import Connection
from schemaxis_server.store.database import Transaction
from schemaxis_server.store.records import EVIDENCE, JOBS, PLANS, RESOURCES, TASKS, RecordTable

R = TypeVar("R", bound=Record)
Columns = dict[str, str | int | None]

_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """A page of a list. ``next_token`` is empty at the end."""

    records: tuple[R, ...]
    next_token: str


class Shelf(Generic[R]):
    """One kind of record. ``noun`` is for the text of NOT_FOUND."""

    def __init__(self, table: RecordTable, kind: type[R], noun: str, columns: Callable[[R], Columns]) -> None:
        self._table = table
        self._decoder = msgspec.json.Decoder(kind)
        self._noun = noun
        self._columns = columns

    def get(self, connection: Connection, id: str) -> R:
        """The record of that id. Raises ``NOT_FOUND``; ``WORKSPACE_CORRUPT`` if it is damaged."""
        body = self._table.get(connection, id)
        if body is None:
            raise self._not_found(id)
        return self._decoder.decode(body)

    def get_with_tail(self, connection: Connection, id: str) -> tuple[R, int]:
        """The record and the last sequence of its event stream, read together. Raises like :meth:`get`."""
        found = self._table.get_with_tail(connection, id)
        if found is None:
            raise self._not_found(id)
        body, tail = found
        return self._decoder.decode(body), tail

    def put(self, tx: Transaction, id: str, record: R) -> None:
        self._table.put(tx.connection, id, _encoder.encode(record), **self._columns(record))
        tx.told[id] = record

    def page(self, connection: Connection, token: str, size: int, **where: Any) -> Page[R]:
        """Newest first. ``token`` is empty for the first page; damaged records are left out."""
        found = self._table.page(connection, after_id=token or None, limit=size, **where)
        return Page(tuple(self._decoder.decode(body) for body in found.records), found.next_after or "")

    def _not_found(self, id: str) -> Fault:
        return Fault(
            "NOT_FOUND",
            f"This workspace has no {self._noun} {id[:64]!r}; list its {self._noun}s and use an id from there.",
            f"/{self._noun}_id",
        )


TASK_SHELF: Shelf[Task] = Shelf(TASKS, Task, "task", lambda task: {})
PLAN_SHELF: Shelf[Plan] = Shelf(PLANS, Plan, "plan", lambda plan: {"task_id": plan.task_id})
JOB_SHELF: Shelf[Job] = Shelf(
    JOBS,
    Job,
    "job",
    lambda job: {
        "task_id": job.task_id,
        "plan_id": job.plan_id,
        "state": job.state.value,
        "unfinished": int(not job.state.terminal),
    },
)
RESOURCE_SHELF: Shelf[Resource] = Shelf(
    RESOURCES,
    Resource,
    "resource",
    lambda resource: {"job_id": resource.producer.job_id, "state": resource.state.value},
)


def put_evidence(tx: Transaction, job_id: str, section: str, value: Any) -> None:
    """Keep one section of a job's evidence, as JSON. ``bytes`` are JSON text already."""
    body = value if isinstance(value, bytes) else _encoder.encode(value)
    EVIDENCE.put(tx.connection, f"{job_id}/{section}", body, job_id=job_id)


def evidence(connection: Connection, job_id: str, section: str) -> bytes | None:
    """The JSON text of one section, or None if the job has none."""
    return EVIDENCE.get(connection, f"{job_id}/{section}")
