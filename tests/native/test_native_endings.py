"""However a run ends, nothing of it is left, and the one outcome says what is known."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.native import procfs, supervision
from schemaxis_server.native.contract import End
from schemaxis_server.native.pool import HostPool

from native.conftest import MakeJob
from native.watching import eventually, fresh_token, living, program, until


def init_of(worker: int) -> int:
    process = procfs.look(worker)
    assert process is not None
    return process.parent


def zygote_of(pool: HostPool) -> int:
    return pool.stats()["test"].pid


@pytest.mark.parametrize("hold", [False, True], ids=["silent", "holding the pipe"])
@pytest.mark.parametrize("then", ["end", "fail"])
async def test_what_a_leader_leaves_behind_is_ended(
    pool: HostPool, job: MakeJob, then: str, hold: bool
) -> None:
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": then, "hold": hold})
    began = time.monotonic()
    outcome = await work.on(pool)
    assert time.monotonic() - began < 5
    assert living(token) == []
    assert (outcome.end, outcome.exit_code) == (End.EXITED, 0 if then == "end" else 1)
    assert outcome.tree_empty


async def test_a_cancel_ends_the_whole_tree(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": "wait"})
    running = work.begin(pool)
    await work.listener.line("escaped")
    assert len(living(token)) == 1
    work.cancel.set()
    outcome = await running
    assert living(token) == []
    assert (outcome.end, outcome.exit_code, outcome.signal) == (End.CANCELLED, None, signal.SIGTERM)
    assert outcome.tree_empty


async def test_a_deadline_ends_the_whole_tree(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    await pool.warm(program("escape"))
    work = job(program("escape"), {"tokens": [token], "then": "wait"}, deadline_seconds=0.6)
    outcome = await work.on(pool)
    assert work.listener.text("stdout") == ["escaped"]
    assert living(token) == []
    assert outcome.end is End.DEADLINE
    assert outcome.tree_empty
    assert 0.6 <= outcome.wall_seconds < 4


async def test_ordinary_children_end_with_a_cancel(pool: HostPool, job: MakeJob) -> None:
    tokens = [fresh_token() for _ in range(8)]
    work = job(program("family"), {"tokens": tokens})
    running = work.begin(pool)
    await work.listener.line("waiting")
    assert eventually(lambda: all(len(living(token)) == 2 or living(token) for token in tokens))
    work.cancel.set()
    assert (await running).end is End.CANCELLED
    assert [pid for token in tokens for pid in living(token)] == []


async def test_a_worker_that_ignores_term_is_killed_after_the_grace(pool: HostPool, job: MakeJob) -> None:
    work = job(program("stubborn"), grace_seconds=0.3)
    running = work.begin(pool)
    await work.listener.line("waiting")
    began = time.monotonic()
    work.cancel.set()
    outcome = await running
    assert 0.3 <= time.monotonic() - began < 3
    assert (outcome.end, outcome.signal) == (End.CANCELLED, signal.SIGKILL)


async def test_a_worker_that_completes_on_term_was_cancelled_all_the_same(
    pool: HostPool, job: MakeJob
) -> None:
    work = job(program("finish_on_term"), grace_seconds=5)
    running = work.begin(pool)
    await work.listener.line("waiting")
    work.cancel.set()
    outcome = await running
    assert (outcome.end, outcome.exit_code) == (End.CANCELLED, 0)


async def test_a_cancel_before_the_start_starts_nothing(pool: HostPool, job: MakeJob) -> None:
    work = job(program("echo"))
    work.cancel.set()
    outcome = await work.on(pool)
    assert (outcome.end, outcome.exit_code, outcome.tree_empty) == (End.CANCELLED, None, True)
    assert work.listener.pids == []
    assert not work.has("result.json")


async def test_a_cancel_that_comes_with_the_completion_gives_one_outcome(
    pool: HostPool, job: MakeJob
) -> None:
    await pool.warm(program("echo"))
    for turn in range(12):
        work = job(program("echo"))
        running = work.begin(pool)
        for _ in range(turn * 2):
            await asyncio.sleep(0)
        work.cancel.set()
        outcome = await running
        assert outcome.end in (End.CANCELLED, End.EXITED)
        assert outcome.tree_empty
        if outcome.end is End.EXITED:
            assert work.has("result.json")


async def test_a_lost_zygote_is_a_lost_run_with_nothing_left(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": "wait"})
    running = work.begin(pool)
    await work.listener.line("escaped")
    os.kill(zygote_of(pool), signal.SIGKILL)
    outcome = await running
    assert outcome.end is End.LOST
    assert outcome.error
    assert outcome.tree_empty
    assert living(token) == []
    after = job(program("echo"))
    assert (await after.on(pool)).exit_code == 0


async def test_a_lost_init_is_a_lost_run_with_nothing_left(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": "wait"})
    running = work.begin(pool)
    await work.listener.line("escaped")
    os.kill(init_of(work.listener.pids[0]), signal.SIGKILL)
    outcome = await running
    assert (outcome.end, outcome.exit_code, outcome.signal) == (End.LOST, None, None)
    assert outcome.tree_empty
    assert living(token) == []


async def test_a_lost_worker_is_told_as_its_signal(pool: HostPool, job: MakeJob) -> None:
    work = job(program("wait"))
    running = work.begin(pool)
    await work.listener.line("waiting")
    os.kill(work.listener.pids[0], signal.SIGKILL)
    outcome = await running
    assert (outcome.end, outcome.signal) == (End.EXITED, signal.SIGKILL)


async def test_without_zygote_and_init_emptiness_is_claimed_only_where_it_is_known(
    pool: HostPool, job: MakeJob, namespaces: bool
) -> None:
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": "wait", "hold": True})
    running = work.begin(pool)
    await work.listener.line("escaped")
    init = init_of(work.listener.pids[0])
    # Stopped first, so that the init cannot clean up between the two kills.
    os.kill(init, signal.SIGSTOP)
    os.kill(zygote_of(pool), signal.SIGKILL)
    os.kill(init, signal.SIGKILL)
    outcome = await running
    assert outcome.end is End.LOST
    assert outcome.tree_empty is (outcome.containment == "pid-namespace")
    # It still holds a pipe of the run, which is evidence enough for the last net.
    assert living(token) == []


async def test_a_hung_init_is_killed_when_it_does_not_obey(
    pool: HostPool, job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "_OVERDUE_SECONDS", 0.3)
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": "wait"})
    running = work.begin(pool)
    await work.listener.line("escaped")
    os.kill(init_of(work.listener.pids[0]), signal.SIGSTOP)
    work.cancel.set()
    outcome = await running
    assert outcome.end is End.CANCELLED
    assert outcome.tree_empty
    assert living(token) == []


async def test_a_hung_zygote_costs_the_run_its_time_and_no_more(
    pool: HostPool, job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "_OVERDUE_SECONDS", 0.3)
    await pool.warm(program("echo"))
    zygote = zygote_of(pool)
    os.kill(zygote, signal.SIGSTOP)
    outcome = await job(program("echo"), deadline_seconds=0.3).on(pool)
    assert outcome.end is End.DEADLINE
    assert outcome.tree_empty
    await until(lambda: procfs.look(zygote) is None)


async def test_a_caller_that_is_cancelled_itself_leaves_nothing(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": "wait"})
    running = work.begin(pool)
    await work.listener.line("escaped")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert living(token) == []


async def test_runs_side_by_side_do_not_touch_each_other(pool: HostPool, job: MakeJob) -> None:
    tokens = [fresh_token() for _ in range(3)]
    works = [job(program("escape"), {"tokens": [token], "then": "wait"}) for token in tokens]
    running = [work.begin(pool) for work in works]
    for work in works:
        await work.listener.line("escaped")
    works[0].cancel.set()
    assert (await running[0]).end is End.CANCELLED
    os.kill(init_of(works[1].listener.pids[0]), signal.SIGKILL)
    assert (await running[1]).end is End.LOST
    assert [len(living(token)) for token in tokens] == [0, 0, 1]
    assert not running[2].done()
    works[2].cancel.set()
    assert (await running[2]).tree_empty
    assert living(tokens[2]) == []


async def test_closing_ends_what_runs_and_refuses_what_comes(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    work = job(program("escape"), {"tokens": [token], "then": "wait"})
    running = work.begin(pool)
    await work.listener.line("escaped")
    await asyncio.gather(pool.close(), pool.close())
    outcome = await asyncio.wait_for(running, 1)
    assert outcome.end is End.LOST
    assert outcome.tree_empty
    assert living(token) == []
    await pool.close()
    with pytest.raises(Fault) as caught:
        await job(program("echo")).on(pool)
    assert caught.value.code == "SHUTTING_DOWN"


async def test_a_probe_tells_the_containment_without_a_host(pool: HostPool, namespaces: bool) -> None:
    found = await pool.containment()
    assert "no-new-privileges" in found.hardening
    assert "parent-death-signal" in found.hardening
    if not namespaces:
        assert found.level == "subreaper"
    assert pool.stats() == {}
