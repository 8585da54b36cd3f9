"""One server to a workspace, and nothing at the socket's place is ever destroyed."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from schemaxis.v1 import workspace_pb2

from service.program import Program


def serves(program: Program) -> bool:
    program.call(program.workspaces.GetWorkspace, workspace_pb2.GetWorkspaceRequest())
    return True


def start_many(workspace: Path, count: int) -> list[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "schemaxis_server", "--workspace", str(workspace)]
    return [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for _ in range(count)
    ]


def first_lines(programs: list[subprocess.Popen[bytes]]) -> list[dict[str, Any]]:
    """What each says of how it started; all are started before any is asked."""
    lines = []
    for program in programs:
        assert program.stdout
        lines.append(json.loads(program.stdout.readline()))
    return lines


def end_all(programs: list[subprocess.Popen[bytes]]) -> list[int]:
    for program in programs:
        if program.poll() is None:
            program.terminate()
    ended = []
    for program in programs:
        assert program.stdout
        program.stdout.close()
        ended.append(program.wait(60))
    return ended


def test_a_second_server_is_refused_and_leaves_the_first_alone(program: Program) -> None:
    path = Path(program.ready["socket"])
    before = path.stat().st_ino
    second = Program(program.workspace)
    told = second.start()
    assert told["event"] == "refused"
    assert told["fault"]["code"] == "WORKSPACE_LOCKED"
    assert told["fault"]["details"]["pid"] == str(program.process.pid)
    assert second._reap() == 1
    assert path.stat().st_ino == before
    assert serves(program)


def test_five_at_once_over_a_stale_socket(program: Program) -> None:
    program.kill()
    path = Path(program.ready["socket"])
    assert stat.S_ISSOCK(path.lstat().st_mode), "a kill leaves the socket behind"
    started = start_many(program.workspace, 5)
    lines = first_lines(started)
    served = [line for line in lines if line["event"] == "ready"]
    assert len(served) == 1
    pid = str(served[0]["pid"])
    # One that looks before the winner has written its pid cannot name it.
    told = {line["fault"]["code"] for line in lines if line["event"] == "refused"}
    assert told == {"WORKSPACE_LOCKED"}
    program.ready = served[0]
    program.connect()
    assert serves(program)
    assert (program.workspace / "lock").read_text().strip() == pid
    program.channel.close()
    assert sorted(end_all(started)) == [0, 1, 1, 1, 1]
    assert not path.exists()


def as_file(path: Path) -> None:
    path.write_text("precious")


def as_directory(path: Path) -> None:
    path.mkdir()
    (path / "precious").write_text("precious")


def as_link_to_a_file(path: Path) -> None:
    (path.parent / "precious").write_text("precious")
    path.symlink_to(path.parent / "precious")


def as_link_to_a_socket(path: Path) -> None:
    other = path.parent / "other"
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(other))
    path.symlink_to(other)


def as_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


OBSTACLES: list[Callable[[Path], None]] = [
    as_file,
    as_directory,
    as_link_to_a_file,
    as_link_to_a_socket,
    as_dangling_link,
    as_pipe,
]


def picture(directory: Path) -> list[tuple[str, int, str]]:
    """Everything below a directory that is not the service's own, with its kind and contents."""
    return sorted(
        (
            str(path.relative_to(directory)),
            path.lstat().st_mode,
            os.readlink(path)
            if path.is_symlink()
            else path.read_text()
            if stat.S_ISREG(path.lstat().st_mode)
            else "",
        )
        for path in directory.rglob("*")
    )


@pytest.mark.parametrize("place", OBSTACLES)
def test_something_foreign_at_the_sockets_place(place: Callable[[Path], None], workspace: Path) -> None:
    workspace.mkdir(mode=0o700)
    place(workspace / "schemaxis.sock")
    before = picture(workspace)
    refused = Program(workspace)
    told = refused.start()
    assert told["event"] == "refused"
    assert told["fault"]["code"] == "INVALID_REQUEST"
    assert "schemaxis.sock" in told["fault"]["message"]
    assert refused._reap() == 1
    left = [entry for entry in picture(workspace) if entry[0] != "lock"]
    assert left == before


def test_an_awkward_path(workspace: Path) -> None:
    """Percent signs, spaces and accents: what a URI would decode or split is a plain path here."""
    program = Program(workspace.parent / "a%20b c#é?x")
    program.start()
    try:
        assert program.ready["socket"].endswith("a%20b c#é?x/schemaxis.sock")
        found = subprocess.run(
            [sys.executable, "-m", "schemaxis", "agent", "--workspace", str(program.workspace)],
            input='{"id":1,"method":"workspace"}\n',
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert json.loads(found.stdout)["result"]["workspaceId"] == program.ready["workspaceId"]
        assert Path(program.ready["socket"]).is_socket()
    finally:
        program.channel.close()
        program.process.terminate()
        program._reap()


@pytest.mark.parametrize("name", ["x" * 120, "é" * 60])
def test_a_path_too_long_for_a_socket(name: str, workspace: Path) -> None:
    """The socket then lies in the runtime directory, private, and the workspace says where."""
    with tempfile.TemporaryDirectory(prefix="sx-run-") as runtime:
        program = Program(workspace.parent / name, XDG_RUNTIME_DIR=runtime)
        program.start()
        try:
            path = Path(program.ready["socket"])
            assert path.is_relative_to(runtime)
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            record = json.loads((program.workspace / "schemaxis.sock.json").read_text())
            assert record == {"socket": str(path)}
            assert serves(program)
        finally:
            program.stop()
        assert not path.exists()


def test_a_socket_path_that_was_asked_for_and_is_too_long(workspace: Path) -> None:
    program = Program(workspace, "--socket", str(workspace.parent / ("é" * 60)))
    told = program.start()
    assert told["fault"]["code"] == "INVALID_REQUEST"
    assert "107" in told["fault"]["message"]
    assert program._reap() == 1


def test_the_workspace_and_its_socket_are_private(program: Program) -> None:
    assert stat.S_IMODE(program.workspace.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(program.ready["socket"]).stat().st_mode) == 0o600


def test_a_workspace_that_is_a_file(workspace: Path) -> None:
    workspace.write_text("precious")
    refused = Program(workspace)
    told = refused.start()
    assert told["event"] == "refused"
    assert told["fault"]["code"] == "INVALID_REQUEST"
    assert refused._reap() == 1
    assert workspace.read_text() == "precious"


def test_a_lock_that_is_a_link_is_not_followed(workspace: Path) -> None:
    workspace.mkdir(mode=0o700)
    (workspace.parent / "precious").write_text("precious")
    (workspace / "lock").symlink_to(workspace.parent / "precious")
    refused = Program(workspace)
    assert refused.start()["fault"]["code"] == "INVALID_REQUEST"
    assert refused._reap() == 1
    assert (workspace.parent / "precious").read_text() == "precious"
