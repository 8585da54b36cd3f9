"""The functions of formulas once more: sums and products as doubles round them, the rest in extended precision.

Sums and products have to round as a double does, since ``floor`` may follow; what the C library and
a vectorised one may give differently comes from extended precision and is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Wide = np.longdouble


def wide(values: Any) -> NDArray[np.longdouble]:
    return np.asarray(values, dtype=np.longdouble)


def double(values: Any) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return np.asarray(values, dtype=np.float64)


def _rounded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: double(function(*map(wide, values)))


def _step(a: Any) -> Any:
    return np.where(np.isnan(a), a, np.where(np.asarray(a) >= 0, 1.0, 0.0))


def _sign(a: Any) -> Any:
    return np.where(np.isnan(a), a, (np.asarray(a) > 0) * 1.0 - (np.asarray(a) < 0) * 1.0)


def _least(*values: Any) -> Any:
    found = values[0]
    for value in values[1:]:
        found = np.where(np.isnan(found) | (found < value), found, value)
    return found


def _greatest(*values: Any) -> Any:
    found = values[0]
    for value in values[1:]:
        found = np.where(np.isnan(found) | (found > value), found, value)
    return found


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: np.asarray(a) / np.asarray(b),
    "negate": lambda a: -np.asarray(a),
    "abs": lambda a: np.where(np.signbit(a), -np.asarray(a), a),
    "sign": _sign,
    "step": _step,
    "floor": lambda a: -np.ceil(-np.asarray(a)),
    "ceil": lambda a: -np.floor(-np.asarray(a)),
    "min": _least,
    "max": _greatest,
    **{
        name: _rounded(function)
        for name, function in {
            "power": np.power,
            "sin": np.sin,
            "cos": np.cos,
            "tan": np.tan,
            "asin": np.arcsin,
            "acos": np.arccos,
            "atan": np.arctan,
            "sinh": np.sinh,
            "cosh": np.cosh,
            "tanh": np.tanh,
            "exp": np.exp,
            "log": np.log,
            "log10": np.log10,
            "log2": np.log2,
            "sqrt": np.sqrt,
            "atan2": np.arctan2,
            "hypot": np.hypot,
        }.items()
    },
}
