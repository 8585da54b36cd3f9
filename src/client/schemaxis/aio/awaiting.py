"""What asyncio needs beside the shared parts: awaitable properties, openings, and work in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class Deferred(Awaitable[T]):
    """A value that is asked for when it is awaited, and not before."""

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self._ask = ask

    def __await__(self) -> Generator[Any, Any, T]:
        return self._ask().__await__()


class _Context(Protocol):
    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


C = TypeVar("C", bound=_Context)


class Opening(Awaitable[C], Generic[C]):
    """Something that is opened by ``await`` or by ``async with``, which closes it too."""

    def __init__(self, open_: Callable[[], Awaitable[C]]) -> None:
        self._open = open_
        self._opened: C | None = None

    def __await__(self) -> Generator[Any, Any, C]:
        return self._open().__await__()

    async def __aenter__(self) -> C:
        self._opened = await self._open()
        return await self._opened.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking ``work`` beside the loop.

    When this is cancelled the work still runs to its end before the cancellation goes on, so that
    nothing is closed under it.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await _settled(running)
        raise


async def in_thread_or_undone(work: Callable[[], T], undo: Callable[[T], object]) -> T:
    """Run blocking ``work`` beside the loop; when this is cancelled, ``undo`` what it made."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await _settled(running)
        if not running.cancelled() and running.exception() is None:
            await in_thread(undo, running.result())
        raise


async def _settled(running: asyncio.Future[T]) -> None:
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            continue
