"""The quantities of an output once more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from schemaxis_server.providers.numerics.graph import Outcome
from schemaxis_server.providers.numerics.second.functions import wide


def measure(outcome: Outcome) -> dict[str, Any]:
    """Each quantity's value by its name."""
    x, y = wide(outcome.x), wide(outcome.y)
    count = len(y)
    nothing = not count or bool(np.isnan(y).any())
    names = ("min", "max", "mean", "rms", "integral", "peakX", "peakY")
    found: dict[str, Any] = {"count": count, **dict.fromkeys(names, math.nan)}
    found["last"] = float(outcome.y[-1]) if count else math.nan
    if not nothing:
        with np.errstate(all="ignore"):
            ordered = np.sort(y)
            least, greatest = ordered[0], ordered[-1]
            room = max(abs(least), abs(greatest)) * np.longdouble(1e-9)
            bar = greatest if np.isinf(room) else greatest - room
            peak = next(place for place, value in enumerate(y) if value >= bar)
            scale = max(abs(least), abs(greatest))
            squares = (
                scale if scale == 0 or np.isinf(scale) else scale * np.sqrt(np.sum((y / scale) ** 2) / count)
            )
            area = np.sum(np.diff(x) * y[:-1]) + np.sum(np.diff(x) * np.diff(y)) / 2
            if not np.isfinite(area):
                area = np.sum(np.diff(outcome.x) * (outcome.y[1:] + outcome.y[:-1]) / 2)
            found |= {
                "min": float(least),
                "max": float(greatest),
                "mean": float(np.sum(y) / count),
                "rms": float(squares),
                "integral": float(area),
                "peakX": float(outcome.x[peak]),
                "peakY": float(outcome.y[peak]),
            }
    found["coefficients"] = None if outcome.coefficients is None else list(outcome.coefficients)
    found["residual"] = outcome.residual
    found["statistics"] = None if outcome.statistics is None else dict(outcome.statistics)
    return found
