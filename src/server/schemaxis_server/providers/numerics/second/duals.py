"""Derivatives by dual numbers: a value and its slopes, carried together through a formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.second.functions import FUNCTIONS, double, wide


@dataclass(frozen=True, slots=True)
class Dual:
    """``value`` over the samples, and for each parameter the slope over the samples."""

    value: Any
    slopes: tuple[Any, ...]


def value_and_slopes(
    tree: formulas.Tree, x: NDArray[np.float64], names: Sequence[str], parameters: Sequence[float]
) -> tuple[NDArray[np.float64], list[NDArray[np.longdouble]]]:
    """A model over ``x`` and its derivative by each parameter."""
    none = tuple(0.0 for _ in names)
    variables = {"x": Dual(x, none)}
    for place, (name, value) in enumerate(zip(names, parameters, strict=True)):
        variables[name] = Dual(value, tuple(1.0 if at == place else 0.0 for at in range(len(names))))
    with np.errstate(all="ignore"):
        found = formulas.evaluate(tree, variables, _TABLE, lambda number: Dual(number, none))
    slopes = [np.broadcast_to(wide(slope), x.shape) for slope in found.slopes]
    return np.broadcast_to(double(found.value), x.shape), slopes


def _lifted(name: str, partials: Callable[..., tuple[Any, ...]]) -> Callable[..., Dual]:
    """A function on duals from the one on values and its partial derivatives."""

    def function(*duals: Dual) -> Dual:
        values = [np.asarray(dual.value) for dual in duals]
        result = FUNCTIONS[name](*values)
        rates = partials(*map(wide, values))
        slopes = tuple(
            sum((_product(rate, dual.slopes[at]) for rate, dual in zip(rates, duals, strict=True)), wide(0.0))
            for at in range(len(duals[0].slopes))
        )
        return Dual(result, slopes)

    return function


def _product(rate: Any, slope: Any) -> Any:
    # What does not depend on a parameter has no slope by it, even where the rate has no bound.
    return wide(0.0) if np.ndim(slope) == 0 and slope == 0 else rate * slope


def _selected(name: str) -> Callable[..., tuple[Any, ...]]:
    def partials(*values: Any) -> tuple[Any, ...]:
        chosen = FUNCTIONS[name](*values)
        taken = np.zeros(np.shape(chosen), dtype=bool)
        rates = []
        for value in values:
            mine = (value == chosen) & ~taken
            taken = taken | mine
            rates.append(wide(mine))
        return tuple(rates)

    return partials


_PARTIALS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda a, b: (1.0, 1.0),
    "subtract": lambda a, b: (1.0, -1.0),
    "multiply": lambda a, b: (b, a),
    "divide": lambda a, b: (1 / b, -a / b**2),
    "power": lambda a, b: (b * a ** (b - 1), np.log(a) * a**b),
    "negate": lambda a: (-1.0,),
    "sin": lambda a: (np.cos(a),),
    "cos": lambda a: (-np.sin(a),),
    "tan": lambda a: (1 + np.tan(a) ** 2,),
    "asin": lambda a: ((1 - a**2) ** -0.5,),
    "acos": lambda a: (-((1 - a**2) ** -0.5),),
    "atan": lambda a: (1 / (1 + a**2),),
    "sinh": lambda a: (np.cosh(a),),
    "cosh": lambda a: (np.sinh(a),),
    "tanh": lambda a: (1 - np.tanh(a) ** 2,),
    "exp": lambda a: (np.exp(a),),
    "log": lambda a: (1 / a,),
    "log10": lambda a: (1 / (a * np.log(wide(10))),),
    "log2": lambda a: (1 / (a * np.log(wide(2))),),
    "sqrt": lambda a: (0.5 / np.sqrt(a),),
    "abs": lambda a: (np.sign(a),),
    "sign": lambda a: (0.0,),
    "step": lambda a: (0.0,),
    "floor": lambda a: (0.0,),
    "ceil": lambda a: (0.0,),
    "atan2": lambda a, b: (b / (a**2 + b**2), -a / (a**2 + b**2)),
    "hypot": lambda a, b: (a / np.hypot(a, b), b / np.hypot(a, b)),
    "min": _selected("min"),
    "max": _selected("max"),
}

_TABLE = {name: _lifted(name, partials) for name, partials in _PARTIALS.items()}
