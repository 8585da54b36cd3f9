"""The content-addressed store: immutable files named by SHA-256, each beside the digests of its pieces."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import TypeVar

from blake3 import blake3

from schemaxis_server.store.connection import shutting_down
from schemaxis_server.store.damage import ObjectCorrupt, object_fault
from schemaxis_server.store.files import (
    TEMPORARY_SUFFIX,
    discard,
    make_directory,
    open_regular,
    read_regular,
    storage_error,
    storage_fault,
    sync_directory,
    temporary_name,
    write_all,
    write_durably,
)
from schemaxis_server.store.object_reader import AHEAD_READERS, ObjectReader
from schemaxis_server.store.pieces import DIGEST_BYTES, PIECE_BYTES, digest_pieces, pieces_in

T = TypeVar("T")

_CHUNK_BYTES = 4 * PIECE_BYTES
_LISTS_BYTES = 8 * 1024 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What identifies an object. ``sha256`` and ``pieces_digest`` are lower-case hexadecimal;
    the second is the BLAKE3 digest of the list of the BLAKE3 digests of its 256 KiB pieces."""

    sha256: str
    size_bytes: int
    pieces_digest: str


class ObjectStore:
    """The objects below one directory. Usable from any loop; files are touched in small pools only."""

    def __init__(self, directory: Path) -> None:
        """Open the store, creating ``directory``. The caller holds the workspace's lock: what an
        interrupted ``add`` left behind is removed."""
        make_directory(directory)
        self._directory = directory
        self._bulk = ThreadPoolExecutor(2, thread_name_prefix="store-objects")
        self._ranges = ThreadPoolExecutor(2, thread_name_prefix="store-ranges")
        self._ahead = BoundedSemaphore(AHEAD_READERS)
        self._shards: set[Path] = set()
        self._lists: OrderedDict[str, bytes] = OrderedDict()
        self._lists_size = 0
        self._lock = Lock()
        for leftover in directory.glob(f".*{TEMPORARY_SUFFIX}"):
            leftover.unlink()

    def path(self, receipt: Receipt) -> Path:
        """Where the object's bytes lie, for a process that reads them itself. Unchecked."""
        return _object_path(self._directory, receipt.sha256)

    async def add(self, source: Path) -> Receipt:
        """Copy the regular file ``source`` into the store and return its receipt, durable by then.

        The same bytes are stored once; a stored copy that no longer is what it should be is
        replaced by this one. ``source`` is left as it is.

        Raises ``Fault("STORAGE_FULL")`` when there is no room, ``Fault("OVERLOADED")`` and
        ``Fault("WORKSPACE_CORRUPT")`` when the store cannot be used just now or at all, OSError only
        when ``source`` cannot be read or is no regular file.
        """
        return await self._in_bulk(lambda: self._add(source))

    def open(self, receipt: Receipt) -> ObjectReader:
        """A reader of verified ranges. The file is opened by its first read, so damage shows there."""
        return ObjectReader(
            self.path(receipt),
            receipt.sha256,
            receipt.size_bytes,
            lambda: self._list(receipt),
            self._ranges,
            self._ahead,
        )

    async def verify(self, receipt: Receipt) -> None:
        """Read the whole object and check it and its list against the receipt.

        Raises :class:`ObjectCorrupt`, which says what does not hold; ``Fault("OVERLOADED")`` and
        ``Fault("WORKSPACE_CORRUPT")`` when that cannot be found out.
        """
        await self._in_bulk(lambda: verify_object(self._directory, receipt))

    def close(self) -> None:
        """Wait for what runs and take no more."""
        self._bulk.shutdown(wait=True)
        self._ranges.shutdown(wait=True)

    async def _in_bulk(self, work: Callable[[], T]) -> T:
        try:
            running = self._bulk.submit(work)
        except RuntimeError as error:
            raise shutting_down() from error
        return await asyncio.shield(asyncio.wrap_future(running))

    def _add(self, source: Path) -> Receipt:
        try:
            descriptor, _ = open_regular(source)
        except OSError as error:
            raise storage_error(error, source) from error
        temporary = temporary_name(self._directory)
        try:
            with os.fdopen(descriptor, "rb", buffering=0) as file:
                receipt, digests, copy = _copy(file.fileno(), temporary)
            try:
                self._keep(receipt, digests, temporary, copy)
            finally:
                os.close(copy)
        except OSError as error:
            # Whatever it was, ``source`` was there and is open: it is the store that cannot go on.
            raise storage_fault(error, temporary) from error
        finally:
            discard(temporary)
        return receipt

    def _keep(self, receipt: Receipt, digests: bytes, temporary: Path, copy: int) -> None:
        """Give the copy its name, the list first: an object that is there has its list."""
        target = self.path(receipt)
        if target.parent not in self._shards:
            make_directory(target.parent)
            self._shards.add(target.parent)
        try:
            verify_object(self._directory, receipt)
        except ObjectCorrupt:
            os.fsync(copy)
            write_durably(_list_path(target), digests, 0o400, scratch=self._directory)
            temporary.rename(target)
        # Also for a copy that was there: whoever added it may not have got this far.
        sync_directory(target.parent)

    def _list(self, receipt: Receipt) -> bytes:
        """The object's list of digests, proved by the receipt. Small enough to be kept: the bytes of
        the object are judged by it at every read, and in memory it cannot be damaged."""
        with self._lock:
            known = self._lists.get(receipt.pieces_digest)
            if known is not None:
                self._lists.move_to_end(receipt.pieces_digest)
                return known
        digests = _read_list(self.path(receipt), receipt)
        with self._lock:
            if receipt.pieces_digest not in self._lists and len(digests) <= _LISTS_BYTES:
                self._lists[receipt.pieces_digest] = digests
                self._lists_size += len(digests)
            while self._lists_size > _LISTS_BYTES:
                self._lists_size -= len(self._lists.popitem(last=False)[1])
        return digests


