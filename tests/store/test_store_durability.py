"""What was answered survives a kill and a power cut, and a full disk changes nothing."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from schemaxis_server.store.database import Database
from schemaxis_server.store.deep_check import deep_check
from schemaxis_server.store.objects import ObjectStore, Receipt
from schemaxis_server.store.records import TASKS, count

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("answers", [1, 150, 700])
def test_a_kill_loses_nothing_that_was_answered(
    directory: Path, reopen: Callable[[], Database], answers: int
) -> None:
    program = subprocess.Popen(
        [sys.executable, str(PROGRAMS / "crash_writer.py"), str(directory)], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    lines = [program.stdout.readline() for _ in range(answers)]
    program.kill()
    lines += [line for line in program.stdout.readlines() if line.endswith("\n")]
    program.stdout.close()
    assert program.wait() == -9

    database = reopen()
    acknowledged = 0
    for line in lines:
        kind, name, *rest = line.split()
        if kind == "record":
            acknowledged += 1
            assert TASKS.get(database.reader, name) == b"{}"
            rows = database.reader.execute(
                "SELECT data FROM events WHERE stream = 'shared' AND sequence = ?", (int(rest[0]),)
            ).fetchall()
            assert rows == [(f"{rest[0]}:{name}".encode(),)]
    assert acknowledged > 0
    assert count(database.reader, "tasks") == database.events.tail("shared") >= acknowledged
    assert list(deep_check(directory)) == []

    objects = [line.split()[1:] for line in lines if line.startswith("object ")]
    assert objects or answers < 200
    receipts = [Receipt(sha256, int(size), pieces) for sha256, size, pieces in objects]
    asyncio.run(verify_all(directory / "objects", receipts))


async def verify_all(directory: Path, receipts: list[Receipt]) -> None:
    objects = ObjectStore(directory)
    for receipt in receipts:
        await objects.verify(receipt)
    objects.close()


def test_a_full_disk_is_a_fault_and_passes(directory: Path) -> None:
    program = subprocess.run(
        [sys.executable, str(PROGRAMS / "full_disk.py"), str(directory)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (program.stdout, program.stderr) == ("recovered\n", "")
    assert list(deep_check(directory)) == []


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The system calls before each answer, in the order in which they ended."""
    directory = tmp_path_factory.mktemp("traced")
    log = directory / "trace"
    subprocess.run(
        [
            *("strace", "-f", "-y", "-s", "16", "-o", str(log)),
            *("-e", "trace=write,pwrite64,fsync,fdatasync,rename,renameat,renameat2"),
            *(sys.executable, str(PROGRAMS / "traced_writer.py"), str(directory / "workspace")),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    phases: dict[str, list[str]] = {}
    calls: list[str] = []
    for call in completed_calls(log.read_text()):
        answer = re.search(r'write\(1<[^"]*"<(\w+)>', call)
        if answer is None:
            calls.append(call.replace(str(directory / "workspace"), "W"))
        else:
            phases[answer[1]] = calls
            calls = []
    return phases


def completed_calls(log: str) -> list[str]:
    """One line per call, placed where it ended; an answer is placed where it began."""
    begun: dict[str, str] = {}
    calls: list[str] = []
    for line in log.splitlines():
        process, call = line.split(maxsplit=1)
        if call.endswith("<unfinished ...>"):
            call = call.removesuffix("<unfinished ...>").rstrip()
            if call.startswith("write(1<"):
                calls.append(call)
            else:
                begun[process] = call
        elif resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            if process in begun:
                calls.append(begun.pop(process) + resumed[1])
        else:
            calls.append(call)
    return calls


def places(calls: list[str], pattern: str) -> list[int]:
    found = [place for place, call in enumerate(calls) if re.match(pattern, call)]
    assert found, f"no call matches {pattern} in\n" + "\n".join(calls)
    return found


def test_a_new_database_is_durable_before_it_has_its_name(trace: dict[str, list[str]]) -> None:
    calls = trace["opened"]
    written = places(calls, r"pwrite64\(\d+<W/schemaxis.db.new>")[-1]
    synced = places(calls, r"f(data)?sync\(\d+<W/schemaxis.db.new>")[-1]
    named = places(calls, r'rename\("W/schemaxis.db.new", "W/schemaxis.db"')[0]
    directory = places(calls, r"fsync\(\d+<W>")
    assert written < synced < named < directory[-1]
    marker = places(calls, r'rename\("W/\.\w+\.tmp", "W/schemaxis.format"')[0]
    assert any(named < place < marker for place in directory)
    assert directory[-1] > marker


def test_a_commit_syncs_its_log_before_the_answer(trace: dict[str, list[str]]) -> None:
    calls = trace["written"]
    written = places(calls, r"pwrite64\(\d+<W/schemaxis.db-wal>")[-1]
    assert places(calls, r"f(data)?sync\(\d+<W/schemaxis.db-wal>")[-1] > written


def test_an_object_is_synced_file_name_and_list(trace: dict[str, list[str]]) -> None:
    calls = trace["added"]
    list_named = places(calls, r'rename\("W/objects/\.\w+\.tmp", "W/objects/../\w+\.b3"')[0]
    list_synced = places(calls, r"fsync\(\d+<W/objects/\.\w+\.tmp>")
    named = places(calls, r'rename\("W/objects/\.\w+\.tmp", "W/objects/../\w{64}"')[0]
    directory = places(calls, r"fsync\(\d+<W/objects/..>")
    assert len(list_synced) == 2
    assert max(list_synced) < list_named < directory[0] < named < directory[-1]
    assert places(calls, r"fsync\(\d+<W/objects>")[0] < list_named


def test_an_immutable_file_is_synced_file_and_name(trace: dict[str, list[str]]) -> None:
    calls = trace["planned"]
    synced = places(calls, r"fsync\(\d+<W/plans/\.\w+\.tmp>")[0]
    named = places(calls, r'rename\("W/plans/\.\w+\.tmp", "W/plans/p.json"')[0]
    assert synced < named < places(calls, r"fsync\(\d+<W/plans>")[0]
