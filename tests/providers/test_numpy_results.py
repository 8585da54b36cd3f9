"""Numbers that are known beforehand: from theory, from certified data, from the standard library."""

from __future__ import annotations

import csv
import json
import math
import statistics
from typing import Any

import pytest

from providers.hosts import Produced, Refused, failures, is_verified
from providers.numerics_bench import NumericsBench, document, grid, node, series

TONES = "1.5 + 2*sin(2*pi*50*x) + 0.5*cos(2*pi*120*x)"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> NumericsBench:
    return NumericsBench(tmp_path_factory.mktemp("numerics"))


def verified(bench: NumericsBench, produced: Produced) -> Produced:
    report = bench.verify(produced)
    assert is_verified(report), failures(report)
    return produced


def made(bench: NumericsBench, *nodes: dict[str, Any]) -> Produced:
    return verified(bench, bench.produce(document(*nodes)))


# Spectra


def test_a_tone_shows_its_amplitude_at_its_frequency(bench: NumericsBench) -> None:
    found = made(bench, *grid(0, 1023 / 1024, 1024, TONES), node("s", "spectrum", "data"))
    frequency, amplitude = series(found)
    assert found.result["publications"][0]["name"] == "s.csv"
    assert found.path("series/csv").read_bytes().startswith(b"frequency,amplitude\r\n0.0,1.5")
    assert frequency == pytest.approx(range(513), rel=1e-12)
    assert amplitude[50] == pytest.approx(2, rel=1e-12)
    assert amplitude[120] == pytest.approx(0.5, rel=1e-12)
    assert found.quantity("peakX") == pytest.approx(50, rel=1e-12)
    assert found.quantity("peakY") == pytest.approx(2, rel=1e-12)


@pytest.mark.parametrize("count", [7, 8, 2047, 2048])
def test_power_sums_to_the_mean_square(bench: NumericsBench, count: int) -> None:
    found = made(
        bench,
        *grid(0, 3, count, "sin(17*x) + 0.3*x + exp(-x)"),
        node("s", "spectrum", "data", scaling="power"),
    )
    x, power = series(found)
    y = [math.sin(17 * t) + 0.3 * t + math.exp(-t) for t in (3 * k / (count - 1) for k in range(count))]
    assert math.fsum(power) == pytest.approx(math.fsum(v * v for v in y) / count, rel=1e-11)
    assert len(x) == count // 2 + 1
    assert x[1] == pytest.approx((count - 1) / 3 / count)


@pytest.mark.parametrize("kind", ["hann", "hamming", "blackman", "flattop", "rectangular"])
def test_a_window_keeps_the_amplitude_or_the_power(bench: NumericsBench, kind: str) -> None:
    tone = grid(0, 255 / 256, 256, "3*cos(2*pi*32*x)")
    found = made(bench, *tone, node("w", "window", "data", kind=kind), node("s", "spectrum", "w"))
    assert found.quantity("peakX") == pytest.approx(32)
    assert found.quantity("peakY") == pytest.approx(3, rel=1e-9)
    one = made(bench, *grid(0, 1, 64, "1 + 0*x"), node("w", "window", "data", kind=kind, normalize="power"))
    assert one.quantity("rms") == pytest.approx(1, rel=1e-12)


# Filters


def test_a_lowpass_halves_what_lies_at_its_cutoff_and_delays_nothing(bench: NumericsBench) -> None:
    # Half-sample symmetric, so that the mirrored series is the tone itself.
    tone = grid(0.5, 199.5, 200, "cos(2*pi*x/20)")
    found = made(bench, *tone, node("f", "lowpass", "data", cutoff=200 / 199 / 20 * 199 / 200, order=3))
    _, y = series(found)
    assert y == pytest.approx([0.5 * math.cos(2 * math.pi * (k + 0.5) / 20) for k in range(200)], abs=1e-11)


