"""The writer: groups, savepoints, refusals, and answers that come after the commit."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.store import writer
from schemaxis_server.store.connection import as_fault
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.records import TASKS, count


def put_task(id: str) -> Callable[[Transaction], str]:
    def unit(tx: Transaction) -> str:
        TASKS.put(tx.connection, id, b"{}")
        tx.count("tasks", 1)
        tx.append("s", id)
        return id

    return unit


class Gate:
    """A unit that keeps the writer busy, so that what follows waits together."""

    def __init__(self, database: Database) -> None:
        self._entered = threading.Event()
        self._open = threading.Event()
        self._task = asyncio.ensure_future(database.write(self._unit))

    def _unit(self, tx: Transaction) -> None:
        self._entered.set()
        assert self._open.wait(10)

    async def closed(self) -> None:
        await asyncio.to_thread(self._entered.wait, 10)

    async def release(self) -> None:
        self._open.set()
        await self._task


async def grouped(database: Database, *units: Callable[[Transaction], object]) -> list[object]:
    """The outcomes of units that share one commit; an exception stands for itself."""
    gate = Gate(database)
    await gate.closed()
    waiting = [asyncio.ensure_future(database.write(unit)) for unit in units]
    await asyncio.sleep(0)
    await gate.release()
    return list(await asyncio.gather(*waiting, return_exceptions=True))


def committed_tasks(directory: Path) -> set[str]:
    with sqlite3.connect(directory / "schemaxis.db") as connection:
        found = {row[0] for row in connection.execute("SELECT id FROM tasks").fetchall()}
    connection.close()
    return found


async def test_twenty_concurrent_writers_get_dense_sequences(database: Database) -> None:
    async def write(name: int) -> list[int]:
        return [await database.write(lambda tx: tx.append("shared", name)) for _ in range(25)]

    sequences = await asyncio.gather(*(write(name) for name in range(20)))

    assert sorted(number for mine in sequences for number in mine) == list(range(1, 501))
    assert all(mine == sorted(mine) for mine in sequences)
    assert database.events.tail("shared") == 500


async def test_an_answer_comes_after_the_commit(database: Database, directory: Path) -> None:
    for number in range(50):
        id = await database.write(put_task(f"t{number}"))
        assert id in committed_tasks(directory)


async def test_a_bad_unit_takes_no_neighbour(database: Database, directory: Path) -> None:
    def bad(tx: Transaction) -> None:
        put_task("bad")(tx)
        raise Fault("STALE_REVISION", "read the present revision")

    before, fault, after = await grouped(database, put_task("a"), bad, put_task("b"))

    assert (before, after) == ("a", "b")
    assert isinstance(fault, Fault)
    assert fault.code == "STALE_REVISION"
    assert committed_tasks(directory) == {"a", "b"}
    assert count(database.reader, "tasks") == 2
    # The sequence that the bad unit had taken is given to the next one.
    assert (await database.events.read("s", 0)).events == [b"1:a", b"2:b"]


async def test_a_failed_commit_fails_the_whole_group_and_nothing_after_it(
    database: Database, directory: Path
) -> None:
    def breaks_the_commit(tx: Transaction) -> None:
        tx.connection.execute("PRAGMA defer_foreign_keys = ON")
        tx.connection.execute(
            "INSERT INTO plans (id, task_id, body, checksum) VALUES ('p', 'nobody', x'', x'')"
        )

    outcomes = await grouped(database, put_task("a"), breaks_the_commit, put_task("b"))

    assert [type(outcome) for outcome in outcomes] == [sqlite3.IntegrityError] * 3
    assert committed_tasks(directory) == set()
    assert await database.write(put_task("c")) == "c"
    assert (await database.events.read("s", 0)).events == [b"1:c"]


async def test_a_full_disk_is_a_fault_and_passes(database: Database, directory: Path) -> None:
    def fill(tx: Transaction) -> None:
        tx.connection.execute("PRAGMA max_page_count = 1")
        TASKS.put(tx.connection, "large", bytes(1_000_000))

    with pytest.raises(Fault) as refused:
        await database.write(fill)
    assert refused.value.code == "STORAGE_FULL"
    assert committed_tasks(directory) == set()

    await database.write(lambda tx: tx.connection.execute("PRAGMA max_page_count = 1000000").fetchall())
    assert await database.write(put_task("a")) == "a"


async def test_cancelling_the_caller_keeps_the_unit(database: Database, directory: Path) -> None:
    gate = Gate(database)
    await gate.closed()
    caller = asyncio.ensure_future(database.write(put_task("kept")))
    await asyncio.sleep(0)
    caller.cancel()
    await gate.release()
    with pytest.raises(asyncio.CancelledError):
        await caller

    await database.write(put_task("next"))
    assert committed_tasks(directory) == {"kept", "next"}


async def test_a_full_queue_refuses(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "QUEUE_LIMIT", 5)
    gate = Gate(database)
    await gate.closed()
    waiting = [asyncio.ensure_future(database.write(put_task(f"t{number}"))) for number in range(5)]
    await asyncio.sleep(0)

    with pytest.raises(Fault) as refused:
        await database.write(put_task("late"))
    await gate.release()

    assert refused.value.code == "OVERLOADED"
    assert refused.value.record.details["retryAfterSeconds"] > 0
    assert await asyncio.gather(*waiting) == [f"t{number}" for number in range(5)]
    assert await database.write(put_task("late")) == "late"


async def test_closing_commits_what_waits_and_refuses_the_rest(database: Database, directory: Path) -> None:
    waiting = [asyncio.ensure_future(database.write(put_task(f"t{number}"))) for number in range(100)]
    await asyncio.sleep(0)
    database.close()

    assert await asyncio.gather(*waiting) == [f"t{number}" for number in range(100)]
    assert len(committed_tasks(directory)) == 100
    for refused in (database.write(put_task("late")), database.scan(lambda connection: None)):
        with pytest.raises(Fault) as fault:
            await refused
        assert fault.value.code == "SHUTTING_DOWN"


async def test_whatever_a_unit_raises_reaches_its_caller(database: Database) -> None:
    def stop(tx: Transaction) -> None:
        raise StopIteration

    def leave(tx: Transaction) -> None:
        raise SystemExit(3)

    def end_it(tx: Transaction) -> None:
        tx.connection.execute("COMMIT")

    with pytest.raises(RuntimeError, match="StopIteration"):
        await database.write(stop)
    with pytest.raises(sqlite3.OperationalError):
        await database.write(end_it)
    outcomes = await grouped(database, leave, put_task("a"))
    assert str(outcomes[0]) == "a unit of work raised SystemExit"
    assert outcomes[1] == "a"


def test_writes_from_a_thread_that_waits(database: Database) -> None:
    assert database.write_blocking(put_task("a")) == "a"
    with pytest.raises(Fault):
        database.write_blocking(refuse)
    with pytest.raises(RuntimeError, match="another"):
        database.write_blocking(lambda tx: database.write_blocking(put_task("b")))


def refuse(tx: Transaction) -> None:
    raise Fault("BUDGET_EXHAUSTED", "report what was reached")


async def test_two_loops_share_one_database(database: Database) -> None:
    def other_loop() -> str:
        return asyncio.run(database.write(put_task("theirs")))

    theirs, mine = await asyncio.gather(asyncio.to_thread(other_loop), database.write(put_task("mine")))
    assert (theirs, mine) == ("theirs", "mine")


async def test_a_reader_cannot_write_and_a_scan_gives_no_cursor(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.reader.execute("DELETE FROM tasks")
    with pytest.raises(TypeError, match="rows"):
        await database.scan(lambda connection: connection.execute("SELECT 1"))


async def test_a_scan_sees_one_snapshot(database: Database) -> None:
    await database.write(put_task("a"))
    seen = threading.Event()
    go_on = threading.Event()

    def query(connection: sqlite3.Connection) -> tuple[int, int]:
        first = len(connection.execute("SELECT id FROM tasks").fetchall())
        seen.set()
        assert go_on.wait(10)
        return first, len(connection.execute("SELECT id FROM tasks").fetchall())

    scan = asyncio.ensure_future(database.scan(query))
    await asyncio.to_thread(seen.wait, 10)
    await database.write(put_task("b"))
    go_on.set()
    assert await scan == (1, 1)
    assert len(await database.scan(lambda c: c.execute("SELECT id FROM tasks").fetchall())) == 2


async def test_a_database_that_another_program_writes_is_a_fault_and_passes(
    database: Database, directory: Path
) -> None:
    await database.write(lambda tx: tx.connection.execute("PRAGMA busy_timeout = 50").fetchall())
    with sqlite3.connect(directory / "schemaxis.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Fault) as refused:
            await database.write(put_task("a"))
        other.execute("ROLLBACK")
    other.close()
    assert (refused.value.code, refused.value.record.retryable) == ("OVERLOADED", True)
    assert refused.value.record.details["retryAfterSeconds"] > 0
    assert committed_tasks(directory) == set()
    assert await database.write(put_task("a")) == "a"


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (sqlite3.SQLITE_BUSY, "OVERLOADED"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "OVERLOADED"),
        (sqlite3.SQLITE_LOCKED, "OVERLOADED"),
        (sqlite3.SQLITE_NOMEM, "OVERLOADED"),
        (sqlite3.SQLITE_IOERR_NOMEM, "OVERLOADED"),
        (sqlite3.SQLITE_IOERR_READ, "WORKSPACE_CORRUPT"),
        (sqlite3.SQLITE_IOERR_FSYNC, "WORKSPACE_CORRUPT"),
        (sqlite3.SQLITE_READONLY, "WORKSPACE_CORRUPT"),
        (sqlite3.SQLITE_READONLY_DBMOVED, "WORKSPACE_CORRUPT"),
        (sqlite3.SQLITE_CANTOPEN, "WORKSPACE_CORRUPT"),
        (sqlite3.SQLITE_CORRUPT, "WORKSPACE_CORRUPT"),
        (sqlite3.SQLITE_IOERR_WRITE, "STORAGE_FULL"),
        (sqlite3.SQLITE_FULL, "STORAGE_FULL"),
    ],
)
def test_what_the_database_cannot_do_is_a_fault_of_its_kind(code: int, fault: str) -> None:
    error = sqlite3.OperationalError("it cannot")
    error.sqlite_errorcode = code
    told = as_fault(error)
    assert isinstance(told, Fault)
    assert told.code == fault
    assert "it cannot" in told.record.message


def test_a_database_that_cannot_be_opened_for_want_of_descriptors(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(24, "Too many open files")

    error = sqlite3.OperationalError("unable to open database file")
    error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    monkeypatch.setattr(os, "open", refuse)
    told = as_fault(error)
    assert isinstance(told, Fault)
    assert told.code == "OVERLOADED"


def remove(directory: Path) -> None:
    (directory / "schemaxis.db").rename(directory / "gone.db")


def replace(directory: Path) -> None:
    remove(directory)
    (directory / "schemaxis.db").write_bytes((directory / "gone.db").read_bytes())


def remove_the_log(directory: Path) -> None:
    (directory / "schemaxis.db-wal").rename(directory / "gone.db-wal")


def put_back(directory: Path) -> None:
    for gone in directory.glob("gone.*"):
        gone.rename(directory / gone.name.replace("gone", "schemaxis"))


@pytest.mark.parametrize("harm", [remove, replace, remove_the_log])
async def test_nothing_is_acknowledged_into_a_file_that_nobody_finds(
    database: Database, directory: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    await database.write(put_task("kept"))
    assert database.problem == ""
    assert count(database.reader, "tasks") == 1
    harm(directory)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            with pytest.raises(Fault) as refused:
                await database.write(put_task("lost"))
            assert (refused.value.code, refused.value.record.retryable) == ("WORKSPACE_CORRUPT", False)
    assert len(caplog.records) == 1
    assert "schemaxis.db" in database.problem
    assert count(database.reader, "tasks") == 1
    # A thread that reads for the first time neither makes an empty database nor takes another one's.
    with pytest.raises(Fault) as refused:
        await asyncio.to_thread(lambda: count(database.reader, "tasks"))
    assert refused.value.code == "WORKSPACE_CORRUPT"
    assert (directory / "schemaxis.db").exists() == (harm is not remove)
    assert (directory / "schemaxis.db-wal").exists() == (harm is not remove_the_log)

    put_back(directory)
    assert await database.write(put_task("later")) == "later"
    assert database.problem == ""


async def test_a_commit_during_which_the_file_goes_is_not_acknowledged(
    database: Database, directory: Path
) -> None:
    def unit(tx: Transaction) -> None:
        put_task("lost")(tx)
        remove(directory)

    with pytest.raises(Fault) as refused:
        await database.write(unit)
    assert refused.value.code == "WORKSPACE_CORRUPT"


@pytest.mark.parametrize("turn", range(5))
def test_closing_beside_readers_ends_them_in_order(database: Database, turn: int) -> None:
    numbers = (
        "CREATE VIEW numbers AS WITH RECURSIVE n(value) AS "
        "(SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 20000) SELECT value FROM n"
    )
    database.write_blocking(lambda tx: tx.connection.execute(numbers).fetchall())
    begun = threading.Barrier(9)
    outcomes: list[BaseException] = []

    def read() -> None:
        begun.wait()
        try:
            while True:
                # Takes long enough to be under way whenever the end comes.
                database.reader.rows("SELECT value FROM numbers")
        except BaseException as error:
            outcomes.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    begun.wait()
    time.sleep(turn / 50)
    database.close()
    for thread in threads:
        thread.join(10)
    codes = [one.code if isinstance(one, Fault) else repr(one) for one in outcomes]
    assert codes == ["SHUTTING_DOWN"] * 8
