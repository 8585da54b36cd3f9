"""What people see: tables that fit, numbers that mean something, faults that say everything once."""

from __future__ import annotations

import io
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from schemaxis.cli.faults import fault_lines
from schemaxis.cli.output import age, columns, table, value, wrapped
from schemaxis.cli.progress import Progress
from schemaxis.cli.report import result_lines
from schemaxis.cli.tasks import criterion

from cli.commands import on_terminal, schemaxis

ID = "job_01m8qs3dxg1q3xwvmewxfgrkzt"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def test_a_table_wraps_between_words_and_never_breaks_an_id() -> None:
    lines = table([(ID, "a purpose of several words that goes on")], ("JOB", "PURPOSE"), width=56)
    assert lines == [
        f"JOB{' ' * 29}PURPOSE",
        f"{ID}  a purpose of several",
        f"{' ' * 32}words that goes on",
    ]
    assert all(len(line) <= 56 for line in lines)


def test_a_table_without_room_is_stacked() -> None:
    lines = table([(ID, "failed", "")], ("JOB", "STATE", "GOAL"), width=30, indent=0)
    assert lines == [ID, "  state failed"]


def test_a_table_outside_a_terminal_is_as_wide_as_its_cells() -> None:
    (line,) = table([("a" * 100, "b c " * 50)])
    assert line == "a" * 100 + "  " + ("b c " * 50).rstrip()


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\r", "\x07", "\x9b1m", "\n"])
def test_what_a_document_says_does_not_steer_the_terminal(hostile: str) -> None:
    (line,) = table([(f"a{hostile}b", "c")], width=40)
    assert line.isprintable()
    assert "".join(wrapped(f"a{hostile}b")).isprintable()


def test_the_rest_of_a_sum_that_is_zero_is_shown_as_zero() -> None:
    assert value([-6.28e-15, -2.1e-16, 8.310337508671]) == "0 0 8.31033750867"
    assert value({"min": [-40.0, 1e-13], "max": [40.0, 30.0]}) == "min -40 0, max 40 30"
    # Small numbers among their like stay, as does one that stands alone or is only small, not a rest.
    assert value([1e-15, 2e-15, -3e-15]) == "1e-15 2e-15 -3e-15"
    assert value(-8e-16) == "-8e-16"
    assert value([1e-9, 40.0]) == "1e-09 40"
    assert value([0.0, -0.0, 5]) == "0 0 5"


def test_a_vector_is_rounded_beside_the_lengths_of_its_output() -> None:
    result: dict[str, Any] = {
        "outputs": {
            "b": {
                "size": {"value": [20.0, 10.0, 5.0], "unit": "mm"},
                "centre": {"value": [-8e-16, 3e-16, 1e-16], "unit": "mm"},
                "ratio": {"value": [1e-15, 2e-15], "unit": ""},
                "rows": 12,
            }
        },
        "warnings": ["The mesh is coarse."],
    }
    lines = [line.split() for line in result_lines(result)]
    assert ["centre", "0", "0", "0", "mm"] in lines
    assert ["ratio", "1e-15", "2e-15"] in lines
    assert ["rows", "12"] in lines
    assert result_lines(result)[-1] == "Warning: The mesh is coarse."


def test_each_problem_is_told_once_with_what_was_expected() -> None:
    fault = {
        "code": "INVALID_DOCUMENT",
        "message": "The document has 3 problems; mend what details.problems lists. First: /a: wrong.",
        "pointer": "/a",
        "details": {
            "problems": [
                {"pointer": "/a", "message": "wrong.", "expected": "one of b, c", "nearest": "b"},
                {"pointer": "", "message": "missing.", "expected": "", "nearest": ""},
            ],
            "total": 3,
        },
    }
    assert fault_lines(fault) == [
        "INVALID_DOCUMENT: The document has 3 problems.",
        "  /a: wrong.",
        "    Did you mean b?",
        "    Expected one of b, c.",
        "  /: missing.",
        "  … and 1 more, which did not fit into the answer.",
    ]