def verify_object(directory: Path, receipt: Receipt) -> None:
    """Check the whole of one object below ``directory``: list, size, pieces and SHA-256.

    Raises as :meth:`ObjectStore.verify`.
    """
    path = _object_path(directory, receipt.sha256)
    digests = _read_list(path, receipt)
    try:
        descriptor, size = open_regular(path)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            if size != receipt.size_bytes:
                raise ObjectCorrupt(receipt.sha256, f"it has {size} bytes instead of {receipt.size_bytes}")
            whole = hashlib.sha256()
            found = bytearray()
            while chunk := os.pread(file.fileno(), _CHUNK_BYTES, len(found) // DIGEST_BYTES * PIECE_BYTES):
                whole.update(chunk)
                found += digest_pieces(chunk)
    except OSError as error:
        raise object_fault(receipt.sha256, error, path) from error
    if bytes(found) != digests or whole.hexdigest() != receipt.sha256:
        raise ObjectCorrupt(receipt.sha256, "its content was changed")


def stored_objects(directory: Path) -> list[str]:
    """The SHA-256 of every object below ``directory``. A list without its object is no object:
    an ``add`` that a crash cut short leaves one, and the next ``add`` of those bytes uses it."""
    return sorted(path.name for path in directory.glob("[0-9a-f][0-9a-f]/*") if _SHA256.fullmatch(path.name))


def stored_receipt(directory: Path, sha256: str) -> Receipt:
    """The receipt that the files themselves claim, for a scan without records.

    Raises :class:`ObjectCorrupt` if one of the two files is missing or is no regular file, and as
    :meth:`ObjectStore.verify` if it cannot be read.
    """
    path = _object_path(directory, sha256)
    try:
        descriptor, size = open_regular(path)
        os.close(descriptor)
        digests = read_regular(_list_path(path))
    except OSError as error:
        raise object_fault(sha256, error, path, f"{error.filename}: ") from error
    return Receipt(sha256, size, blake3(digests).hexdigest())


def _copy(source: int, temporary: Path) -> tuple[Receipt, bytes, int]:
    """Copy what ``source`` holds, hashing on the way; returns the still open copy, not yet synced."""
    copy = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
    try:
        whole = hashlib.sha256()
        digests = bytearray()
        size = 0
        pending = b""
        while chunk := os.read(source, _CHUNK_BYTES - len(pending)):
            whole.update(chunk)
            write_all(copy, chunk)
            size += len(chunk)
            pending += chunk
            if len(pending) == _CHUNK_BYTES:
                digests += digest_pieces(pending)
                pending = b""
        digests += digest_pieces(pending)
        os.fchmod(copy, 0o400)
    except BaseException:
        os.close(copy)
        raise
    return Receipt(whole.hexdigest(), size, blake3(bytes(digests)).hexdigest()), bytes(digests), copy


def _read_list(path: Path, receipt: Receipt) -> bytes:
    expected = pieces_in(receipt.size_bytes) * DIGEST_BYTES
    try:
        digests = read_regular(_list_path(path), expected)
    except OSError as error:
        raise object_fault(receipt.sha256, error, path, "its list of digests: ") from error
    if len(digests) != expected or blake3(digests).hexdigest() != receipt.pieces_digest:
        raise ObjectCorrupt(receipt.sha256, "its list of digests was changed")
    return digests


def _object_path(directory: Path, sha256: str) -> Path:
    if not _SHA256.fullmatch(sha256):
        raise ValueError(f"{sha256!r} is not a SHA-256 in lower-case hexadecimal")
    return directory / sha256[:2] / sha256


def _list_path(path: Path) -> Path:
    return path.with_name(path.name + ".b3")
