"""Compares quantities and writes down what was compared: the rows of a verification report.

In every row ``expected`` is what should be there: worked out from the document, or, where a file is
on trial, the result that other rows hold against the document. ``observed`` is what the thing on
trial shows: what the result claims, or what the file holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

INDEPENDENT = "Independent of the producer's kernel family"
SAME_FAMILY = "By the producer's own kernel family, which would repeat a fault of its own"
NO_KERNEL = "Form only, without a kernel"
"""How every scope begins: how far the engine of the check depends on the one that it checks."""

QUANTITIES = ("volume", "area", "boundingBox", "centerOfMass", "solids", "valid")


@dataclass(frozen=True, slots=True)
class Tolerances:
    """How far each quantity may lie off; absolute values, in mm, mm^2 and mm^3."""

    volume: float
    area: float
    boundingBox: float  # noqa: N815 - the quantities' own names
    centerOfMass: float  # noqa: N815
    words: str

    @classmethod
    def relative(cls, reference: Mapping[str, Any], part: float) -> Tolerances:
        """``part`` of the volume, of the area and of the largest coordinate."""
        return cls(
            volume=part * abs(reference["volume"]),
            area=part * abs(reference["area"]),
            boundingBox=part * reach(reference),
            centerOfMass=part * reach(reference),
            words=f"{part:g} of the volume, the area and the largest coordinate",
        )


def plain(measured: Mapping[str, Any]) -> dict[str, Any]:
    """A result's quantities without their units, as far as they are well formed."""
    found: dict[str, Any] = {}
    for name in QUANTITIES:
        entry = measured.get(name)
        if isinstance(entry, Mapping) and "value" in entry:
            value = entry["value"]
            if name == "boundingBox" and isinstance(value, Mapping):
                value = {corner: value.get(corner) for corner in ("min", "max")}
            found[name] = value
    return found


def reach(quantities: Mapping[str, Any]) -> float:
    """The largest coordinate of the bounding box, in size."""
    box = quantities["boundingBox"]
    return max(abs(float(value)) for value in [*box["min"], *box["max"]])


def check(
    name: str,
    scope: str,
    engine: str,
    *,
    expected: Mapping[str, Any],
    observed: Mapping[str, Any],
    quantities: Sequence[str],
    tolerances: Tolerances,
) -> dict[str, Any]:
    """A row: each of ``quantities`` must be there on both sides, within its tolerance."""
    wrong = [
        quantity
        for quantity in quantities
        if not _agree(expected.get(quantity), observed.get(quantity), getattr(tolerances, quantity, 0.0))
    ]
    return {
        "name": name,
        "scope": scope if not wrong else f"{scope} Differs in: {', '.join(wrong)}.",
        "engine": engine,
        "passed": not wrong,
        "expected": {quantity: expected.get(quantity) for quantity in quantities},
        "observed": {quantity: observed.get(quantity) for quantity in quantities},
        "tolerance": tolerances.words,
    }


def failed(name: str, scope: str, engine: str, expected: str, observed: str) -> dict[str, Any]:
    """A row for a check that could not be carried through, which counts as not passed."""
    return {
        "name": name,
        "scope": scope,
        "engine": engine,
        "passed": False,
        "expected": expected,
        "observed": observed,
        "tolerance": "",
    }


def _agree(one: Any, other: Any, tolerance: float) -> bool:
    """Whether all numbers agree. Flags and counts must be equal; NaN and what is missing agree with nothing."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isfinite(one) and math.isfinite(other) and abs(one - other) <= tolerance
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_agree(one[name], other[name], tolerance) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(
            _agree(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    return False
