"""A finished job for people: its state, what it measured, what was verified and what was not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from schemaxis.cli.output import coloured, counted, greatest, seconds_between, size, table, value, wrapped

_MET = {True: "met", False: "NOT MET", None: "unknown"}


def state_line(job: Any) -> str:
    """The job's state in a line, with how long it took."""
    good = job["state"] == "succeeded"
    words = job["state"] + (", verified" if job["verified"] else "")
    took = seconds_between(job.get("startTime"), job.get("endTime"))
    return coloured(words, "good" if good else "bad") + (f" in {took}" if took else "")


def result_lines(result: Any) -> list[str]:
    """Each output's quantities with their units, then the warnings."""
    lines: list[str] = []
    for output, quantities in result.get("outputs", {}).items():
        measured = {name: _value_and_unit(one) for name, one in quantities.items()}
        scales = _scales(measured.values())
        rows = [(name, value(seen, scales.get(unit, 0.0)), unit) for name, (seen, unit) in measured.items()]
        lines += [*wrapped(output), *table(rows, indent=2)]
    for warning in result.get("warnings", ()):
        lines += wrapped(f"Warning: {warning}", hanging="  ")
    return lines


def _value_and_unit(quantity: Any) -> tuple[Any, str]:
    """What was measured; a provider may tell plain values too."""
    if isinstance(quantity, dict) and "value" in quantity:
        return quantity["value"], str(quantity.get("unit") or "")
    return quantity, ""


def _scales(measured: Iterable[tuple[Any, str]]) -> dict[str, float]:
    """The greatest magnitude of each unit; numbers without one have nothing in common."""
    scales: dict[str, float] = {}
    for seen, unit in measured:
        if unit:
            scales[unit] = max(scales.get(unit, 0.0), greatest(seen))
    return scales


def criteria_lines(criteria: Iterable[Any]) -> list[str]:
    """Each criterion with what was observed."""
    rows = [
        (_MET[one.get("met")], one["criterion"]["pointer"], _wanted(one["criterion"]), _observed(one))
        for one in criteria
    ]
    return table(rows, indent=2)


def _wanted(criterion: Any) -> str:
    parts = [criterion["operator"]]
    if criterion["operator"] == "between":
        parts.append(f"{value(criterion.get('low'))} and {value(criterion.get('high'))}")
    elif criterion.get("value") is not None:
        parts.append(value(criterion["value"]))
    if criterion.get("tolerance") is not None:
        parts.append(f"± {value(criterion['tolerance'])}")
    if criterion.get("unit"):
        parts.append(criterion["unit"])
    return " ".join(parts)


def _observed(one: Any) -> str:
    words = (
        [f"observed {value(one['observed'])} {one.get('unit') or ''}".rstrip()] if "observed" in one else []
    )
    if one.get("reason"):
        words.append(one["reason"])
    return "; ".join(words)


def strength(verification: Any) -> str:
    """How much a verification is worth, in short: the checks that passed, and how much is left open."""
    checks = verification["checks"]
    passed = sum(check["passed"] for check in checks)
    return f"{passed}/{len(checks)}, {len(verification['notCovered'])} open"


def passed_checks(verification: Any) -> str:
    """``6 of 6 checks passed``."""
    checks = verification["checks"]
    return f"{sum(check['passed'] for check in checks)} of {counted(len(checks), 'check')} passed"


def verification_lines(verification: Any) -> list[str]:
    """The checks of each engine, then what no check covers."""
    checks = verification["checks"]
    lines = [f"Verification: {passed_checks(verification)}"]
    lines += table(_by_engine(checks), indent=2)
    if open_points := verification["notCovered"]:
        lines.append("Not covered by any check")
        for sentence in open_points:
            lines += wrapped(sentence, indent="  - ")
    return lines


def _by_engine(checks: Iterable[Any]) -> Iterator[tuple[str, str, str]]:
    by_engine: dict[str, list[Any]] = {}
    for check in checks:
        by_engine.setdefault(check["engine"], []).append(check)
    for engine, made in by_engine.items():
        for number, check in enumerate(made):
            label = f"{engine} ({len(made)})" if number == 0 else ""
            yield label, "passed" if check["passed"] else "FAILED", check["name"]


def resource_lines(resources: Iterable[Any]) -> list[str]:
    """Each resource with its kind, size and id."""
    rows = [
        (one["resourceId"], one["name"], one["kind"], size(one["sizeBytes"]), one["state"])
        for one in resources
    ]
    return table(rows, ("RESOURCE", "NAME", "KIND", "SIZE", "STATE"))
