"""The event log: dense streams, pages on a grid, shared readings, and sleepers woken by commits."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.store.damage import Corrupt
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.event_pages import Page, PageCache, RecentEvents
from schemaxis_server.store.writer import Appended

Reopen = Callable[[], Database]


def append(stream: str, number: int, size: int = 0) -> Callable[[Transaction], int]:
    def unit(tx: Transaction) -> int:
        return [tx.append(stream, "x" * size) for _ in range(number)][-1]

    return unit


async def replay(database: Database, stream: str, limit: int = 128, max_bytes: int = 1 << 18) -> list[bytes]:
    events: list[bytes] = []
    while True:
        part = await database.events.read(stream, len(events), limit, max_bytes)
        assert part.after == len(events)
        if not part.events:
            assert part.tail == len(events)
            return events
        events += part.events
        assert part.next_after == len(events)


@pytest.mark.parametrize("number", [0, 1, 127, 128, 129, 1000])
async def test_a_replay_is_whole_and_in_order(reopen: Reopen, number: int) -> None:
    database = reopen()
    if number:
        await database.write(append("s", number))
    await database.write(append("other", 5))
    expected = [f"{sequence}:".encode() for sequence in range(1, number + 1)]
    assert await replay(database, "s") == expected
    # From the disk alone, in small steps, and with the sequence going on.
    database = reopen()
    assert await replay(database, "s", limit=7) == expected
    assert await database.write(append("s", 1)) == number + 1


async def test_a_slice_keeps_both_bounds_but_gets_on(reopen: Reopen) -> None:
    database = reopen()
    await database.write(append("s", 10, size=1000))
    for _ in ("from memory", "from the disk"):
        assert len((await database.events.read("s", 0, 3)).events) == 3
        assert len((await database.events.read("s", 0, 128, 2500)).events) == 2
        assert len((await database.events.read("s", 0, 128, 10)).events) == 1
        assert len((await database.events.read("s", 0, 0)).events) == 1
        database = reopen()


@pytest.mark.parametrize("cursor", [-1, 6, 2**62])
async def test_a_cursor_outside_is_refused_with_the_range(database: Database, cursor: int) -> None:
    await database.write(append("s", 5))
    with pytest.raises(Fault) as refused:
        await database.events.read("s", cursor)
    assert refused.value.code == "OUT_OF_RANGE"
    assert refused.value.record.details == {"firstSequence": 1, "tailSequence": 5}


async def test_concurrent_readers_share_one_page(reopen: Reopen) -> None:
    await reopen().write(append("s", 300))
    database = reopen()
    pages = await asyncio.gather(*(database.events.page("s", 0) for _ in range(20)))
    assert all(page is pages[0] for page in pages)
    assert await database.events.page("s", 0) is pages[0]
    partial = await database.events.page("s", 2)
    assert len(partial.events) == 300 - 256
    assert await database.events.page("s", 2) is not partial


async def test_one_reader_that_leaves_takes_no_other_along(reopen: Reopen) -> None:
    await reopen().write(append("s", 128))
    database = reopen()
    # The page waits for a free thread of the pool, when its reading could still be called off.
    go_on = threading.Event()
    busy = [asyncio.ensure_future(database.scan(lambda connection: go_on.wait(10))) for _ in range(2)]
    await asyncio.sleep(0)
    first = asyncio.ensure_future(database.events.page("s", 0))
    second = asyncio.ensure_future(database.events.page("s", 0))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    go_on.set()
    assert len((await second).events) == 128
    assert await asyncio.gather(*busy) == [True, True]


async def test_a_damaged_event_stops_a_reader_there_and_only_there(reopen: Reopen, directory: Path) -> None:
    await reopen().write(append("s", 200))
    database = reopen()
    with sqlite3.connect(directory / "schemaxis.db") as connection:
        connection.execute("UPDATE events SET data = x'00' WHERE stream = 's' AND sequence = 50")
        connection.execute("DELETE FROM events WHERE stream = 's' AND sequence = 60")
    connection.close()

    assert len((await database.events.read("s", 0)).events) == 49
    for cursor, id in ((49, "s/50"), (59, "s/60")):
        with pytest.raises(Corrupt) as damage:
            await database.events.read("s", cursor)
        assert (damage.value.table, damage.value.id) == ("events", id)
    assert len((await database.events.read("s", 60)).events) == 68
    await database.write(lambda tx: None)
    rows = database.reader.execute("SELECT id, reason FROM quarantine ORDER BY id").fetchall()
    assert rows == [("s/50", "checksum does not match"), ("s/60", "row is missing")]


async def test_a_sleeper_wakes_for_its_stream_only(database: Database) -> None:
    await database.write(append("s", 3))
    assert await database.events.wait("s", 2, None) == 3

    sleeper = asyncio.ensure_future(database.events.wait("s", 3, None))
    other = asyncio.ensure_future(database.events.wait("other", 0, None))
    await asyncio.sleep(0)
    await database.write(append("s", 2))
    assert await sleeper == 5
    assert not other.done()
    await database.write(append("other", 1))
    assert await other == 1


async def test_a_commit_while_falling_asleep_is_not_missed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_tail = database.events.tail

    def tail_then_commit(stream: str) -> int:
        tail = read_tail(stream)
        monkeypatch.undo()
        database.write_blocking(append(stream, 1))
        return tail

    monkeypatch.setattr(database.events, "tail", tail_then_commit)
    async with asyncio.timeout(5):
        assert await database.events.wait("s", 0, None) == 1


async def test_a_sleeper_of_the_future_sleeps_on(database: Database) -> None:
    sleeper = asyncio.ensure_future(database.events.wait("s", 2, None))
    await asyncio.sleep(0)
    await database.write(append("s", 1))
    await database.write(append("s", 1))
    assert not sleeper.done()
    await database.write(append("s", 1))
    assert await sleeper == 3


async def test_a_sleeper_gives_up_in_time_and_leaves_nothing(database: Database) -> None:
    await database.write(append("s", 2))
    assert await database.events.wait("s", 2, 0.01) == 2
    assert await database.events.wait("s", 2, 0) == 2
    cancelled = asyncio.ensure_future(database.events.wait("s", 2, None))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert database.events.sleepers == 0


async def test_closing_ends_every_sleep(database: Database) -> None:
    sleepers = [asyncio.ensure_future(database.events.wait("s", 0, None)) for _ in range(3)]
    await asyncio.sleep(0)
    database.close()
    for outcome in await asyncio.gather(*sleepers, return_exceptions=True):
        assert isinstance(outcome, Fault)
        assert outcome.code == "SHUTTING_DOWN"


async def test_fifty_watchers_see_all_that_is_written_meanwhile(database: Database) -> None:
    total = 2000

    async def watch(limit: int) -> list[bytes]:
        events: list[bytes] = []
        while len(events) < total:
            await database.events.wait("s", len(events), None)
            events += (await database.events.read("s", len(events), limit)).events
        return events

    watchers = [asyncio.ensure_future(watch(1 + 3 * number)) for number in range(50)]
    for _ in range(total // 10):
        await database.write(append("s", 10))
    expected = [f"{sequence}:".encode() for sequence in range(1, total + 1)]
    for seen in await asyncio.gather(*watchers):
        assert seen == expected


def page(index: int, size: int) -> Page:
    return Page("s", index, (bytes(size),) * 128, 10_000)


def test_the_cache_drops_the_least_recently_used_beyond_its_bytes() -> None:
    one = page(0, 100).size_bytes
    cache = PageCache(3 * one)
    for index in range(3):
        cache.put(page(index, 100))
    assert cache.get("s", 0) is not None
    cache.put(page(3, 100))
    assert [cache.get("s", index) is not None for index in range(4)] == [True, False, True, True]
    assert cache.size_bytes == 3 * one
    cache.put(page(9, 1000))
    assert cache.get("s", 9) is None


def test_recent_events_are_a_bounded_run_to_the_tail() -> None:
    recent = RecentEvents()
    recent.extend(Appended("s", sequence, b"%d" % sequence) for sequence in range(1, 1001))
    assert recent.slice("s", 0, 128, 1 << 20) is None
    last = recent.slice("s", 999, 128, 1 << 20)
    assert last is not None
    assert (last.events, last.tail) == ([b"1000"], 1000)
    assert recent.slice("s", 1001, 128, 1 << 20) is None
    # A run that missed something begins anew.
    recent.extend([Appended("s", 1010, b"late")])
    assert recent.slice("s", 999, 128, 1 << 20) is None
    recent.extend(Appended("s", sequence, bytes(300_000)) for sequence in range(1011, 1021))
    kept = recent.slice("s", 1019, 128, 1 << 20)
    assert kept is not None
    assert len(kept.events) == 1
