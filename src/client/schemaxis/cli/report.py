"""A finished job for people: its state, what it measured, what was verified and what was not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schemaxis.cli.output import coloured, seconds_between, size, table, value


def state_line(job: Any) -> str:
    """The job's state in a line, with how long it took."""
    good = job["state"] == "succeeded"
    words = job["state"] + (", verified" if job["verified"] else "")
    took = seconds_between(job.get("startTime"), job.get("endTime"))
    return coloured(words, "good" if good else "bad") + (f" in {took}" if took else "")


def fault_lines(fault: Any) -> list[str]:
    """Why a job did not succeed."""
    place = f" (at {fault['pointer']})" if fault.get("pointer") else ""
    return [f"{fault['code']}: {fault['message']}{place}"]


def result_lines(result: Any) -> list[str]:
    """Each output's quantities with their units."""
    lines: list[str] = []
    for output, quantities in result.get("outputs", {}).items():
        rows = [(name, value(one["value"]), one["unit"]) for name, one in quantities.items()]
        lines += [output, *table(rows, indent=2)]
    lines += [f"warning: {warning}" for warning in result.get("warnings", ())]
    return lines


def criteria_lines(criteria: Iterable[Any]) -> list[str]:
    """Each criterion with what was observed."""
    rows = [
        (
            "met" if one["met"] else "NOT MET",
            one["criterion"]["pointer"],
            one["criterion"]["operator"],
            f"observed {value(one['observed'])} {one['unit']}".rstrip(),
        )
        for one in criteria
    ]
    return table(rows)


def verification_lines(verification: Any) -> list[str]:
    """Each check with its engine, then what no check covers."""
    rows = [
        ("passed" if check["passed"] else "FAILED", check["name"], check["engine"])
        for check in verification["checks"]
    ]
    lines = ["Checks", *table(rows, indent=2)]
    if verification["notCovered"]:
        lines += ["Not covered", *(f"  {sentence}" for sentence in verification["notCovered"])]
    return lines


def resource_lines(resources: Iterable[Any]) -> list[str]:
    """Each resource with its kind, size and id."""
    rows = [
        (one["resourceId"], one["name"], one["kind"], size(one["sizeBytes"]), one["state"])
        for one in resources
    ]
    return table(rows, ("RESOURCE", "NAME", "KIND", "SIZE", "STATE"))
