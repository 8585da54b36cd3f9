"""``schemaxis qualify``: what it does with engines that are there, that are not, and that lie."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from providers.engines import needs
from schemaxis.qualify.bridge import Bridge, BridgeBroken, Refused
from schemaxis.qualify.engines import Engines
from schemaxis.qualify.parts import VARIANTS, refine
from schemaxis.qualify.report import markdown
from schemaxis.qualify.work import Job, Task, Unmet, Work
from schemaxis_server.providers.calc.provider import PROVIDER as CALC
from schemaxis_server.providers.freecad.provider import PROVIDER as FREECAD
from schemaxis_server.providers.octave.provider import PROVIDER as OCTAVE

EMBEDDED = ("geometry=occt", "numerics=numpy", "spreadsheet=sheet")
STEPS = [
    "discover what there is",
    "refine the small plate to its volume",
    "refine the wide plate to its volume",
    "refine the tall plate to its volume",
    "reuse a publication in a second task",
    "hand a signal over and find its tones",
    "provoke the refusals",
    "end the session",
]
PROVOKED = {
    *("UNKNOWN_METHOD", "INVALID_REQUEST", "REQUEST_TOO_LARGE", "NOT_FOUND", "REQUEST_ID_REUSED"),
    *("STALE_REVISION", "STALE_PLAN", "INVALID_DOCUMENT", "UNAUTHORISED_PROVIDER", "BINDING_MISMATCH"),
    *("BUDGET_EXHAUSTED", "BUDGET_EXPIRED", "NATIVE_TIMEOUT", "UNSUPPORTED_INPUT", "REPEATED_FAILURE"),
    *("NOT_VERIFIED", "CANCELLED", "OUT_OF_RANGE", "EVIDENCE_CHANGED", "OBSERVATION_LIMIT"),
    *("UNSUPPORTED_INSPECTION", "INSPECTION_LIMIT"),
}
SECONDS = 580


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory with a path short enough for a socket below it."""
    with tempfile.TemporaryDirectory(prefix="sx-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)


def qualified(directory: Path, *providers: str) -> subprocess.CompletedProcess[str]:
    options = [word for provider in providers for word in ("--provider", provider)]
    return subprocess.run(
        [sys.executable, "-m", "schemaxis", "qualify", "-o", str(directory), *options],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "SCHEMAXIS_WORKSPACE"},
    )


def check_report(directory: Path) -> Any:
    """The report of a qualification that passed, whatever engines did the work."""
    report = json.loads((directory / "report.json").read_text("utf-8"))
    assert [(step["name"], step["outcome"]) for step in report["steps"]] == [
        (step, "passed") for step in STEPS
    ]
    assert report["qualified"] is True
    for step in report["steps"][1:4]:
        volumes = [one["volume"] for one in step["facts"]["attempts"]]
        target = step["facts"]["target"]
        assert len(volumes) > 1
        assert abs(volumes[-1] - target) <= 1e-4 * target < abs(volumes[0] - target)
    assert report["steps"][5]["facts"]["peakHz"] == 20
    assert report["steps"][5]["facts"]["peakAmplitude"] == pytest.approx(6)
    assert {refusal["code"] for refusal in report["refusals"]} == PROVOKED
    assert all(refusal["message"] for refusal in report["refusals"])
    assert not PROVOKED & report["notProvoked"].keys()
    check_traffic(report)
    check_jobs(report)
    check_pictures(report, directory)
    return report


def check_traffic(report: Any) -> None:
    traffic = report["traffic"]
    by_method = traffic["byMethod"]
    assert traffic["requests"] == sum(seen["requests"] for seen in by_method.values())
    assert traffic["attempts"] == by_method["execute"]["requests"] - by_method["execute"]["rejections"]
    # The faults of jobs are no rejections of requests.
    assert traffic["rejections"] == len(report["refusals"]) - 3
    assert all(0 < seen["medianSeconds"] <= seen["greatestSeconds"] for seen in by_method.values())
    assert traffic["responseBytes"] > sum(picture["sizeBytes"] for picture in report["pictures"])


def check_jobs(report: Any) -> None:
    jobs = report["jobs"]
    assert len(jobs) == report["traffic"]["attempts"]
    succeeded = [job for job in jobs if job["state"] == "succeeded"]
    assert len(jobs) - len(succeeded) == 4
    for job in succeeded:
        assert job["verified"]
        assert all(check["passed"] for checks in job["checks"].values() for check in checks)
        assert job["checks"]
        assert job["notCovered"]
    bound = [job for job in jobs if job["bindings"]]
    assert [job["what"] for job in bound] == ["reuse of the plate", "table of the signal", "spectrum"]
    (made,) = {job["taskId"] for job in jobs if job["what"].startswith("small plate")}
    assert bound[0]["taskId"] != made


