"""A workspace of 100,000 jobs opens, finds, lists and inserts as an empty one does."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.records import JOBS, PLANS, TASKS, count

JOB_COUNT = 100_000
BODY = b'{"jobId":"' + b"x" * 500 + b'"}'


def encode(sequence: int, time: float, event: object) -> bytes:
    return b"event"


def put_jobs(first: int, number: int) -> Callable[[Transaction], None]:
    def unit(tx: Transaction) -> None:
        for job in range(first, first + number):
            JOBS.put(
                tx.connection,
                f"job_{job}",
                BODY,
                task_id=f"t{job % 10}",
                plan_id="p",
                state="queued" if job % 25_000 == 0 else "succeeded",
                unfinished=int(job % 25_000 == 0),
            )
            tx.append(f"job_{job}", None)
        tx.count("jobs", number)

    return unit


def prepare(tx: Transaction) -> None:
    for number in range(10):
        TASKS.put(tx.connection, f"t{number}", b"{}")
    PLANS.put(tx.connection, "p", b"{}", task_id="t0")


def filled(directory: Path, jobs: int) -> Path:
    database = Database.open(directory, encode_event=encode)
    database.write_blocking(prepare)
    database.write_blocking(put_jobs(0, jobs))
    database.close()
    return directory


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("large") / "w", JOB_COUNT)


@pytest.fixture
def both(large: Path, tmp_path: Path) -> Iterator[tuple[Database, Database]]:
    """The large workspace and one with ten jobs."""
    databases = (
        Database.open(large, encode_event=encode),
        Database.open(filled(tmp_path / "w", 10), encode_event=encode),
    )
    yield databases
    for database in databases:
        database.close()


def ratio(both: tuple[Database, Database], work: Callable[[Database, int], object]) -> float:
    """How the median cost in the large workspace compares, measured in turns."""
    costs: tuple[list[float], list[float]] = ([], [])
    for turn in range(300):
        for database, spent in zip(both, costs, strict=True):
            begun = time.perf_counter()
            work(database, turn)
            spent.append(time.perf_counter() - begun)
    return statistics.median(costs[0]) / statistics.median(costs[1])


def test_opening_takes_no_notice_of_history(large: Path) -> None:
    begun = time.perf_counter()
    database = Database.open(large, encode_event=encode)
    unfinished = JOBS.page(database.reader, newest_first=False, unfinished=1).records
    total = count(database.reader, "jobs")
    took = time.perf_counter() - begun
    database.close()
    assert (len(unfinished), total) == (4, JOB_COUNT)
    assert took < 0.5


def test_a_job_is_found_as_fast(both: tuple[Database, Database]) -> None:
    def get(database: Database, turn: int) -> None:
        for job in range(10):
            assert JOBS.get(database.reader, f"job_{job}") == BODY

    assert ratio(both, get) < 1.5


def test_a_page_is_listed_as_fast(both: tuple[Database, Database]) -> None:
    def page(database: Database, turn: int) -> None:
        JOBS.page(database.reader, limit=10)

    assert ratio(both, page) < 1.5


def test_a_job_is_inserted_as_fast(both: tuple[Database, Database]) -> None:
    def insert(database: Database, turn: int) -> None:
        database.write_blocking(put_jobs(JOB_COUNT + turn, 1))

    assert ratio(both, insert) < 1.5


@pytest.mark.parametrize(
    ("where", "index"),
    [
        ({}, ""),
        ({"task_id": "t1"}, "jobs_by_task"),
        ({"unfinished": 1}, "jobs_unfinished"),
    ],
)
def test_no_list_scans_or_sorts(both: tuple[Database, Database], where: dict[str, Any], index: str) -> None:
    connection = both[0].reader
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    page = JOBS.page(connection, limit=3, after_id="job_50000", **where)
    connection.set_trace_callback(None)
    assert len(page.records) == (3 if "unfinished" not in where else 2)
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statements[-1]}").fetchall()]
    assert len(plan) == 1
    assert plan[0].startswith("SEARCH jobs USING")
    assert index in plan[0]
