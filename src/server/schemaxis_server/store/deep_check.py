"""The whole scan behind ``doctor --deep``: every record, every event, every object."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import connect
from schemaxis_server.store.damage import ObjectCorrupt, seal
from schemaxis_server.store.objects import Receipt, stored_objects, stored_receipt, verify_object
from schemaxis_server.store.opening import DATABASE, inspect_database
from schemaxis_server.store.records import RECORD_TABLES, RESOURCES
from schemaxis_server.store.requests import request_seal

_INTEGRITY_LINES = 100

ReceiptOf = Callable[[bytes], Receipt]
"""Gives the receipt that the body of a resource names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. ``area`` is a table of the database, ``database`` or ``objects``;
    ``subject`` names the row or the object, and ``problem`` says what does not hold."""

    area: str
    subject: str
    problem: str


def deep_check(directory: Path, receipt_of: ReceiptOf | None = None) -> Iterator[Finding]:
    """Check everything stored in the workspace ``directory`` and yield what is wrong with it.

    Changes nothing, and may run beside the service. Takes as long as reading it all takes. With
    ``receipt_of``, every resource is also held against its object.
    """
    try:
        inspect_database(directory / DATABASE)
        connection = connect(directory / DATABASE)
    except (Fault, OSError, sqlite3.Error) as error:
        yield Finding("database", DATABASE, str(error))
        return
    try:
        # One snapshot for all of it, so that what the service writes meanwhile is no contradiction.
        connection.execute("BEGIN")
        yield from _database(connection)
        receipts = dict(_receipts(connection, receipt_of)) if receipt_of else {}
    except sqlite3.Error as error:
        yield Finding("database", DATABASE, f"the scan ended early: {error}")
        receipts = {}
    finally:
        connection.close()
    yield from _objects(directory / "objects", receipts)


def _database(connection: sqlite3.Connection) -> Iterator[Finding]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_INTEGRITY_LINES})").fetchall():
        if line != "ok":
            yield Finding("database", DATABASE, line)
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
        yield Finding(table, f"position {row}", f"refers to a row of {parent} that does not exist")
    for records in RECORD_TABLES:
        yield from _records(connection, records.name)
    yield from _requests(connection)
    yield from _events(connection)


def _records(connection: sqlite3.Connection, table: str) -> Iterator[Finding]:
    total = 0
    for id, body, checksum in connection.execute(f"SELECT id, body, checksum FROM {table} ORDER BY position"):
        total += 1
        if not isinstance(body, bytes) or seal(table, id, body) != checksum:
            yield Finding(table, id, "checksum does not match")
    for (kept,) in connection.execute("SELECT value FROM counts WHERE name = ?", (table,)).fetchall():
        if kept != total:
            yield Finding("counts", table, f"says {kept}, but there are {total}")


def _requests(connection: sqlite3.Connection) -> Iterator[Finding]:
    for method, request_id, digest, thing_id, checksum in connection.execute(
        "SELECT method, request_id, digest, thing_id, checksum FROM requests"
    ):
        if request_seal(method, request_id, digest, thing_id) != checksum:
            yield Finding("requests", f"{method}/{request_id}", "checksum does not match")


def _events(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Every stream is dense from 1 to its tail, every event is what was appended."""
    tails: dict[str, int] = dict(connection.execute("SELECT stream, tail FROM streams").fetchall())
    reached: dict[str, int] = dict.fromkeys(tails, 0)
    for stream, sequence, data, checksum in connection.execute(
        "SELECT stream, sequence, data, checksum FROM events ORDER BY stream, sequence"
    ):
        before = reached.get(stream, 0)
        if sequence != before + 1:
            yield Finding("events", f"{stream}/{before + 1}", f"is missing; the next one is {sequence}")
        reached[stream] = sequence
        if not isinstance(data, bytes) or seal("events", f"{stream}/{sequence}", data) != checksum:
            yield Finding("events", f"{stream}/{sequence}", "checksum does not match")
    for stream, last in reached.items():
        if last != tails.get(stream, 0):
            yield Finding("streams", stream, f"says {tails.get(stream, 0)}, but the last event is {last}")


def _receipts(connection: sqlite3.Connection, receipt_of: ReceiptOf) -> Iterator[tuple[str, Receipt]]:
    table = RESOURCES.name
    for id, body, checksum in connection.execute(f"SELECT id, body, checksum FROM {table}"):
        if isinstance(body, bytes) and seal(table, id, body) == checksum:
            yield id, receipt_of(body)


def _objects(directory: Path, receipts: dict[str, Receipt]) -> Iterator[Finding]:
    for sha256 in stored_objects(directory):
        try:
            verify_object(directory, stored_receipt(directory, sha256))
        except Fault as fault:
            yield Finding("objects", sha256, _why(fault))
    for resource_id, receipt in receipts.items():
        try:
            stored = stored_receipt(directory, receipt.sha256)
        except Fault as fault:
            yield Finding("resources", resource_id, f"its object {receipt.sha256}: {_why(fault)}")
            continue
        if stored != receipt:
            yield Finding("resources", resource_id, f"its receipt is not that of {receipt.sha256}")


def _why(fault: Fault) -> str:
    return fault.why if isinstance(fault, ObjectCorrupt) else fault.record.message
