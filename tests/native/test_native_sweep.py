"""The sweep ends what an earlier life left, and nobody else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from schemaxis_server.native import procfs, records
from schemaxis_server.native.sweep import end_run, sweep

from native.watching import eventually, fresh_token, living

Start = subprocess.Popen[bytes]


@pytest.fixture
def started() -> Iterator[list[Start]]:
    processes: list[Start] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def sleeper(started: list[Start], token: str, **environment: str) -> procfs.Process:
    child = subprocess.Popen(["/bin/sleep", token], env=environment)
    started.append(child)
    # Before its exec the child still shows our own environment and arguments.
    assert eventually(lambda: bool(living(token)))
    process = procfs.look(child.pid)
    assert process is not None
    return process


def test_an_empty_past_leaves_nothing_to_do(tmp_path: Path) -> None:
    swept = sweep(tmp_path, "nobody-has-this-marker")
    assert (swept.ended, swept.surviving) == ((), ())


def test_the_marker_condemns_and_another_workspace_is_spared(tmp_path: Path, started: list[Start]) -> None:
    ours = sleeper(started, fresh_token(), SCHEMAXIS_WORKSPACE="ws-1")
    theirs = sleeper(started, fresh_token(), SCHEMAXIS_WORKSPACE="ws-10")
    swept = sweep(tmp_path, "ws-1")
    assert [(ended.pid, ended.evidence) for ended in swept.ended] == [(ours.pid, "marker")]
    assert started[0].wait(5) == -signal.SIGKILL
    now = procfs.look(theirs.pid)
    assert now is not None
    assert now.alive


def test_a_record_condemns_with_all_descendants(tmp_path: Path, started: list[Start]) -> None:
    token = fresh_token()
    parent = subprocess.Popen(
        ["sh", "-c", f"env -i /bin/sleep {token} & env -i /bin/sleep {token}; :"], env={}
    )
    started.append(parent)
    assert eventually(lambda: len(living(token)) >= 2)
    process = procfs.look(parent.pid)
    assert process is not None
    records.write(tmp_path, "engine", "ws-1", process)
    swept = sweep(tmp_path, "ws-1")
    assert living(token) == []
    assert sorted(ended.evidence for ended in swept.ended)[-1] == "record"
    assert {ended.evidence for ended in swept.ended} == {"descent", "record"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [{"started": 1}, {"boot": "another"}, {"marker": "the original's"}],
    ids=["reused pid", "another boot", "a copied workspace"],
)
def test_a_record_of_another_process_condemns_nobody(
    tmp_path: Path, started: list[Start], change: dict[str, object]
) -> None:
    process = sleeper(started, fresh_token())
    path = records.write(tmp_path, "engine", "ws-1", process)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert sweep(tmp_path, "ws-1").ended == ()
    assert started[0].poll() is None
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"{", b"[]", b'{"pid": "x"}'])
def test_a_damaged_record_is_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "process-1.json").write_bytes(content)
    assert sweep(tmp_path, "ws-1").ended == ()


def test_the_caller_and_its_ancestors_are_spared(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from schemaxis_server.native.sweep import sweep;"
        "print(sweep(pathlib.Path(sys.argv[1]), 'own'))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SCHEMAXIS_WORKSPACE": "own"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "Swept(ended=(), surviving=())\n"


def test_a_signal_does_not_reach_a_later_holder_of_the_pid(started: list[Start]) -> None:
    process = sleeper(started, fresh_token())
    stranger = procfs.Process(process.pid, process.started - 1, process.parent, process.state)
    assert procfs.send_signal(stranger, signal.SIGKILL) is False
    assert started[0].poll() is None
    assert procfs.send_signal(process, signal.SIGKILL) is True
    assert started[0].wait(5) == -signal.SIGKILL


def test_what_holds_a_pipe_of_a_lost_run_is_ended(started: list[Start]) -> None:
    read, write = os.pipe()
    holder = subprocess.Popen(["/bin/sleep", fresh_token()], stdout=write, env={})
    started.append(holder)
    bystander = sleeper(started, fresh_token())
    os.close(write)
    name = os.readlink(f"/proc/self/fd/{read}")
    swept = end_run("unused", frozenset([name]))
    os.close(read)
    assert [ended.pid for ended in swept.ended] == [holder.pid]
    assert procfs.look(bystander.pid) is not None


def test_a_name_with_parentheses_is_read_right(tmp_path: Path, started: list[Start]) -> None:
    odd = tmp_path / "a) R 1 (b"
    odd.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(odd), fresh_token()], env={})
    started.append(child)
    assert eventually(lambda: b"a) R 1" in Path(f"/proc/{child.pid}/comm").read_bytes())
    process = procfs.look(child.pid)
    assert process is not None
    assert (process.parent, process.alive) == (os.getpid(), True)


def test_a_subreaper_ends_what_escaped_from_its_children() -> None:
    token = fresh_token()
    code = (
        "import subprocess, sys; from schemaxis_server.native import linux, reaping; linux.become_subreaper();"
        "subprocess.run(['/bin/sh', '-c', 'setsid env -i /bin/sleep ' + sys.argv[1] + ' &']);"
        "sys.stdout.write('up'); sys.stdout.flush(); sys.stdin.read(1); reaping.end_everything_below()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, token]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe) as reaper:
        assert reaper.stdout is not None
        assert reaper.stdout.read(2) == b"up"
        # The reaper has the token among its own arguments.
        assert eventually(lambda: len(living(token)) == 2)
        reaper.communicate(b"x")
        assert (reaper.returncode, living(token)) == (0, [])
