"""Engines that are programs of their own: warm, bounded, and gone when they should be."""

from __future__ import annotations

import os
import signal

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.native.contract import End, HostProgram
from schemaxis_server.native.pool import HostPool

from native.conftest import MakeJob
from native.watching import eventually, fresh_token, living, until

_AHEAD = HostProgram(
    "test", "native.separate_engine:ask", ("native.separate_engine",), ahead="native.separate_engine:start"
)


def resident(token: str, entry: str = "resident", jobs: int = 3) -> HostProgram:
    return HostProgram(
        "test",
        f"native.separate_engine:{entry}",
        ("native.separate_engine", "native.resident_engine"),
        environment={"ENGINE_TOKEN": token},
        jobs_per_host=jobs,
    )


async def test_an_engine_started_ahead_serves_one_job_under_its_limits(pool: HostPool, job: MakeJob) -> None:
    for files in (100, 200):
        work = job(_AHEAD, open_files=files)
        outcome = await work.on(pool)
        assert (outcome.exit_code, outcome.tree_empty) == (0, True), work.listener.text("stderr")
        assert work.json() == {"said": "hello", "files": files}


async def test_an_engine_that_cannot_be_started_ahead_is_a_missing_runtime(
    pool: HostPool, job: MakeJob
) -> None:
    program = HostProgram(
        "test",
        "native.separate_engine:ask",
        ("native.separate_engine",),
        ahead="native.separate_engine:fail_ahead",
    )
    with pytest.raises(Fault) as caught:
        await job(program).on(pool)
    assert caught.value.code == "MISSING_RUNTIME"
    assert "no engine here" in caught.value.record.details["log"]


async def test_a_kept_engine_is_replaced_after_its_jobs(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    engines = []
    for _ in range(7):
        work = job(resident(token))
        assert (await work.on(pool)).exit_code == 0
        engines.append(work.json()["engine"])
    assert [engines.count(engine) for engine in dict.fromkeys(engines)] == [3, 3, 1]
    assert eventually(lambda: len(living(token)) == 1)
    await pool.close()
    assert not living(token)


async def test_a_kept_engine_does_not_outlive_a_run_that_failed(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    first = job(resident(token))
    await first.on(pool)
    (engine,) = living(token)
    assert (await job(resident(token), {"fail": True}).on(pool)).exit_code == 1
    assert engine not in living(token)
    assert (await job(resident(token)).on(pool)).exit_code == 0


@pytest.mark.parametrize("how", ["cancelled", "deadline", "abandoned"])
async def test_a_kept_engine_does_not_outlive_a_run_that_was_stopped(
    how: str, pool: HostPool, job: MakeJob
) -> None:
    token = fresh_token()
    work = job(resident(token, "wait"), deadline_seconds=1.5 if how == "deadline" else 30)
    running = work.begin(pool)
    await work.listener.line("waiting")
    (engine,) = living(token)
    if how == "cancelled":
        work.cancel.set()
    if how == "abandoned":
        running.cancel()
    await until(running.done)
    if how != "abandoned":
        assert running.result().end is (End.CANCELLED if how == "cancelled" else End.DEADLINE)
    assert engine not in living(token)


async def test_a_kept_engine_that_dies_is_replaced(
    pool: HostPool, job: MakeJob, caplog: pytest.LogCaptureFixture
) -> None:
    token = fresh_token()
    await job(resident(token)).on(pool)
    (engine,) = living(token)
    os.kill(engine, signal.SIGKILL)
    await until(lambda: pool.stats()["test"].starts == 2 and pool.stats()["test"].state == "ready")
    assert "host died" in caplog.messages
    assert (await job(resident(token)).on(pool)).exit_code == 0
    assert engine not in living(token)
