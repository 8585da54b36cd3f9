"""Event pages: what they are, how one is read, and the two memories that keep watchers off the disk."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemaxis_server.store.connection import Connection
from schemaxis_server.store.damage import seal
from schemaxis_server.store.writer import Appended

PAGE_EVENTS = 128
CACHE_BYTES = 16 * 1024 * 1024
_EVENT_OVERHEAD = 64

_RECENT_EVENTS = 2 * PAGE_EVENTS
_RECENT_BYTES = 512 * 1024
_RECENT_STREAMS = 32


@dataclass(frozen=True, slots=True)
class Page:
    """The events of one cell of the grid: page k holds the sequences 128 k + 1 to 128 k + 128.

    ``events`` are the stored bytes in order, shorter than 128 while the stream has not got
    further; None stands for an event whose row is damaged or gone. ``tail`` is the stream's
    last sequence at the time of reading.
    """

    stream: str
    index: int
    events: tuple[bytes | None, ...]
    tail: int

    @property
    def lasting(self) -> bool:
        """Whether the page can never change: it is full and every event is sound."""
        return len(self.events) == PAGE_EVENTS and None not in self.events

    @property
    def size_bytes(self) -> int:
        return sum(len(event) + _EVENT_OVERHEAD for event in self.events if event is not None)


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive events from ``after`` + 1 on, and the stream's tail when they were read."""

    after: int
    events: Sequence[bytes]
    tail: int

    @property
    def next_after(self) -> int:
        """The cursor that goes on behind these events."""
        return self.after + len(self.events)


def read_tail(connection: Connection, stream: str) -> int:
    """The last sequence of ``stream``; 0 if it has no event."""
    rows = connection.rows("SELECT tail FROM streams WHERE stream = ?", (stream,))
    return rows[0][0] if rows else 0


def read_page(connection: Connection, stream: str, index: int) -> Page:
    """Read and check one page. What is damaged is reported to the connection's owner."""
    first = index * PAGE_EVENTS + 1
    tail = read_tail(connection, stream)
    count = max(0, min(PAGE_EVENTS, tail - first + 1))
    events: list[bytes | None] = [None] * count
    rows = connection.rows(
        "SELECT sequence, data, checksum FROM events WHERE stream = ? AND sequence BETWEEN ? AND ?",
        (stream, first, first + count - 1),
    )
    for sequence, data, checksum in rows:
        if isinstance(data, bytes) and seal("events", f"{stream}/{sequence}", data) == checksum:
            events[sequence - first] = data
    if connection.report is not None:
        present = {row[0] for row in rows}
        for sequence, event in enumerate(events, first):
            if event is None:
                reason = "checksum does not match" if sequence in present else "row is missing"
                connection.report("events", f"{stream}/{sequence}", reason)
    return Page(stream, index, tuple(events), tail)


def cut(events: Iterable[bytes], limit: int, max_bytes: int) -> list[bytes]:
    """The leading events within both bounds, but one at least, so that a reader always gets on."""
    taken: list[bytes] = []
    size = 0
    for event in events:
        size += len(event)
        if taken and (size > max_bytes or len(taken) >= limit):
            break
        taken.append(event)
    return taken


class PageCache:
    """Lasting pages, the least recently used dropped beyond ``capacity`` bytes. For any thread."""

    def __init__(self, capacity: int = CACHE_BYTES) -> None:
        self._capacity = capacity
        self._pages: OrderedDict[tuple[str, int], Page] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @property
    def size_bytes(self) -> int:
        return self._size

    def get(self, stream: str, index: int) -> Page | None:
        with self._lock:
            page = self._pages.get((stream, index))
            if page is not None:
                self._pages.move_to_end((stream, index))
            return page

    def put(self, page: Page) -> None:
        key = (page.stream, page.index)
        with self._lock:
            if key in self._pages or page.size_bytes > self._capacity:
                return
            self._pages[key] = page
            self._size += page.size_bytes
            while self._size > self._capacity:
                _, dropped = self._pages.popitem(last=False)
                self._size -= dropped.size_bytes


class RecentEvents:
    """The latest committed events of the streams that are being written, as one run up to the tail.

    The writer extends it after each commit, so that watchers at the tail need no disk. Few
    streams, few events, few bytes; whatever is not here is read from its page. For any thread.
    """

    def __init__(self) -> None:
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        self._lock = threading.Lock()

    def extend(self, appended: Iterable[Appended]) -> None:
        with self._lock:
            for event in appended:
                run = self._runs.get(event.stream)
                if run is None or run.tail + 1 != event.sequence:
                    run = self._runs[event.stream] = _Run(event.sequence)
                self._runs.move_to_end(event.stream)
                run.append(event.data)
            while len(self._runs) > _RECENT_STREAMS:
                self._runs.popitem(last=False)

    def slice(self, stream: str, after: int, limit: int, max_bytes: int) -> Slice | None:
        """The events behind ``after``, or None if the run does not reach there."""
        with self._lock:
            run = self._runs.get(stream)
            if run is None or not run.first - 1 <= after <= run.tail:
                return None
            start = after + 1 - run.first
            return Slice(after, cut(run.events[start : start + limit], limit, max_bytes), run.tail)


class _Run:
    """Consecutive events from ``first`` on. Trimmed by halves, so that appending stays cheap."""

    __slots__ = ("events", "first", "size")

    def __init__(self, first: int) -> None:
        self.first = first
        self.events: list[bytes] = []
        self.size = 0

    @property
    def tail(self) -> int:
        return self.first + len(self.events) - 1

    def append(self, data: bytes) -> None:
        self.events.append(data)
        self.size += len(data)
        while len(self.events) > 1 and (len(self.events) > _RECENT_EVENTS or self.size > _RECENT_BYTES):
            dropped = len(self.events) // 2
            self.size -= sum(map(len, self.events[:dropped]))
            del self.events[:dropped]
            self.first += dropped
