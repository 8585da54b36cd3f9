"""Judges a numerics result: what was published against what another computation of the document gives.

The other computation is a :class:`Reference`; which engine made it is the caller's choice. Nothing here
comes from the producer but the bytes and numbers under test.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.native.worker import plain
from schemaxis_server.providers.numerics.graph import Outcome
from schemaxis_server.providers.numerics.second import measure as second_measure
from schemaxis_server.providers.numerics.second import operations as second
from schemaxis_server.providers.numerics.second.fitting import NotFound
from schemaxis_server.providers.numerics.second.noise import Noise
from schemaxis_server.providers.numerics.vocabulary import DATA_KIND, QUANTITIES, SERIES_KIND

Check = dict[str, Any]
Floats = NDArray[np.float64]

TOLERANCE = 1e-9
_OF_SAMPLES = 1e-12
_NOISE_NEARBY = 8
_OF_NOISE_NEARBY = 30.0
_OF_NOISE_ALONE = 1000.0
_SHOWN = 3
_OWN = "schemaxis"
_FINDINGS = ("coefficients", "residual", "statistics")
_KINDS = (SERIES_KIND, DATA_KIND)


class NoReference(Exception):
    """The other computation failed; the message says why."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Another computation of a document: by which ``engine``, in which words, with what outcome by node.

    ``exact`` and ``noisy`` are the second formulation's runs without and with rounding noise: how far they
    lie apart tells how many digits mean anything.
    """

    engine: str
    words: str
    outcomes: Mapping[str, Outcome]
    exact: Mapping[str, Outcome]
    noisy: Mapping[str, Outcome]


def second_reference(document: Mapping[str, Any], bindings: Mapping[str, str]) -> Reference:
    """The second formulation as reference. Raises ``NoReference``."""
    noise = Noise()
    try:
        exact = second.compute(document, bindings, noise)
        noise.begin()
        noisy = _noisy(document, bindings, noise) or exact
    except UnsupportedInput as reason:
        raise NoReference(reason.message) from reason
    except (NotFound, ArithmeticError, ValueError, OSError, LookupError) as reason:
        raise NoReference(f"{type(reason).__name__}: {reason}"[:300]) from reason
    words = "by a second formulation in extended precision, with other algorithms"
    return Reference(f"schemaxis second formulation, NumPy {np.__version__}", words, exact, exact, noisy)


def _noisy(
    document: Mapping[str, Any], bindings: Mapping[str, str], noise: Noise
) -> Mapping[str, Outcome] | None:
    try:
        return second.compute(document, bindings, noise)
    except (UnsupportedInput, ArithmeticError, ValueError, LookupError):
        # Noise led a search astray, or beyond a limit: then it explains nothing.
        return None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The checks, what they do not reach, and the samples of the outputs whose every check passed."""

    checks: list[Check]
    not_covered: list[str]
    confirmed: dict[str, Outcome]


def judge(request: Mapping[str, Any], reference: Reference | str) -> Judgement:
    """Check every output; ``reference`` is a text where there is none, which fails each output."""
    judge = _Judge(request, reference)
    for output in request["document"]["outputs"]:
        judge.output(output)
    judge.names()
    return Judgement(judge.checks, judge.not_covered, judge.confirmed)


