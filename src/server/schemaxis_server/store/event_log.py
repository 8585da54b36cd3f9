"""The event log: append-only streams, dense from 1, read by cursors that sleep until a commit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from itertools import takewhile

from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import shutting_down
from schemaxis_server.store.damage import Corrupt
from schemaxis_server.store.event_pages import (
    PAGE_EVENTS,
    Page,
    PageCache,
    RecentEvents,
    Slice,
    cut,
    read_page,
    read_tail,
)
from schemaxis_server.store.readers import Readers
from schemaxis_server.store.writer import Appended, Wake

_SLICE_BYTES = 256 * 1024


class EventLog:
    """Reads of all streams. Appending is ``Transaction.append``.

    A watcher is a cursor: ``read`` what lies behind it, and ``wait`` when nothing does. There
    is no queue per watcher, so a slow one delays nobody and loses nothing.
    """

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._cache = PageCache()
        self._recent = RecentEvents()
        self._lock = threading.Lock()
        self._closed = False
        self._building: dict[tuple[str, int], Future[Page]] = {}
        self._waiting: dict[str, set[asyncio.Future[int]]] = {}

    def tail(self, stream: str) -> int:
        """The last sequence of ``stream``; 0 if it has no event. A primary-key read."""
        return read_tail(self._readers.here, stream)

    async def page(self, stream: str, index: int) -> Page:
        """One page of the grid, see :class:`Page`. Concurrent requests share one reading of it."""
        page = self._cache.get(stream, index)
        if page is not None:
            return page
        key = (stream, index)
        with self._lock:
            building = self._building.get(key)
            mine = building is None
            if building is None:
                building = self._readers.submit(lambda connection: read_page(connection, stream, index))
                self._building[key] = building
        if mine:
            # Outside the lock, which the callback takes: it runs here and now if the page is read already.
            building.add_done_callback(lambda built: self._built(key, built))
        # Shielded: one requester that goes away must not cancel the reading for the others.
        return await asyncio.shield(asyncio.wrap_future(building))

    async def read(
        self, stream: str, after: int, limit: int = PAGE_EVENTS, max_bytes: int = _SLICE_BYTES
    ) -> Slice:
        """The events behind the cursor ``after``: at most ``limit`` and to the end of their page,
        at most ``max_bytes`` unless the first alone is larger. Empty at the tail.

        Raises ``Fault("OUT_OF_RANGE")`` for a cursor below 0 or beyond the tail, and
        :class:`Corrupt` when the next event is damaged; a cursor behind that one reads on.
        """
        limit = max(1, limit)
        recent = self._recent.slice(stream, after, limit, max_bytes)
        if recent is not None:
            return recent
        tail = self.tail(stream)
        if not 0 <= after <= tail:
            raise Fault(
                "OUT_OF_RANGE",
                f"The cursor {after} lies outside 0 to {tail}, the events there are. Use one of these.",
                firstSequence=min(1, tail),
                tailSequence=tail,
            )
        if after == tail:
            return Slice(after, (), tail)
        index, place = divmod(after, PAGE_EVENTS)
        page = await self.page(stream, index)
        if len(page.events) <= place:
            # The reading that was shared began before the commit that made this event.
            page = await self.page(stream, index)
        sound = list(takewhile(lambda event: event is not None, page.events[place : place + limit]))
        if not sound:
            raise Corrupt("events", f"{stream}/{after + 1}", "checksum does not match or row is missing")
        return Slice(
            after,
            cut((event for event in sound if event is not None), limit, max_bytes),
            max(tail, page.tail),
        )

    async def wait(self, stream: str, after: int, timeout: float | None) -> int:
        """Sleep until ``stream`` has an event behind ``after``; returns the tail then, or the
        present tail when ``timeout`` seconds have passed. No polling: a sleeper is woken once
        for each group of commits that touched its stream.

        Raises ``Fault("SHUTTING_DOWN")`` when the store closes.
        """
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        while True:
            woken: asyncio.Future[int] = loop.create_future()
            # Registered before the tail is read: a commit in between wakes, one before is seen.
            self._register(stream, woken)
            try:
                tail = self.tail(stream)
                if tail > after:
                    return tail
                async with asyncio.timeout_at(deadline):
                    tail = await woken
                if tail > after:
                    return tail
            except TimeoutError:
                return self.tail(stream)
            finally:
                self._forget(stream, woken)

    def committed(self, appended: list[Appended], tails: Mapping[str, int]) -> Iterable[Wake]:
        """For the writer: take note of a committed group, and answer whom it wakes. ``tails`` are the
        streams of the group with their last sequences."""
        self._recent.extend(appended)
        with self._lock:
            return [
                Wake(future, tail)
                for stream, tail in tails.items()
                for future in self._waiting.get(stream, ())
            ]

    @property
    def sleepers(self) -> int:
        """How many calls of ``wait`` are asleep."""
        with self._lock:
            return sum(map(len, self._waiting.values()))

    def close(self) -> None:
        """End every wait."""
        with self._lock:
            self._closed = True
            sleepers = [future for waiting in self._waiting.values() for future in waiting]
        for future in sleepers:
            try:
                future.get_loop().call_soon_threadsafe(_end, future)
            except RuntimeError:
                # The sleeper's loop was closed before the store, so nobody sleeps there any more.
                continue

    def _register(self, stream: str, woken: asyncio.Future[int]) -> None:
        with self._lock:
            if self._closed:
                raise shutting_down()
            self._waiting.setdefault(stream, set()).add(woken)

    def _forget(self, stream: str, woken: asyncio.Future[int]) -> None:
        with self._lock:
            waiting = self._waiting[stream]
            waiting.discard(woken)
            if not waiting:
                del self._waiting[stream]

    def _built(self, key: tuple[str, int], built: Future[Page]) -> None:
        if not built.cancelled() and built.exception() is None and built.result().lasting:
            self._cache.put(built.result())
        with self._lock:
            del self._building[key]


def _end(sleeper: asyncio.Future[int]) -> None:
    if not sleeper.done():
        sleeper.set_exception(shutting_down())