def test_the_way_on_is_a_command() -> None:
    def told(message: str) -> str:
        (line,) = fault_lines({"code": "NOT_FOUND", "message": message, "pointer": "/job_id"})
        return line

    assert told("No job; list_jobs lists them.") == (
        "NOT_FOUND: No job; `schemaxis jobs` lists them. (at /job_id)"
    )
    assert "`schemaxis call list_tasks`" in told("No task; `list_tasks` lists them.")
    assert "`schemaxis capabilities --search`" in told("None; capabilities.search finds one.")
    assert told("see e.g.this and job_id.") == "NOT_FOUND: see e.g.this and job_id. (at /job_id)"


def test_the_progress_line_fits_and_says_operation_fraction_and_time(narrow: Terminal) -> None:
    now = [100.0]
    progress = Progress(narrow, clock=lambda: now[0])
    progress.see({"stateChanged": {"state": "running"}})
    now[0] += 2.5
    progress.see({"progress": {"fraction": 0.45, "operation": "fillet rounded\x1b[2J"}})
    assert progress.line() == "   2.5 s  running     45%  fillet round"
    assert columns(narrow) == 40
    progress.see({"stateChanged": {"state": "verifying"}})
    progress.see({"check": {}})
    assert progress.line() == "   2.5 s  verifying  1 check made"


def test_plain_progress_is_thinned_out() -> None:
    now = [0.0]
    stream = io.StringIO()
    progress = Progress(stream, clock=lambda: now[0])
    progress.see({"stateChanged": {"state": "running"}})
    for step in range(100):
        now[0] = step / 50
        progress.see({"progress": {"fraction": step / 100, "operation": f"cut u{step}"}})
    lines = stream.getvalue().splitlines()
    assert [line.split()[-1] for line in lines] == ["0%", "u0", "u50"]


def test_a_criterion_is_read_from_words() -> None:
    assert criterion("/a/b equals -2.5e3") == {"pointer": "/a/b", "operator": "equals", "value": -2500.0}
    assert criterion("/a equals steel")["value"] == "steel"
    assert criterion("/a between 1 2 unit cm tolerance 0.5") == {
        "pointer": "/a",
        "operator": "between",
        "low": 1,
        "high": 2,
        "unit": "cm",
        "tolerance": 0.5,
    }


def test_an_age_is_told_in_its_greatest_unit() -> None:
    now = datetime(2026, 1, 2, 12, tzinfo=UTC)
    ages = {"12:00:59": "0s", "11:59:01": "59s", "11:58:59": "1m", "10:00:00": "2h"}
    for clock, told in ages.items():
        assert age(f"2026-01-02T{clock}Z", now) == told
    assert age("2025-12-31T11:00:00Z", now) == "2d"


def test_a_list_of_jobs_keeps_its_rows_on_an_ordinary_terminal(served: Path, finished: Any) -> None:
    shown = on_terminal(served, "jobs", "-n", "50", width=80, NO_COLOR="1")
    (line,) = [line for line in shown.splitlines() if finished["job"]["jobId"] in line]
    assert line.split()[1:3] == ["succeeded", "none"]
    assert line.endswith("open")


def test_lists_fit_the_terminal(served: Path, finished: Any) -> None:
    for width in (60, 100):
        for command in (("jobs", "-n", "2"), ("capabilities", "domain/geometry/features")):
            shown = on_terminal(served, *command, width=width, NO_COLOR="1")
            assert max(map(len, shown.splitlines())) <= width
            assert "\x1b" not in shown
    narrow = on_terminal(served, "job", finished["job"]["jobId"], width=70, NO_COLOR="1")
    assert max(map(len, narrow.splitlines())) <= 70


def test_the_version_names_the_protocols() -> None:
    done = schemaxis(Path("unused"), "--version")
    assert done.stdout.decode().startswith("schemaxis ")
    assert "schemaxis.agent/1" in done.stdout.decode()
    assert "schemaxis.v1" in done.stdout.decode()


def test_a_character_that_the_output_lacks_ends_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "schemaxis", "job", "--help"],
        env={"PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
