"""Asynchronous handles of published artifacts."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self

from schemaxis import _requests
from schemaxis._codec import resources as codec
from schemaxis._codec.observations import observation
from schemaxis._download import PartFile, ReadMachine, check_digest, sha256_of
from schemaxis._evidence import Look
from schemaxis._views import ResourceView
from schemaxis.aio.awaiting import in_thread
from schemaxis.aio.connection import Connection
from schemaxis.aio.looking import look_whole, walk
from schemaxis.aio.streams import Chunks, ResourceFile
from schemaxis.models import Observation, Range, ResourceRecord
from schemaxis.v1 import resource_pb2


class Resource(ResourceView):
    """A published artifact. Its bytes are checked against their receipt whenever they are read."""

    def __init__(self, connection: Connection, record: ResourceRecord) -> None:
        self._connection = connection
        self.record = record

    async def refresh(self) -> Self:
        """Ask for the present record; this handle."""
        request = resource_pb2.GetResourceRequest(resource_id=self.resource_id)
        answer = await self._connection.call(self._connection.resources.GetResource, request)
        self.record = codec.resource_record(answer.resource)
        return self

    def chunks(self, offset: int = 0, length: int | None = None) -> Chunks:
        """The bytes from ``offset`` on, ``length`` of them or to the end, in chunks of at most 1 MiB.

        Breaks are mended unseen. Raises ``Untrusted`` when the bytes no longer match their receipt.
        """
        machine = ReadMachine(self.resource_id, offset, length, patience=self._connection.patience())
        return Chunks(self._connection, machine)

    async def read(self, offset: int = 0, length: int | None = None) -> bytes:
        """The bytes from ``offset`` on, ``length`` of them or to the end, in memory.

        A full read is checked against the resource's SHA-256 once more here. Raises ``Untrusted``,
        ``DownloadCorrupt``.
        """
        async with self.chunks(offset, length) as chunks:
            data = b"".join([chunk async for chunk in chunks])
        if offset == 0 and length is None:
            digest = await in_thread(sha256_of, data)
            check_digest(digest, len(data), self.sha256, self.size_bytes)
        return data

    def open(self) -> ResourceFile:
        """A read-only, seekable binary file over the resource, which fetches what is read."""
        return ResourceFile(self.chunks, self.size_bytes, self.name)

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """Download to ``path``; the absolute path, once the file is whole and its SHA-256 is right.

        Bytes come into ``<path>.part`` first. When a download was interrupted, even by the end of
        this process, the next one goes on from there. Raises ``Untrusted``, ``DownloadCorrupt``,
        ``DownloadBusy`` or ``OSError``.
        """
        part = PartFile(path, self.sha256, self.size_bytes)
        try:
            await in_thread(part.__enter__)
            await self._fill(part)
            if part.resumed and not part.matches():
                # What an earlier attempt left was of another resource.
                part.restart()
                await self._fill(part)
            return await in_thread(part.finish)
        finally:
            part.close()

    async def range(self, offset: int = 0, length: int | None = None) -> Range:
        """A small range in one answer: 4,096 bytes by default, at most 16,384."""
        request = resource_pb2.ReadResourceRangeRequest(
            resource_id=self.resource_id, offset=offset, length=length
        )
        answer = await self._connection.call(self._connection.resources.ReadResourceRange, request)
        return codec.byte_range(answer.range)

    async def inspect(
        self,
        pointer: str = "",
        *,
        offset: int = 0,
        limit: int | None = None,
        max_bytes: int | None = None,
        revision: str | None = None,
    ) -> Observation:
        """A bounded look into a JSON or CSV resource of at most 1 MiB, at an RFC 6901 pointer.

        CSV is ``{columns, rows, units}`` with every cell a string. ``limit`` is 1 to 100 members,
        ``max_bytes`` 2,048 to 65,536. Raises ``Unobservable`` for other kinds and larger resources,
        ``Stale`` when ``revision`` no longer holds.
        """
        request = _requests.inspect(self.resource_id, pointer, offset, limit, max_bytes, revision)
        answer = await self._connection.call(self._connection.inspection.InspectResource, request)
        return observation(answer.observation)

    async def contents(self, pointer: str = "") -> Any:
        """The whole value of a JSON or CSV resource, or at a pointer in it, in as many looks as it takes."""

        async def ask(look: Look) -> Observation:
            request = _requests.look_into(self.resource_id, look)
            answer = await self._connection.call(self._connection.inspection.InspectResource, request)
            return observation(answer.observation)

        return await look_whole(ask, pointer)

    async def _fill(self, part: PartFile) -> None:
        async with self.chunks(part.offset) as chunks:
            async for chunk in chunks:
                await in_thread(part.write, chunk)


def list_resources(connection: Connection, job_id: str | None) -> AsyncIterator[Resource]:
    """The resources of a job, or of the workspace, newest first."""
    return walk(
        connection,
        connection.resources.ListResources,
        resource_pb2.ListResourcesRequest(job_id=job_id),
        lambda page: [Resource(connection, codec.resource_record(resource)) for resource in page.resources],
    )
