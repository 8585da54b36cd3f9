"""The numerics operations in NumPy and SciPy, as the vocabulary defines them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import scipy.interpolate
import scipy.signal
from numpy.typing import NDArray

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.fits import STATISTICS
from schemaxis_server.providers.numerics.graph import Operation, Outcome, Work
from schemaxis_server.providers.numerics.rules import variables
from schemaxis_server.providers.numerics.signals import WINDOWS
from schemaxis_server.providers.numpy_ import demands, equations, fitting
from schemaxis_server.providers.numpy_.functions import FUNCTIONS
from schemaxis_server.providers.tables import reader
from schemaxis_server.providers.tables.dialect import Dialect

Floats = NDArray[np.float64]

_PROMINENCE = 1e-9


def _series(like: Outcome, y: Floats, x: Floats | None = None) -> Outcome:
    return Outcome(like.x if x is None else x, y, like.x_name, like.y_name)


def read_csv(work: Work) -> Outcome:
    options = work.options
    if work.file is None:
        raise UnsupportedInput("No file is bound to it.", "/options/file")
    try:
        table = reader.read_file(Path(work.file), Dialect.of(options))
        x = np.array(_column(table, options["xColumn"], "xColumn"), dtype=np.float64)
        y = np.array(_column(table, options["yColumn"], "yColumn"), dtype=np.float64)
    except reader.TableRefused as reason:
        raise UnsupportedInput(reason.message, "/options/file") from reason
    if not x.size:
        raise UnsupportedInput("The file has no row below its header.", "/options/file")
    wrong = np.flatnonzero(~np.isfinite(x))
    if wrong.size:
        line = table.lines[int(wrong[0])]
        raise UnsupportedInput(f"Line {line}: x is not finite; remove the row.", "/options/xColumn")
    return Outcome(x, y, options["xColumn"], options["yColumn"])


def _column(table: reader.Table, name: str, option: str) -> list[float]:
    if name not in table.names:
        try:
            table.position(name)
        except reader.TableRefused as reason:
            raise UnsupportedInput(reason.message, f"/options/{option}") from reason
    return table.numbers(name)


def linspace(work: Work) -> Outcome:
    options = work.options
    x = np.linspace(float(options["start"]), float(options["stop"]), options["count"])
    return Outcome(x, x.copy(), "x", "y")


def expression(work: Work) -> Outcome:
    demands.same_x(work.inputs)
    first = work.inputs[0]
    name = work.options["name"]
    if name == first.x_name:
        raise UnsupportedInput("The column of x has that name; choose another.", "/options/name")
    places = variables(list(work.sources))
    tree = formulas.parse(work.options["expression"], ["x", *places])
    values = {"x": first.x} | {known: work.inputs[place].y for known, place in places.items()}
    with np.errstate(all="ignore"):
        y = formulas.evaluate(tree, values, FUNCTIONS, np.float64)
    y = np.broadcast_to(np.asarray(y, dtype=np.float64), first.x.shape).copy()
    lost = int(np.count_nonzero(~np.isfinite(y)))
    if lost:
        work.warn(f"y is not finite at {lost} of {len(y)} samples.")
    return Outcome(first.x, y, first.x_name, name)


def smooth(work: Work) -> Outcome:
    series = work.inputs[0]
    demands.finite(series)
    y, half = series.y, (work.options["window"] - 1) // 2
    count = len(y)
    place = np.arange(count)
    reach = np.minimum(half, np.minimum(place, count - 1 - place))
    if not count:
        return _series(series, y)
    # Sums of differences to the middle of the range lose no digits to an offset of y.
    middle = (y.max() + y.min()) / 2
    sums = np.concatenate([[0.0], np.cumsum(y - middle)])
    means = (sums[place + reach + 1] - sums[place - reach]) / (2 * reach + 1) + middle
    return _series(series, np.where(reach == 0, y, means))


def detrend(work: Work) -> Outcome:
    series = work.inputs[0]
    fit = fitting.polynomial(series, work.options["degree"])
    return _series(series, series.y - fit.y)


def window(work: Work) -> Outcome:
    series = work.inputs[0]
    demands.at_least(series, 4, "a window")
    demands.finite(series)
    weights = scipy.signal.windows.general_cosine(len(series.y), WINDOWS[work.options["kind"]], sym=False)
    normalize = work.options["normalize"]
    if normalize == "amplitude":
        weights = weights / np.mean(weights)
    elif normalize == "power":
        weights = weights / np.sqrt(np.mean(weights**2))
    return _series(series, series.y * weights)


def lowpass(work: Work) -> Outcome:
    series = work.inputs[0]
    step = demands.uniform(series)
    cutoff = work.options["cutoff"]
    if cutoff >= 0.5 / step:
        work.warn(
            f"cutoff is not below half the sampling frequency ({0.5 / step:g}), so that little is damped."
        )
    mirrored = np.concatenate([series.y, series.y[::-1]])
    count = len(mirrored)
    frequency = np.arange(count // 2 + 1) / (count * step)
    with np.errstate(over="ignore"):
        gain = 1 / (1 + (frequency / cutoff) ** (2 * work.options["order"]))
    filtered = np.fft.irfft(np.fft.rfft(mirrored) * gain, count)
    return _series(series, filtered[: count // 2])


def resample(work: Work) -> Outcome:
    series = work.inputs[0]
    demands.increasing(series)
    x = np.linspace(series.x[0], series.x[-1], work.options["count"])
    return _series(series, np.interp(x, series.x, series.y), x)


def interpolate(work: Work) -> Outcome:
    series, points = work.inputs[0], work.options["points"]
    demands.increasing(series)
    x = np.array(points, dtype=np.float64) if points is not None else work.inputs[1].x
    outside = np.flatnonzero((x < series.x[0]) | (x > series.x[-1]))
    if outside.size:
        at = int(outside[0])
        raise UnsupportedInput(
            f"Point {at} ({x[at]:.9g}) lies outside the series, which goes from {series.x[0]:.9g} to {series.x[-1]:.9g}.",
            f"/options/points/{at}" if points is not None else "/inputs/1",
        )
    if work.options["method"] == "linear":
        return _series(series, np.interp(x, series.x, series.y), x)
    return _series(series, scipy.interpolate.CubicSpline(series.x, series.y)(x), x)


def derivative(work: Work) -> Outcome:
    series = work.inputs[0]
    demands.increasing(series)
    y: Floats = np.gradient(series.y, series.x, edge_order=1 if len(series.y) == 2 else 2)
    return _series(series, y)


def integral(work: Work) -> Outcome:
    series = work.inputs[0]
    demands.increasing(series, 1)
    steps = np.diff(series.x) * (series.y[1:] + series.y[:-1]) / 2
    return _series(series, np.concatenate([[0.0], np.cumsum(steps)]) + work.options["initial"])


def spectrum(work: Work) -> Outcome:
    series, scaling = work.inputs[0], work.options["scaling"]
    step = demands.uniform(series)
    count = len(series.y)
    size = np.abs(np.fft.rfft(series.y)) / count
    y = size if scaling == "amplitude" else size**2
    y[1 : (count + 1) // 2] *= 2
    return Outcome(np.arange(len(y)) / (count * step), y, "frequency", scaling)


def peaks(work: Work) -> Outcome:
    series, options = work.inputs[0], work.options
    demands.increasing(series, 1)
    x, y = series.x, series.y
    found, _ = scipy.signal.find_peaks(y, height=options["minHeight"])
    prominence = scipy.signal.peak_prominences(y, found)[0]
    found = found[prominence >= max(options["minProminence"], _PROMINENCE * np.ptp(y))]
    kept: list[int] = []
    nearest_kept = np.full(len(found), np.inf)
    # Peaks of one height but for rounding count as equal, so that every engine takes the same.
    ranks = np.floor((np.max(y) - y[found]) / (_PROMINENCE * np.ptp(y) or 1.0) + 0.5)
    for which in np.lexsort((found, ranks)):
        if nearest_kept[which] >= options["minDistance"]:
            kept.append(int(found[which]))
            nearest_kept = np.minimum(nearest_kept, np.abs(x[found] - x[found[which]]))
        if len(kept) == options["count"]:
            break
    kept.sort()
    return _series(series, y[kept], x[kept])


def statistics(work: Work) -> Outcome:
    series = work.inputs[0]
    low, high = work.options["from"], work.options["to"]
    chosen = np.ones(len(series.x), dtype=bool)
    if low is not None:
        chosen &= series.x >= low
    if high is not None:
        chosen &= series.x <= high
    if not chosen.any():
        raise UnsupportedInput("No sample lies in the range of x.", "/options")
    x, y = series.x[chosen], series.y[chosen]
    return Outcome(x, y, series.x_name, series.y_name, statistics=describe(y))


def describe(y: Floats) -> dict[str, float]:
    """The object of the operation statistics."""
    if not np.isfinite(y).all():
        return {"count": len(y), **dict.fromkeys(STATISTICS.split(", ")[1:], math.nan)}
    with np.errstate(all="ignore"):
        mean = np.mean(y)
        from_mean = y - mean
        second, third = np.mean(from_mean**2), np.mean(from_mean**3)
        level = bool(np.ptp(y) == 0)
        lower, median, upper = np.percentile(y, [25, 50, 75])
        return {
            "count": len(y),
            "sum": float(np.sum(y)),
            "mean": float(mean),
            "median": float(median),
            "variance": 0.0 if len(y) == 1 else float(np.var(y, ddof=1)),
            "standardDeviation": 0.0 if len(y) == 1 else float(np.std(y, ddof=1)),
            "min": float(np.min(y)),
            "max": float(np.max(y)),
            "lowerQuartile": float(lower),
            "upperQuartile": float(upper),
            "skewness": 0.0 if level else float(third / second**1.5),
        }


OPERATIONS: dict[str, Operation] = {
    "readCSV": read_csv,
    "linspace": linspace,
    "expression": expression,
    "solveLinear": equations.solve,
    "ode": equations.ode,
    "smooth": smooth,
    "detrend": detrend,
    "window": window,
    "lowpass": lowpass,
    "resample": resample,
    "interpolate": interpolate,
    "derivative": derivative,
    "integral": integral,
    "spectrum": spectrum,
    "peaks": peaks,
    "statistics": statistics,
    "polyfit": lambda work: fitting.polynomial(work.inputs[0], work.options["degree"]),
    "leastSquares": fitting.model,
}
