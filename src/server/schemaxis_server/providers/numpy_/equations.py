"""Linear equations, and the named systems of differential equations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.integrate
import scipy.linalg

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.graph import Outcome, Work
from schemaxis_server.providers.numerics.systems import SYSTEMS, System
from schemaxis_server.providers.numpy_.fitting import rms

_SINGULAR = 1e12
_DOUBTFUL = 1e8
_RELATIVE = 3e-14
_MOST_CALLS = 2_000_000

_SCALAR: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "negate": lambda a: -a,
    "sin": math.sin,
    "cos": math.cos,
}


def solve(work: Work) -> Outcome:
    matrix = np.array(work.options["matrix"], dtype=np.float64)
    right = np.array(work.options["rightHandSide"], dtype=np.float64)
    largest = np.max(np.abs(matrix), axis=1)
    if not largest.all():
        place = int(np.flatnonzero(largest == 0)[0])
        raise UnsupportedInput(
            f"Row {place} is all zeros; the matrix is singular.", f"/options/matrix/{place}"
        )
    scaled = matrix / largest[:, None]
    condition = float(np.linalg.cond(scaled))
    if not condition <= _SINGULAR:
        raise UnsupportedInput(
            f"The matrix is singular, or nearly so (condition number {condition:.3g}); its rows depend on each other.",
            "/options/matrix",
        )
    if condition > _DOUBTFUL:
        work.warn(
            f"The condition number is {condition:.3g}; about {int(math.log10(condition))} digits are lost."
        )
    factors = scipy.linalg.lu_factor(scaled)
    target = right / largest
    found = scipy.linalg.lu_solve(factors, target)
    # What a first solution leaves over, in extended precision where there is one, corrects it.
    for _ in range(3):
        left = target.astype(np.longdouble) - scaled.astype(np.longdouble) @ found.astype(np.longdouble)
        found = found + scipy.linalg.lu_solve(factors, left.astype(np.float64))
    if not np.isfinite(found).all():
        raise UnsupportedInput("The solution is beyond the range of a double.", "/options/rightHandSide")
    left = matrix.astype(np.longdouble) @ found.astype(np.longdouble) - right
    return Outcome(
        np.arange(1.0, len(right) + 1),
        found,
        "index",
        "value",
        coefficients=found.tolist(),
        residual=rms(left.astype(np.float64)),
    )


def rates(system: System, options: Any) -> Callable[[float, Sequence[float]], list[float]]:
    """The right-hand side of a system with its parameters put in."""
    bound = [formulas.bind(tree, system.variables, _SCALAR) for tree in system.trees()]
    parameters = [float(options["system"][name]) for name in system.parameters]
    left = [_MOST_CALLS]

    def function(t: float, states: Sequence[float]) -> list[float]:
        left[0] -= 1
        if left[0] < 0:
            raise UnsupportedInput(
                "It needs too many steps: the system is stiff or the time is long; shorten it or change the parameters.",
                "/options/stop",
            )
        values = [t, *map(float, states), *parameters]
        return [rate(values) for rate in bound]

    return function


def ode(work: Work) -> Outcome:
    options = work.options
    system = SYSTEMS[options["system"]["type"]]
    states = [float(value) for value in options["initial"]]
    times = np.linspace(float(options["start"]), float(options["stop"]), options["count"])
    component = options["component"] or system.states[0]
    size = max(map(abs, states)) or 1.0
    try:
        with np.errstate(all="ignore"):
            found = scipy.integrate.solve_ivp(
                rates(system, options),
                (times[0], times[-1]),
                states,
                method="DOP853",
                t_eval=times,
                rtol=_RELATIVE,
                atol=_RELATIVE * size * 1e-2,
            )
        y = found.y[system.states.index(component)]
        sound = found.success and len(y) == len(times) and np.isfinite(y).all()
    except OverflowError:
        sound = False
    if not sound:
        raise UnsupportedInput(
            "The solution leaves every bound before stop; shorten the time.", "/options/stop"
        )
    return Outcome(times, y.copy(), "t", component)