def test_a_lowpass_keeps_the_mean_and_a_constant(bench: NumericsBench) -> None:
    found = made(bench, *grid(0, 1, 101, "7 + 0*x"), node("f", "lowpass", "data", cutoff=0.01, order=8))
    assert series(found)[1] == pytest.approx([7.0] * 101, rel=1e-14)


def test_smoothing_shrinks_its_window_at_the_ends(bench: NumericsBench) -> None:
    rows = {"x": [0.0, 1, 2, 3, 4, 5], "y": [0.0, 3, 9, 0, 6, 3]}
    found = verified(bench, bench.table(rows, node("s", "smooth", "data", window=5)))
    assert series(found)[1] == pytest.approx([0, 4, 3.6, 4.2, 3, 3])


def test_detrending_removes_what_is_a_polynomial(bench: NumericsBench) -> None:
    found = made(bench, *grid(0, 4, 50, "3 - 2*x + x^2"), node("d", "detrend", "data", degree=2))
    assert found.quantity("max") == pytest.approx(0, abs=1e-12)


# Calculus and interpolation


def test_derivative_and_integral_of_a_parabola_over_uneven_steps(bench: NumericsBench) -> None:
    x = [0.0, 0.1, 0.4, 0.5, 1.1, 2.0]
    rows = {"x": x, "y": [2 * t * t - t for t in x]}
    slope = verified(bench, bench.table(rows, node("d", "derivative", "data")))
    assert series(slope)[1] == pytest.approx([4 * t - 1 for t in x], abs=1e-12)
    line = {"x": x, "y": [4 * t - 1 for t in x]}
    area = verified(bench, bench.table(line, node("i", "integral", "data", initial=5)))
    assert series(area)[1] == pytest.approx([5 + 2 * t * t - t for t in x], abs=1e-12)
    assert area.quantity("last") == pytest.approx(5 + 6)
    whole = verified(bench, bench.table(line))
    assert whole.quantity("integral") == pytest.approx(6)


@pytest.mark.parametrize(
    ("count", "formula"), [(2, "1 + x"), (3, "1 + x - x^2"), (4, "x^3 - x"), (9, "x^3 - x")]
)
def test_a_spline_is_exact_for_cubics(bench: NumericsBench, count: int, formula: str) -> None:
    points = [-1, -0.77, 0.1, 1.0, 0.3]
    found = made(
        bench, *grid(-1, 1, count, formula), node("i", "interpolate", "data", points=points, method="cubic")
    )
    powers = {"1 + x": (1, 1, 0, 0), "1 + x - x^2": (1, 1, -1, 0), "x^3 - x": (0, -1, 0, 1)}[formula]
    assert series(found)[0] == points
    assert series(found)[1] == pytest.approx(
        [sum(factor * x**power for power, factor in enumerate(powers)) for x in points], abs=1e-13
    )


def test_resampling_and_interpolating_at_another_series(bench: NumericsBench) -> None:
    rows = {"x": [0.0, 1, 4], "y": [0.0, 2, 8]}
    nodes = node("r", "resample", "data", count=5), node("i", "interpolate", "data", "r")
    found = verified(bench, bench.table(rows, *nodes))
    assert series(found) == ([0, 1, 2, 3, 4], [0, 2, 4, 6, 8])


# Peaks and statistics


def test_peaks_and_their_options(bench: NumericsBench) -> None:
    rows = {"x": [float(k) for k in range(12)], "y": [9.0, 1, 3, 3, 3, 3, 2, 2.5, 0, 7, 0, 8]}
    cases: list[tuple[dict[str, Any], list[float]]] = [
        ({}, [3, 7, 9]),
        ({"minProminence": 1}, [3, 9]),
        ({"minHeight": 2.6}, [3, 9]),
        ({"minDistance": 3}, [3, 9]),
        ({"minDistance": 7}, [9]),
        ({"count": 1}, [9]),
        ({"minHeight": 100}, []),
    ]
    for options, places in cases:
        found = verified(bench, bench.table(rows, node("p", "peaks", "data", **options)))
        assert series(found)[0] == places, options
        assert found.quantity("count") == len(places)


