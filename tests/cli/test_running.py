"""``schemaxis run``: its options, its progress, what it saves and what its exit code says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.commands import SECONDS, environment, on_terminal, schemaxis


def test_the_budget_and_the_criteria_reach_the_task(served: Path, document: Path) -> None:
    done = schemaxis(
        served,
        "run",
        str(document),
        "--json",
        *("--objective", "A box", "--allowed-providers", "occt"),
        *("--max-attempts", "3", "--max-repeated-failures", "1"),
        *("--max-elapsed-seconds", "60.5", "--max-attempt-seconds", "20"),
        *("--criterion", "/outputs/body/volume equals 1 tolerance 0.001 unit cm^3"),
        *("--criterion", '{"pointer":"/outputs/body/valid","operator":"is-true"}'),
    )
    assert done.returncode == 0, done.stderr
    job = json.loads(done.stdout)["job"]
    assert job["goal"] == "met"
    params = json.dumps({"task_id": job["taskId"]})
    task = json.loads(schemaxis(served, "call", "task", params, "--json").stdout)
    assert (task["objective"], task["allowedProviders"]) == ("A box", ["occt"])
    assert task["budget"] == {
        "maxAttempts": 3,
        "maxRepeatedFailures": 1,
        "maxElapsedSeconds": 60.5,
        "maxAttemptSeconds": 20.0,
    }
    volume, valid = task["criteria"]
    assert (volume["value"], volume["tolerance"], volume["unit"]) == (1, 0.001, "cm^3")
    assert valid["operator"] == "is-true"


def test_an_unmet_criterion_is_shown_and_fails(served: Path, document: Path) -> None:
    done = schemaxis(served, "run", str(document), "-q", "--criterion", "/outputs/body/volume between 1 2")
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.decode().splitlines() if "between" in line]
    assert line.split("  ") == [
        "",
        "NOT MET",
        "/outputs/body/volume",
        "between 1 and 2",
        "observed 1000 mm^3",
    ]
    assert b"Goal: not-met" in done.stdout


def test_a_task_takes_several_runs_until_its_attempts_are_used(served: Path, document: Path) -> None:
    first = schemaxis(served, "run", str(document), "--json", "--max-attempts", "2")
    task = json.loads(first.stdout)["job"]["taskId"]
    again = ("run", str(document), "--task", task, "--set", "/nodes/0/options/height=7")
    assert json.loads(schemaxis(served, *again, "--json").stdout)["job"]["revision"] == 2
    refused = schemaxis(served, *again)
    assert (refused.returncode, b"BUDGET_EXHAUSTED" in refused.stderr) == (1, True)
    assert schemaxis(served, *again, "--objective", "Another").returncode == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--max-attempts", "0"),
        ("--max-attempts", "many"),
        ("--max-elapsed-seconds", "nan"),
        ("--max-attempt-seconds", "-1"),
        ("--criterion", "/outputs/body/volume"),
        ("--criterion", "/outputs/body/volume about 5"),
        ("--criterion", "/outputs/body/volume between 5"),
        ("--criterion", "/outputs/body/volume at-least high"),
        ("--criterion", "/outputs/body/volume equals 5 mm^3"),
        ("--criterion", "{"),
    ],
)
def test_options_are_refused_before_anything_starts(
    nowhere: Path, document: Path, options: tuple[str, ...]
) -> None:
    done = schemaxis(nowhere, "run", str(document), *options)
    assert done.returncode == 2
    assert options[1].encode() in done.stderr
    assert b"Traceback" not in done.stderr


def test_progress_is_told_in_plain_lines_and_can_be_silenced(served: Path, document: Path) -> None:
    done = schemaxis(served, "run", str(document))
    said = done.stderr.decode()
    assert "\r" not in said
    assert "\x1b" not in said
    timed = [line.split(maxsplit=2) for line in said.splitlines() if line.startswith(" ")]
    states = [line[2].split()[0] for line in timed]
    assert list(dict.fromkeys(states)) == ["queued", "running", "verifying"]
    assert all(float(line[0]) >= 0 and line[1] == "s" for line in timed)
    assert schemaxis(served, "run", str(document), "--quiet").stderr == b""


def _with_holes(count: int) -> dict[str, Any]:
    """A plate with a row of holes, cut one by one."""
    plate = {"length": 12 * count + 12, "width": 50, "height": 10}
    nodes: list[dict[str, Any]] = [{"id": "u0", "filter": "box", "options": plate}]
    for hole in range(1, count + 1):
        nodes += [
            {"id": f"c{hole}", "filter": "cylinder", "options": {"radius": 3, "height": 10}},
            {"id": f"m{hole}", "filter": "translate", "options": {"offset": [12 * hole, 25, 0]}},
            {"id": f"u{hole}", "filter": "cut", "inputs": [f"u{hole - 1}", f"m{hole}"]},
        ]
        nodes[-2]["inputs"] = [f"c{hole}"]
    return {"version": "schemaxis.occt/1", "nodes": nodes, "output": f"u{count}"}


def test_progress_is_one_line_on_a_terminal(served: Path, tmp_path: Path) -> None:
    document = tmp_path / "many.json"
    document.write_text(json.dumps(_with_holes(30)))
    shown = on_terminal(served, "run", str(document), width=60)
    progress, _, report = shown.partition(": ")
    drawn = progress.split("\r\x1b[K")[1:-1]
    assert any("running" in line and "% " in line and "cut u" in line for line in drawn)
    assert all("\n" not in line and len(line) < 60 for line in drawn)
    assert "succeeded, verified" in report
    assert "\x1b[K" not in report


def test_the_report_says_what_verified_is_worth(served: Path, finished: Any) -> None:
    shown = schemaxis(served, "job", finished["job"]["jobId"]).stdout.decode()
    checks = finished["verification"]["checks"]
    assert f"Verification: {len(checks)} of {len(checks)} checks passed" in shown
    for check in checks:
        assert check["name"] in shown
        assert f"{check['engine']} (" in shown
    for sentence in finished["verification"]["notCovered"]:
        assert f"  - {sentence}" in shown
    listed = schemaxis(served, "jobs", "-n", "50").stdout.decode()
    (line,) = [line for line in listed.splitlines() if finished["job"]["jobId"] in line]
    open_points = len(finished["verification"]["notCovered"])
    assert line.endswith(f"{len(checks)}/{len(checks)}, {open_points} open")
    assert line.split()[2] == "none"


def test_files_that_exist_are_kept_unless_forced(served: Path, document: Path, tmp_path: Path) -> None:
    (tmp_path / "body.png").write_text("precious")
    run = ("run", str(document), "-o", str(tmp_path))
    kept = schemaxis(served, *run)
    assert kept.returncode == 2
    assert os.listdir(tmp_path) == ["body.png"]
    assert (tmp_path / "body.png").read_text() == "precious"
    assert "--force" in kept.stderr.decode()
    assert "succeeded, verified" in kept.stdout.decode()
    # The command that the refusal names saves what this run made.
    job = kept.stderr.decode().partition("`schemaxis read ")[2].split()[0]
    assert schemaxis(served, "read", job, "-o", str(tmp_path)).returncode == 2
    assert schemaxis(served, "read", job, "-o", str(tmp_path / "new")).returncode == 0
    assert {path.suffix for path in (tmp_path / "new").iterdir()} == {".step", ".stl", ".brep", ".png"}
    assert schemaxis(served, *run, "--force").returncode == 0
    assert (tmp_path / "body.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_no_file_is_never_replaced(served: Path, finished: Any, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    resource = finished["resources"][0]["resourceId"]
    for target in ("/dev/null", str(tmp_path / "link")):
        refused = schemaxis(served, "read", resource, "-o", target, "--force")
        assert (refused.returncode, b"no regular file" in refused.stderr) == (2, True)
    assert not Path("/dev/null").is_file()
    into = schemaxis(served, "read", resource, "-o", str(tmp_path))
    assert into.returncode == 0
    assert (tmp_path / finished["resources"][0]["name"]).is_file()


def test_a_place_that_is_no_directory_is_refused_before_the_work(nowhere: Path, document: Path) -> None:
    done = schemaxis(nowhere, "run", str(document), "-o", str(document))
    assert (done.returncode, b"is not a directory" in done.stderr) == (2, True)


def test_a_report_that_nobody_reads_keeps_its_exit_code(served: Path, document: Path) -> None:
    unmet = ("--criterion", "/outputs/body/volume at-most 1")
    for options, code in (((), 0), (unmet, 1)):
        read_end, write_end = os.pipe()
        os.close(read_end)
        # Progress and report both go to a reader that is gone.
        done = subprocess.run(
            [sys.executable, "-m", "schemaxis", "run", str(document), *options],
            stdout=write_end,
            stderr=write_end,
            timeout=SECONDS,
            check=False,
            env=environment(served),
        )
        os.close(write_end)
        assert done.returncode == code
    jobs = json.loads(schemaxis(served, "jobs", "-n", "2", "--json").stdout)
    assert [job["state"] for job in jobs] == ["succeeded", "succeeded"]
