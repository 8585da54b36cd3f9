"""Resources: published artifacts, readable only while their bytes match their receipts."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.execution.ledger import RESOURCE_SHELF, Page
from schemaxis_server.execution.records import Job, Resource, ResourceState
from schemaxis_server.faults import Fault
from schemaxis_server.store.damage import ObjectCorrupt
from schemaxis_server.store.database import Database
from schemaxis_server.store.objects import ObjectStore
from schemaxis_server.store.objects import Receipt as ObjectReceipt

log = logging.getLogger(__name__)

DEFAULT_RANGE_BYTES = 4096
MAX_RANGE_BYTES = 16_384
DEFAULT_CHUNK_BYTES = 262_144
MAX_STREAMS = 256
"""Reads in chunks at a time. Each holds a chunk or two for as long as its reader takes."""


@dataclass(frozen=True, slots=True)
class ResourceRange:
    """Checked bytes of a resource; ``next_offset`` is None at its end."""

    resource: Resource
    offset: int
    data: bytes
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class Chunk:
    offset: int
    data: bytes
    last: bool


class Resources:
    """Finds resources and reads them, each byte checked before it is handed out.

    ``invalidate(job_id, fault)`` takes the standing away from a job whose bytes were found changed.
    """

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        invalidate: Callable[[str, Fault], Awaitable[None]],
    ) -> None:
        self._database = database
        self._objects = objects
        self._invalidate = invalidate
        self._streams = 0

    def get(self, resource_id: str) -> Resource:
        """The resource. Raises ``NOT_FOUND``."""
        return RESOURCE_SHELF.get(self._database.reader, resource_id)

    async def list(
        self, job_id: str | None = None, page_token: str = "", page_size: int = 50
    ) -> Page[Resource]:
        """A page of resources, newest first."""
        where = {} if job_id is None else {"job_id": job_id}
        return await self._database.scan(
            lambda connection: RESOURCE_SHELF.page(connection, page_token, page_size, **where)
        )

    async def of_job(self, job: Job) -> tuple[Resource, ...]:
        """All resources of a job, in the order in which it lists them."""
        return await self._database.scan(
            lambda connection: tuple(RESOURCE_SHELF.get(connection, id) for id in job.resource_ids)
        )

    def path(self, resource: Resource) -> Path:
        """Where the bytes lie, read-only. Check them with :meth:`verify` before use."""
        return self._objects.path(receipt_of(resource))

    async def read_range(
        self, resource_id: str, offset: int = 0, length: int = DEFAULT_RANGE_BYTES
    ) -> ResourceRange:
        """A small range; ``length`` is clamped to 1..16384. An offset at the end gives no bytes.

        Raises ``OUT_OF_RANGE``, ``RESOURCE_BLOCKED``, and ``RESOURCE_CORRUPT``, which also
        invalidates the job that made the resource; ``OVERLOADED`` and ``WORKSPACE_CORRUPT`` when its
        bytes cannot be read, which says nothing of them.
        """
        resource = self._readable(resource_id, offset)
        wanted = min(max(length, 1), MAX_RANGE_BYTES, resource.size_bytes - offset)
        data = await self._read(resource, offset, wanted) if wanted else b""
        following = offset + len(data)
        return ResourceRange(resource, offset, data, following if following < resource.size_bytes else None)

    async def read(
        self,
        resource_id: str,
        offset: int = 0,
        length: int | None = None,
        chunk_bytes: int = DEFAULT_CHUNK_BYTES,
    ) -> tuple[Resource, AsyncGenerator[Chunk]]:
        """The resource and its bytes in checked chunks; there is at least one, the last says so.

        Raises as :meth:`read_range`, also between chunks: each is checked just before it is handed out.
        ``OVERLOADED`` at the first, where too many reads are under way. Close the chunks when not all
        of them are taken.
        """
        resource = self._readable(resource_id, offset)
        end = resource.size_bytes if length is None else min(resource.size_bytes, offset + length)
        return resource, self._chunks(resource, offset, end, chunk_bytes)

    async def read_whole(self, resource_id: str) -> bytes:
        """All bytes, checked; for small resources. Raises as :meth:`read_range`."""
        resource = self._readable(resource_id, 0)
        return await self._read(resource, 0, resource.size_bytes)

    async def verify(self, resource: Resource) -> None:
        """Check every piece of the resource against its receipt."""
        if resource.state is ResourceState.BLOCKED:
            raise _blocked()
        try:
            await self._objects.verify(receipt_of(resource))
        except ObjectCorrupt as error:
            raise await self._corrupt(resource, error) from error

    async def _chunks(self, resource: Resource, offset: int, end: int, size: int) -> AsyncGenerator[Chunk]:
        if offset >= end:
            yield Chunk(offset, b"", True)
            return
        if self._streams >= MAX_STREAMS:
            raise Fault(
                "OVERLOADED",
                f"{MAX_STREAMS} resources are being read already. Read again when some are through.",
                retryAfterSeconds=1,
            )
        self._streams += 1
        try:
            async with self._objects.open(receipt_of(resource)) as reader:
                while offset < end:
                    data = await reader.read(offset, min(size, end - offset))
                    yield Chunk(offset, data, offset + len(data) >= end)
                    offset += len(data)
        except ObjectCorrupt as error:
            raise await self._corrupt(resource, error) from error
        finally:
            self._streams -= 1

    async def _read(self, resource: Resource, offset: int, length: int) -> bytes:
        try:
            async with self._objects.open(receipt_of(resource)) as reader:
                return await reader.read(offset, length)
        except ObjectCorrupt as error:
            raise await self._corrupt(resource, error) from error

    def _readable(self, resource_id: str, offset: int) -> Resource:
        resource = self.get(resource_id)
        if resource.state is ResourceState.BLOCKED:
            raise _blocked()
        if not 0 <= offset <= resource.size_bytes:
            raise Fault(
                "OUT_OF_RANGE",
                f"offset {offset} is outside 0 to {resource.size_bytes}, the resource's size.",
                "/offset",
                sizeBytes=resource.size_bytes,
            )
        return resource

    async def _corrupt(self, resource: Resource, error: ObjectCorrupt) -> Fault:
        fault = Fault(
            "RESOURCE_CORRUPT",
            f"The bytes of {resource.name} no longer match their receipt ({error.why}); "
            "execute again and use the new job's resources.",
            resourceId=resource.resource_id,
        )
        if resource.producer.job_id is not None:
            await self._invalidate(resource.producer.job_id, fault)
        return fault


def receipt_of(resource: Resource) -> ObjectReceipt:
    """What the resource's bytes are held against."""
    return ObjectReceipt(resource.sha256, resource.size_bytes, resource.receipt.digest)


def _blocked() -> Fault:
    return Fault(
        "RESOURCE_BLOCKED",
        "The resource's job was invalidated, so its bytes are not offered; execute again and use the new job's.",
    )