def test_no_peak_is_an_empty_series_whose_quantities_are_nan(bench: NumericsBench) -> None:
    found = made(bench, *grid(0, 1, 9, "x"), node("p", "peaks", "data"))
    assert found.path("series/csv").read_bytes() == b"x,y\r\n"
    assert found.quantity("count") == 0
    assert found.quantity("max") == {"$number": "NaN"}


def test_equal_peaks_are_taken_in_order_whatever_rounding_makes_of_them(bench: NumericsBench) -> None:
    found = made(bench, *grid(0, 10, 1001, "sin(2*pi*x)"), node("p", "peaks", "data", count=3))
    assert series(found)[0] == pytest.approx([0.25, 1.25, 2.25])


def test_statistics_are_those_of_the_standard_library(bench: NumericsBench) -> None:
    y = [2.5, -1, 4, 4, 0.125, 9, 3, -7]
    found = verified(
        bench, bench.table({"x": [float(k) for k in range(8)], "y": y}, node("s", "statistics", "data"))
    )
    told = found.quantity("statistics")
    lower, median, upper = statistics.quantiles(y, n=4, method="inclusive")
    assert told["mean"] == pytest.approx(statistics.fmean(y))
    assert told["variance"] == pytest.approx(statistics.variance(y))
    assert told["standardDeviation"] == pytest.approx(statistics.stdev(y))
    assert [told[name] for name in ("lowerQuartile", "median", "upperQuartile")] == pytest.approx(
        [lower, median, upper]
    )
    assert found.quantity("rms") == pytest.approx(math.sqrt(sum(v * v for v in y) / 8))


def test_statistics_of_a_range(bench: NumericsBench) -> None:
    nodes = grid(0, 10, 11, "x^2")
    found = made(bench, *nodes, node("s", "statistics", "data", **{"from": 2, "to": 4.5}))
    assert series(found) == ([2, 3, 4], [4, 9, 16])


# Fits

# The data and certified results of the NIST StRD reference problem Misra1a.
MISRA = {
    "x": [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0],
    "y": [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78],
}


@pytest.mark.parametrize("start", [(500, 0.0001), (250, 0.0005)])
def test_the_certified_fit_is_found_from_both_of_its_starts(
    bench: NumericsBench, start: tuple[float, float]
) -> None:
    initial = [{"name": name, "value": value} for name, value in zip(("b1", "b2"), start, strict=True)]
    fit = node("f", "leastSquares", "data", model="b1*(1 - exp(-b2*x))", initial=initial)
    found = verified(bench, bench.table(MISRA, fit))
    assert found.quantity("coefficients") == pytest.approx([2.3894212918e2, 5.5015643181e-4], rel=1e-9)
    assert found.quantity("residual") ** 2 * 14 == pytest.approx(1.2455138894e-1, rel=1e-9)


def test_a_polynomial_is_found_again(bench: NumericsBench) -> None:
    found = made(bench, *grid(-2, 3, 30, "0.5*x^4 - 3*x^2 + 2"), node("p", "polyfit", "data", degree=4))
    assert found.quantity("coefficients") == pytest.approx([0.5, 0, -3, 0, 2], abs=1e-12)
    assert found.quantity("residual") < 1e-13


def test_a_line_far_from_the_origin_of_x(bench: NumericsBench) -> None:
    found = made(bench, *grid(1e6, 1e6 + 1, 50, "2*x + 1"), node("p", "polyfit", "data", degree=1))
    assert found.quantity("coefficients") == pytest.approx([2, 1], abs=1e-3)


# Equations


def test_a_linear_system_loses_no_digits(bench: NumericsBench) -> None:
    count = 6
    matrix = [[1 / (row + column + 1) for column in range(count)] for row in range(count)]
    right = [math.fsum(row) for row in matrix]
    found = made(bench, node("u", "solveLinear", matrix=matrix, rightHandSide=right))
    assert found.quantity("coefficients") == pytest.approx([1.0] * count, abs=1e-9)
    assert series(found)[0] == [1, 2, 3, 4, 5, 6]


