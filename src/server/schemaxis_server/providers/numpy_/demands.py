"""What operations demand of their series. Each refusal says where and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.numerics.graph import Outcome

Floats = NDArray[np.float64]

_OF_STEP = 1e-3
_OF_RANGE = 1e-9


def finite(series: Outcome) -> None:
    """No y is NaN or infinite."""
    wrong = np.flatnonzero(~np.isfinite(series.y))
    if wrong.size:
        at = int(wrong[0])
        message = f"y is {_named(series.y[at])} at sample {at} (x = {series.x[at]:g})"
        raise UnsupportedInput(f"{message}; only expression and statistics take that.", "/inputs/0")


def at_least(series: Outcome, count: int, why: str) -> None:
    if len(series.y) < count:
        raise UnsupportedInput(f"The series has {len(series.y)} samples; {why} needs {count}.", "/inputs/0")


def increasing(series: Outcome, count: int = 2) -> None:
    """x increases, y is finite, and there are ``count`` samples."""
    at_least(series, count, "it")
    finite(series)
    wrong = np.flatnonzero(np.diff(series.x) <= 0)
    if wrong.size:
        at = int(wrong[0]) + 1
        message = f"x does not increase at sample {at} ({series.x[at - 1]:g}, then {series.x[at]:g})"
        raise UnsupportedInput(f"{message}; sort the rows, and keep one of equal x.", "/inputs/0")


def uniform(series: Outcome, count: int = 2) -> float:
    """The step of x, which is the same everywhere."""
    increasing(series, count)
    step = float(series.x[-1] - series.x[0]) / (len(series.x) - 1)
    grid = series.x[0] + step * np.arange(len(series.x))
    wrong = np.flatnonzero(np.abs(series.x - grid) > _OF_STEP * step)
    if wrong.size:
        at = int(wrong[0])
        raise UnsupportedInput(
            f"The steps of x are not equal (sample {at} lies at {series.x[at]:.9g}, an equal grid has "
            f"{grid[at]:.9g} there); put resample before it.",
            "/inputs/0",
        )
    return step


def same_x(inputs: Any) -> None:
    """All series have the first one's x, to 1e-9 of its range."""
    first = inputs[0].x
    for place, other in enumerate(inputs[1:], start=1):
        if len(other.x) != len(first):
            raise UnsupportedInput(
                f"The inputs have {len(first)} and {len(other.x)} samples; resample or interpolate one.",
                f"/inputs/{place}",
            )
        room = _OF_RANGE * (np.ptp(first) if len(first) else 0.0)
        wrong = np.flatnonzero(np.abs(other.x - first) > room)
        if wrong.size:
            at = int(wrong[0])
            raise UnsupportedInput(
                f"x differs at sample {at} ({first[at]:.9g} and {other.x[at]:.9g}); resample or interpolate one.",
                f"/inputs/{place}",
            )


def _named(value: float) -> str:
    return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
