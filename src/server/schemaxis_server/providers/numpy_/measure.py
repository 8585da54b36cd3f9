"""The quantities of an output, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from schemaxis_server.providers.numerics.graph import Outcome
from schemaxis_server.providers.numpy_.fitting import rms

_PEAK = 1e-9


def measure(outcome: Outcome) -> dict[str, Any]:
    """Each quantity's value by its name."""
    x, y = outcome.x, outcome.y
    found: dict[str, Any] = {"count": len(y)}
    with np.errstate(all="ignore"):
        if not len(y) or np.isnan(y).any():
            found |= dict.fromkeys(("min", "max", "mean", "rms"), math.nan)
            found["last"] = float(y[-1]) if len(y) else math.nan
            found |= dict.fromkeys(("integral", "peakX", "peakY"), math.nan)
        else:
            # The first of equal maxima, where rounding makes none of them the greatest.
            highest = y.max()
            room = _PEAK * np.max(np.abs(y))
            peak = int(np.flatnonzero(y >= (highest - room if np.isfinite(room) else highest))[0])
            found |= {
                "min": float(y.min()),
                "max": float(highest),
                "mean": float(np.mean(y)),
                "rms": rms(y),
                "last": float(y[-1]),
                "integral": float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)),
                "peakX": float(x[peak]),
                "peakY": float(y[peak]),
            }
    coefficients = outcome.coefficients
    found["coefficients"] = None if coefficients is None else list(coefficients)
    found["residual"] = outcome.residual
    found["statistics"] = None if outcome.statistics is None else dict(outcome.statistics)
    return found
