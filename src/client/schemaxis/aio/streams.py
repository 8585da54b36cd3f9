"""Asynchronous streams that resume by themselves: watches, downloads, and files over them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

import grpc
import grpc.aio

from schemaxis._download import ReadMachine
from schemaxis._reading import Machine, Seekable
from schemaxis._status import error_of
from schemaxis._watch import WatchMachine
from schemaxis.aio.connection import Connection
from schemaxis.errors import SchemaxisError
from schemaxis.models import EndReason, JobEvent

Q = TypeVar("Q")
F = TypeVar("F")


class _Frames(Generic[Q, F]):
    """The frames of one stream after the other, as the machine wants them."""

    def __init__(
        self,
        connection: Connection,
        method: grpc.aio.UnaryStreamMultiCallable[Q, F],
        machine: Machine[Q],
    ) -> None:
        self._connection = connection
        self._method = method
        self._machine = machine
        self._call: grpc.aio.UnaryStreamCall[Q, F] | None = None
        self._closed = asyncio.Event()

    async def next(self) -> F | None:
        """The next frame, ``None`` once closed."""
        while not self._closed.is_set():
            try:
                frame = await (await self._stream()).read()
            except grpc.aio.AioRpcError as broken:
                self._broke(error_of(broken))
            except asyncio.CancelledError:
                self._drop()
                if self._closed.is_set() and not _is_cancelled():
                    return None
                self._connection.check_not_closed_meanwhile()
                raise
            else:
                if frame is not grpc.aio.EOF:
                    return frame  # type: ignore[return-value]  # the sentinel's type is private
                self._broke(None)
        return None

    def close(self) -> None:
        self._closed.set()
        self._drop()

    async def _stream(self) -> grpc.aio.UnaryStreamCall[Q, F]:
        if self._machine.must_reopen:
            self._drop()
        call = self._call
        if call is None:
            pause = self._machine.pause()
            if pause > 0:
                await self._pause(pause)
            self._connection.check_open()
            call = self._call = self._method(self._machine.begin(), timeout=self._machine.remaining())
            if self._closed.is_set():
                # When it was closed there was no call yet to cancel.
                self._drop()
        return call

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._closed.wait(), seconds)
        except TimeoutError:
            return

    def _broke(self, error: SchemaxisError | None) -> None:
        if not self._closed.is_set():
            self._connection.check_open()
            self._machine.broke(error)

    def _drop(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.cancel()

    def __del__(self) -> None:
        # gRPC itself keeps a call alive until its end, so nobody else would cancel it.
        self._drop()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Watch(AsyncIterator[JobEvent]):
    """The events of a job, each once and in order, over any number of breaks.

    Iterate over it, alone or in a ``with`` block; leaving the loop, the block, or the last reference
    ends the call. ``cursor`` is the sequence to go on after, ``end`` says why the watch ended.
    """

    def __init__(
        self, connection: Connection, machine: WatchMachine, on_end: Callable[[], Awaitable[object]]
    ) -> None:
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

    async def close(self) -> None:
        """End the watch; a loop over it ends too, wherever it runs. Calling it again does nothing."""
        self._frames.close()

    async def __anext__(self) -> JobEvent:
        while not self._events:
            try:
                frame = None if self._machine.finished else await self._frames.next()
                received = [] if frame is None else self._machine.receive(frame)
            except SchemaxisError:
                self._frames.close()
                raise
            if frame is None:
                await self._finish()
                raise StopAsyncIteration
            self._events.extend(received)
        return self._events.popleft()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._frames.close()

    async def _finish(self) -> None:
        self._frames.close()
        if self._machine.finished and not self._ended:
            self._ended = True
            await self._on_end()


class Chunks(AsyncIterator[bytes]):
    """The bytes of a resource in chunks of at most 1 MiB, each once and in order, over any breaks."""

    def __init__(self, connection: Connection, machine: ReadMachine) -> None:
        self._machine = machine
        self._frames = _Frames(connection, connection.resources.ReadResource, machine)

    async def close(self) -> None:
        """End the read. Calling it again does nothing."""
        self._frames.close()

    async def __anext__(self) -> bytes:
        while not self._machine.finished:
            try:
                frame = await self._frames.next()
                data = b"" if frame is None else self._machine.receive(frame)
            except SchemaxisError:
                self._frames.close()
                raise
            if frame is None:
                break
            if data:
                return data
        self._frames.close()
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._frames.close()


class ResourceFile(Seekable):
    """A read-only, seekable file over a resource; every read asks the server for verified bytes."""

    def __init__(self, chunks: Callable[[int, int | None], Chunks], size_bytes: int, name: str) -> None:
        super().__init__(size_bytes, name)
        self._chunks = chunks
        self.closed = False

    async def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, or all to the end; empty at the end."""
        if self.closed:
            raise ValueError(f"{self.name} is closed")
        left = max(self._size - self._position, 0)
        wanted = left if size < 0 else min(size, left)
        if not wanted:
            return b""
        async with self._chunks(self._position, wanted) as chunks:
            data = b"".join([chunk async for chunk in chunks])
        self._position += len(data)
        return data

    async def close(self) -> None:
        """Refuse further reads."""
        self.closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
