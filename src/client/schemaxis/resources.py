"""Synchronous handles of published artifacts."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from schemaxis import _html, _requests
from schemaxis._codec import resources as codec
from schemaxis._codec.observations import observation
from schemaxis._download import PartFile, ReadMachine, check_digest, sha256_of
from schemaxis._evidence import Look
from schemaxis._views import ResourceView
from schemaxis.connection import Connection
from schemaxis.errors import SchemaxisError
from schemaxis.looking import look_whole, walk
from schemaxis.models import Observation, Range, ResourceRecord
from schemaxis.streams import Chunks, ResourceFile
from schemaxis.v1 import resource_pb2

_FILE_BUFFER_BYTES = 262_144


class Resource(ResourceView):
    """A published artifact. Its bytes are checked against their receipt whenever they are read."""

    def __init__(self, connection: Connection, record: ResourceRecord) -> None:
        self._connection = connection
        self.record = record

    def refresh(self) -> Self:
        """Ask for the present record; this handle."""
        request = resource_pb2.GetResourceRequest(resource_id=self.resource_id)
        answer = self._connection.call(self._connection.resources.GetResource, request)
        self.record = codec.resource_record(answer.resource)
        return self

    def chunks(self, offset: int = 0, length: int | None = None) -> Chunks:
        """The bytes from ``offset`` on, ``length`` of them or to the end, in chunks of at most 1 MiB.

        Breaks are mended unseen. Raises ``Untrusted`` when the bytes no longer match their receipt.
        """
        machine = ReadMachine(self.resource_id, offset, length, patience=self._connection.patience())
        return Chunks(self._connection, machine)

    def read(self, offset: int = 0, length: int | None = None) -> bytes:
        """The bytes from ``offset`` on, ``length`` of them or to the end, in memory.

        A full read is checked against the resource's SHA-256 once more here. Raises ``Untrusted``,
        ``DownloadCorrupt``.
        """
        with self.chunks(offset, length) as chunks:
            data = b"".join(chunks)
        if offset == 0 and length is None:
            check_digest(sha256_of(data), len(data), self.sha256, self.size_bytes)
        return data

    def open(self) -> io.BufferedReader:
        """A read-only, seekable binary file over the resource, which fetches what is read."""
        raw = ResourceFile(self.chunks, self.size_bytes, self.name)
        return io.BufferedReader(raw, _FILE_BUFFER_BYTES)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Download to ``path``; the absolute path, once the file is whole and its SHA-256 is right.

        Bytes come into ``<path>.part`` first. When a download was interrupted, even by the end of
        this process, the next one goes on from there. Raises ``Untrusted``, ``DownloadCorrupt``,
        ``DownloadBusy`` or ``OSError``.
        """
        with PartFile(path, self.sha256, self.size_bytes) as part:
            self._fill(part)
            if part.resumed and not part.matches():
                # What an earlier attempt left was of another resource.
                part.restart()
                self._fill(part)
            return part.finish()

    def range(self, offset: int = 0, length: int | None = None) -> Range:
        """A small range in one answer: 4,096 bytes by default, at most 16,384."""
        request = resource_pb2.ReadResourceRangeRequest(
            resource_id=self.resource_id, offset=offset, length=length
        )
        answer = self._connection.call(self._connection.resources.ReadResourceRange, request)
        return codec.byte_range(answer.range)

    def inspect(
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
        answer = self._connection.call(self._connection.inspection.InspectResource, request)
        return observation(answer.observation)

    def contents(self, pointer: str = "") -> Any:
        """The whole value of a JSON or CSV resource, or at a pointer in it, in as many looks as it takes."""

        def ask(look: Look) -> Observation:
            request = _requests.look_into(self.resource_id, look)
            answer = self._connection.call(self._connection.inspection.InspectResource, request)
            return observation(answer.observation)

        return look_whole(ask, pointer)

    def _fill(self, part: PartFile) -> None:
        with self.chunks(part.offset) as chunks:
            for chunk in chunks:
                part.write(chunk)

    def _picture(self) -> _html.Picture | None:
        """What a notebook shows of it: showing a handle never raises, it says what is in the way."""
        if self.media_type not in _html.PICTURES:
            return None
        data, problem = None, f"its {self.size_bytes:,} bytes are too many to be shown here; save it."
        if self.size_bytes <= _html.MOST_PICTURE_BYTES:
            try:
                data = self.read()
            except SchemaxisError as error:
                problem = str(error)
        return _html.Picture(self.name, self.media_type, data, problem)

    def _bytes_of(self, media_type: str) -> bytes | None:
        picture = self._picture() if self.media_type == media_type else None
        return picture.data if picture else None

    def _repr_png_(self) -> bytes | None:
        return self._bytes_of("image/png")

    def _repr_svg_(self) -> str | None:
        data = self._bytes_of("image/svg+xml")
        return None if data is None else data.decode(errors="replace")

    def _repr_html_(self) -> str:
        return _html.resource(self.record, self._picture())


def list_resources(connection: Connection, job_id: str | None) -> Iterator[Resource]:
    """The resources of a job, or of the workspace, newest first."""
    return walk(
        connection,
        connection.resources.ListResources,
        resource_pb2.ListResourcesRequest(job_id=job_id),
        lambda page: [Resource(connection, codec.resource_record(resource)) for resource in page.resources],
    )
