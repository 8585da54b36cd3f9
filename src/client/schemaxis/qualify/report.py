"""A qualification's report for people, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
_MARKED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#"})


def markdown(report: Any) -> str:
    """The whole report; what engines and documents say is shown as text and marks nothing."""
    verdict = "Qualified" if report["qualified"] else "Not qualified"
    lines = [f"# {verdict}", "", f"{report['time']}, {report['seconds']:.1f} s, {report['machine']}", ""]
    lines += _table(
        ("family", "provider", "engine", "version"),
        [
            (family, one["provider"], one.get("engine", "not registered"), one.get("engineVersion", ""))
            for family, one in report["providers"].items()
        ],
    )
    lines += ["## Steps", ""]
    lines += _table(
        ("step", "outcome", "why", "facts"),
        [(one["name"], one["outcome"], one["why"], _compact(one["facts"])) for one in report["steps"]],
    )
    lines += [*_pictures(report["pictures"]), *_traffic(report["traffic"]), *_refusals(report)]
    lines += ["## Jobs", ""]
    for job in report["jobs"]:
        lines += _job(job)
    return "\n".join(lines).rstrip() + "\n"


def _text(text: Any) -> str:
    return str(text).translate(_CONTROLS).translate(_MARKED)


def _compact(facts: Any) -> str:
    return "" if facts is None else json.dumps(facts, ensure_ascii=False)


def _table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return [
        f"| {' | '.join(headers)} |",
        f"|{' --- |' * len(headers)}",
        *(f"| {' | '.join(map(_text, row))} |" for row in rows),
        "",
    ]


def _pictures(pictures: Iterable[Any]) -> list[str]:
    lines = ["## Pictures", ""]
    for one in pictures:
        lines += [
            f"![{_text(one['name'])}]({one['path']})",
            "",
            f"{_text(one['name'])} of {one['jobId']}: {one['sizeBytes']} bytes in {one['ranges']} ranges, "
            f"SHA-256 {one['sha256']}, checked",
            "",
        ]
    return lines


def _traffic(traffic: Any) -> list[str]:
    rows = [
        (
            method,
            seen["requests"],
            seen["rejections"],
            seen["responseBytes"],
            _milliseconds(seen["medianSeconds"]),
            _milliseconds(seen["greatestSeconds"]),
        )
        for method, seen in traffic["byMethod"].items()
    ]
    return [
        "## Traffic",
        "",
        f"{traffic['requests']} requests, {traffic['responseBytes']} bytes of answers, "
        f"{traffic['attempts']} attempts, {traffic['rejections']} rejections.",
        "",
        *_table(("method", "requests", "rejections", "bytes", "median ms", "greatest ms"), rows),
    ]


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:.1f}"


def _refusals(report: Any) -> list[str]:
    rows = [
        (one["tried"], one["expected"], one["code"], one["outcome"], one["message"])
        for one in report["refusals"]
    ]
    lines = ["## Refusals", "", *_table(("tried", "expected", "answered", "outcome", "message"), rows)]
    if report["notProvoked"]:
        lines += ["Declared, and not provoked:", ""]
        lines += _table(
            ("code", "methods"),
            [(code, ", ".join(methods)) for code, methods in report["notProvoked"].items()],
        )
    return lines


def _job(job: Any) -> list[str]:
    state = job["state"] + (", verified" if job["verified"] else "") + f", goal {job['goal']}"
    lines = [
        f"### {_text(job['what'])}",
        "",
        f"{job['jobId']}: {state}; {_text(', '.join(job['engines']))}",
        "",
    ]
    if job["fault"]:
        lines += [f"Fault: {_text(job['fault'])}", ""]
    for engine, checks in job["checks"].items():
        passed = sum(check["passed"] for check in checks)
        names = ", ".join(check["name"] + ("" if check["passed"] else " (FAILED)") for check in checks)
        lines += [f"- {_text(engine)}, {passed} of {len(checks)} passed: {_text(names)}"]
    lines += [f"- not covered: {_text(sentence)}" for sentence in job["notCovered"]]
    lines += [f"- warning: {_text(warning)}" for warning in job["warnings"]]
    return [*lines, ""] if lines[-1] else lines
