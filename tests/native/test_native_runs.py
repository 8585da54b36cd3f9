"""What a worker is given, what it may do, and how its end is told; in both containments."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.native import supervision
from schemaxis_server.native.contract import End
from schemaxis_server.native.hostkit import Kit
from schemaxis_server.native.pool import HostPool

from native.conftest import MakeJob
from native.watching import program


async def test_a_run_delivers_result_lines_and_progress(pool: HostPool, job: MakeJob) -> None:
    work = job(program("echo"), {"length": 20})
    outcome = await work.on(pool)
    assert (outcome.end, outcome.exit_code, outcome.signal) == (End.EXITED, 0, None)
    assert outcome.tree_empty
    assert not outcome.truncated
    assert outcome.error == ""
    assert 0 < outcome.cpu_seconds < 5
    assert outcome.max_rss_bytes > 1_000_000
    assert work.json() == {"request": {"length": 20}, "directory": str(work.directory)}
    assert work.listener.text("stdout") == ["said on stdout"]
    assert work.listener.text("stderr") == ["said on stderr"]
    assert (work.directory / "stdout.log").read_text() == "said on stdout\n"
    assert (work.directory / "stderr.log").read_text() == "said on stderr\n"
    assert (work.directory / "publications" / "part.txt").read_text() == "bytes"
    assert work.listener.states[-1] == (1.0, "last")
    assert len(work.listener.pids) == 1
    assert not list(work.directory.glob("*.part"))


async def test_the_containment_is_the_one_that_was_asked_for(
    pool: HostPool, job: MakeJob, namespaces: bool
) -> None:
    outcome = await job(program("echo")).on(pool)
    level = (await pool.containment()).level
    assert outcome.containment == level
    if not namespaces:
        assert level == "subreaper"


async def test_refused_input_is_told_with_its_pointer(pool: HostPool, job: MakeJob) -> None:
    work = job(program("refuse"))
    outcome = await work.on(pool)
    assert (outcome.end, outcome.exit_code) == (End.EXITED, 1)
    assert work.json("failure.json") == {
        "code": "UNSUPPORTED_INPUT",
        "message": "The fillet is larger than its edge; use at most 2 mm",
        "pointer": "/nodes/1/options/radius",
    }
    assert not work.has("result.json")


@pytest.mark.parametrize(("pointer", "place"), [("/nodes/1", " at /nodes/1"), ("", "")])
async def test_a_refusal_is_one_line_of_the_log(
    pool: HostPool, job: MakeJob, pointer: str, place: str
) -> None:
    work = job(program("refuse_at_work"), {"pointer": pointer})
    outcome = await work.on(pool)
    assert outcome.exit_code == 1
    assert work.listener.text("stdout") == ["half done"]
    line = f"UNSUPPORTED_INPUT{place}: The kernel cannot build this (no room for it)"
    assert work.listener.text("stderr") == [line]
    assert (work.directory / "stderr.log").read_text() == line + "\n"
    assert work.json("failure.json")["pointer"] == pointer


@pytest.mark.parametrize(
    ("entry", "last"), [("refuse_at_work", (0.4, "step 4")), ("crash_at_work", (0.5, "at fault"))]
)
async def test_progress_made_before_a_failure_is_told(
    pool: HostPool, job: MakeJob, entry: str, last: tuple[float, str]
) -> None:
    work = job(program(entry), {"pointer": ""})
    assert (await work.on(pool)).exit_code == 1
    assert work.listener.states[-1] == last


async def test_an_exception_leaves_a_failure_and_its_traceback_in_the_log(
    pool: HostPool, job: MakeJob
) -> None:
    work = job(program("crash"))
    outcome = await work.on(pool)
    assert outcome.exit_code == 1
    failure = work.json("failure.json")
    assert (failure["code"], failure["message"]) == ("NATIVE_FAILURE", "ValueError: the kernel said no")
    log = (work.directory / "stderr.log").read_text()
    assert "Traceback" in log
    assert "in crash" in log


async def test_a_full_disk_under_an_engine_is_told_as_that(pool: HostPool, job: MakeJob) -> None:
    work = job(program("no_room"))
    assert (await work.on(pool)).exit_code == 1
    assert work.json("failure.json")["code"] == "STORAGE_FULL"


async def test_leaving_the_interpreter_is_no_success(pool: HostPool, job: MakeJob) -> None:
    work = job(program("leave"))
    assert (await work.on(pool)).exit_code == 1
    assert work.has("failure.json")
    assert not work.has("result.json")


async def test_status_0_without_a_result_is_told_as_it_is(pool: HostPool, job: MakeJob) -> None:
    work = job(program("vanish"))
    outcome = await work.on(pool)
    assert (outcome.end, outcome.exit_code) == (End.EXITED, 0)
    assert not work.has("result.json")


async def test_a_signal_is_told_as_a_signal(pool: HostPool, job: MakeJob) -> None:
    outcome = await job(program("die")).on(pool)
    assert (outcome.end, outcome.exit_code, outcome.signal) == (End.EXITED, None, 11)


async def test_an_entry_that_is_not_there_is_a_failure(pool: HostPool, job: MakeJob) -> None:
    work = job(program("no_such_function"))
    assert (await work.on(pool)).exit_code == 1
    assert "no_such_function" in work.json("failure.json")["message"]


async def test_a_broken_request_is_a_failure(pool: HostPool, job: MakeJob) -> None:
    work = job(program("echo"))
    (work.directory / "request.json").write_bytes(b"\x00" * 100)
    assert (await work.on(pool)).exit_code == 1
    assert work.json("failure.json")["code"] == "NATIVE_FAILURE"


async def test_numbers_that_json_has_not_stay_distinguishable(pool: HostPool, job: MakeJob) -> None:
    work = job(program("odd_numbers"))
    await work.on(pool)
    nan, plus, minus, zero, tiny, large, truth = work.json()["values"]
    assert (nan, plus, minus) == ({"$number": "NaN"}, {"$number": "Infinity"}, {"$number": "-Infinity"})
    assert str(zero) == "-0.0"
    assert tiny == 5e-324
    assert large == 2**63
    assert truth is True


async def test_a_result_that_is_not_json_names_its_place(pool: HostPool, job: MakeJob) -> None:
    work = job(program("not_json"))
    assert (await work.on(pool)).exit_code == 1
    assert work.json("failure.json")["message"] == "TypeError: A set at /a~1b/0 of the result is not JSON"


async def test_what_native_code_prints_reaches_the_log_and_nothing_else(pool: HostPool, job: MakeJob) -> None:
    work = job(program("noise"))
    assert (await work.on(pool)).exit_code == 0
    assert work.json() == {"ok": True}
    assert work.listener.states == []
    assert sorted(work.listener.text("stdout")) == ["raw � bytes", '{"fraction": 1, "operation": "forged"}']


async def test_rubbish_in_place_of_progress_is_ignored(pool: HostPool, job: MakeJob) -> None:
    work = job(program("forge"))
    assert (await work.on(pool)).exit_code == 0
    assert work.listener.states == [(1.0, "clamped")]


async def test_a_flood_of_progress_is_thinned_and_ends_with_the_last(pool: HostPool, job: MakeJob) -> None:
    work = job(program("progress_flood"))
    outcome = await work.on(pool)
    assert work.listener.states[-1] == (1.0, "end")
    assert len(work.listener.states) <= outcome.wall_seconds / 0.05 + 2


async def test_a_worker_sees_its_own_surroundings_only(
    pool: HostPool, job: MakeJob, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "do not pass on")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    held = [os.open(tmp_path / name, os.O_RDWR | os.O_CREAT) for name in ("lock", "db")]
    for descriptor in held:
        os.set_inheritable(descriptor, True)
    try:
        work = job(program("surroundings"), {"daemon": os.getpid()}, open_files=99, memory_bytes=6 * 1024**3)
        await work.on(pool)
    finally:
        for descriptor in held:
            os.close(descriptor)
    seen = work.json()
    environment = seen["environment"]
    assert environment["SCHEMAXIS_WORKSPACE"].startswith("test-")
    assert environment["HOME"] == str(work.directory / "home")
    assert environment["TMPDIR"] == str(work.directory / "tmp")
    assert environment["OPENBLAS_NUM_THREADS"] == "1"
    assert not {"SECRET_TOKEN", "HTTPS_PROXY", "VIRTUAL_ENV", "PYTHONPATH"} & set(environment)
    assert seen["descriptors"].pop("0") == os.devnull
    assert len(seen["descriptors"]) == 3
    assert all(target.startswith("pipe:") for target in seen["descriptors"].values())
    assert seen["directory"] == str(work.directory)
    assert seen["umask"] == 0o077
    assert seen["stdin"] == ""
    assert seen["session"] is True
    assert seen["threads"] == 1
    assert seen["foreign"] == []
    assert seen["limits"]["RLIMIT_CORE"] == 0
    assert seen["limits"]["RLIMIT_NOFILE"] == 99
    assert seen["limits"]["RLIMIT_AS"] == 6 * 1024**3
    assert "NoNewPrivs:\t1" in seen["status"]
    assert seen["visible"] is ("own-proc" not in (await pool.containment()).hardening)


async def test_a_descriptor_that_the_engine_opened_stays_open(pool: HostPool, job: MakeJob) -> None:
    work = job(program("entry", module="descriptor_engine"))
    assert (await work.on(pool)).exit_code == 0
    assert work.json() == {"read": [0, 0]}


async def test_every_job_draws_other_random_numbers(pool: HostPool, job: MakeJob) -> None:
    drawn: list[float] = []
    for _ in range(3):
        work = job(program("draw", "numpy.random"))
        await work.on(pool)
        drawn += work.json()["values"]
    assert len(drawn) == 6
    assert len(set(drawn)) == 6


async def test_memory_beyond_the_limit_is_a_failure_that_says_so(pool: HostPool, job: MakeJob) -> None:
    work = job(program("fill_memory"), memory_bytes=1024**3)
    assert (await work.on(pool)).exit_code == 1
    assert "memory" in work.json("failure.json")["message"]


async def test_a_file_beyond_the_limit_is_a_failure(pool: HostPool, job: MakeJob) -> None:
    work = job(program("fill_disk"), file_bytes=1_000_000)
    assert (await work.on(pool)).exit_code == 1
    assert work.json("failure.json")["code"] == "NATIVE_FAILURE"
    assert (work.directory / "big").stat().st_size <= 1_000_000


async def test_a_run_without_its_directory_starts_nothing(pool: HostPool, job: MakeJob) -> None:
    work = job(program("echo"))
    with pytest.raises(FileNotFoundError):
        await pool.run(replace(work.run, directory=work.directory / "missing"), work.listener, work.cancel)
    assert work.listener.pids == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
async def test_no_room_for_the_logs_is_a_full_storage(
    pool: HostPool, job: MakeJob, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(supervision, "OutputLog", no_room)
    with pytest.raises(Fault) as caught:
        await job(program("echo")).on(pool)
    assert caught.value.code == "STORAGE_FULL"
    monkeypatch.undo()
    assert (await job(program("echo")).on(pool)).exit_code == 0


def test_a_kit_in_a_plain_process_drops_progress(tmp_path: Path) -> None:
    kit = Kit(tmp_path)
    kit.progress(0.5, "half")
    assert kit.publications.is_dir()


def test_progress_survives_its_reader(tmp_path: Path) -> None:
    read, write = os.pipe()
    kit = Kit(tmp_path, write)
    kit.progress(float("nan"), "dropped")
    kit.progress(-1, "𝄞" * 5000)
    assert len(os.read(read, 8192)) < 4096
    os.close(read)
    kit.progress(0.5, "nobody listens")
    kit.progress(0.6, "nobody listens")
    os.close(write)