class _Judge:
    def __init__(self, request: Mapping[str, Any], reference: Reference | str) -> None:
        self._document = request["document"]
        self._results = request["outputs"]
        self._reference = reference
        self._published = {
            (one["operation"], one["kind"]): Path(one["path"]) for one in request["publications"]
        }
        self._count = len(request["publications"])
        self.checks: list[Check] = []
        self.not_covered: list[str] = []
        self.confirmed: dict[str, Outcome] = {}

    def output(self, output: str) -> None:
        before = len(self.checks)
        claimed = self._results.get(output)
        result = claimed if isinstance(claimed, Mapping) else {}
        self.checks.append(_form(result, output))
        observed = {
            name: _number(entry.get("value")) if isinstance(entry, Mapping) else None
            for name, entry in result.items()
        }
        try:
            columns = _read_csv(self._published.get((output, SERIES_KIND)))
        except _Unreadable as reason:
            scope = "The published CSV, read by Python's csv module."
            self.checks.append(_failed(f"samples of {output}", scope, _OWN, "a series", str(reason)))
            return
        published = Outcome(columns[2], columns[3], columns[0], columns[1])
        if isinstance(self._reference, str):
            scope = "The document computed again from its source data."
            self.checks.append(_failed(f"samples of {output}", scope, _OWN, "a series", self._reference))
        else:
            self._against_reference(self._reference, output, published, observed)
        self.checks.append(_quantities(output, published, observed))
        self.checks.append(_data(output, self._published.get((output, DATA_KIND)), published, result))
        if all(check["passed"] for check in self.checks[before:]):
            self.confirmed[output] = published

    def _against_reference(
        self, reference: Reference, output: str, published: Outcome, observed: Mapping[str, Any]
    ) -> None:
        expected = reference.outcomes[output]
        exact, noisy = reference.exact[output], reference.noisy[output]
        alike = len(exact.y) == len(noisy.y)
        with np.errstate(invalid="ignore"):
            noise = np.abs(noisy.y - exact.y) if alike else np.zeros(len(exact.y))
        check, blurred = _samples(reference, output, expected, published, noise)
        self.checks.append(check)
        if blurred:
            self.not_covered.append(
                f"{output}: {blurred} of {len(expected.y)} samples to {TOLERANCE:g}: rounding alone moves "
                f"them "
                "further, and they were held to what rounding explains."
            )
        if any(
            value is not None for value in (expected.coefficients, expected.residual, expected.statistics)
        ):
            self.checks.append(_findings(reference, output, observed))

    def names(self) -> None:
        """Exactly one file of each kind for each output, and no other."""
        wanted = {(output, kind) for output in self._document["outputs"] for kind in _KINDS}
        if set(self._published) != wanted or self._count != len(wanted):
            found = ", ".join(f"{kind} of {output}" for output, kind in sorted(self._published)) or "nothing"
            scope = "CSV and JSON of each output and nothing else."
            self.checks.append(
                _failed("published files", scope, _OWN, f"{len(wanted)} files", f"{self._count}: {found}")
            )


# Reading again


class _Unreadable(Exception):
    """A publication that is not what it should be."""


def _read_csv(path: Path | None) -> tuple[str, str, Floats, Floats]:
    """The names and samples of a published series, by another parser than the one that wrote it."""
    if path is None:
        raise _Unreadable("no CSV was published")
    try:
        text = path.read_bytes().decode("utf-8")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        if not rows or len(rows[0]) != 2 or not text.endswith("\r\n"):
            raise _Unreadable("the CSV has no header of two columns, or no line end at its end")
        numbers = np.array([[_cell(cell) for cell in row] for row in rows[1:]], dtype=np.float64)
        columns = numbers.reshape(-1, 2)
    except (OSError, ValueError, csv.Error) as reason:
        raise _Unreadable(f"the CSV cannot be read: {reason}"[:300]) from None
    if len(columns) != len(rows) - 1:
        raise _Unreadable("the CSV has rows of other than two cells")
    return rows[0][0], rows[0][1], columns[:, 0], columns[:, 1]


def _cell(text: str) -> float:
    value = float(text)
    # float() takes spellings that other readers do not.
    if not math.isfinite(value) and text not in ("NaN", "Infinity", "-Infinity"):
        raise ValueError(f"{text[:20]!r} is no number")
    return value


def _number(value: Any) -> Any:
    """The value that a result's JSON stands for."""
    if isinstance(value, Mapping):
        if set(value) == {"$number"}:
            return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(str(value["$number"]))
        return {name: _number(member) for name, member in value.items()}
    return [_number(member) for member in value] if isinstance(value, list) else value


# Checks


def _form(result: Mapping[str, Any], output: str) -> Check:
    wanted = {one.name: one.unit for one in QUANTITIES}
    found = {
        name: entry.get("unit") if isinstance(entry, Mapping) and "value" in entry else None
        for name, entry in result.items()
    }
    return {
        "name": f"form of the result of {output}",
        "scope": "Each quantity with its unit, and no other.",
        "engine": _OWN,
        "passed": found == wanted,
        "expected": wanted,
        "observed": found,
        "tolerance": "exact",
    }


