"""Published artifacts and pieces of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemaxis.models.base import OpenEnum


class ResourceState(OpenEnum):
    """Whether a resource can be read."""

    AVAILABLE = "available"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Producer:
    """What made a resource: an operation of a job, or a turn."""

    job_id: str | None
    operation_id: str | None
    turn_id: str | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of what was published; ``digest`` is BLAKE3 over the digests of its pieces, hexadecimal."""

    receipt_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class ResourceRecord:
    """A published artifact, whose bytes never change. The digests are SHA-256 in hexadecimal.

    ``output`` is the node of the document whose output it holds or shows.
    """

    resource_id: str
    producer: Producer
    document_digest: str
    name: str
    kind: str
    media_type: str
    size_bytes: int
    sha256: str
    receipt: Receipt
    units: str
    state: ResourceState
    derived_from: str | None
    create_time: datetime
    output: str


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of a resource from ``offset`` on; ``next_offset`` is ``None`` at the end.

    ``size_bytes`` and ``sha256`` are those of the whole resource.
    """

    resource_id: str
    offset: int
    data: bytes
    next_offset: int | None
    size_bytes: int
    sha256: str
