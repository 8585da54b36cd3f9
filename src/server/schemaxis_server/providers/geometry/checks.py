"""Compares quantities and writes down what was compared: the rows of a verification report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    expected: Mapping[str, Any],
    observed: Mapping[str, Any],
    tolerances: Tolerances,
) -> dict[str, Any]:
    """A row: each expected quantity must be observed within its tolerance."""
    wrong = [
        quantity
        for quantity, value in expected.items()
        if not _agree(value, observed.get(quantity), getattr(tolerances, quantity, 0.0))
    ]
    shown = {quantity: observed.get(quantity) for quantity in expected}
    return {
        "name": name,
        "scope": scope if not wrong else f"{scope} Differs in: {', '.join(wrong)}.",
        "engine": engine,
        "passed": not wrong,
        "expected": dict(expected),
        "observed": shown,
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


def _agree(expected: Any, observed: Any, tolerance: float) -> bool:
    """Whether all numbers agree. Flags and counts must be equal; NaN agrees with nothing."""
    if isinstance(expected, bool) or isinstance(observed, bool):
        return expected is observed
    if isinstance(expected, int | float):
        if not isinstance(observed, int | float) or not math.isfinite(observed):
            return False
        return abs(expected - observed) <= tolerance
    if isinstance(expected, Mapping):
        return isinstance(observed, Mapping) and all(
            _agree(value, observed.get(name), tolerance) for name, value in expected.items()
        )
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        return (
            isinstance(observed, Sequence)
            and len(observed) == len(expected)
            and all(_agree(a, b, tolerance) for a, b in zip(expected, observed, strict=True))
        )
    return bool(expected == observed)