def test_a_pendulum_keeps_its_exact_period(bench: NumericsBench) -> None:
    swing, length, gravity = 2.0, 1.3, 9.80665
    mean, root = 1.0, math.cos(swing / 2)
    for _ in range(12):
        mean, root = (mean + root) / 2, math.sqrt(mean * root)
    period = 2 * math.pi * math.sqrt(length / gravity) / mean
    system = {"type": "pendulum", "length": length}
    found = made(bench, node("o", "ode", system=system, initial=[swing, 0], stop=3 * period, count=31))
    assert found.quantity("last") == pytest.approx(swing, rel=1e-9)
    assert series(found)[1][5] == pytest.approx(-swing, rel=1e-9)


def test_predators_and_prey_keep_what_they_have_to(bench: NumericsBench) -> None:
    system = {"type": "lotkaVolterra", "growth": 1.1, "predation": 0.4, "conversion": 0.1, "death": 0.4}
    common = {"system": system, "initial": [10, 5], "stop": 30, "count": 61}
    nodes = node("prey", "ode", **common), node("predators", "ode", **common, component="predators")
    found = verified(bench, bench.produce(document(*nodes, outputs=["prey", "predators"])))
    kept = [
        0.1 * x - 0.4 * math.log(x) + 0.4 * y - 1.1 * math.log(y)
        for x, y in zip(series(found, "prey")[1], series(found, "predators")[1], strict=True)
    ]
    assert kept == pytest.approx([kept[0]] * len(kept), rel=1e-9)


@pytest.mark.parametrize("component", ["position", "velocity"])
@pytest.mark.parametrize("ratio", [0, 0.2, 1, 3])
def test_an_oscillator_of_any_damping(bench: NumericsBench, ratio: float, component: str) -> None:
    system = {"type": "oscillator", "angularFrequency": 5, "dampingRatio": ratio}
    made(bench, node("o", "ode", system=system, initial=[1, -2], stop=4, count=50, component=component))


# Files


def test_what_is_published_can_be_read_by_anyone(bench: NumericsBench) -> None:
    found = made(bench, *grid(0, 1, 5, "sqrt(x)"))
    with found.path("series/csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    whole = json.loads(found.path("data/json").read_text())
    assert [float(row["y"]) for row in rows] == whole["samples"]["y"] == [math.sqrt(k / 4) for k in range(5)]
    assert whole["columns"] == ["x", "y"]
    assert whole["quantities"] == found.result["outputs"]["data"]


def test_one_job_s_csv_is_another_s_input(bench: NumericsBench) -> None:
    first = made(bench, *grid(0, 1, 5, "x^2"))
    second = bench.produce(
        document(node("again", "readCSV", file=None, xColumn="x", yColumn="y")),
        {"/nodes/0/options/file": str(first.path("series/csv"))},
    )
    assert verified(bench, second).path("series/csv").read_bytes() == first.path("series/csv").read_bytes()


def test_runs_repeat_to_the_byte(bench: NumericsBench) -> None:
    nodes = (*grid(0, 1, 300, TONES), node("w", "window", "data"), node("s", "spectrum", "w"))
    first, second = made(bench, *nodes), made(bench, *nodes)
    assert first.path("series/csv").read_bytes() == second.path("series/csv").read_bytes()


def test_nodes_that_no_output_needs_are_left_out_with_a_warning(bench: NumericsBench) -> None:
    nodes = *grid(0, 1, 5, "x"), node("unused", "polyfit", "data", degree=12)
    found = bench.produce(document(*nodes, outputs=["data"]))
    assert ["unused" in text for text in found.result["warnings"]] == [True]


def test_limits_hold(bench: NumericsBench) -> None:
    nodes = [node("a", "linspace", start=0, stop=1, count=200_000)]
    nodes += [node(f"b{k}", "expression", "a" if not k else f"b{k - 1}", expression="y") for k in range(25)]
    with pytest.raises(Refused) as refused:
        bench.produce(document(*nodes))
    assert "in all" in refused.value.message
