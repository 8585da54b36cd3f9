"""What the store says of bytes that are no longer those it wrote, and the seal that tells."""

from __future__ import annotations

from blake3 import blake3

from schemaxis_server.faults import Fault

SEAL_BYTES = 16


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


def seal(table: str, id: str, body: bytes) -> bytes:
    """The 16-byte checksum of a row: BLAKE3 over the table, the id and the stored bytes.

    Table and id are part of it so that a row whose body was swapped with a neighbour's fails.
    """
    return blake3(f"{table}\0{id}\0".encode() + body).digest(SEAL_BYTES)
