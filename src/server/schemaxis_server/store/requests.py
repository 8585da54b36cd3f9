"""What the store remembers of requests and failures, for idempotency and for the bound on repetition."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remembered:
    """An earlier use of a request_id: the digest of its request, and the id of what it made."""

    digest: str
    thing_id: str


def recall(connection: sqlite3.Connection, method: str, request_id: str) -> Remembered | None:
    """The earlier use of ``request_id`` with ``method``, or None."""
    rows = connection.execute(
        "SELECT digest, thing_id FROM requests WHERE method = ? AND request_id = ?", (method, request_id)
    ).fetchall()
    return Remembered(*rows[0]) if rows else None


def remember(connection: sqlite3.Connection, method: str, request_id: str, use: Remembered) -> None:
    """Keep a first use. A second one of the same request_id is an sqlite3.IntegrityError."""
    connection.execute(
        "INSERT INTO requests (method, request_id, digest, thing_id) VALUES (?, ?, ?, ?)",
        (method, request_id, use.digest, use.thing_id),
    )


def count_failure(connection: sqlite3.Connection, task_id: str, digest: str, code: str) -> int:
    """Note that the plan of ``digest`` failed with ``code``; returns how often it has by now."""
    repeated: int = connection.execute(
        "INSERT INTO failures (task_id, digest, code, repeated) VALUES (?, ?, ?, 1) "
        "ON CONFLICT (task_id, digest, code) DO UPDATE SET repeated = repeated + 1 RETURNING repeated",
        (task_id, digest, code),
    ).fetchall()[0][0]
    return repeated


def most_repeated_failure(connection: sqlite3.Connection, task_id: str, digest: str) -> int:
    """How often the plan of ``digest`` failed in the same way, at most; 0 if it never did."""
    repeated: int = connection.execute(
        "SELECT coalesce(max(repeated), 0) FROM failures WHERE task_id = ? AND digest = ?", (task_id, digest)
    ).fetchall()[0][0]
    return repeated
