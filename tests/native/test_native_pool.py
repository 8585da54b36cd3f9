"""Hosts come, stay warm, die, are replaced, and go."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.native import procfs
from schemaxis_server.native.contract import End, HostProgram, Supervisor
from schemaxis_server.native.pool import HostPool

from native.conftest import MakeJob
from native.watching import program, until


@pytest.fixture
def namespaces() -> bool:
    """How a host is contained does not matter for how it comes and goes."""
    return True


async def until_ready(pool: HostPool, starts: int) -> None:
    await until(lambda: pool.stats()["test"].starts >= starts and pool.stats()["test"].state == "ready")


async def test_the_pool_is_a_supervisor(pool: HostPool) -> None:
    supervisor: Supervisor = pool
    assert supervisor is pool


async def test_the_first_run_is_cold_and_the_next_is_warm(pool: HostPool, job: MakeJob) -> None:
    assert [(await job(program("echo")).on(pool)).warm for _ in range(3)] == [False, True, True]
    host = pool.stats()["test"]
    assert (host.state, host.starts, host.jobs, host.problem) == ("ready", 1, 3, "")
    assert host.rss_bytes > 1_000_000
    assert procfs.look(host.pid) is not None


async def test_a_host_that_was_warmed_serves_its_first_run_warm(pool: HostPool, job: MakeJob) -> None:
    await pool.warm(program("echo"))
    assert (await job(program("echo")).on(pool)).warm


async def test_runs_that_come_at_once_share_one_start(pool: HostPool, job: MakeJob) -> None:
    works = [job(program("echo"), {"number": number}) for number in range(5)]
    outcomes = await asyncio.gather(*(work.on(pool) for work in works))
    assert [outcome.exit_code for outcome in outcomes] == [0] * 5
    assert [work.json()["request"]["number"] for work in works] == list(range(5))
    assert pool.stats()["test"].starts == 1


async def test_runs_leave_no_descriptor_open(pool: HostPool, job: MakeJob) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    await job(program("echo")).on(pool)
    before = descriptors()
    for entry in ("echo", "crash", "die", "flood"):
        request = {"text": "x\n", "count": 1000, "times": 2}
        await job(program(entry), request, output_bytes=1000).on(pool)
    stopped = job(program("wait"))
    running = stopped.begin(pool)
    await stopped.listener.line("waiting")
    stopped.cancel.set()
    await running
    # Another entry is another program, so that hosts have come and gone as well.
    await until(lambda: descriptors() <= before)


async def test_a_host_that_dies_idle_is_replaced_and_logged(
    pool: HostPool, job: MakeJob, caplog: pytest.LogCaptureFixture
) -> None:
    await pool.warm(program("echo"))
    first = pool.stats()["test"].pid
    with caplog.at_level(logging.WARNING):
        os.kill(first, signal.SIGKILL)
        await until_ready(pool, 2)
    (record,) = [record for record in caplog.records if record.message == "host died"]
    assert (vars(record)["host"], vars(record)["pid"], vars(record)["exit_code"]) == ("test", first, -9)
    assert pool.stats()["test"].pid != first
    assert (await job(program("echo")).on(pool)).warm


async def test_a_run_on_a_host_that_has_just_died_starts_another(pool: HostPool, job: MakeJob) -> None:
    await pool.warm(program("echo"))
    os.kill(pool.stats()["test"].pid, signal.SIGKILL)
    # The loop has not heard of it yet, so that the run meets a dead host.
    outcome = await job(program("echo")).on(pool)
    assert (outcome.end, outcome.exit_code, outcome.warm) == (End.EXITED, 0, False)


async def test_a_host_that_keeps_dying_waits_for_demand(pool: HostPool, job: MakeJob) -> None:
    await pool.warm(program("echo"))
    for starts in range(1, 5):
        await until_ready(pool, starts)
        os.kill(pool.stats()["test"].pid, signal.SIGKILL)
        await until(lambda: pool.stats()["test"].state != "ready")
    await asyncio.sleep(0)
    assert (pool.stats()["test"].state, pool.stats()["test"].starts) == ("stopped", 4)
    assert (await job(program("echo")).on(pool)).exit_code == 0


async def test_a_spare_that_dies_is_replaced(pool: HostPool, job: MakeJob) -> None:
    await pool.warm(program("echo"))
    zygote = pool.stats()["test"].pid
    (spare,) = [process.pid for process in procfs.processes() if process.parent == zygote]
    os.kill(spare, signal.SIGKILL)
    await until(lambda: procfs.look(spare) is None)
    assert (await job(program("echo")).on(pool)).exit_code == 0
    assert pool.stats()["test"].pid == zygote


async def test_a_program_that_changed_gets_a_new_host(pool: HostPool, job: MakeJob) -> None:
    await pool.warm(program("echo"))
    first = pool.stats()["test"].pid
    changed = replace(
        program("surroundings"), environment={"ENGINE_HOME": "/opt/engine", "OMP_NUM_THREADS": "9"}
    )
    work = job(changed)
    assert (await work.on(pool)).exit_code == 0
    assert work.json()["environment"]["ENGINE_HOME"] == "/opt/engine"
    assert work.json()["environment"]["OMP_NUM_THREADS"] == "1"
    await until(lambda: procfs.look(first) is None)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (replace(program("echo"), python="/nowhere/python"), "/nowhere/python"),
        (replace(program("echo"), python="/bin/true"), "exit status 0"),
        (program("echo", "no_such_engine"), "no_such_engine"),
        (program("echo", module="no_such_module"), "no_such_module"),
        (program("echo", module="exiting_engine"), "exit status 3"),
    ],
    ids=["no interpreter", "no python", "no engine", "no entry", "broken engine"],
)
async def test_a_host_that_cannot_start_is_a_missing_runtime(
    pool: HostPool, job: MakeJob, host: HostProgram, words: str
) -> None:
    with pytest.raises(Fault) as caught:
        await job(host).on(pool)
    assert caught.value.code == "MISSING_RUNTIME"
    assert words in caught.value.record.message
    assert pool.stats()["test"].state == "stopped"
    assert words in pool.stats()["test"].problem
    if "exit status 3" in words:
        assert "libEngine.so.7" in caught.value.record.details["log"]
    # Where this machine keeps its programs stays in the host's own log.
    log = caught.value.record.details.get("log", "")
    assert "Traceback" not in log
    assert ".py" not in log


async def test_an_import_that_hangs_is_ended_by_the_start_limit(tmp_path: Path, job: MakeJob) -> None:
    pool = HostPool(tmp_path / "other", "hanging", start_seconds=0.3)
    with pytest.raises(Fault, match="did not load within") as caught:
        await pool.warm(program("echo", "native.hanging_engine"))
    assert caught.value.code == "MISSING_RUNTIME"
    await pool.close()


async def test_deadline_and_cancel_hold_while_a_host_starts(tmp_path: Path, job: MakeJob) -> None:
    pool = HostPool(tmp_path / "other", "hanging")
    host = program("echo", "native.hanging_engine")
    late = await job(host, deadline_seconds=0.2).on(pool)
    assert (late.end, late.tree_empty) == (End.DEADLINE, True)
    work = job(host)
    running = work.begin(pool)
    await asyncio.sleep(0)
    work.cancel.set()
    assert (await running).end is End.CANCELLED
    await pool.close()


async def test_an_engine_that_starts_threads_is_loaded_anew_for_every_job(
    pool: HostPool, job: MakeJob, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        work = job(program("entry", module="threaded_engine"))
        outcome = await work.on(pool)
        assert (outcome.exit_code, outcome.warm) == (0, False)
        assert work.json() == {"ok": True}
    assert "starts threads" in caplog.text


async def test_closing_while_a_host_starts_leaves_nothing(tmp_path: Path) -> None:
    pool = HostPool(tmp_path / "other", "closing")
    starting = asyncio.create_task(pool.warm(program("echo", "native.hanging_engine")))
    await until(lambda: bool(list((tmp_path / "other").glob("process-*"))))
    await pool.close()
    with pytest.raises(Fault, match="SHUTTING_DOWN"):
        await starting
    assert not list((tmp_path / "other").glob("process-*"))


async def test_a_host_that_is_replaced_while_it_starts_is_told_to_all_who_wait(
    pool: HostPool, job: MakeJob
) -> None:
    first = job(program("echo")).begin(pool)
    await until(lambda: "test" in pool.stats() and pool.stats()["test"].state == "starting")
    second = job(replace(program("echo"), environment={"A": "1"})).begin(pool)
    with pytest.raises(Fault) as caught:
        await first
    assert caught.value.code == "MISSING_RUNTIME"
    assert (await second).exit_code == 0
