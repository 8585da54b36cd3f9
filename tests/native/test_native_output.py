"""Whatever a host prints: drained, bounded, flagged, and never at the cost of the loop."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schemaxis_server.native.contract import End
from schemaxis_server.native.output import CUT_MARK, LINE_BYTES, LineDecoder, OutputLog
from schemaxis_server.native.pool import HostPool

from native.conftest import MakeJob
from native.watching import Pace, program


@pytest.fixture
def namespaces() -> bool:
    """How a host is contained does not matter for what it prints."""
    return True


def decode(*chunks: bytes) -> list[str]:
    decoder = LineDecoder()
    lines = [line for chunk in chunks for line in decoder.feed(chunk)]
    return [*lines, *decoder.finish()]


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([], []),
        ([b"a\nb\n"], ["a", "b"]),
        ([b"a", b"b\n", b"c"], ["ab", "c"]),
        ([b"\n\n"], ["", ""]),
        ([b"a\r\nb\r", b"\nc"], ["a", "b", "c"]),
        (["é".encode()[:1], "é".encode()[1:] + b"\n"], ["é"]),
        ([b"\xff\n\xc3\nok\n"], ["�", "�", "ok"]),
        (["a\u2028b\x85c\x0bd\n".encode()], ["a\u2028b\x85c\x0bd"]),
        ([b"a\x00b\n"], ["a\x00b"]),
    ],
)
def test_lines_end_at_line_feeds_wherever_the_reads_were_split(chunks: list[bytes], lines: list[str]) -> None:
    assert decode(*chunks) == lines


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=40)), st.data())
@settings(max_examples=80, deadline=None)
def test_how_bytes_are_split_does_not_matter(lines: list[str], data: st.DataObject) -> None:
    whole = "".join(line + "\n" for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert decode(*chunks) == lines


@given(st.binary(max_size=60), st.integers(1, 7))
@settings(max_examples=80, deadline=None)
def test_any_bytes_give_the_same_lines_in_any_pieces(whole: bytes, size: int) -> None:
    pieces = [whole[index : index + size] for index in range(0, len(whole), size)]
    assert decode(*pieces) == decode(whole)


@pytest.mark.parametrize(
    "unit", [b"x", "é".encode(), "𝄞".encode(), b"\xff"], ids=["ascii", "two", "four", "wrong"]
)
@pytest.mark.parametrize("step", [997, 10**6], ids=["in pieces", "at once"])
def test_a_long_line_is_cut_with_a_mark_and_the_next_one_is_whole(unit: bytes, step: int) -> None:
    whole = unit * 20_000 + b"\nnext\n" + unit * 20_000
    lines = decode(*[whole[index : index + step] for index in range(0, len(whole), step)])
    assert [len(lines), lines[1]] == [3, "next"]
    for line in (lines[0], lines[2]):
        assert line.endswith(CUT_MARK)
        assert LINE_BYTES - 8 <= len(line.encode()) <= LINE_BYTES
        assert set(line.removesuffix(CUT_MARK)) == {unit.decode("utf-8", "replace")}


@pytest.mark.parametrize("size", [LINE_BYTES, LINE_BYTES + 1])
def test_the_limit_of_a_line_is_exact(size: int) -> None:
    (line,) = decode(b"x" * size + b"\n")
    assert line.endswith(CUT_MARK) is (size > LINE_BYTES)
    assert decode(b"x" * size) == [line]


def test_a_line_without_end_is_held_in_bounded_memory() -> None:
    decoder = LineDecoder()
    for _ in range(1000):
        decoder.feed(b"x" * 65536)
    assert len(decoder._held) <= 2 * LINE_BYTES


async def test_ten_megabytes_without_a_line_end(pool: HostPool, job: MakeJob) -> None:
    work = job(program("flood"), {"text": "x" * 1024, "count": 1024, "times": 10}, output_bytes=1_000_000)
    outcome = await work.on(pool)
    assert work.json() == {"written": 10 * 1024 * 1024}
    assert outcome.truncated
    assert (work.directory / "stdout.log").stat().st_size == 1_000_000
    (line,) = work.listener.text("stdout")
    assert len(line.encode()) <= LINE_BYTES


async def test_output_at_the_limit_is_whole_and_one_byte_more_is_not(pool: HostPool, job: MakeJob) -> None:
    for size in (100_000, 100_001):
        work = job(program("flood"), {"text": "y", "count": size, "times": 1}, output_bytes=100_000)
        outcome = await work.on(pool)
        assert bool(outcome.truncated) is (size > 100_000)
        assert (work.directory / "stdout.log").stat().st_size == 100_000


async def test_all_lines_arrive_in_few_batches(pool: HostPool, job: MakeJob) -> None:
    work = job(program("flood"), {"text": "line é\n", "count": 10_000, "times": 10})
    outcome = await work.on(pool)
    assert not outcome.truncated
    assert work.listener.text("stdout") == ["line é"] * 100_000
    assert len(work.listener.batches) < 60


async def test_half_a_gigabyte_is_drained_and_thrown_away(pool: HostPool, job: MakeJob) -> None:
    work = job(program("flood"), {"text": "0123456789abcde\n", "count": 65536, "times": 500})
    pace = Pace()
    outcome = await work.on(pool)
    assert pace.stop() < 0.2
    assert work.json() == {"written": 500 * 1024 * 1024}
    assert outcome.truncated
    limit = work.run.limits.output_bytes
    assert (work.directory / "stdout.log").stat().st_size == limit
    assert sum(map(len, work.listener.text("stdout"))) <= limit
    assert outcome.wall_seconds < 20


async def test_an_endless_flood_does_not_hog_the_loop(pool: HostPool, job: MakeJob) -> None:
    work = job(program("yes"), output_bytes=1_000_000, deadline_seconds=2.5)
    pace = Pace()
    before = time.process_time()
    outcome = await work.on(pool)
    assert pace.stop() < 0.2
    assert time.process_time() - before < 0.5 * outcome.wall_seconds
    assert outcome.end is End.DEADLINE
    assert outcome.truncated
    assert work.listener.text("stdout")[:3] == ["flooding", "y", "y"]
    assert (work.directory / "stdout.log").stat().st_size == 1_000_000


async def test_a_full_disk_costs_the_log_and_not_the_run(tmp_path: Path) -> None:
    delivered: list[str] = []
    log = OutputLog(asyncio.get_running_loop(), tmp_path / "stdout.log", 1000, delivered.extend)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, log._file)
    os.close(full)
    for _ in range(50):
        # More than the pipe holds: a reader that gave up would block us here for ever.
        await asyncio.to_thread(os.write, log.pipe.write_end, b"lost\n" * 10_000)
    log.close()
    assert log.truncated
    assert delivered == []


async def test_closing_takes_what_is_in_the_pipe_and_waits_for_no_end(tmp_path: Path) -> None:
    delivered: list[str] = []
    log = OutputLog(asyncio.get_running_loop(), tmp_path / "stdout.log", 1000, delivered.extend)
    other_writer = os.dup(log.pipe.write_end)
    os.write(other_writer, b"one\ntwo")
    log.close()
    log.close()
    os.close(other_writer)
    assert delivered == ["one", "two"]
    assert (tmp_path / "stdout.log").read_bytes() == b"one\ntwo"
