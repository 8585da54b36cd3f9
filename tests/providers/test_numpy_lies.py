"""What is wrong by a little is caught: samples, names, files, findings; and what is right passes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from providers.hosts import Produced, failures, is_verified
from providers.numerics_bench import NumericsBench, document, grid, node

_MODEL = {
    "model": "a*exp(-k*x) + c",
    "initial": [{"name": name, "value": value} for name, value in (("a", 1), ("k", 1), ("c", 0))],
}
# Every operation, and the option that a wrong engine could have misread.
_VARIANTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("smooth", {"window": 5}, {"window": 7}),
    ("detrend", {"degree": 1}, {"degree": 0}),
    ("window", {"kind": "hann"}, {"kind": "hamming"}),
    ("window", {"kind": "hann"}, {"kind": "hann", "normalize": "power"}),
    ("lowpass", {"cutoff": 3}, {"cutoff": 3.00001}),
    ("lowpass", {"cutoff": 3, "order": 2}, {"cutoff": 3, "order": 1}),
    ("resample", {"count": 50}, {"count": 51}),
    ("interpolate", {"points": [0.11, 1.2]}, {"points": [0.11, 1.2], "method": "cubic"}),
    ("integral", {}, {"initial": 1e-6}),
    ("derivative", {}, {"_filter": "integral"}),
    ("spectrum", {"scaling": "amplitude"}, {"scaling": "power"}),
    ("peaks", {}, {"minProminence": 0.5}),
    ("statistics", {"from": 0.5}, {"from": 0.52}),
    ("polyfit", {"degree": 3}, {"degree": 4}),
    ("leastSquares", _MODEL, {**_MODEL, "model": "a*exp(-k*x) + c + 0*x*a"}),
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> NumericsBench:
    return NumericsBench(tmp_path_factory.mktemp("numerics"))


@pytest.fixture(scope="module")
def fit(bench: NumericsBench) -> Produced:
    rows = {
        "x": [k / 16 for k in range(40)],
        "y": [2.5 * 0.7 ** (k / 8) + 0.1 * ((k * 7) % 5) for k in range(40)],
    }
    return bench.table(rows, node("f", "leastSquares", "data", **_MODEL))


def _altered(produced: Produced, tmp_path: Path, alter: Callable[[list[str]], list[str]]) -> dict[str, Path]:
    """The CSV with its lines altered, and the JSON as it was."""
    path = produced.path("series/csv")
    other = tmp_path / path.name
    lines = path.read_bytes().decode().split("\r\n")
    other.write_bytes("\r\n".join(alter(lines)).encode())
    return {path.name: other}


@pytest.mark.parametrize(
    ("operation", "right", "wrong"), _VARIANTS, ids=[f"{v[0]}-{k}" for k, v in enumerate(_VARIANTS)]
)
def test_a_result_of_other_options_is_caught(
    bench: NumericsBench, operation: str, right: dict[str, Any], wrong: dict[str, Any]
) -> None:
    tone = grid(0, 2, 128, "sin(7*x) + 0.3*cos(31*x) + exp(-x)")
    changed = {key: value for key, value in wrong.items() if key != "_filter"}
    asked = document(*tone, node("n", operation, "data", **right))
    given = bench.produce(document(*tone, node("n", wrong.get("_filter", operation), "data", **changed)))
    honest = bench.produce(asked)
    report = bench.verify(honest)
    assert is_verified(report), failures(report)
    if "0*x*a" not in str(wrong):
        assert not is_verified(bench.verify(given, document=honest.document))


@pytest.mark.parametrize("place", [1, 20, 40])
@pytest.mark.parametrize("column", [0, 1])
def test_each_sample_counts(
    bench: NumericsBench, fit: Produced, tmp_path: Path, place: int, column: int
) -> None:
    def alter(lines: list[str]) -> list[str]:
        cells = lines[place].split(",")
        cells[column] = repr(float(cells[column]) * (1 + 1e-6) + 1e-8)
        return [*lines[:place], ",".join(cells), *lines[place + 1 :]]

    report = bench.verify(fit, files=_altered(fit, tmp_path, alter))
    failed = [text.split(":")[0] for text in failures(report)]
    assert "samples of f" in failed


@pytest.mark.parametrize(
    "alter",
    [
        lambda lines: lines[:-2] + lines[-1:],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [lines[0].replace("y", "z"), *lines[1:]],
        lambda lines: lines[:-1],
        lambda lines: [*lines[:5], "", *lines[5:]],
        lambda lines: [*lines[:5], lines[5] + ",1", *lines[6:]],
        lambda lines: [*lines[:5], lines[5].split(",")[0] + ",NaN", *lines[6:]],
        lambda lines: [*lines[:5], lines[5].split(",")[0] + ",inf", *lines[6:]],
        lambda lines: [*lines[:5], lines[5].split(",")[0] + ',"1', *lines[6:]],
        lambda lines: [line.replace(",", ";") for line in lines],
        lambda lines: [line.replace(".", ",") for line in lines],
        lambda lines: lines[:1],
    ],
    ids=range(12),
)
def test_a_file_in_another_shape_is_caught(
    bench: NumericsBench, fit: Produced, tmp_path: Path, alter: Callable[[list[str]], list[str]]
) -> None:
    assert not is_verified(bench.verify(fit, files=_altered(fit, tmp_path, alter)))


@pytest.mark.parametrize("name", ["coefficients", "residual", "peakX", "peakY", "mean", "last", "integral"])
def test_each_finding_counts(bench: NumericsBench, fit: Produced, name: str) -> None:
    wrong = copy.deepcopy(fit.result["outputs"])
    value = wrong["f"][name]["value"]
    wrong["f"][name]["value"] = (
        [*value[:1], value[1] * (1 + 1e-6), *value[2:]]
        if isinstance(value, list)
        else value * (1 + 1e-6) + 1e-9
    )
    assert not is_verified(bench.verify(fit, outputs=wrong))


@pytest.mark.parametrize(
    "alter",
    [
        lambda whole: whole["samples"]["y"].pop(),
        lambda whole: whole["samples"]["y"].__setitem__(3, 1.0),
        lambda whole: whole["columns"].reverse(),
        lambda whole: whole["quantities"]["max"].__setitem__("value", 7),
        lambda whole: whole.__setitem__("more", 1),
        lambda whole: whole.pop("columns"),
    ],
    ids=range(6),
)
def test_a_json_that_says_something_else_is_caught(
    bench: NumericsBench, fit: Produced, tmp_path: Path, alter: Callable[[Any], Any]
) -> None:
    path = fit.path("data/json")
    whole = json.loads(path.read_text())
    alter(whole)
    other = tmp_path / path.name
    other.write_text(json.dumps(whole))
    assert not is_verified(bench.verify(fit, files={path.name: other}))


def test_another_source_file_is_caught(bench: NumericsBench) -> None:
    rows = {"x": [0.0, 1, 2, 3], "y": [1.0, 2, 3, 5]}
    made = bench.table(rows, node("p", "polyfit", "data", degree=1))
    other = bench.file({**rows, "y": [1.0, 2, 3, 5.00001]})
    assert is_verified(bench.verify(made))
    moved = Produced(made.document, made.directory, made.result, {"/nodes/0/options/file": other})
    assert not is_verified(bench.verify(moved))


def test_a_source_that_cannot_be_read_again_fails_and_does_not_raise(bench: NumericsBench) -> None:
    made = bench.table({"x": [0.0, 1], "y": [1.0, 2]})
    for bindings in ({}, {"/nodes/0/options/file": "/nowhere"}):
        moved = Produced(made.document, made.directory, made.result, bindings)
        report = bench.verify(moved)
        assert not is_verified(report)
        assert "computed again" in str(report["checks"])


def test_an_extra_file_is_caught(bench: NumericsBench, fit: Produced) -> None:
    result = copy.deepcopy(fit.result)
    result["publications"].append({**result["publications"][0], "name": "more.csv"})
    assert not is_verified(bench.verify(Produced(fit.document, fit.directory, result, fit.bindings)))


def test_nothing_unverified_is_drawn(bench: NumericsBench, fit: Produced, tmp_path: Path) -> None:
    assert len(bench.verify(fit, pictures=True)["pictures"]) == 2
    wrong = _altered(fit, tmp_path, lambda lines: lines[:-2] + lines[-1:])
    assert bench.verify(fit, files=wrong, pictures=True)["pictures"] == []


def test_a_result_that_rounding_dominates_is_told(bench: NumericsBench) -> None:
    made = bench.produce(document(*grid(0, 1, 50, "(1 + 1e-14*sin(9*x)) - 1")))
    report = bench.verify(made)
    assert is_verified(report), failures(report)
    assert any("rounding" in text for text in report["notCovered"])
    sound = bench.verify(bench.produce(document(*grid(0, 1, 50, "sin(9*x)"))))
    assert not any("rounding" in text for text in sound["notCovered"])


def test_random_lies_about_random_outputs(bench: NumericsBench) -> None:
    dice = random.Random(7)
    for seed in range(12):
        formula = f"{dice.uniform(1, 3)}*sin({dice.uniform(1, 9)}*x) + {dice.uniform(0.5, 2)}"
        made = bench.produce(
            document(*grid(0, 3, 64, formula), node("s", "spectrum", "data"), outputs=["data", "s"])
        )
        wrong = copy.deepcopy(made.result["outputs"])
        output = dice.choice(["data", "s"])
        name = dice.choice(["min", "max", "mean", "rms", "last", "integral", "peakX", "peakY"])
        wrong[output][name]["value"] = wrong[output][name]["value"] * (1 + 1e-6) + 1e-9
        assert not is_verified(bench.verify(made, outputs=wrong)), (seed, output, name)
