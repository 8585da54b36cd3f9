"""Synchronous streams that resume by themselves: watches, downloads, and files over them."""

from __future__ import annotations

import io
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar, cast

import grpc

from schemaxis._download import ReadMachine
from schemaxis._reading import Machine, Seekable
from schemaxis._status import Refusal, error_of
from schemaxis._watch import WatchMachine
from schemaxis.connection import Connection
from schemaxis.errors import SchemaxisError
from schemaxis.models import EndReason, JobEvent

Q = TypeVar("Q")
F = TypeVar("F")
F_co = TypeVar("F_co", covariant=True)


class _Call(Protocol[F_co]):
    """The part of a streaming call that is used here."""

    def __next__(self) -> F_co: ...

    def cancel(self) -> bool: ...


class _Frames(Generic[Q, F]):
    """The frames of one stream after the other, as the machine wants them."""

    def __init__(
        self,
        connection: Connection,
        method: grpc.UnaryStreamMultiCallable[Q, F],
        machine: Machine[Q],
    ) -> None:
        self._connection = connection
        self._method = method
        self._machine = machine
        self._call: _Call[F] | None = None
        self._closed = threading.Event()

    def next(self) -> F | None:
        """The next frame, ``None`` once closed."""
        while not self._closed.is_set():
            try:
                return self._stream().__next__()
            except StopIteration:
                self._broke(None)
            except grpc.RpcError as broken:
                self._broke(error_of(cast("Refusal", broken)))
        return None

    def close(self) -> None:
        self._closed.set()
        self._drop()

    def _stream(self) -> _Call[F]:
        if self._machine.must_reopen:
            self._drop()
        call = self._call
        if call is None:
            pause = self._machine.pause()
            if pause > 0:
                self._closed.wait(pause)
            self._connection.check_open()
            call = self._call = self._method(self._machine.begin(), timeout=self._machine.remaining())
            if self._closed.is_set():
                # When it was closed there was no call yet to cancel.
                self._drop()
        return call

    def _broke(self, error: SchemaxisError | None) -> None:
        if not self._closed.is_set():
            self._connection.check_open()
            self._machine.broke(error)

    def _drop(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.cancel()


class Watch(Iterator[JobEvent]):
    """The events of a job, each once and in order, over any number of breaks.

    Iterate over it, alone or in a ``with`` block; leaving the loop, the block, or the last reference
    ends the call. ``cursor`` is the sequence to go on after, ``end`` says why the watch ended.
    """

    def __init__(self, connection: Connection, machine: WatchMachine, on_end: Callable[[], object]) -> None:
        self._machine = machine
        self._frames = _Frames(connection, connection.jobs.WatchJob, machine)
        self._events: deque[JobEvent] = deque()
        self._on_end = on_end
        self._ended = False

    @property
    def cursor(self) -> int:
        """The sequence of the last event that arrived; watch after it to go on."""
        return self._events[0].sequence - 1 if self._events else self._machine.cursor

    @property
    def end(self) -> EndReason | None:
        """Why the watch ended, ``None`` while it goes on."""
        return None if self._events else self._machine.end

    def close(self) -> None:
        """End the watch; a loop over it ends too, wherever it runs. Calling it again does nothing."""
        self._frames.close()

    def __next__(self) -> JobEvent:
        while not self._events:
            try:
                frame = None if self._machine.finished else self._frames.next()
                received = [] if frame is None else self._machine.receive(frame)
            except BaseException:
                # Whatever ends the loop, an interrupt included, must not leave the call open.
                self.close()
                raise
            if frame is None:
                self._finish()
                raise StopIteration
            self._events.extend(received)
        return self._events.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _finish(self) -> None:
        self.close()
        if self._machine.finished and not self._ended:
            self._ended = True
            self._on_end()


class Chunks(Iterator[bytes]):
    """The bytes of a resource in chunks of at most 1 MiB, each once and in order, over any breaks."""

    def __init__(self, connection: Connection, machine: ReadMachine) -> None:
        self._machine = machine
        self._frames = _Frames(connection, connection.resources.ReadResource, machine)

    def close(self) -> None:
        """End the read. Calling it again does nothing."""
        self._frames.close()

    def __next__(self) -> bytes:
        while not self._machine.finished:
            try:
                frame = self._frames.next()
                data = b"" if frame is None else self._machine.receive(frame)
            except BaseException:
                # Whatever ends the loop, an interrupt included, must not leave the call open.
                self.close()
                raise
            if frame is None:
                break
            if data:
                return data
        self.close()
        raise StopIteration

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class ResourceFile(Seekable, io.RawIOBase):
    """A read-only, seekable file over a resource; every read asks the server for verified bytes."""

    def __init__(self, chunks: Callable[[int, int | None], Chunks], size_bytes: int, name: str) -> None:
        super().__init__(size_bytes, name)
        self._chunks = chunks

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        view = memoryview(buffer)
        wanted = min(len(view), max(self._size - self._position, 0))
        filled = 0
        if wanted:
            with self._chunks(self._position, wanted) as chunks:
                for chunk in chunks:
                    view[filled : filled + len(chunk)] = chunk
                    filled += len(chunk)
        self._position += filled
        return filled

    def readall(self) -> bytes:
        if self._position >= self._size:
            return b""
        with self._chunks(self._position, None) as chunks:
            data = b"".join(chunks)
        self._position += len(data)
        return data
