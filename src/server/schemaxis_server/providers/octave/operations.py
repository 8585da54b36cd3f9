"""The numerics operations, done by an Octave. Standard library only.

Files are read here, by the strict reader that defines what a table is; series are computed in Octave.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.fits import MAX_ITERATIONS, STATISTICS
from schemaxis_server.providers.numerics.graph import Operation, Outcome, Work
from schemaxis_server.providers.numerics.rules import variables
from schemaxis_server.providers.numerics.signals import WINDOWS
from schemaxis_server.providers.numerics.systems import SYSTEMS
from schemaxis_server.providers.octave.program import compiled
from schemaxis_server.providers.octave.session import Argument, OctaveFailed, Session
from schemaxis_server.providers.tables import reader
from schemaxis_server.providers.tables.dialect import Dialect

Doubles: TypeAlias = "array[float]"

_MEASURED = ("min", "max", "mean", "rms", "last", "integral", "peakX", "peakY")
_STATISTICS = tuple(STATISTICS.split(", "))
_NORMALIZE = ("amplitude", "power", "none")
_SCALING = ("amplitude", "power")


def operations(session: Session) -> dict[str, Operation]:
    """Every operation of the vocabulary but for ``readCSV`` in this Octave, that one in this process."""

    def bound(function: Callable[[Session, Work], Outcome]) -> Operation:
        return lambda work: function(session, work)

    return {"readCSV": read_csv} | {name: bound(function) for name, function in _IN_OCTAVE.items()}


def measure(session: Session, outcome: Outcome) -> dict[str, Any]:
    """Each quantity's value by its name."""
    (values,) = _asked(session, None, "measure", (8,), outcome.x, outcome.y)
    return {
        "count": len(outcome.y),
        **dict(zip(_MEASURED, values.tolist(), strict=True)),
        "coefficients": None if outcome.coefficients is None else list(outcome.coefficients),
        "residual": outcome.residual,
        "statistics": None if outcome.statistics is None else dict(outcome.statistics),
    }


def _asked(
    session: Session, work: Work | None, operation: str, lengths: Sequence[int | None], *arguments: Argument
) -> list[Doubles]:
    """The results of a script, of which each has to have its length if one is given."""
    answer = session.call(operation, *arguments)
    if work is not None:
        for warning in answer.warnings:
            work.warn(warning)
    found = [len(one) for one in answer.results]
    if len(found) != len(lengths) or any(
        wanted not in (None, one) for wanted, one in zip(lengths, found, strict=True)
    ):
        raise OctaveFailed(f"{operation} gave results of {found} numbers in Octave, which cannot be.")
    return answer.results


def _same_x(session: Session, work: Work, operation: str, *arguments: Argument) -> Outcome:
    """An operation that gives one y over the x of its input."""
    series = work.inputs[0]
    (y,) = _asked(session, work, operation, (len(series.x),), *arguments)
    return Outcome(series.x, y, series.x_name, series.y_name)


def _other_x(session: Session, work: Work, operation: str, *arguments: Argument) -> tuple[Doubles, Doubles]:
    x, y = _asked(session, work, operation, (None, None), *arguments)
    if len(x) != len(y):
        raise OctaveFailed(f"{operation} gave {len(x)} x and {len(y)} y in Octave, which cannot be.")
    return x, y


# Sources


def read_csv(work: Work) -> Outcome:
    options = work.options
    if work.file is None:
        raise UnsupportedInput("No file is bound to it.", "/options/file")
    try:
        table = reader.read_file(Path(work.file), Dialect.of(options))
        x, y = (_column(table, options[option], option) for option in ("xColumn", "yColumn"))
    except reader.TableRefused as reason:
        raise UnsupportedInput(reason.message, "/options/file") from reason
    if not x:
        raise UnsupportedInput("The file has no row below its header.", "/options/file")
    for place, value in enumerate(x):
        if not math.isfinite(value):
            message = f"Line {table.lines[place]}: x is not finite; remove the row."
            raise UnsupportedInput(message, "/options/xColumn")
    return Outcome(x, y, options["xColumn"], options["yColumn"])


def _column(table: reader.Table, name: str, option: str) -> Doubles:
    try:
        table.position(name)
    except reader.TableRefused as reason:
        raise UnsupportedInput(reason.message, f"/options/{option}") from reason
    return array("d", table.numbers(name))


def _linspace(session: Session, work: Work) -> Outcome:
    options = work.options
    count = options["count"]
    (x,) = _asked(session, work, "linspace", (count,), options["start"], options["stop"], count)
    return Outcome(x, x, "x", "y")


def _expression(session: Session, work: Work) -> Outcome:
    first, name = work.inputs[0], work.options["name"]
    if name == first.x_name:
        raise UnsupportedInput("The column of x has that name; choose another.", "/options/name")
    places = variables(list(work.sources))
    tree = formulas.parse(work.options["expression"], ["x", *places])
    # Several names may stand for one input's y: each input is one variable.
    tree = _renamed(tree, {known: f"y{place + 1}" for known, place in places.items()})
    program = compiled([tree], ["x", *(f"y{place + 1}" for place in range(len(work.inputs)))])
    series = [values for one in work.inputs for values in (one.x, one.y)]
    (y,) = _asked(session, work, "expression", (len(first.x),), *program.arguments(), *series)
    return Outcome(first.x, y, first.x_name, name)


def _renamed(tree: formulas.Tree, names: Mapping[str, str]) -> formulas.Tree:
    if isinstance(tree, formulas.Name):
        return formulas.Name(names.get(tree.name, tree.name))
    if isinstance(tree, formulas.Call):
        return formulas.Call(tree.function, tuple(_renamed(one, names) for one in tree.arguments))
    return tree


