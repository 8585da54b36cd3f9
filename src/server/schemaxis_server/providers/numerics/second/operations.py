"""The numerics operations once more, written another way and in extended precision.

Series between operations are doubles, as the vocabulary says; inside an operation ``numpy.longdouble``
carries more digits where the machine has them. What the operations demand of their inputs is left to
the producer: here only definitions are computed.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics import graph
from schemaxis_server.providers.numerics.graph import Operation, Outcome, Work
from schemaxis_server.providers.numerics.rules import variables
from schemaxis_server.providers.numerics.second import equations, fitting
from schemaxis_server.providers.numerics.second.fitting import NotFound
from schemaxis_server.providers.numerics.second.functions import FUNCTIONS, Wide, double, wide
from schemaxis_server.providers.numerics.second.noise import Noise
from schemaxis_server.providers.numerics.signals import WINDOWS
from schemaxis_server.providers.tables.dialect import ENCODINGS

_BY_DEFINITION = 1024
_BINS_BY_DEFINITION = 16
_TURN = 2 * np.arctan2(Wide(0), Wide(-1))


def compute(document: Mapping[str, Any], bindings: Mapping[str, str], noise: Noise) -> dict[str, Outcome]:
    """The outcome of every node that an output needs.

    Raises ``UnsupportedInput`` or ``NotFound`` if there is none.
    """

    def settled(operation: Callable[[Work, Noise], Outcome]) -> Operation:
        def operate(work: Work) -> Outcome:
            outcome = operation(work, noise)
            return replace(outcome, x=double(outcome.x), y=noise.array(double(outcome.y)))

        return operate

    with np.errstate(all="ignore"):
        return graph.compute(document, bindings, {name: settled(one) for name, one in _OPERATIONS.items()})


def _like(series: Outcome, y: Any, x: Any = None) -> Outcome:
    return Outcome(series.x if x is None else x, y, series.x_name, series.y_name)


def _largest(values: Any) -> Any:
    return np.max(np.abs(values), initial=0)


def _read_csv(work: Work, noise: Noise) -> Outcome:
    options = work.options
    if work.file is None:
        raise NotFound("no file is bound")
    text = Path(work.file).read_bytes().decode(ENCODINGS[options["encoding"]])
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=options["delimiter"], strict=True))
    names = rows.pop(0) if options["header"] else [str(place + 1) for place in range(len(rows[0]))]
    x, y = (
        np.array([float(row[names.index(options[key])].replace(options["decimal"], ".")) for row in rows])
        for key in ("xColumn", "yColumn")
    )
    return Outcome(x, y, options["xColumn"], options["yColumn"])


def _linspace(work: Work, noise: Noise) -> Outcome:
    start, stop, count = float(work.options["start"]), float(work.options["stop"]), work.options["count"]
    step = (stop - start) / (count - 1)
    x = np.array([place * step + start for place in range(count - 1)] + [stop])
    return Outcome(x, x, "x", "y")


def _expression(work: Work, noise: Noise) -> Outcome:
    first = work.inputs[0]
    places = variables(list(work.sources))
    tree = formulas.parse(work.options["expression"], ["x", *places])
    values = {"x": first.x} | {name: work.inputs[place].y for name, place in places.items()}
    y = formulas.evaluate(tree, values, noise.functions(FUNCTIONS), np.float64)
    return Outcome(first.x, np.broadcast_to(y, first.x.shape), first.x_name, work.options["name"])


def _smooth(work: Work, noise: Noise) -> Outcome:
    y, half = wide(work.inputs[0].y), (work.options["window"] - 1) // 2
    count = len(y)
    sums = np.concatenate([[Wide(0)], np.cumsum(y)])
    reaches = [min(half, place, count - 1 - place) for place in range(count)]
    low = np.array([place - reach for place, reach in enumerate(reaches)], dtype=int)
    high = np.array([place + reach + 1 for place, reach in enumerate(reaches)], dtype=int)
    means = (sums[high] - sums[low]) / (high - low)
    return _like(work.inputs[0], noise.around(means, _largest(y)))


def _detrend(work: Work, noise: Noise) -> Outcome:
    series = work.inputs[0]
    fit = fitting.polynomial(series, work.options["degree"], noise)
    return _like(series, noise.around(series.y - fit.y, _largest(series.y)))


def _window(work: Work, noise: Noise) -> Outcome:
    series = work.inputs[0]
    count = len(series.y)
    turn = _TURN * np.arange(count, dtype=np.longdouble) / count
    weights = sum(
        (-1) ** order * Wide(a) * np.cos(order * turn)
        for order, a in enumerate(WINDOWS[work.options["kind"]])
    )
    if work.options["normalize"] == "amplitude":
        weights = weights * count / np.sum(weights)
    elif work.options["normalize"] == "power":
        weights = weights / np.sqrt(np.sum(weights**2) / count)
    return _like(series, wide(series.y) * weights)


def _lowpass(work: Work, noise: Noise) -> Outcome:
    """Mirrored transforms are cosine transforms: by definition for short series."""
    series = work.inputs[0]
    y, count = wide(series.y), len(series.y)
    rate = (count - 1) / (wide(series.x)[-1] - wide(series.x)[0])
    order = np.arange(count)
    frequency = order * rate / (2 * count)
    gain = 1 / (1 + (frequency / Wide(work.options["cutoff"])) ** (2 * work.options["order"]))
    if count > _BY_DEFINITION or noise.active:
        filtered = scipy.fft.idct(scipy.fft.dct(y, 2) * gain, 2)
        return _like(series, noise.around(filtered, _largest(y)))
    cosines = np.cos(_TURN * np.arange(4 * count, dtype=np.longdouble) / (4 * count))
    table = cosines[np.outer(order, 2 * order + 1) % (4 * count)]
    transformed = table @ y * gain * (2 / Wide(count))
    transformed[0] /= 2
    return _like(series, transformed @ table)


def _between(series: Outcome, x: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.longdouble]]:
    """The place of the sample before each x and how far on its way to the next it lies, 0 to 1."""
    place = np.clip(np.searchsorted(series.x, x, side="right") - 1, 0, len(series.x) - 2)
    known = wide(series.x)
    return place, (wide(x) - known[place]) / (known[place + 1] - known[place])


def _straight(series: Outcome, x: NDArray[Any]) -> NDArray[np.longdouble]:
    place, part = _between(series, x)
    y = wide(series.y)
    found: NDArray[np.longdouble] = y[place] * (1 - part) + y[place + 1] * part
    return found


def _resample(work: Work, noise: Noise) -> Outcome:
    series, count = work.inputs[0], work.options["count"]
    first, last = wide(series.x)[[0, -1]]
    x = double(first + (last - first) * np.arange(count) / Wide(count - 1))
    x[-1] = series.x[-1]
    return _like(series, noise.around(_straight(series, x), _largest(series.y)), x)


def _interpolate(work: Work, noise: Noise) -> Outcome:
    series, points = work.inputs[0], work.options["points"]
    x = np.array(points, dtype=np.float64) if points is not None else work.inputs[1].x
    if work.options["method"] == "linear" or len(series.x) == 2:
        return _like(series, noise.around(_straight(series, x), _largest(series.y)), x)
    place, part = _between(series, x)
    y, step = wide(series.y), np.diff(wide(series.x))
    bend = _bends(series)
    h, rest = step[place], 1 - part
    curve = ((rest**3 - rest) * bend[place] + (part**3 - part) * bend[place + 1]) * h * h / 6
    found = y[place] * rest + y[place + 1] * part + curve
    return _like(series, noise.around(found, max(_largest(y), _largest(curve))), x)


def _bends(series: Outcome) -> NDArray[np.longdouble]:
    """The second derivatives of the not-a-knot spline at the samples."""
    y, h = wide(series.y), np.diff(wide(series.x))
    slope = np.diff(y) / h
    count = len(y)
    if count == 3:
        return np.full(3, 2 * (slope[1] - slope[0]) / (h[0] + h[1]))
    below, middle, above = h[:-1].copy(), 2 * (h[:-1] + h[1:]), h[1:].copy()
    right = 6 * np.diff(slope)
    # The third derivative does not jump at the second and the last but one sample.
    middle[0] += h[0] * (1 + h[0] / h[1])
    above[0] -= h[0] * h[0] / h[1]
    middle[-1] += h[-1] * (1 + h[-1] / h[-2])
    below[-1] -= h[-1] * h[-1] / h[-2]
    for at in range(1, count - 2):
        factor = below[at] / middle[at - 1]
        middle[at] -= factor * above[at - 1]
        right[at] -= factor * right[at - 1]
    inner = right / middle
    for at in range(count - 4, -1, -1):
        inner[at] = (right[at] - above[at] * inner[at + 1]) / middle[at]
    first = inner[0] - h[0] / h[1] * (inner[1] - inner[0])
    last = inner[-1] + h[-1] / h[-2] * (inner[-1] - inner[-2])
    return np.concatenate([[first], inner, [last]])


def _derivative(work: Work, noise: Noise) -> Outcome:
    series = work.inputs[0]
    h, quotient = np.diff(wide(series.x)), np.diff(wide(series.y)) / np.diff(wide(series.x))
    if len(quotient) == 1:
        return _like(series, np.repeat(quotient, 2))
    inner = (h[1:] * quotient[:-1] + h[:-1] * quotient[1:]) / (h[1:] + h[:-1])
    ends = 2 * quotient[0] - inner[0], 2 * quotient[-1] - inner[-1]
    slopes = np.concatenate([[ends[0]], inner, [ends[1]]])
    return _like(series, noise.around(slopes, _largest(series.y) / np.concatenate([h[:1], h])))


def _integral(work: Work, noise: Noise) -> Outcome:
    series = work.inputs[0]
    x, y = wide(series.x), wide(series.y)
    areas = np.diff(x) * y[:-1] + np.diff(x) * np.diff(y) / 2
    sums = np.cumsum(np.concatenate([[Wide(work.options["initial"])], areas]))
    return _like(series, noise.around(sums, _largest(sums)))


def _spectrum(work: Work, noise: Noise) -> Outcome:
    series, scaling = work.inputs[0], work.options["scaling"]
    y, count = wide(series.y), len(series.y)
    bins = np.arange(count // 2 + 1)
    if count <= _BY_DEFINITION and not noise.active:
        power = _by_definition(y, bins)
    else:
        transformed = scipy.fft.fft(y.astype(np.clongdouble))[: len(bins)]
        power = transformed.real**2 + transformed.imag**2
        if not noise.active:
            # Where it matters most, and spread over the rest, the definition has the last word.
            checked = np.union1d(
                np.argsort(-power)[: _BINS_BY_DEFINITION // 2],
                np.linspace(0, len(bins) - 1, _BINS_BY_DEFINITION // 2).astype(int),
            )
            power[checked] = _by_definition(y, checked)
    rate = (count - 1) / (wide(series.x)[-1] - wide(series.x)[0])
    twice = np.where((bins == 0) | (2 * bins == count), 1, 2)
    amplitude = noise.around(np.sqrt(power) / count, _largest(y))
    found = twice * (amplitude if scaling == "amplitude" else amplitude**2)
    return Outcome(bins * rate / count, found, "frequency", scaling)


def _by_definition(y: NDArray[np.longdouble], bins: NDArray[Any]) -> NDArray[np.longdouble]:
    """The squared size of the sum of y_i·exp(-2πjki/n) for each k in ``bins``."""
    count = len(y)
    turn = _TURN * np.arange(count, dtype=np.longdouble) / count
    place = np.outer(bins, np.arange(count)) % count
    found: NDArray[np.longdouble] = (np.cos(turn)[place] @ y) ** 2 + (np.sin(turn)[place] @ y) ** 2
    return found


def _peaks(work: Work, noise: Noise) -> Outcome:
    series, options = work.inputs[0], work.options
    x, y = series.x.tolist(), series.y.tolist()
    span = max(y) - min(y)
    before, after = _lowest_before_higher(y), _lowest_before_higher(y[::-1])[::-1]
    least = max(options["minProminence"], 1e-9 * span)
    found = []
    for first, last in _runs(y):
        place = (first + last) // 2
        prominence = y[place] - max(before[first], after[last])
        low_enough = options["minHeight"] is not None and y[place] < options["minHeight"]
        if prominence >= least and not low_enough:
            found.append(place)
    highest = max(y)
    found.sort(key=lambda place: (math.floor((highest - y[place]) / (1e-9 * span or 1.0) + 0.5), place))
    kept: list[int] = []
    for place in found:
        if len(kept) < options["count"] and all(
            abs(x[place] - x[other]) >= options["minDistance"] for other in kept
        ):
            kept.append(place)
    kept.sort()
    return _like(series, series.y[kept], series.x[kept])


def _runs(y: list[float]) -> list[tuple[int, int]]:
    """The first and last place of each run of equal samples that is higher than both its neighbours."""
    found, first = [], 0
    for place in range(1, len(y)):
        if y[place] != y[first]:
            if first > 0 and y[first - 1] < y[first] > y[place]:
                found.append((first, place - 1))
            first = place
    return found


def _lowest_before_higher(y: list[float]) -> list[float]:
    """For each sample the lowest one back to the last that is higher than it, or to the start."""
    found: list[float] = []
    standing: list[tuple[float, float]] = []
    for value in y:
        lowest = value
        while standing and standing[-1][0] <= value:
            lowest = min(lowest, standing.pop()[1])
        standing.append((value, lowest))
        found.append(lowest)
    return found


def _statistics(work: Work, noise: Noise) -> Outcome:
    series = work.inputs[0]
    low, high = work.options["from"], work.options["to"]
    chosen = [
        place
        for place, x in enumerate(series.x.tolist())
        if (low is None or low <= x) and (high is None or x <= high)
    ]
    x, y = series.x[chosen], series.y[chosen]
    return Outcome(x, y, series.x_name, series.y_name, statistics=describe(y, noise))


def describe(y: NDArray[np.float64], noise: Noise) -> dict[str, float]:
    """The object of the operation statistics."""
    count, values = len(y), wide(np.sort(y))
    if not np.isfinite(y).all():
        return {"count": count, **dict.fromkeys(_STATISTICS, math.nan)}
    total = np.sum(values)
    mean = noise.array(np.asarray(total / count))
    away = values - mean
    squares = np.sum(away * away)
    skewness = (
        Wide(0) if values[0] == values[-1] else np.sum(away**3) / count / (squares / count) ** Wide(1.5)
    )
    variance = squares / (count - 1) if count > 1 else Wide(0)
    if values[0] == values[-1]:
        variance = Wide(0)

    def quartile(quarter: int) -> Any:
        place, rest = divmod(quarter * (count - 1), 4)
        if not rest:
            return values[place]
        return values[place] + (values[place + 1] - values[place]) * Wide(rest) / 4

    found = (
        *(total, mean, quartile(2), variance, np.sqrt(variance), values[0], values[-1]),
        *(quartile(1), quartile(3), skewness),
    )
    return {"count": count} | {name: float(value) for name, value in zip(_STATISTICS, found, strict=True)}


def _polyfit(series: Outcome, degree: int, noise: Noise) -> Outcome:
    fit = fitting.polynomial(series, degree, noise)
    return replace(fit, y=noise.around(fit.y, _largest(series.y)))


_STATISTICS = (
    *("sum", "mean", "median", "variance", "standardDeviation", "min", "max"),
    *("lowerQuartile", "upperQuartile", "skewness"),
)

_OPERATIONS: dict[str, Callable[[Work, Noise], Outcome]] = {
    "readCSV": _read_csv,
    "linspace": _linspace,
    "expression": _expression,
    "solveLinear": equations.solve,
    "ode": equations.ode,
    "smooth": _smooth,
    "detrend": _detrend,
    "window": _window,
    "lowpass": _lowpass,
    "resample": _resample,
    "interpolate": _interpolate,
    "derivative": _derivative,
    "integral": _integral,
    "spectrum": _spectrum,
    "peaks": _peaks,
    "statistics": _statistics,
    "polyfit": lambda work, noise: _polyfit(work.inputs[0], work.options["degree"], noise),
    "leastSquares": fitting.model,
}