def _samples(
    reference: Reference, output: str, expected: Outcome, published: Outcome, noise: Floats
) -> tuple[Check, int]:
    """The published samples against the reference's; the number of samples that rounding blurs."""
    scope = f"The document computed again from its source data {reference.words}; each sample of the published CSV, "
    scope += "read by Python's csv module, and the names of its columns."
    name = f"samples of {output}"
    about = {"columns": [expected.x_name, expected.y_name], "count": len(expected.y)}
    found = {"columns": [published.x_name, published.y_name], "count": len(published.y)}
    if about != found:
        return _failed(name, scope, reference.engine, about, found), 0
    y = expected.y
    with np.errstate(all="ignore"):
        steady = np.isfinite(y) & (noise <= 1e-6 * np.abs(y))
        scale = _largest(y[steady]) or _largest(y)
        room = _OF_NOISE_NEARBY * _greatest_nearby(np.where(np.isfinite(noise), noise, 0.0))
        blurred = int(np.count_nonzero(room > TOLERANCE * scale))
        # A fit far smaller than its data is no more exact than they are.
        limit = np.maximum(max(TOLERANCE * scale, _OF_SAMPLES * expected.size), room)
        wrong_y = ~_agree(y, published.y, limit)
        wrong_x = ~_agree(expected.x, published.x, TOLERANCE * (_largest(expected.x) or 1.0))
    passed = not wrong_x.any() and not wrong_y.any()
    about["scale"] = found["scale"] = scale
    places = np.flatnonzero(wrong_x | wrong_y)[:_SHOWN]
    if not places.size and len(y):
        places = np.unique([0, int(np.nanargmax(np.abs(y))) if not np.isnan(y).all() else 0, len(y) - 1])
    for told, series in ((about, expected), (found, published)):
        told["samples"] = {
            str(place): [float(series.x[place]), float(series.y[place])] for place in places.tolist()
        }
    check = _row(name, scope, reference.engine, passed, about, found)
    return {
        **check,
        "tolerance": f"{TOLERANCE:g} of the largest |y| and |x|, or what rounding explains",
    }, blurred


def _findings(reference: Reference, output: str, observed: Mapping[str, Any]) -> Check:
    """Coefficients, residual and statistics against the reference's."""
    expected, exact, noisy = (one[output] for one in (reference.outcomes, reference.exact, reference.noisy))
    found = {name: observed.get(name) for name in _FINDINGS}
    passed = (
        _near_coefficients(expected, exact, noisy, found["coefficients"])
        and _near_residual(expected, exact, noisy, found["residual"])
        and _near_statistics(expected, exact, noisy, found["statistics"])
    )
    return {
        "name": f"findings of {output}",
        "scope": "What a fit, a solution or the statistics found, computed again from the source data "
        f"{reference.words}.",
        "engine": reference.engine,
        "passed": passed,
        "expected": plain({name: getattr(expected, name) for name in _FINDINGS}),
        "observed": plain(found),
        "tolerance": f"{TOLERANCE:g} of each value, or what rounding explains",
    }


def _near_coefficients(expected: Outcome, exact: Outcome, noisy: Outcome, found: Any) -> bool:
    wanted = expected.coefficients
    if wanted is None:
        return found is None
    if not isinstance(found, list) or len(found) != len(wanted):
        return False
    scale = max(_largest(exact.y), exact.size)
    floors = [
        max(_OF_SAMPLES * scale / one if one else 0.0, 100 * slack)
        for one, slack in zip(
            exact.reach or [1.0] * len(wanted), exact.slack or [0.0] * len(wanted), strict=True
        )
    ]
    limits = _limits(wanted, floors, _moved(exact.coefficients, noisy.coefficients))
    return all(map(_is_near, wanted, found, limits))


def _near_residual(expected: Outcome, exact: Outcome, noisy: Outcome, found: Any) -> bool:
    if expected.residual is None:
        return found is None
    size = max(exact.size, _largest(exact.y))
    moved = _moved([exact.residual], [noisy.residual])
    if len(exact.y) == len(noisy.y):
        with np.errstate(invalid="ignore"):
            moved = [max(one, _largest(noisy.y - exact.y)) for one in moved]
    (limit,) = _limits([expected.residual], [_OF_SAMPLES * size], moved)
    return _is_near(expected.residual, found, limit)


def _near_statistics(expected: Outcome, exact: Outcome, noisy: Outcome, found: Any) -> bool:
    if expected.statistics is None:
        return found is None
    if not isinstance(found, Mapping) or set(found) != set(expected.statistics):
        return False
    names, scale = list(expected.statistics), _largest(exact.y)
    moved = _moved(
        *([(one.statistics or {}).get(name, math.nan) for name in names] for one in (exact, noisy))
    )
    limits = _limits(list(expected.statistics.values()), [_floor(name, scale) for name in names], moved)
    return all(map(_is_near, expected.statistics.values(), (found[name] for name in names), limits))


def _quantities(output: str, published: Outcome, observed: Mapping[str, Any]) -> Check:
    """Each quantity against the published samples."""
    expected = second_measure.measure(published)
    scale = _largest(published.y[np.isfinite(published.y)])
    with np.errstate(all="ignore"):
        area = float(
            np.sum(np.abs(np.diff(published.x) * (np.abs(published.y[1:]) + np.abs(published.y[:-1]))))
        )
    names = [name for name in expected if name not in _FINDINGS]
    limits = [
        TOLERANCE * abs(expected[name])
        + _OF_SAMPLES * (area if name == "integral" and math.isfinite(area) else scale)
        if isinstance(expected[name], float) and name != "peakX"
        else 0.0
        for name in names
    ]
    passed = all(
        _is_near(expected[name], observed.get(name), limit) for name, limit in zip(names, limits, strict=True)
    )
    return {
        "name": f"quantities of {output}",
        "scope": "Each quantity of the result computed again from the samples of the published CSV in "
        "extended precision.",
        "engine": f"{_OWN} second formulation, NumPy {np.__version__}",
        "passed": passed,
        "expected": plain({name: expected[name] for name in names}),
        "observed": plain({name: observed.get(name) for name in names}),
        "tolerance": f"{TOLERANCE:g} of each value and {_OF_SAMPLES:g} of the largest |y|; counts and "
        "places exact",
    }


