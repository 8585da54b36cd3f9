"""Which workspace a command means: only what creates may make one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.commands import SECONDS, environment, schemaxis

READING = [
    ("jobs",),
    ("job", "job_x"),
    ("watch", "job_x"),
    ("cancel", "job_x"),
    ("resources",),
    ("read", "res_x"),
    ("capabilities",),
    ("call", "list_jobs"),
    ("call", "workspace"),
    ("call", "execute", '{"plan_id":"plan_x","expected_revision":1}'),
]


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_command_that_reads_makes_no_workspace(nowhere: Path, command: tuple[str, ...]) -> None:
    done = schemaxis(nowhere, *command)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert f"{nowhere} (from $SCHEMAXIS_WORKSPACE) does not exist" in said
    assert "`schemaxis run DOCUMENT` makes a new one" in said


def test_the_nearest_workspace_is_named(tmp_path: Path) -> None:
    for name in ("study", "unlike"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "schemaxis.format").touch()
    (tmp_path / "studies").mkdir()
    done = schemaxis(tmp_path, "jobs", "-w", "stduy", cwd=tmp_path)
    assert (done.returncode, b"Did you mean --workspace study?" in done.stderr) == (2, True)
    empty = schemaxis(tmp_path, "jobs", "-w", "studies", cwd=tmp_path)
    assert (empty.returncode, b"is a directory, but no workspace" in empty.stderr) == (2, True)
    assert os.listdir(tmp_path / "studies") == []


@pytest.mark.parametrize("command", [("serve",), ("agent",), ("jobs",), ("capabilities",), ("run", "-")])
def test_a_file_is_no_workspace(tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "w"
    file.write_text("precious")
    done = schemaxis(file, *command, stdin=b"{}")
    assert done.returncode == 2
    assert "is a file, not a directory" in done.stderr.decode()
    assert file.read_text() == "precious"


@pytest.mark.parametrize("command", [("capabilities",), ("call", "capabilities.browse")])
def test_what_the_engines_can_do_is_told_without_a_workspace(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    unset = {name: value for name, value in environment(tmp_path).items() if name != "SCHEMAXIS_WORKSPACE"}
    done = subprocess.run(
        [sys.executable, "-m", "schemaxis", *command],
        cwd=tmp_path,
        env=unset,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, b"domain" in done.stdout) == (0, True), done.stderr
    assert os.listdir(tmp_path) == []


def test_calls_that_begin_something_may_make_one(tmp_path: Path) -> None:
    params = '{"objective":"A box","allowed_providers":["occt"]}'
    assert schemaxis(tmp_path / "w", "call", "create_task", params).returncode == 0
    assert (tmp_path / "w" / "schemaxis.format").exists()


def test_the_capabilities_begin_where_there_is_a_choice(served: Path) -> None:
    shown = schemaxis(served, "capabilities").stdout.decode()
    rows = [line.split() for line in shown.splitlines() if line.startswith("domain/")]
    assert len(rows) > 1
    assert all(int(count) > 0 for _, count in rows)
    assert f"`schemaxis capabilities {rows[0][0]}`" in shown
    nothing = schemaxis(served, "capabilities", "--search", "zzqq").stdout.decode()
    assert "try other or fewer words" in nothing


def test_the_doctor_names_the_workspace_and_tells_an_impossible_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for place in (file, file / "below", Path("/proc/nowhere/w"), tmp_path / ("n" * 300)):
        done = schemaxis(place, "doctor")
        assert done.returncode == 1, place
        (line,) = [line for line in done.stdout.decode().splitlines() if line.startswith("WRONG")]
        assert "workspace" in line
        assert str(place) in line
    missing = schemaxis(tmp_path / "a" / "b", "doctor")
    assert missing.returncode == 0
    assert f"{tmp_path / 'a' / 'b'} is not created yet, and can be" in missing.stdout.decode()
    assert os.listdir(tmp_path) == ["file"]


def test_the_doctor_tells_a_directory_that_is_in_use_for_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    assert b"holds other files" in schemaxis(tmp_path, "doctor").stdout
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
