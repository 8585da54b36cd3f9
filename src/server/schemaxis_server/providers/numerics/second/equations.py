"""Equations once more: linear ones in exact fractions, differential ones by formulas or extrapolation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.graph import Outcome, Work
from schemaxis_server.providers.numerics.second.fitting import NotFound, eliminate
from schemaxis_server.providers.numerics.second.noise import Noise
from schemaxis_server.providers.numerics.systems import SYSTEMS, System

_ORDERS = 9
_ENOUGH = 2e-14
_DEEPEST = 24

_SCALAR: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": math.pow,
    "negate": lambda a: -a,
    "sin": math.sin,
    "cos": math.cos,
}


def solve(work: Work, noise: Noise) -> Outcome:
    matrix = noise.array(np.array(work.options["matrix"], dtype=np.float64)).tolist()
    right = [float(value) for value in work.options["rightHandSide"]]
    try:
        found = eliminate(
            [[Fraction(value) for value in row] for row in matrix], [Fraction(value) for value in right]
        )
        solution = [float(value) for value in found]
    except OverflowError:
        raise NotFound("the exact solution is beyond the range of a double") from None
    left = [
        float(sum((Fraction(a) * Fraction(u) for a, u in zip(row, solution, strict=True)), -Fraction(b)))
        for row, b in zip(matrix, right, strict=True)
    ]
    return Outcome(
        np.arange(1.0, len(right) + 1),
        np.array(solution),
        "index",
        "value",
        coefficients=solution,
        residual=math.sqrt(math.fsum(value * value for value in left) / len(left)),
        reach=[1.0] * len(solution),
        size=max(sum(abs(a * u) for a, u in zip(row, solution, strict=True)) for row in matrix),
    )


def ode(work: Work, noise: Noise) -> Outcome:
    options = work.options
    system = SYSTEMS[options["system"]["type"]]
    component = options["component"] or system.states[0]
    start, stop, count = float(options["start"]), float(options["stop"]), options["count"]
    step = (stop - start) / (count - 1)
    times = [place * step + start for place in range(count - 1)] + [stop]
    initial = noise.array(np.array(options["initial"], dtype=np.float64)).tolist()
    closed = _CLOSED.get(system.name, _nothing)(options["system"], initial, start)
    if closed is not None:
        states = [closed(t) for t in times]
    else:
        states = _extrapolated(_rates(system, options["system"]), times, initial)
    place = system.states.index(component)
    return Outcome(np.array(times), np.array([state[place] for state in states]), "t", component)


# Formulas

State = Sequence[float]
Closed = Callable[[float], State]


def _nothing(parameters: Any, initial: State, start: float) -> Closed | None:
    return None


def _decay(parameters: Any, initial: State, start: float) -> Closed:
    return lambda t: [initial[0] * math.exp(-parameters["rate"] * (t - start))]


def _logistic(parameters: Any, initial: State, start: float) -> Closed | None:
    first, rate, capacity = initial[0], parameters["rate"], parameters["capacity"]
    if first <= 0 or rate < 0:
        return None
    return lambda t: [capacity / (1 + (capacity / first - 1) * math.exp(-rate * (t - start)))]


def _oscillator(parameters: Any, initial: State, start: float) -> Closed | None:
    w, z = parameters["angularFrequency"], parameters["dampingRatio"]
    if parameters["forceAmplitude"] or not 0 <= z < 0.999:
        return None
    position, velocity = initial
    w_damped = w * math.sqrt(1 - z * z)
    other = (velocity + z * w * position) / w_damped

    def state(t: float) -> State:
        since = t - start
        shrunk, turn = math.exp(-z * w * since), w_damped * since
        x = shrunk * (position * math.cos(turn) + other * math.sin(turn))
        v = shrunk * w_damped * (other * math.cos(turn) - position * math.sin(turn)) - z * w * x
        return [x, v]

    return state


_CLOSED: dict[str, Callable[[Any, State, float], Closed | None]] = {
    "decay": _decay,
    "logistic": _logistic,
    "oscillator": _oscillator,
}


# Extrapolation


def _rates(system: System, parameters: Any) -> Callable[[float, State], list[float]]:
    bound = [formulas.bind(tree, system.variables, _SCALAR) for tree in system.trees()]
    fixed = [float(parameters[name]) for name in system.parameters]

    def function(t: float, state: State) -> list[float]:
        values = [t, *state, *fixed]
        return [rate(values) for rate in bound]

    return function


def _extrapolated(
    rates: Callable[[float, State], list[float]], times: list[float], initial: State
) -> list[State]:
    """Gragg, Bulirsch and Stoer: midpoint rules of more and more steps, extrapolated to none."""
    size = max(map(abs, initial)) or 1.0
    state = list(initial)
    found: list[State] = [state]
    pieces = 1
    for here, there in pairwise(times):
        while True:
            tried = _over(rates, here, there, state, pieces, size)
            if tried is not None:
                break
            pieces *= 2
            if pieces > 2**_DEEPEST:
                raise NotFound("the extrapolation of the second formulation does not settle")
        state = tried
        size = max(size, *map(abs, state))
        found.append(state)
        pieces = max(1, pieces // 2)
    return found


def _over(rates: Any, here: float, there: float, state: list[float], pieces: int, size: float) -> Any:
    width = (there - here) / pieces
    for piece in range(pieces):
        state = _piece(rates, here + piece * width, width, state, size)
        if state is None:
            return None
    return state


def _piece(rates: Any, t: float, width: float, state: list[float], size: float) -> Any:
    first = rates(t, state)
    table: list[list[list[float]]] = []
    for order in range(1, _ORDERS):
        row = [_midpoint(rates, t, width, state, first, 2 * order)]
        for back in range(1, order):
            ratio = (order / (order - back)) ** 2 - 1
            row.append([a + (a - b) / ratio for a, b in zip(row[back - 1], table[-1][back - 1], strict=True)])
        if order > 2:
            error = max(abs(a - b) for a, b in zip(row[-1], row[-2], strict=True))
            if error <= _ENOUGH * size:
                return row[-1]
            if not math.isfinite(error):
                return None
        table.append(row)
    return None


def _midpoint(
    rates: Any, t: float, width: float, state: list[float], first: list[float], steps: int
) -> list[float]:
    h = width / steps
    before = state
    now = [y + h * rate for y, rate in zip(state, first, strict=True)]
    for step in range(1, steps):
        slope = rates(t + step * h, now)
        before, now = now, [y + 2 * h * rate for y, rate in zip(before, slope, strict=True)]
    slope = rates(t + width, now)
    return [(a + b + h * rate) / 2 for a, b, rate in zip(now, before, slope, strict=True)]
