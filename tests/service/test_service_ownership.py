"""One workspace, one service: whoever comes second is told why, and nothing is destroyed."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from schemaxis._socket import is_serving
from schemaxis.v1 import job_pb2, workspace_pb2

from service.program import Program, eventually, stub

ALIVE = workspace_pb2.GetWorkspaceRequest()


def test_a_second_server_is_refused_and_the_first_serves_on(program: Program) -> None:
    second = Program(program.workspace)
    refused = second.start()
    assert refused["event"] == "refused"
    assert refused["fault"]["code"] == "WORKSPACE_LOCKED"
    assert refused["fault"]["details"]["pid"] == str(program.process.pid)
    assert second._reap() == 1
    assert program.call(program.workspaces.GetWorkspace, ALIVE).workspace.health.serving


def test_of_five_at_once_over_a_stale_socket_one_serves(program: Program) -> None:
    program.kill()
    assert stat.S_ISSOCK((program.workspace / "schemaxis.sock").lstat().st_mode)
    programs = [Program(program.workspace) for _ in range(5)]
    threads = [threading.Thread(target=one.start) for one in programs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    serving = [one for one in programs if one.ready["event"] == "ready"]
    refused = [one for one in programs if one.ready["event"] == "refused"]
    assert (len(serving), len(refused)) == (1, 4)
    assert {one.ready["fault"]["code"] for one in refused} == {"WORKSPACE_LOCKED"}
    for one in refused:
        assert one._reap() == 1
    assert serving[0].call(serving[0].workspaces.GetWorkspace, ALIVE).workspace.health.serving
    assert serving[0].stop() == 0


def a_file(path: Path) -> None:
    path.write_text("precious")


def a_directory(path: Path) -> None:
    path.mkdir()
    (path / "precious").touch()


def a_link(path: Path) -> None:
    path.parent.with_name("target").write_text("precious")
    path.symlink_to("../target")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("put", [a_file, a_directory, a_link, a_dangling_link])
def test_something_else_at_the_socket_s_place_stays(put: Callable[[Path], None], workspace: Path) -> None:
    workspace.mkdir()
    path = workspace / "schemaxis.sock"
    put(path)
    before = path.lstat()
    program = Program(workspace)
    refused = program.start()
    assert refused["event"] == "refused"
    assert "schemaxis.sock" in refused["fault"]["message"]
    assert program._reap() == 1
    after = path.lstat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_socket_and_its_directory_are_private(program: Program) -> None:
    path = Path(program.ready["socket"])
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    assert stat.S_IMODE(program.workspace.stat().st_mode) == 0o700
    assert program.stop() == 0
    assert not path.exists()


def test_a_long_path_gets_a_short_socket_that_the_workspace_records(workspace: Path) -> None:
    long = workspace.joinpath(*["deep-er-and-deeper"] * 8) / "w"
    program = Program(long, XDG_RUNTIME_DIR=str(workspace.parent))
    assert program.start()["event"] == "ready"
    path = Path(program.ready["socket"])
    assert len(os.fsencode(path)) <= 107
    assert str(path) in (long / "schemaxis.sock.json").read_text()
    assert program.run(stub()).verified
    assert program.stop() == 0


@pytest.mark.parametrize("name", ["with space", "per%20cent", "ha#sh", "köln", "-dash", "q?mark"])
def test_odd_names(name: str, workspace: Path) -> None:
    program = Program(workspace / name)
    assert program.start()["event"] == "ready"
    path = Path(program.ready["socket"])
    assert stat.S_ISSOCK(path.lstat().st_mode)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    assert program.stop() == 0


def test_proxies_in_the_environment_do_not_matter(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    program = Program(workspace)
    program.start()
    assert program.call(program.workspaces.GetWorkspace, ALIVE).workspace.health.serving
    assert program.stop() == 0


def test_a_stop_drains_watchers_and_the_working_job(program: Program) -> None:
    program.hold("dispatching")
    job = program.started(stub())
    waiting = program.started(stub())
    program.await_held("dispatching")
    stream = program.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=job.job_id))
    next(stream)
    program.process.terminate()
    last = list(stream)[-1]
    assert last.end.reason == job_pb2.END_REASON_DRAINING
    program.release("dispatching")
    assert program.stop() == 0
    program.start()
    assert program.job(job.job_id).state == job_pb2.JOB_STATE_SUCCEEDED
    assert program.job(waiting.job_id).state == job_pb2.JOB_STATE_CANCELLED


def test_a_directory_that_is_in_use_for_something_else_stays_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir(mode=0o755)
    (place / "thesis.txt").write_text("precious")
    program = Program(place)
    refused = program.start()
    assert program._reap() == 1
    assert refused["fault"]["code"] == "INVALID_REQUEST"
    assert "thesis.txt" in refused["fault"]["message"]
    assert stat.S_IMODE(place.stat().st_mode) == 0o755
    assert [path.name for path in place.iterdir()] == ["thesis.txt"]


def test_a_socket_at_which_another_service_listens_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "one.sock"
    first = Program(tmp_path / "a" / "w", "--socket", str(path))
    assert first.start()["event"] == "ready"
    second = Program(tmp_path / "b" / "w", "--socket", str(path))
    refused = second.start()
    assert (refused["event"], refused["fault"]["code"]) == ("refused", "INVALID_REQUEST")
    assert second._reap() == 1
    assert first.call(first.workspaces.GetWorkspace, ALIVE).workspace.health.serving
    assert first.stop() == 0
    assert not path.exists()


def test_a_copy_of_a_running_workspace_neither_ends_its_work_nor_talks_to_it(tmp_path: Path) -> None:
    long = tmp_path / ("l" * 100)
    first = Program(long / "w")
    first.start()
    place = first.workspace.parent
    running = first.started(stub("hang", place=str(place)))
    eventually((place / "hanging").exists, "the engine")
    shutil.copytree(
        first.workspace, long / "copy", ignore=lambda _, names: [n for n in names if n.endswith(".sock")]
    )
    assert not is_serving(long / "copy")
    second = Program(long / "copy")
    assert second.start()["event"] == "ready"
    assert second.ready["socket"] != first.ready["socket"]
    copied = second.call(second.jobs.GetJob, job_pb2.GetJobRequest(job_id=running.job_id)).job
    assert copied.state == job_pb2.JOB_STATE_INTERRUPTED
    original = first.call(first.jobs.GetJob, job_pb2.GetJobRequest(job_id=running.job_id)).job
    assert original.state == job_pb2.JOB_STATE_RUNNING
    assert second.stop() == 0
    first.call(first.jobs.CancelJob, job_pb2.CancelJobRequest(job_id=running.job_id))
    assert first.ended(running.job_id).state == job_pb2.JOB_STATE_CANCELLED
    assert first.stop() == 0


def test_a_starter_without_standard_input_is_taken_for_one_that_has_ended(tmp_path: Path) -> None:
    program = Program(tmp_path / "w", "--until-stdin-closes")
    assert program.start()["event"] == "ready"
    assert program._reap() == 0
