"""What the store says of bytes that are no longer those it wrote, and the seal that tells."""

from __future__ import annotations

import errno
from pathlib import Path

from blake3 import blake3

from schemaxis_server.faults import Fault
from schemaxis_server.store.files import storage_fault

SEAL_BYTES = 16

_GONE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO, errno.EFBIG}
)
"""What opening answers where a stored file is missing or something else lies in its place."""


class Corrupt(Fault):
    """A stored record or event fails its checksum. ``table`` and ``id`` name it."""

    def __init__(self, table: str, id: str, reason: str) -> None:
        super().__init__(
            "WORKSPACE_CORRUPT",
            f"The stored record {id} of {table} is damaged ({reason}); it was set aside and the rest is "
            "usable. Run `schemaxis doctor --deep` on the workspace.",
            table=table,
            id=id,
        )
        self.table = table
        self.id = id
        self.reason = reason


class ObjectCorrupt(Fault):
    """A stored object no longer matches its receipt. ``sha256`` names it, ``why`` says how."""

    def __init__(self, sha256: str, why: str) -> None:
        super().__init__(
            "RESOURCE_CORRUPT",
            f"The stored bytes of {sha256} no longer match their receipt: {why}. "
            "Execute again and use the new job's resources.",
            sha256=sha256,
        )
        self.sha256 = sha256
        self.why = why


def object_fault(sha256: str, error: OSError, path: Path, of: str = "") -> Exception:
    """What an error means that reading an object met: :class:`ObjectCorrupt` only where the file at
    ``path`` is not there as it was stored. Anything else says nothing of its bytes."""
    if error.errno in _GONE:
        return ObjectCorrupt(sha256, of + (error.strerror or str(error)))
    return storage_fault(error, path)


def record_fault(table: str, id: str, error: OSError, path: Path) -> Exception:
    """The same for a record's file: :class:`Corrupt` only where it is not there as it was stored."""
    if error.errno in _GONE:
        return Corrupt(table, id, f"its file cannot be read: {error.strerror or error}")
    return storage_fault(error, path)


def seal(table: str, id: str, body: bytes) -> bytes:
    """The 16-byte checksum of a row: BLAKE3 over the table, the id and the stored bytes.

    Table and id are part of it so that a row whose body was swapped with a neighbour's fails.
    """
    return blake3(f"{table}\0{id}\0".encode() + body).digest(SEAL_BYTES)