def _data(output: str, path: Path | None, published: Outcome, result: Mapping[str, Any]) -> Check:
    """The published JSON against the published CSV and the result: it says the same thrice."""
    name, scope = (
        f"JSON of {output}",
        "The published JSON says what the CSV and the result say, number for number.",
    )
    if path is None:
        return _failed(name, scope, _OWN, "a JSON file", "none published")
    wanted = {
        "columns": [published.x_name, published.y_name],
        "samples": plain({published.x_name: published.x.tolist(), published.y_name: published.y.tolist()}),
        "quantities": dict(result),
    }
    try:
        found = json.loads(path.read_bytes(), parse_constant=_no_constant)
    except (OSError, ValueError, RecursionError) as reason:
        return _failed(name, scope, _OWN, "a readable file", str(reason)[:200])
    if not isinstance(found, dict) or set(found) != set(wanted):
        return _failed(name, scope, _OWN, sorted(wanted), "other members")
    differing = [part for part, value in wanted.items() if found[part] != value]
    count = len(published.y)
    return {
        "name": name,
        "scope": scope,
        "engine": _OWN,
        "passed": not differing,
        "expected": {"columns": wanted["columns"], "samples": count},
        "observed": {"columns": wanted["columns"], "samples": count}
        if not differing
        else f"other {', '.join(differing)}",
        "tolerance": "exact",
    }


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


# Comparing


def _largest(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(np.max(np.abs(finite))) if len(finite) else 0.0


def _agree(expected: Floats, observed: Floats, limit: Any) -> NDArray[np.bool_]:
    """Which samples agree: within the limit, or the same NaN or infinity."""
    near = np.abs(expected - observed) <= limit
    agreeing: NDArray[np.bool_] = np.where(
        np.isfinite(expected), near, (expected == observed) | (np.isnan(expected) & np.isnan(observed))
    )
    return agreeing


def _is_near(expected: Any, observed: Any, limit: float) -> bool:
    if not isinstance(observed, int | float) or isinstance(observed, bool):
        return False
    if isinstance(expected, int) and not isinstance(observed, int):
        return False
    if not math.isfinite(expected):
        return bool(observed == expected) or (math.isnan(expected) and math.isnan(observed))
    return bool(abs(expected - observed) <= limit)


def _moved(exact: Sequence[Any] | None, noisy: Sequence[Any] | None) -> list[float]:
    """How far rounding noise moves each value."""
    if exact is None or noisy is None or len(exact) != len(noisy):
        return []
    moved = [abs(a - b) for a, b in zip(exact, noisy, strict=True)]
    return [one if math.isfinite(one) else 0.0 for one in moved]


def _limits(values: Sequence[float], floors: Sequence[float], noise: Sequence[float]) -> list[float]:
    """1e-9 of each value or its floor, or what rounding explains where that is more."""
    return [
        max(TOLERANCE * abs(value), floor, _OF_NOISE_ALONE * one) if math.isfinite(value) else 0.0
        for value, floor, one in zip(values, floors, noise or [0.0] * len(values), strict=True)
    ]


def _greatest_nearby(noise: Floats) -> Floats:
    """For each sample the greatest among it and its neighbours: one draw alone may be small by chance."""
    if not len(noise):
        return noise
    padded = np.pad(noise, _NOISE_NEARBY)
    nearby: Floats = np.max(np.lib.stride_tricks.sliding_window_view(padded, 2 * _NOISE_NEARBY + 1), axis=1)
    return nearby


def _floor(name: str, scale: float) -> float:
    powers = {"variance": scale * scale, "skewness": 1.0, "count": 0.0}
    return _OF_SAMPLES * powers.get(name, scale)


def _row(name: str, scope: str, engine: str, passed: bool, expected: Any, observed: Any) -> Check:
    return {
        "name": name,
        "scope": scope,
        "engine": engine,
        "passed": passed,
        "expected": plain(expected),
        "observed": plain(observed),
        "tolerance": "exact",
    }


def _failed(name: str, scope: str, engine: str, expected: Any, observed: Any) -> Check:
    return _row(name, scope, engine, False, expected, observed)
