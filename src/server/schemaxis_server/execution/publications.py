"""What a host published: checked for shape and place, hashed into the content-addressed store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from schemaxis_server.execution.records import Producer, Receipt, Resource, ResourceState, now
from schemaxis_server.faults import Fault
from schemaxis_server.ids import new_id
from schemaxis_server.providers.contract import ArtifactKind
from schemaxis_server.store.objects import ObjectStore

MAX_PUBLICATIONS = 1000
_MAX_NAME_BYTES = 255
"""What a file system allows, so that a client can save what it reads under its name."""


class Publication(msgspec.Struct, frozen=True, rename="camel"):
    """An entry of a result's ``publications`` or of a verifier's ``pictures``."""

    name: str
    file: str
    kind: str
    media_type: str
    operation: str = ""
    units: str = "unknown"
    derived_from: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """What a resource says of where it comes from."""

    job_id: str
    operation_id: str
    document_digest: str


def read_publications(
    listed: Any, directory: Path, kinds: Iterable[ArtifactKind], claimed: str = "publications"
) -> tuple[Publication, ...]:
    """The publications that a host's result lists, each a regular file inside its directory.

    Raises ``NATIVE_FAILURE`` for anything else: a wrong shape, a name twice, a kind that the
    manifest does not list, a path that leads outside, a missing file.
    """
    try:
        publications = msgspec.convert(listed, tuple[Publication, ...])
    except msgspec.ValidationError as error:
        raise _refused(f"its {claimed} are not of the contract's shape ({error})") from None
    if len(publications) > MAX_PUBLICATIONS:
        raise _refused(f"it lists more than {MAX_PUBLICATIONS} {claimed}")
    allowed = {kind.kind for kind in kinds}
    names: set[str] = set()
    for publication in publications:
        name = publication.name
        if not _is_file_name(name):
            raise _refused(f"{name[:80]!r} cannot be the name of a file")
        if name in names:
            raise _refused(f"the name {name[:80]!r} stands twice")
        names.add(name)
        if publication.kind not in allowed:
            raise _refused(
                f"{name} is of the kind {publication.kind[:80]!r}, which its manifest does not list"
            )
        if not _is_regular_inside(directory, publication.file):
            raise _refused(f"{name} is no regular file in the run's directory")
    return publications


def _is_file_name(name: str) -> bool:
    return (
        0 < len(name.encode()) <= _MAX_NAME_BYTES
        and name not in (".", "..")
        and "/" not in name
        and name.isprintable()
    )


def _is_regular_inside(directory: Path, file: str) -> bool:
    relative = PurePosixPath(file)
    if relative.is_absolute() or ".." in relative.parts or "\0" in file:
        return False
    path = directory / relative
    try:
        # A directory on the way may be a link that leads outside.
        inside = path.parent.resolve().is_relative_to(directory.resolve())
        return inside and not path.is_symlink() and path.is_file()
    except OSError:
        return False


async def store(
    publications: Iterable[Publication], directory: Path, objects: ObjectStore, origin: Origin
) -> tuple[Resource, ...]:
    """Hash the files into the store and describe them as resources, durable but not yet published.

    Raises ``NATIVE_FAILURE`` for a file that cannot be read, and the store's own faults.
    """
    publications = tuple(publications)
    try:
        receipts = await asyncio.gather(*(objects.add(directory / entry.file) for entry in publications))
    except OSError as error:
        raise _refused(f"{error.filename or 'a publication'} cannot be read ({error.strerror})") from None
    return tuple(
        Resource(
            resource_id=new_id("res"),
            producer=Producer(job_id=origin.job_id, operation_id=origin.operation_id),
            document_digest=origin.document_digest,
            name=entry.name,
            kind=entry.kind,
            media_type=entry.media_type,
            size_bytes=receipt.size_bytes,
            sha256=receipt.sha256,
            receipt=Receipt(receipt_id=new_id("rcpt"), digest=receipt.pieces_digest),
            units=entry.units or "unknown",
            state=ResourceState.AVAILABLE,
            create_time=now(),
            output=entry.operation,
        )
        for entry, receipt in zip(publications, receipts, strict=True)
    )


def _refused(why: str) -> Fault:
    return Fault("NATIVE_FAILURE", f"The engine's result is refused: {why}.")
