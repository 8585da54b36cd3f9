"""What a real LibreOffice does wrong, in real processes: nothing of it passes for a result, and nothing stays."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from native.watching import Job, eventually, until
from schemaxis_server.faults import Fault
from schemaxis_server.native import procfs
from schemaxis_server.native.contract import End
from schemaxis_server.native.pool import HostPool
from schemaxis_server.providers.calc import installation, office
from schemaxis_server.providers.calc.provider import PROVIDER, VERSION
from schemaxis_server.providers.contract import JsonObject

from providers.engines import needs

pytestmark = needs(PROVIDER)

MakeJob = Callable[..., Job]
_TRAPS = Path(__file__).with_name("calc_traps.py")


@contextmanager
def trapped(folder: Path, trap: str) -> Iterator[subprocess.Popen[str]]:
    engine = PROVIDER.engine(None)
    process = subprocess.Popen(
        [installation.python_of(engine.path), str(_TRAPS), engine.path, str(folder), trap],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    try:
        yield process
    finally:
        process.kill()
        if process.stdout is not None:
            process.stdout.close()
        process.wait(10)


def said(folder: Path, trap: str) -> Any:
    with trapped(folder, trap) as process:
        answer, _ = process.communicate(timeout=60)
    return json.loads(answer)


def gone(pid: int) -> bool:
    found = procfs.look(pid)
    return found is None or not found.alive


def swept(folder: Path) -> bool:
    """Whether the next start would find nothing more of earlier ones; it does not touch what lives."""
    office.clear(folder)
    return not list(folder.iterdir())


def sockets() -> set[str]:
    return {one.name for one in Path("/tmp").glob(f"OSL_PIPE_{os.getuid()}_*")}


def in_home() -> set[str]:
    return {one.name for one in Path.home().iterdir()} | {
        one.name for one in (Path.home() / ".config").glob("libreoffice*")
    }


@pytest.mark.parametrize("trap", ["serves", "serves-openly"])
def test_an_office_serves_alone_bounded_and_leaves_nothing(trap: str, tmp_path: Path) -> None:
    sockets_before, home_before = sockets(), in_home()
    answer = said(tmp_path, trap)
    assert answer["values"] == [1.0, 2.0]
    assert answer["threads"] == 1
    assert answer["limited"]
    if answer["private"]:
        assert trap == "serves"
        assert answer["networks"] == ["lo"]
        assert answer["below"] == []
    assert eventually(lambda: gone(answer["pid"]))
    if not answer["private"]:
        # Without a /tmp of its own the next one sweeps.
        assert len(sockets() - sockets_before) == 2
        office.clear(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert sockets() == sockets_before
    assert in_home() == home_before


@pytest.mark.parametrize(
    "trap", ["serves-fresh", pytest.param("serves-fresh-openly", marks=pytest.mark.campaign)]
)
def test_a_fresh_profile_asks_for_a_second_start_and_gets_it(trap: str, tmp_path: Path) -> None:
    assert said(tmp_path, trap)["values"] == [1.0, 2.0]
    assert eventually(lambda: swept(tmp_path))


def test_two_offices_at_once_do_not_lock_each_other_s_profile(tmp_path: Path) -> None:
    assert said(tmp_path, "both") == [[1.0, 2.0]] * 2


@pytest.mark.parametrize("trap", ["stays", pytest.param("stays-openly", marks=pytest.mark.campaign)])
def test_a_killed_starter_leaves_no_office(trap: str, tmp_path: Path) -> None:
    before = sockets()
    with trapped(tmp_path, trap) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert not gone(pid)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert eventually(lambda: gone(pid))
    if trap == "stays-openly":
        assert len(sockets() - before) == 2
        assert eventually(lambda: swept(tmp_path))
    assert sockets() == before
    assert list(tmp_path.iterdir()) == []


def test_what_it_exits_with_0_for_is_an_error_here(tmp_path: Path) -> None:
    answer = said(tmp_path, "inputs")
    assert set(answer) == {"junk", "missing", "unknown"}
    assert "nothing" not in answer.values(), answer


def test_what_it_mends_or_answers_with_0_never_reaches_it(tmp_path: Path) -> None:
    """The planner refuses each of these; Calc is asked all the same, to see why."""
    answer = said(tmp_path, "formulas")
    assert answer["parenthesis"] == {"error": 0, "value": 1.0, "formula": "=SUM(A2)"}, (
        "it closes it in silence"
    )
    for name in ("reference", "unknown", "service"):
        assert answer[name]["error"] != 0, answer
    for formula in ("=SUM(A2", "='file:///secret.csv'#$secret.A1", '=WEBSERVICE("file:///secret.csv")'):
        options = {"columns": ["x"], "rows": [[1], [formula]]}
        nodes = [{"id": "t", "filter": "cells", "options": options}]
        with pytest.raises(Fault) as refused:
            PROVIDER.plan({"version": VERSION, "nodes": nodes, "output": "t"})
        assert refused.value.record.details["problems"][0]["pointer"] == "/nodes/0/options/rows/1/0"


# In the pool


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[HostPool]:
    pool = HostPool(tmp_path / "run", f"test-{tmp_path.name}")
    before, home = sockets(), in_home()
    yield pool
    await pool.close()
    assert eventually(lambda: not office_pids(tmp_path))
    assert sockets() == before
    assert in_home() == home
    assert not list((tmp_path / "run").glob("calc-office-*"))


@pytest.fixture
def job(tmp_path: Path) -> MakeJob:
    count = 0
    program = PROVIDER.producer(PROVIDER.engine(None))

    def make(document: JsonObject, **limits: Any) -> Job:
        nonlocal count
        count += 1
        request = {"document": PROVIDER.plan(document).document, "bindings": {}}
        return Job(tmp_path / f"job-{count}", program, request, **limits)

    return make


def office_pids(tmp_path: Path) -> list[int]:
    """The offices that were started for this test."""
    marker = f"SCHEMAXIS_WORKSPACE=test-{tmp_path.name}".encode()
    found = []
    for process in procfs.processes():
        try:
            name = Path(f"/proc/{process.pid}/comm").read_text()
            environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        except OSError:
            continue
        if process.alive and name.startswith("soffice") and marker in environment:
            found.append(process.pid)
    return found


def small(value: float) -> JsonObject:
    rows = [[value], ["=A2*2"]]
    options = {"columns": ["x"], "rows": rows, "names": [{"name": "twice", "cell": "A3"}]}
    return {"version": VERSION, "nodes": [{"id": "t", "filter": "cells", "options": options}], "output": "t"}


def twice(job: Job) -> float:
    return float(job.json()["outputs"]["t"]["values"]["value"]["twice"])


def slow() -> JsonObject:
    """Each row looks through all rows."""
    rows = [[row] for row in range(2000)]
    formula = "=SUMPRODUCT([x],[x])+COUNTIF([x],[@x])"
    nodes: list[JsonObject] = [
        {"id": "t", "filter": "cells", "options": {"columns": ["x"], "rows": rows}},
    ]
    for place in range(40):
        options = {"column": f"c{place}", "formula": formula}
        source = f"f{place - 1}" if place else "t"
        nodes.append({"id": f"f{place}", "filter": "formulaColumn", "options": options, "inputs": [source]})
    return {"version": VERSION, "nodes": nodes, "output": "f39"}


async def test_no_way_of_ending_leaves_an_office_at_work_and_the_next_job_works(
    pool: HostPool, job: MakeJob, tmp_path: Path
) -> None:
    """One after another, since each costs the start of an office."""

    async def works(value: float) -> int:
        after = job(small(value))
        assert (await after.on(pool)).exit_code == 0, after.listener.text("stderr")
        assert twice(after) == 2 * value
        (pid,) = office_pids(tmp_path)
        return pid

    first = await works(1.5)
    work = job(slow(), deadline_seconds=60)
    running = work.begin(pool)
    await until(lambda: len(work.listener.states) > 2, 30)
    work.cancel.set()
    assert (await running).end is End.CANCELLED
    assert gone(first)

    second = await works(2.5)
    outcome = await job(slow(), deadline_seconds=1.5).on(pool)
    assert outcome.end is End.DEADLINE
    assert outcome.tree_empty
    assert gone(second)

    async def replaced(starts: int) -> None:
        await until(
            lambda: (pool.stats()["calc"].starts, pool.stats()["calc"].state) == (starts, "ready"), 30
        )

    third = await works(3.5)
    starts = pool.stats()["calc"].starts
    os.kill(third, signal.SIGKILL)
    await replaced(starts + 1)

    fourth = await works(4.5)
    os.kill(pool.stats()["calc"].pid, signal.SIGKILL)
    await replaced(starts + 2)
    assert gone(fourth)
    await works(5.5)

    jobs = [job(small(float(place))) for place in range(6)]
    outcomes = await asyncio.gather(*(one.on(pool) for one in jobs))
    assert [one.exit_code for one in outcomes] == [0] * 6
    assert [twice(one) for one in jobs] == [2.0 * place for place in range(6)]
    assert len(office_pids(tmp_path)) == 1


async def test_an_office_that_is_not_there_is_a_missing_runtime(tmp_path: Path) -> None:
    engine = PROVIDER.engine(str(tmp_path))
    assert not engine.available
    assert "soffice.bin" in engine.problem
    assert engine.install == "apt-get install libreoffice-calc python3-uno"
    found = PROVIDER.engine("/usr/lib/libreoffice")
    assert found == PROVIDER.engine(None)
    assert found.version[:1].isdigit()