def check_pictures(report: Any, directory: Path) -> None:
    shown = (directory / "report.md").read_text("utf-8")
    assert len(report["pictures"]) >= 5
    for picture in report["pictures"]:
        data = (directory / picture["path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == picture["sha256"]
        assert picture["ranges"] == -(-len(data) // 16_384)
        assert f"]({picture['path']})" in shown
    for job in report["jobs"]:
        assert job["jobId"] in shown


@pytest.mark.timeout(SECONDS)
def test_the_embedded_engines_qualify(place: Path) -> None:
    done = qualified(place / "e", *EMBEDDED)
    assert done.returncode == 0, done.stdout + done.stderr
    report = check_report(place / "e")
    assert {one["provider"] for one in report["providers"].values()} == {"occt", "numpy", "sheet"}
    assert "\nqualified\n" in done.stdout
    shown = (place / "e" / "report.md").read_text("utf-8")
    assert shown.startswith("# Qualified\n")
    for name in ("Open CASCADE", "NumPy", "IronCalc"):
        assert name in shown


@needs(FREECAD)
@needs(OCTAVE)
@needs(CALC)
@pytest.mark.timeout(SECONDS)
def test_the_installed_engines_qualify(place: Path) -> None:
    done = qualified(place / "i")
    assert done.returncode == 0, done.stdout + done.stderr
    report = check_report(place / "i")
    engines = {engine.split(" ")[0] for job in report["jobs"] for engine in job["engines"]}
    assert engines == {"FreeCAD", "GNU", "LibreOffice"}


@pytest.mark.timeout(SECONDS)
def test_what_is_not_installed_is_not_run_and_not_qualified(place: Path) -> None:
    done = qualified(place / "n", "geometry=nosuch", "numerics=nosuch", "spreadsheet=sheet")
    assert done.returncode == 1
    report = json.loads((place / "n" / "report.json").read_text("utf-8"))
    outcomes = {step["name"]: step["outcome"] for step in report["steps"]}
    assert [name for name, outcome in outcomes.items() if outcome == "passed"] == [STEPS[0], STEPS[-1]]
    assert set(outcomes.values()) == {"passed", "not run"}
    assert "the provider nosuch is not registered" in report["steps"][1]["why"]
    assert report["qualified"] is False
    assert report["jobs"] == []
    assert (place / "n" / "report.md").read_text("utf-8").startswith("# Not qualified\n")


@pytest.mark.parametrize("wrong", ["geometry", "geometry=", "music=occt"])
def test_a_switch_that_names_no_family_is_refused(place: Path, wrong: str) -> None:
    done = qualified(place / "w", wrong)
    assert (done.returncode, "families are geometry" in done.stderr.replace("\n", " ")) == (2, True)
    assert not (place / "w").exists()


def test_text_of_engines_marks_nothing_in_the_report() -> None:
    nasty = "a|b\n# <script>`x`[y](z)"
    step = {"name": "s", "outcome": "failed", "why": nasty, "facts": {"k": nasty}}
    job = {
        "what": nasty,
        "jobId": "job_1",
        "taskId": "task_1",
        "engines": [nasty],
        "bindings": [],
        "state": "failed",
        "verified": False,
        "goal": "unknown",
        "fault": "X",
        "warnings": [nasty],
        "checks": {nasty: [{"name": nasty, "scope": "", "passed": False}]},
        "notCovered": [nasty],
    }
    traffic = {"requests": 0, "responseBytes": 0, "rejections": 0, "attempts": 0, "byMethod": {}}
    report = {
        "qualified": False,
        "time": "now",
        "seconds": 1.0,
        "machine": "m",
        "providers": {},
        "steps": [step],
        "traffic": traffic,
        "refusals": [],
        "notProvoked": {},
        "jobs": [job],
        "pictures": [],
    }
    shown = markdown(report)
    assert not re.search(r"(?<!\\)<script", shown)
    (row,) = [line for line in shown.splitlines() if line.startswith("| s |")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 5
    assert "(FAILED)" in shown


class Scripted(Bridge):
    """A bridge that answers what a test says."""

    def __init__(self, answers: dict[str, list[Any]]) -> None:
        self._answers = {method: list(said) for method, said in answers.items()}

    def call(self, method: str, **params: Any) -> Any:
        return self._answers[method].pop(0)

    def stream(self, method: str, **params: Any) -> list[Any]:
        return list(self._answers[method].pop(0))


DATA = bytes(range(256)) * 100
PIECES: list[Any] = [
    {"data": base64.b64encode(DATA[:16_384]).decode(), "nextOffset": 16_384},
    {"data": base64.b64encode(DATA[16_384:]).decode()},
]
PICTURE: Any = {
    "resourceId": "res_1",
    "name": "a.png",
    "kind": "picture/preview",
    "mediaType": "image/png",
    "sizeBytes": len(DATA),
    "sha256": hashlib.sha256(DATA).hexdigest(),
}


def job_of(*resources: Any) -> Job:
    return Job({"jobId": "job_1", "state": "succeeded", "verified": True}, {}, {}, {}, list(resources))


def test_a_picture_is_put_together_from_its_ranges(tmp_path: Path) -> None:
    work = Work(Scripted({"resource": PIECES}), tmp_path)
    assert work.save_pictures(job_of(PICTURE, {**PICTURE, "mediaType": "model/stl"})) == 1
    assert (tmp_path / work.pictures[0]["path"]).read_bytes() == DATA
    assert work.pictures[0]["ranges"] == 2


@pytest.mark.parametrize(
    ("pieces", "picture", "why"),
    [
        ([PIECES[1]], PICTURE, "SHA-256"),
        (PIECES, {**PICTURE, "sizeBytes": len(DATA) + 1}, "SHA-256"),
        ([{**PIECES[0], "nextOffset": 0}], PICTURE, "goes on at 0"),
        ([{**PIECES[0], "nextOffset": 20_000}, PIECES[1]], PICTURE, "goes on at 20000"),
        ([{"data": "", "nextOffset": 0}], PICTURE, "goes on at 0"),
    ],
)
def test_bytes_that_are_not_the_resources_are_not_kept(
    pieces: list[Any], picture: Any, why: str, tmp_path: Path
) -> None:
    with pytest.raises(Unmet, match=why):
        Work(Scripted({"resource": pieces}), tmp_path).save_pictures(job_of(picture))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([{"sequence": 1}, {"sequence": 3, "terminal": {}}], "gaps"),
        ([{"sequence": 2}, {"sequence": 1, "terminal": {}}], "out of order"),
        ([{"sequence": 1}, {"sequence": 2}], "not its end"),
        ([], "not its end"),
    ],
)
def test_events_that_are_not_dense_or_do_not_end_are_told(
    events: list[Any], why: str, tmp_path: Path
) -> None:
    with pytest.raises(Unmet, match=why):
        Work(Scripted({"watch_job": [events]}), tmp_path).finished("x", {}, "job_1")


def test_a_revision_that_jumps_is_told(tmp_path: Path) -> None:
    work = Work(Scripted({"plan": [{"planId": "plan_1", "revision": 3}]}), tmp_path)
    with pytest.raises(Unmet, match="revision 3, after 1"):
        work.plan(Task("task_1", 1), {})


def _whole(value: Any) -> Any:
    return {"mode": "value", "members": [], "revision": "r", "value": value}


def test_a_kernel_that_measures_wrongly_does_not_qualify(tmp_path: Path) -> None:
    (variant, *_) = VARIANTS
    engines = Engines({"geometry": "g"}, {"g": {"provider": "g", "documentVersion": "v", "available": True}})
    told = variant.volume(variant.height) * 1.00001
    plan = {"planId": "p", "revision": 1, "providers": [], "bindings": []}
    status = {"jobId": "j", "taskId": "t", "state": "succeeded", "verified": True, "goal": "not-met"}
    result: Any = {"outputs": {"part": {"volume": {"value": told}}}}
    looks = [_whole(result), _whole({"checks": [], "notCovered": []})]
    answers: dict[str, list[Any]] = {
        "create_task": [{"taskId": "t", "revision": 0}],
        "plan": [plan],
        "execute": [{"jobId": "j"}],
        "watch_job": [[{"sequence": 1, "terminal": {}}]],
        "job": [status],
        "observe": looks,
        "list_resources": [{"resources": []}],
    }
    with pytest.raises(Unmet, match="the volume of the small plate"):
        refine(Work(Scripted(answers), tmp_path), engines, variant)


def test_a_bridge_that_ends_is_told(place: Path) -> None:
    (place / "file").write_text("")
    with Bridge(place / "file", place / "b.log") as bridge, pytest.raises((BridgeBroken, Refused)):
        bridge.call("workspace")
