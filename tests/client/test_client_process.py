"""Finding, starting, sharing and stopping the server program."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import select
import signal
import socket as sockets
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import schemaxis
import schemaxis.aio
from schemaxis import process
from schemaxis.errors import ServerNotRunning, ServerStartFailed, UnsafeSocket

from client.model_service import ModelService

PROGRAM = Path(__file__).with_name("server_program.py")


def command(manner: str) -> list[str]:
    return [sys.executable, str(PROGRAM), manner]


@pytest.fixture
def no_leak() -> Iterator[None]:
    """Nothing of a server is left: no descriptor, no thread, no child."""

    def held() -> tuple[int, int, str]:
        gc.collect()
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return len(os.listdir("/proc/self/fd")), threading.active_count(), children

    before = held()
    yield
    assert held() == before


def ended(pid: int, seconds: float = 20) -> bool:
    """Whether the process ends within the time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


@pytest.mark.usefixtures("no_leak")
def test_a_server_is_started_and_stopped(workspace: Path) -> None:
    server = process.ServerProcess(workspace, command=command("serve"))
    with pytest.raises(ServerNotRunning):
        _ = server.ready
    with server:
        assert server.ready.socket == workspace / "schemaxis.sock"
        assert server.ready.workspace_id == "ws_1"
        assert server.running
        assert process.is_serving(workspace)
        assert os.getpgid(server.ready.pid) != os.getpgid(0), "Ctrl-C at the terminal is not for it"
    assert not server.running
    assert not process.is_serving(workspace)
    assert server.stop() == 0
    assert "serving" in server.log_tail()


@pytest.mark.usefixtures("no_leak")
@pytest.mark.parametrize(
    ("manner", "code", "said"),
    [
        ("refuse", "WORKSPACE_CORRUPT", "do something else"),
        ("die", "SERVER_START_FAILED", "the disk fell off"),
        ("silent", "SERVER_START_FAILED", "not ready within 0.3 seconds"),
        ("chatty", "SERVER_START_FAILED", "something else"),
        ("nonsense", "SERVER_START_FAILED", "something else"),
    ],
)
def test_a_start_that_fails(workspace: Path, manner: str, code: str, said: str) -> None:
    server = process.ServerProcess(workspace, command=command(manner))
    with pytest.raises(ServerStartFailed, match=said) as failed:
        server.start(0.3 if manner == "silent" else 30)
    assert failed.value.code == code
    assert not server.running
    if manner == "refuse":
        assert failed.value.details == {"holder": 1}
        assert failed.value.retryable
    else:
        assert str(workspace) in failed.value.message, "the command to try by hand"


@pytest.mark.usefixtures("no_leak")
def test_a_program_that_cannot_be_run(workspace: Path) -> None:
    with pytest.raises(ServerStartFailed, match="cannot be run"):
        process.ServerProcess(workspace, command=["/nowhere/server"]).start()


def test_a_missing_server_says_what_to_install(workspace: Path, tmp_path: Path) -> None:
    # Isolated mode ignores PYTHONPATH; without the site packages nothing of ours is found.
    bare = [sys.executable, "-I", "-S", "-m", "schemaxis_server"]
    with pytest.raises(ServerStartFailed, match=r"pip install 'schemaxis\[server\]'"):
        process.ServerProcess(workspace, command=bare).start()


@pytest.mark.usefixtures("no_leak")
def test_a_server_that_will_not_end_is_killed(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "TERM_SECONDS", 0.1)
    server = process.ServerProcess(workspace, command=command("stubborn"))
    server.start()
    assert server.stop(0.1) == -signal.SIGKILL


@pytest.mark.usefixtures("no_leak")
def test_a_noisy_server_is_drained_in_bounded_memory(workspace: Path) -> None:
    with process.ServerProcess(workspace, command=command("noisy")) as server:
        pass
    assert "the end" in server.log_tail()
    assert len(server.log_tail()) <= 16_384


