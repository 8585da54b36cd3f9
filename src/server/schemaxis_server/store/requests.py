"""What a ``request_id`` was used for, so that a repeated request finds what the first one made."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from schemaxis_server.store.connection import Connection
from schemaxis_server.store.damage import Corrupt, seal


@dataclass(frozen=True, slots=True)
class Remembered:
    """An earlier use of a request_id: the digest of its request, and the id of what it made."""

    digest: str
    thing_id: str


def recall(connection: Connection, method: str, request_id: str) -> Remembered | None:
    """The earlier use of ``request_id`` with ``method``, or None. Raises :class:`Corrupt`."""
    rows = connection.rows(
        "SELECT digest, thing_id, checksum FROM requests WHERE method = ? AND request_id = ?",
        (method, request_id),
    )
    if not rows:
        return None
    digest, thing_id, checksum = rows[0]
    if request_seal(method, request_id, digest, thing_id) != checksum:
        id = f"{method}/{request_id}"
        reason = "checksum does not match"
        if connection.report is not None:
            connection.report("requests", id, reason)
        raise Corrupt("requests", id, reason)
    return Remembered(digest, thing_id)


def remember(connection: sqlite3.Connection, method: str, request_id: str, use: Remembered) -> None:
    """Keep a first use. A second one of the same request_id is an sqlite3.IntegrityError."""
    connection.execute(
        "INSERT INTO requests (method, request_id, digest, thing_id, checksum) VALUES (?, ?, ?, ?, ?)",
        (
            method,
            request_id,
            use.digest,
            use.thing_id,
            request_seal(method, request_id, use.digest, use.thing_id),
        ),
    )


def request_seal(method: str, request_id: str, digest: object, thing_id: object) -> bytes:
    """The checksum of a row of ``requests``."""
    return seal("requests", f"{method}/{request_id}", f"{digest}\0{thing_id}".encode())
