"""Measures a shape: volume, area, centre, tight bounds, number of solids, validity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemaxis_server.providers.freecad import topology
from schemaxis_server.providers.freecad.bounds import bounds
from schemaxis_server.providers.freecad.integrals import integrate
from schemaxis_server.providers.freecad.topology import Shape

# Rounding leaves a part that stands on a plane some 1e-16 of its size beside it. What checks allow is 1e-9.
_DUST = 1e-12


def measure(shape: Shape) -> dict[str, Any]:
    """Every quantity of a result, each with its unit.

    A coordinate below 1e-12 of the largest one is rounding and given as 0.
    """
    whole = integrate(shape)
    low, high = bounds(shape)
    dust = _DUST * max(map(abs, [*low, *high]))
    low, high = _without_dust(low, dust), _without_dust(high, dust)
    extent = [b - a for a, b in zip(low, high, strict=True)]
    return {
        "volume": {"value": whole.volume, "unit": "mm^3"},
        "area": {"value": whole.area, "unit": "mm^2"},
        "boundingBox": {"value": {"min": low, "max": high, "size": extent}, "unit": "mm"},
        "centerOfMass": {"value": _without_dust(whole.center, dust), "unit": "mm"},
        "solids": {"value": len(topology.solids(shape)), "unit": ""},
        "valid": {"value": bool(shape.isValid()), "unit": ""},
    }


def _without_dust(point: Sequence[float], dust: float) -> list[float]:
    return [0.0 if abs(value) <= dust else value for value in point]
