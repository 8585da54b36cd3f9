"""The deep check finds each kind of damage, names it, and changes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.deep_check import deep_check
from schemaxis_server.store.objects import ObjectStore, Receipt
from schemaxis_server.store.records import RESOURCES, TASKS
from schemaxis_server.store.requests import Remembered, remember


def receipt_of(body: bytes) -> Receipt:
    return Receipt(**json.loads(body))


@pytest.fixture
async def receipt(database: Database, directory: Path) -> Receipt:
    """A sound workspace with two tasks, a stream, a request, and a resource with its object."""
    objects = ObjectStore(directory / "objects")
    source = directory / "source"
    source.write_bytes(b"content" * 1000)
    receipt = await objects.add(source)
    objects.close()
    body = json.dumps(
        {"sha256": receipt.sha256, "size_bytes": receipt.size_bytes, "pieces_digest": receipt.pieces_digest}
    ).encode()

    def fill(tx: Transaction) -> None:
        for id in ("a", "b"):
            TASKS.put(tx.connection, id, b"{}")
            tx.count("tasks", 1)
        for _ in range(5):
            tx.append("s", "event")
        remember(tx.connection, "create_task", "r", Remembered("digest", "a"))
        RESOURCES.put(tx.connection, "res", body, job_id=None, state="available")

    await database.write(fill)
    return receipt


def sql(statement: str) -> Callable[[Path, Receipt], None]:
    def damage(directory: Path, receipt: Receipt) -> None:
        with sqlite3.connect(directory / "schemaxis.db") as connection:
            connection.execute(statement)
        connection.close()

    return damage


def change_object(directory: Path, receipt: Receipt) -> None:
    path = directory / "objects" / receipt.sha256[:2] / receipt.sha256
    path.chmod(0o600)
    path.write_bytes(b"CONTENT" * 1000)


def remove_object(directory: Path, receipt: Receipt) -> None:
    (directory / "objects" / receipt.sha256[:2] / receipt.sha256).unlink()


@pytest.mark.parametrize(
    ("damage", "area", "subject", "problem"),
    [
        (sql("UPDATE tasks SET body = x'00' WHERE id = 'b'"), "tasks", "b", "checksum"),
        (sql("DELETE FROM tasks WHERE id = 'b'"), "counts", "tasks", "says 2, but there are 1"),
        (sql("UPDATE requests SET thing_id = 'b'"), "requests", "create_task/r", "checksum"),
        (sql("UPDATE events SET data = x'00' WHERE sequence = 3"), "events", "s/3", "checksum"),
        (sql("DELETE FROM events WHERE sequence = 3"), "events", "s/3", "missing"),
        (sql("DELETE FROM events WHERE sequence = 5"), "streams", "s", "says 5, but the last event is 4"),
        (sql("DELETE FROM streams"), "streams", "s", "says 0"),
        (
            sql("INSERT INTO plans (id, task_id, body, checksum) VALUES ('p', 'x', x'', x'')"),
            "plans",
            "position 1",
            "does not exist",
        ),
        (change_object, "objects", "", "changed"),
        (remove_object, "resources", "res", "No such file"),
    ],
)
async def test_each_damage_is_found(
    database: Database,
    directory: Path,
    receipt: Receipt,
    damage: Callable[[Path, Receipt], None],
    area: str,
    subject: str,
    problem: str,
) -> None:
    assert list(deep_check(directory, receipt_of)) == []
    damage(directory, receipt)
    findings = list(deep_check(directory, receipt_of))
    assert any(
        finding.area == area and subject in finding.subject and problem in finding.problem
        for finding in findings
    ), findings


async def test_a_receipt_of_other_bytes_is_found(
    database: Database, directory: Path, receipt: Receipt
) -> None:
    findings = deep_check(directory, lambda body: Receipt(receipt.sha256, 1, receipt.pieces_digest))
    assert [finding.subject for finding in findings] == ["res"]


def test_a_damaged_tree_is_a_finding(tmp_path: Path) -> None:
    directory = tmp_path / "workspace"
    database = Database.open(directory, encode_event=lambda sequence, time, event: b"")
    database.close()
    path = directory / "schemaxis.db"
    content = bytearray(path.read_bytes())
    content[3 * 4096 :] = bytes(len(content) - 3 * 4096)
    path.write_bytes(content)
    assert {finding.area for finding in deep_check(directory)} == {"database"}


def test_a_lost_database_is_a_finding_and_stays_lost(tmp_path: Path) -> None:
    assert [finding.area for finding in deep_check(tmp_path)] == ["database"]
    (tmp_path / "schemaxis.db").write_bytes(b"")
    assert ["is empty" in finding.problem for finding in deep_check(tmp_path)] == [True]
    assert (tmp_path / "schemaxis.db").stat().st_size == 0