def _solve(session: Session, work: Work) -> Outcome:
    right = work.options["rightHandSide"]
    count = len(right)
    rows = [float(value) for row in work.options["matrix"] for value in row]
    found, residual = _asked(session, work, "solveLinear", (count, 1), rows, right)
    index = array("d", range(1, count + 1))
    return Outcome(index, found, "index", "value", coefficients=found.tolist(), residual=residual[0])


def _ode(session: Session, work: Work) -> Outcome:
    options = work.options
    system = SYSTEMS[options["system"]["type"]]
    component = options["component"] or system.states[0]
    count = options["count"]
    times, y = _asked(
        session,
        work,
        "ode",
        (count, count),
        system.name,
        [float(options["system"][name]) for name in system.parameters],
        options["initial"],
        [options["start"], options["stop"], count],
        system.states.index(component) + 1,
    )
    return Outcome(times, y, "t", component)


# Signals


def _smooth(session: Session, work: Work) -> Outcome:
    series = work.inputs[0]
    return _same_x(session, work, "smooth", series.x, series.y, work.options["window"])


def _detrend(session: Session, work: Work) -> Outcome:
    series = work.inputs[0]
    return _same_x(session, work, "detrend", series.x, series.y, work.options["degree"])


def _window(session: Session, work: Work) -> Outcome:
    series, options = work.inputs[0], work.options
    normalize = _NORMALIZE.index(options["normalize"]) + 1
    return _same_x(session, work, "window", series.x, series.y, WINDOWS[options["kind"]], normalize)


def _lowpass(session: Session, work: Work) -> Outcome:
    series, options = work.inputs[0], work.options
    return _same_x(session, work, "lowpass", series.x, series.y, options["cutoff"], options["order"])


def _resample(session: Session, work: Work) -> Outcome:
    series, count = work.inputs[0], work.options["count"]
    x, y = _asked(session, work, "resample", (count, count), series.x, series.y, count)
    return Outcome(x, y, series.x_name, series.y_name)


def _interpolate(session: Session, work: Work) -> Outcome:
    series, points = work.inputs[0], work.options["points"]
    x = array("d", points) if points is not None else work.inputs[1].x
    cubic, listed = work.options["method"] == "cubic", points is not None
    (y,) = _asked(session, work, "interpolate", (len(x),), series.x, series.y, x, cubic, listed)
    return Outcome(x, y, series.x_name, series.y_name)


def _derivative(session: Session, work: Work) -> Outcome:
    series = work.inputs[0]
    return _same_x(session, work, "derivative", series.x, series.y)


def _integral(session: Session, work: Work) -> Outcome:
    series = work.inputs[0]
    return _same_x(session, work, "integral", series.x, series.y, work.options["initial"])


def _spectrum(session: Session, work: Work) -> Outcome:
    series, scaling = work.inputs[0], work.options["scaling"]
    x, y = _other_x(session, work, "spectrum", series.x, series.y, _SCALING.index(scaling) + 1)
    return Outcome(x, y, "frequency", scaling)


def _peaks(session: Session, work: Work) -> Outcome:
    series, options = work.inputs[0], work.options
    x, y = _other_x(
        session,
        work,
        "peaks",
        series.x,
        series.y,
        _or_nan(options["minHeight"]),
        options["minProminence"],
        options["minDistance"],
        options["count"],
    )
    return Outcome(x, y, series.x_name, series.y_name)


def _statistics(session: Session, work: Work) -> Outcome:
    series = work.inputs[0]
    low, high = _or_nan(work.options["from"]), _or_nan(work.options["to"])
    x, y, told = _asked(
        session, work, "statistics", (None, None, len(_STATISTICS)), series.x, series.y, low, high
    )
    if len(x) != len(y) or told[0] != len(y):
        raise OctaveFailed("statistics gave numbers that do not fit each other in Octave.")
    values = {"count": len(y)} | dict(zip(_STATISTICS[1:], told.tolist()[1:], strict=True))
    return Outcome(x, y, series.x_name, series.y_name, statistics=values)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


# Fits


def _polyfit(session: Session, work: Work) -> Outcome:
    series, degree = work.inputs[0], work.options["degree"]
    lengths = (len(series.x), degree + 1, 1)
    return _fit(series, *_asked(session, work, "polyfit", lengths, series.x, series.y, degree))


def _least_squares(session: Session, work: Work) -> Outcome:
    series, initial = work.inputs[0], work.options["initial"]
    names = [parameter["name"] for parameter in initial]
    tree = formulas.parse(work.options["model"], ["x", *names])
    program = compiled([tree, *(formulas.derivative(tree, name) for name in names)], ["x", *names])
    return _fit(
        series,
        *_asked(
            session,
            work,
            "leastSquares",
            (len(series.x), len(names), 1),
            series.x,
            series.y,
            [parameter["value"] for parameter in initial],
            "\n".join(names),
            MAX_ITERATIONS,
            *program.arguments(),
        ),
    )


def _fit(series: Outcome, y: Doubles, coefficients: Doubles, residual: Doubles) -> Outcome:
    return Outcome(
        series.x,
        y,
        series.x_name,
        series.y_name,
        coefficients=coefficients.tolist(),
        residual=residual[0],
    )


_IN_OCTAVE: dict[str, Callable[[Session, Work], Outcome]] = {
    "linspace": _linspace,
    "expression": _expression,
    "solveLinear": _solve,
    "ode": _ode,
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
    "polyfit": _polyfit,
    "leastSquares": _least_squares,
}
