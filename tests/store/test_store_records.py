"""Records: checksums, quarantine, keyset pages, kept counts, remembered requests."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.store.damage import Corrupt
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.records import (
    EVIDENCE,
    JOBS,
    PAGE_BYTES,
    PLANS,
    RESOURCES,
    TASKS,
    count,
)
from schemaxis_server.store.requests import Remembered, recall, remember


@pytest.fixture
def jobs(database: Database) -> Database:
    """Two tasks with a plan each, and ten jobs that alternate between them."""

    def fill(tx: Transaction) -> None:
        connection = tx.connection
        for task in ("a", "b"):
            TASKS.put(connection, task, b"{}")
            PLANS.put(connection, f"plan-{task}", b"{}", task_id=task)
        for number in range(10):
            task = "ab"[number % 2]
            JOBS.put(
                connection,
                f"j{number}",
                f"job {number}".encode(),
                task_id=task,
                plan_id=f"plan-{task}",
                state="queued" if number > 7 else "succeeded",
                unfinished=int(number > 7),
            )

    database.write_blocking(fill)
    return database


def tamper(directory: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(directory / "schemaxis.db") as connection:
        assert connection.execute(statement, values).rowcount == 1
    connection.close()


def test_a_record_is_replaced_in_its_place(jobs: Database) -> None:
    jobs.write_blocking(
        lambda tx: JOBS.put(
            tx.connection, "j0", b"new", task_id="a", plan_id="plan-a", state="invalidated", unfinished=0
        )
    )
    assert JOBS.get(jobs.reader, "j0") == b"new"
    assert JOBS.page(jobs.reader, newest_first=False, limit=1).records == (b"new",)
    assert JOBS.page(jobs.reader, state="invalidated").records == (b"new",)


def test_every_column_is_given(database: Database) -> None:
    with pytest.raises(TypeError, match="task_id"):
        database.write_blocking(lambda tx: PLANS.put(tx.connection, "p", b""))
    with pytest.raises(TypeError, match="colour"):
        TASKS.page(database.reader, colour="red")


def test_pages_go_through_a_list_without_gap_or_repetition(jobs: Database) -> None:
    for newest_first in (True, False):
        seen: list[bytes] = []
        after: str | None = None
        while True:
            page = JOBS.page(jobs.reader, after_id=after, limit=2, newest_first=newest_first, task_id="a")
            seen += page.records
            after = page.next_after
            if after is None:
                break
        expected = [f"job {number}".encode() for number in range(0, 10, 2)]
        assert seen == (expected[::-1] if newest_first else expected)


def test_a_page_that_ends_the_list_has_no_next(jobs: Database) -> None:
    assert JOBS.page(jobs.reader, limit=10).next_after is None
    assert JOBS.page(jobs.reader, limit=9).next_after == "j1"
    assert JOBS.page(jobs.reader, task_id="nobody").records == ()
    assert len(JOBS.page(jobs.reader, unfinished=1).records) == 2


def test_a_page_cursor_of_nowhere_is_refused(jobs: Database) -> None:
    with pytest.raises(Fault) as refused:
        JOBS.page(jobs.reader, after_id="j99")
    assert refused.value.code == "OUT_OF_RANGE"


def test_a_resource_without_a_job(database: Database) -> None:
    database.write_blocking(
        lambda tx: RESOURCES.put(tx.connection, "r", b"turn", job_id=None, state="available")
    )
    assert RESOURCES.page(database.reader, job_id=None).records == (b"turn",)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jobs SET body = x'00' WHERE id = 'j4'",
        "UPDATE jobs SET body = 'job 4' WHERE id = 'j4'",
        "UPDATE jobs SET checksum = x'' WHERE id = 'j4'",
        "UPDATE jobs SET (body, checksum) = (SELECT body, checksum FROM jobs WHERE id = 'j5') "
        "WHERE id = 'j4'",
    ],
)
async def test_a_damaged_record_is_set_aside_and_named(
    jobs: Database, directory: Path, statement: str
) -> None:
    tamper(directory, statement)

    for _ in range(3):
        with pytest.raises(Corrupt) as damage:
            JOBS.get(jobs.reader, "j4")
    assert (damage.value.code, damage.value.table, damage.value.id) == ("WORKSPACE_CORRUPT", "jobs", "j4")

    page = await jobs.scan(lambda connection: JOBS.page(connection, limit=100))
    assert page.damaged == ("j4",)
    assert len(page.records) == 9
    assert JOBS.get(jobs.reader, "j5") == b"job 5"

    await jobs.write(lambda tx: None)
    rows = jobs.reader.execute("SELECT table_name, id, reason FROM quarantine").fetchall()
    assert rows == [("jobs", "j4", "checksum does not match")]


async def test_damage_met_inside_a_unit_is_set_aside_though_the_unit_fails(
    jobs: Database, directory: Path
) -> None:
    tamper(directory, "UPDATE tasks SET body = x'00' WHERE id = 'a'")
    with pytest.raises(Corrupt):
        await jobs.write(lambda tx: TASKS.get(tx.connection, "a"))
    await jobs.write(lambda tx: None)
    assert jobs.reader.execute("SELECT id FROM quarantine").fetchall() == [("a",)]


def test_a_name_that_is_no_text_hides_no_neighbour(jobs: Database, directory: Path) -> None:
    tamper(directory, "UPDATE jobs SET id = CAST(x'ff6a' AS TEXT) WHERE id = 'j4'")
    page = JOBS.page(jobs.reader, limit=100)
    assert len(page.records) == 9
    assert page.damaged == ("\ufffdj",)


def test_evidence_lies_apart_from_its_job(jobs: Database) -> None:
    body = bytes(300_000)
    jobs.write_blocking(lambda tx: EVIDENCE.put(tx.connection, "j0/result", body, job_id="j0"))
    assert EVIDENCE.get(jobs.reader, "j0/result") == body
    assert EVIDENCE.get(jobs.reader, "j0/log") is None


def test_counts_are_kept(database: Database) -> None:
    assert count(database.reader, "jobs") == 0
    database.write_blocking(lambda tx: tx.count("jobs", 3))
    database.write_blocking(lambda tx: tx.count("jobs", -1))
    assert count(database.reader, "jobs") == 2


def test_a_request_is_remembered_once(database: Database, directory: Path) -> None:
    use = Remembered("digest", "job_1")
    assert recall(database.reader, "execute_plan", "r1") is None
    database.write_blocking(lambda tx: remember(tx.connection, "execute_plan", "r1", use))
    assert recall(database.reader, "execute_plan", "r1") == use
    assert recall(database.reader, "create_task", "r1") is None
    with pytest.raises(sqlite3.IntegrityError):
        database.write_blocking(lambda tx: remember(tx.connection, "execute_plan", "r1", use))

    tamper(directory, "UPDATE requests SET thing_id = 'job_2'")
    with pytest.raises(Corrupt):
        recall(database.reader, "execute_plan", "r1")


def test_a_record_comes_with_the_tail_of_its_stream(jobs: Database) -> None:
    def unit(tx: Transaction) -> None:
        for stream in ("j1", "j1", "j2"):
            tx.append(stream, "event")

    jobs.write_blocking(unit)
    assert JOBS.get_with_tail(jobs.reader, "j1") == (b"job 1", 2)
    assert JOBS.get_with_tail(jobs.reader, "j3") == (b"job 3", 0)
    assert JOBS.get_with_tail(jobs.reader, "j99") is None


def test_a_damaged_record_is_refused_with_its_tail_too(jobs: Database, directory: Path) -> None:
    tamper(directory, "UPDATE jobs SET body = ? WHERE id = ?", b"job 9", "j1")
    with pytest.raises(Corrupt, match="j1"):
        JOBS.get_with_tail(jobs.reader, "j1")


@pytest.mark.parametrize("newest_first", [True, False])
def test_a_page_is_cut_by_its_bytes_but_has_one_record(database: Database, newest_first: bool) -> None:
    sizes = [10, PAGE_BYTES + 1, 1_500_000, 1_600_000, 1, 1, PAGE_BYTES, 5]
    bodies = [bytes([65 + number]) * size for number, size in enumerate(sizes)]

    def fill(tx: Transaction) -> None:
        for number, body in enumerate(bodies):
            TASKS.put(tx.connection, f"t{number}", body)

    database.write_blocking(fill)
    found: list[bytes] = []
    after = None
    pages = 0
    while pages == 0 or after is not None:
        page = TASKS.page(database.reader, after_id=after, limit=50, newest_first=newest_first)
        assert len(page.records) == 1 or sum(map(len, page.records)) <= PAGE_BYTES
        found += page.records
        after = page.next_after
        pages += 1
    assert found == (bodies[::-1] if newest_first else bodies)
    assert pages == 5
