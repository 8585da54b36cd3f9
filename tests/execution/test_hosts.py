"""What a run left, read within bounds and told as the engine's failure whatever lies there."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from schemaxis_server.execution import hosts
from schemaxis_server.execution.evidence import _read_logs
from schemaxis_server.faults import Fault
from schemaxis_server.native.contract import End, HostProgram, Outcome

PROGRAM = HostProgram("engine", "engine:main")
EXITED = Outcome(
    end=End.EXITED,
    exit_code=3,
    signal=None,
    warm=True,
    tree_empty=True,
    containment="plain",
    wall_seconds=1,
    cpu_seconds=1,
    max_rss_bytes=1,
    truncated=(),
)


def failure(directory: Path, text: str | bytes) -> Fault:
    (directory / "failure.json").write_bytes(text.encode() if isinstance(text, str) else text)
    return hosts._failure(PROGRAM, directory, EXITED)


def test_a_failure_is_told_in_the_host_s_words(tmp_path: Path) -> None:
    fault = failure(
        tmp_path, json.dumps({"message": "no face", "code": "UNSUPPORTED_INPUT", "pointer": "/a"})
    )
    assert (fault.code, fault.record.message, fault.record.pointer) == ("UNSUPPORTED_INPUT", "no face", "/a")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"message":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"message":{"a":1},"pointer":[1]}',
        json.dumps({"message": "x" * 200_000}),
        "",
        "7",
        b"\xff",
    ],
)
def test_a_failure_file_of_any_kind_is_a_failure(tmp_path: Path, text: str | bytes) -> None:
    fault = failure(tmp_path, text)
    assert fault.code == "NATIVE_FAILURE"
    assert fault.record.message.startswith("engine exited with 3; ")


def test_a_file_larger_than_memory_is_not_read(tmp_path: Path) -> None:
    for name in ("failure.json", "result.json", "stdout.log"):
        with (tmp_path / name).open("wb") as file:
            os.truncate(file.fileno(), 2**40)
    assert hosts._failure(PROGRAM, tmp_path, EXITED).code == "NATIVE_FAILURE"
    with pytest.raises(Fault, match="larger than 4194304 bytes") as refused:
        hosts._result(PROGRAM, tmp_path)
    assert refused.value.code == "NATIVE_FAILURE"
    (tmp_path / "stderr.log").write_text("one\ntwo\n")
    logs = json.loads(_read_logs(tmp_path.parent, [tmp_path.name]))
    assert logs[tmp_path.name]["stderr"] == ["one", "two"]
    assert "larger than" in logs[tmp_path.name]["stdout"][0]


def test_a_result_is_read_up_to_its_limit(tmp_path: Path) -> None:
    text = b"{}" + b" " * (hosts.MAX_RESULT_BYTES - 2)
    (tmp_path / "result.json").write_bytes(text)
    assert hosts._result(PROGRAM, tmp_path) == (text, {})
    (tmp_path / "result.json").write_bytes(text + b" ")
    with pytest.raises(Fault, match="larger than"):
        hosts._result(PROGRAM, tmp_path)


def test_a_signal_is_named(tmp_path: Path) -> None:
    fault = hosts._failure(PROGRAM, tmp_path, replace(EXITED, exit_code=None, signal=11))
    assert fault.record.details == {"signal": "SIGSEGV"}