@pytest.mark.usefixtures("no_leak")
def test_a_log_goes_where_it_is_told(workspace: Path, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("before\n")
    with process.ServerProcess(workspace, log=log, command=command("serve")):
        pass
    assert log.read_text().startswith("before\n{")
    with (
        (tmp_path / "other.log").open("wb") as other,
        process.ServerProcess(workspace, log=other.fileno(), command=command("serve")),
    ):
        pass
    assert "serving" in (tmp_path / "other.log").read_text()


@pytest.mark.usefixtures("no_leak")
def test_start_owns_its_server_and_a_second_one_shares_it(workspace: Path) -> None:
    with schemaxis.start(workspace, command=command("serve")) as first:
        with schemaxis.start(workspace, command=command("serve")) as second:
            assert second.socket == first.socket
            second.tasks.create("x", ["model"])
        assert first.workspace().workspace_id == "ws_1"
        assert len(list(first.tasks.list())) == 1
    with pytest.raises(ServerNotRunning):
        schemaxis.connect(workspace)


async def test_start_with_asyncio(workspace: Path) -> None:
    async with schemaxis.aio.start(workspace, command=command("serve")) as client:
        assert (await client.workspace()).workspace_id == "ws_1"
    with pytest.raises(ServerNotRunning):
        await schemaxis.aio.connect(workspace)


async def test_a_cancelled_start_leaves_no_server(workspace: Path) -> None:
    starting = asyncio.ensure_future(schemaxis.aio.start(workspace, command=command("serve")).__aenter__())
    os.mkfifo(workspace / "starts")
    pid = int(await asyncio.to_thread((workspace / "starts").read_text))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert ended(pid)
    assert not process.is_serving(workspace)


@pytest.mark.usefixtures("no_leak")
def test_five_starts_at_once_share_one_server(workspace: Path) -> None:
    served: list[process.Served] = []
    threads = [
        threading.Thread(
            target=lambda: served.append(process.serve_or_attach(workspace, command=command("serve")))
        )
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(served) == 5
    assert len({found.socket for found in served}) == 1
    assert len((workspace / "starts").read_text().split()) == 1
    assert sum(found.owned is not None for found in served) == 1
    for found in served:
        found.stop()


@pytest.mark.usefixtures("no_leak")
def test_a_workspace_that_stays_locked(workspace: Path) -> None:
    with pytest.raises(ServerStartFailed) as locked:
        process.serve_or_attach(workspace, command=command("locked"), deadline_seconds=1.0)
    assert locked.value.code == "WORKSPACE_LOCKED"


def test_a_killed_owner_takes_its_server_with_it(workspace: Path) -> None:
    program = (
        "import sys, schemaxis\n"
        "client = schemaxis.start(sys.argv[1], command=sys.argv[2:])\n"
        "print('up', flush=True)\n"
        "sys.stdin.read()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", program, str(workspace), *command("serve")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"up\n"
        server = int((workspace / "starts").read_text())
        owner.kill()
    assert ended(server)


NAMES = [
    "a b",
    "a%20b",
    "a#b",
    "a?b=c&d",
    "a:b;c",
    "[x]",
    "a\\b",
    "-rf",
    "$HOME*",
    unicodedata.normalize("NFC", "é"),
    unicodedata.normalize("NFD", "é"),
    os.fsdecode(b"a\xffb"),
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_workspaces_with_odd_names(workspace: Path, name: str) -> None:
    odd = workspace / name
    odd.mkdir()
    service = ModelService(odd / "schemaxis.sock")
    service.start()
    try:
        with schemaxis.connect(odd) as client:
            assert client.workspace().workspace_id == "ws_1"
    finally:
        service.stop()


def test_a_workspace_named_relatively(
    workspace: Path, service: ModelService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.parent)
    with schemaxis.connect(workspace.name) as client:
        monkeypatch.chdir("/")
        assert client.workspace().workspace_id == "ws_1"


def test_a_workspace_with_a_long_path(workspace: Path, service: ModelService) -> None:
    long = workspace / ("x" * 120)
    long.mkdir()
    (long / "schemaxis.sock.json").write_text(json.dumps({"socket": str(service.socket)}))
    assert process.locate_socket(long) == service.socket
    with schemaxis.connect(long) as client:
        assert client.workspace().workspace_id == "ws_1"
    for damaged in ("", "{}", "[]", '{"socket": 1}', '{"socket": "relative"}'):
        (long / "schemaxis.sock.json").write_text(damaged)
        with pytest.raises((ServerNotRunning, UnsafeSocket)):
            schemaxis.connect(long)


def test_a_server_with_a_socket_elsewhere(workspace: Path, service: ModelService) -> None:
    other = workspace / "other"
    other.mkdir()
    with sockets.socket(sockets.AF_UNIX) as listener:
        listener.bind(str(other / "schemaxis.sock"))
    (other / "schemaxis.sock.json").write_text(json.dumps({"socket": str(service.socket)}))
    with schemaxis.connect(other) as client:
        assert client.socket == service.socket


@pytest.mark.usefixtures("no_leak")
def test_a_start_with_very_many_descriptors_open(workspace: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    held = [os.dup(0) for _ in range(1100)]
    try:
        with process.ServerProcess(workspace, command=command("serve")) as server:
            assert server.running
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_proxies_do_not_matter(
    workspace: Path, service: ModelService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "grpc_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with schemaxis.connect(workspace) as client:
        assert client.workspace().workspace_id == "ws_1"


def regular_file(path: Path) -> None:
    path.write_text("precious")


def directory(path: Path) -> None:
    path.mkdir()


def link_to_socket(path: Path) -> None:
    with sockets.socket(sockets.AF_UNIX) as listener:
        listener.bind(str(path.with_name("other.sock")))
    path.symlink_to(path.with_name("other.sock"))


@pytest.mark.parametrize("foreign", [regular_file, directory, link_to_socket])
def test_what_is_no_socket_is_not_talked_to(workspace: Path, foreign: Callable[[Path], None]) -> None:
    foreign(workspace / "schemaxis.sock")
    with pytest.raises(UnsafeSocket, match="not a socket"):
        schemaxis.connect(workspace)
    with pytest.raises(UnsafeSocket):
        schemaxis.start(workspace, command=command("serve"))
    assert os.path.lexists(workspace / "schemaxis.sock")


def test_a_socket_of_somebody_else_is_not_talked_to(
    workspace: Path, service: ModelService, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    with pytest.raises(UnsafeSocket, match="belongs to user"):
        schemaxis.connect(workspace)


def test_a_stale_socket_is_no_server(workspace: Path) -> None:
    with sockets.socket(sockets.AF_UNIX) as listener:
        listener.bind(str(workspace / "schemaxis.sock"))
    assert not process.is_serving(workspace)
    with pytest.raises(ServerNotRunning, match="left its socket"):
        schemaxis.connect(workspace)
    with schemaxis.start(workspace, command=command("serve")) as client:
        assert client.workspace().workspace_id == "ws_1"


def test_a_workspace_that_is_not_there(workspace: Path) -> None:
    assert not process.is_serving(workspace / "missing")
    with pytest.raises(ServerNotRunning, match="start a server"):
        schemaxis.connect(workspace / "missing")
