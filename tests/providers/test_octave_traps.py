"""What a real Octave does wrong, in real supervised processes: nothing of it passes for a result, or stays."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from native.watching import Job, eventually, fresh_token, living
from schemaxis_server.native import procfs
from schemaxis_server.native.contract import End, HostProgram
from schemaxis_server.native.pool import HostPool
from schemaxis_server.providers.octave.provider import PROVIDER

from providers.engines import needs

pytestmark = needs(PROVIDER)

_TRAPS = HostProgram(
    "octave-traps",
    "providers.octave_traps:run",
    ("providers.octave_traps",),
    ahead="providers.octave_traps:start",
)

MakeJob = Callable[..., Job]


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[HostPool]:
    pool = HostPool(tmp_path / "run", f"test-{tmp_path.name}")
    yield pool
    await pool.close()
    assert eventually(lambda: not _octaves(tmp_path))
    assert not _dumps(tmp_path)


@pytest.fixture
def job(tmp_path: Path) -> MakeJob:
    count = 0

    def make(host: HostProgram, request: dict[str, Any], **limits: Any) -> Job:
        nonlocal count
        count += 1
        return Job(tmp_path / f"job-{count}", host, request, **limits)

    return make


def _octaves(tmp_path: Path) -> list[int]:
    """The Octaves that were started for this test."""
    found = []
    for process in procfs.processes():
        try:
            folder = Path(f"/proc/{process.pid}")
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        marker = f"SCHEMAXIS_WORKSPACE=test-{tmp_path.name}".encode()
        if process.alive and b"sx_serve" in arguments and marker in environment:
            found.append(process.pid)
    return found


def _dumps(tmp_path: Path) -> list[Path]:
    """What Octave writes when it is stopped or crashes, and its temporary files."""
    return [
        path for pattern in ("octave-workspace", "octave-core", "oct-*") for path in tmp_path.rglob(pattern)
    ]


def _trap(name: str, *arguments: Any) -> dict[str, Any]:
    return {"operation": f"trap_{name}", "arguments": list(arguments)}


def _message(work: Job) -> str:
    failure = work.json("failure.json")
    assert failure["code"] == "NATIVE_FAILURE"
    return str(failure["message"])


@pytest.mark.parametrize(
    ("trap", "says"),
    [
        (_trap("exit"), "ended before its answer was whole (exit status 0, which tells nothing)"),
        (_trap("half"), "ended before its answer was whole"),
        (_trap("garbage"), "no answer"),
        (_trap("signal", signal.SIGSEGV), "ended before its answer was whole"),
        (_trap("signal", signal.SIGKILL), "SIGKILL"),
        (_trap("signal", signal.SIGTERM), "ended before its answer was whole"),
        (_trap("wrong"), "no_such_function"),
        (_trap("nowhere"), "not found"),
    ],
    ids=["exit 0", "half", "garbage", "segfault", "killed", "terminated", "error", "unknown"],
)
async def test_no_failure_passes_for_a_result(
    pool: HostPool, job: MakeJob, trap: dict[str, Any], says: str
) -> None:
    work = job(_TRAPS, trap)
    outcome = await work.on(pool)
    assert outcome.tree_empty
    assert outcome.exit_code == 1
    assert not work.has("result.json")
    assert says in _message(work)
    assert not list((work.directory / "home").iterdir())
    assert not list((work.directory / "tmp").iterdir())


async def test_a_singular_solve_warns_in_the_result(pool: HostPool, job: MakeJob) -> None:
    work = job(_TRAPS, _trap("singular"))
    assert (await work.on(pool)).exit_code == 0
    (warning,) = work.json()["warnings"]
    assert "singular" in warning
    assert any("singular" in line for line in work.listener.text("stderr"))


async def test_what_octave_says_goes_to_the_log_and_its_places_are_the_job_s(
    pool: HostPool, job: MakeJob
) -> None:
    work = job(_TRAPS, _trap("talk"))
    assert (await work.on(pool)).exit_code == 0, work.listener.text("stderr")
    said = work.listener.text("stderr")
    assert "on entry to DGESDD parameter number 5 had an illegal value" in said
    assert "said besides" in said
    home, *others = ["".join(chr(int(code)) for code in one) for one in work.json()["results"]]
    assert home == str(work.directory / "home")
    assert [one.rstrip("/") for one in others] == [str(work.directory / "tmp")] * 3


@pytest.mark.parametrize("trap", ["hang", "lapack"])
async def test_a_cancelled_octave_is_gone_within_the_grace(pool: HostPool, job: MakeJob, trap: str) -> None:
    work = job(_TRAPS, _trap(trap, *([4000] if trap == "lapack" else [])), deadline_seconds=60)
    running = work.begin(pool)
    await work.listener.until(lambda: bool(work.listener.text("stderr")))
    await asyncio.sleep(0.3)
    began = time.monotonic()
    work.cancel.set()
    outcome = await running
    assert outcome.end is End.CANCELLED
    assert outcome.tree_empty
    assert time.monotonic() - began < 2.0
    assert not work.has("result.json")


async def test_an_octave_that_hangs_meets_the_deadline(pool: HostPool, job: MakeJob) -> None:
    work = job(_TRAPS, _trap("hang"), deadline_seconds=0.6)
    outcome = await work.on(pool)
    assert outcome.end is End.DEADLINE
    assert outcome.tree_empty


async def test_what_octave_starts_ends_with_the_job(pool: HostPool, job: MakeJob) -> None:
    token = fresh_token()
    work = job(_TRAPS, _trap("leave", token))
    outcome = await work.on(pool)
    assert (outcome.exit_code, outcome.tree_empty) == (0, True)
    assert not living(token)
    assert [path.name for path in (work.directory / "tmp").iterdir()] == ["left"]


def _document() -> dict[str, Any]:
    operation = next(one for one in PROVIDER.manifest.operations if one.name == "spectrum")
    return {"document": PROVIDER.plan(operation.example).document, "bindings": {}}


async def test_an_octave_that_dies_while_it_waits_is_replaced(
    pool: HostPool, job: MakeJob, tmp_path: Path
) -> None:
    program = PROVIDER.producer(PROVIDER.engine(None))
    assert (await job(program, _document()).on(pool)).exit_code == 0
    assert eventually(lambda: bool(_octaves(tmp_path)), 20)
    await asyncio.sleep(0.5)
    waiting = _octaves(tmp_path)
    for pid in waiting:
        os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not set(waiting) & set(_octaves(tmp_path)))
    work = job(program, _document())
    outcome = await work.on(pool)
    assert outcome.exit_code == 0, work.listener.text("stderr")
    assert work.json()["outputs"]["result"]["peakX"]["value"] == pytest.approx(50)


async def test_a_program_that_is_no_octave_is_a_failure_in_words(
    pool: HostPool, job: MakeJob, tmp_path: Path
) -> None:
    from schemaxis_server.faults import Fault

    fake = tmp_path / "octave-cli"
    fake.write_text("#!/bin/sh\necho 'GNU Octave, version 9.9.9'\n")
    fake.chmod(0o755)
    engine = PROVIDER.engine(str(tmp_path))
    assert (engine.available, engine.version) == (True, "9.9.9")
    with pytest.raises(Fault) as caught:
        await job(PROVIDER.producer(engine), _document()).on(pool)
    assert caught.value.code == "MISSING_RUNTIME"
    assert "Octave ended" in caught.value.record.details["log"]
