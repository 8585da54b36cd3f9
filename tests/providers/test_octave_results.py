"""Octave's numbers where it goes other ways by itself, and where they are known beforehand."""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.contract import Engine
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.expression import Call, Name, Number
from schemaxis_server.providers.numerics.second.fitting import eliminate
from schemaxis_server.providers.numerics.systems import SYSTEMS
from schemaxis_server.providers.numpy_.functions import FUNCTIONS
from schemaxis_server.providers.numpy_.provider import PROVIDER as NUMPY
from schemaxis_server.providers.octave import session as octave
from schemaxis_server.providers.octave.program import compiled
from schemaxis_server.providers.octave.provider import PROVIDER
from schemaxis_server.providers.octave.verifier import run_of_numpy

from providers import test_numpy_results
from providers.engines import needs
from providers.hosts import Refused, failures, is_verified
from providers.numerics_bench import document, grid, node, series
from providers.octave_bench import OctaveBench, ReverseBench
from providers.random_series import formula

pytestmark = needs(PROVIDER)

_NASTY = (
    -math.inf,
    -1e300,
    -8.0,
    -2.5,
    -1.0,
    -0.3,
    -0.0,
    0.0,
    1e-320,
    0.5,
    1.0,
    3.0,
    1e300,
    math.inf,
    math.nan,
)


@pytest.fixture(scope="module")
def session() -> Iterator[octave.Session]:
    running = octave.start()
    yield running
    running.close()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, session: octave.Session) -> OctaveBench:
    return OctaveBench(tmp_path_factory.mktemp("octave"), session)


@pytest.fixture(scope="module")
def reverse(tmp_path_factory: pytest.TempPathFactory, session: octave.Session) -> ReverseBench:
    return ReverseBench(tmp_path_factory.mktemp("reverse"), session)


def _in_octave(session: octave.Session, tree: formulas.Tree, *columns: list[float]) -> list[float]:
    program = compiled([tree], ["x", "y"])
    series = [values for column in columns[1:] or columns for values in (columns[0], column)]
    (found,) = session.call("expression", *program.arguments(), *series).results
    return found.tolist()


# Formulas


@pytest.mark.parametrize("name", [*formulas.FUNCTIONS, *formulas.OPERATORS])
def test_every_function_gives_what_it_gives_in_numpy(session: octave.Session, name: str) -> None:
    one = name == "negate" or formulas.FUNCTIONS.get(name, (2, 2))[0] == 1
    places = [(a, a) for a in _NASTY] if one else list(itertools.product(_NASTY, _NASTY))
    x, y = ([place[at] for place in places] for at in (0, 1))
    arguments = (Name("x"),) if one else (Name("x"), Name("y"))
    ours = _in_octave(session, Call(name, arguments), x, y)
    with np.errstate(all="ignore"):
        theirs = FUNCTIONS[name](np.array(x), *([] if one else [np.array(y)]))
    assert ours == pytest.approx(theirs.tolist(), rel=1e-14, abs=1e-300, nan_ok=True)
    # The same with a number for an argument, which takes other ways in Octave.
    if not one:
        # NumPy takes the root of -Infinity for NaN where the exponent 0.5 is a number, and for Infinity elsewhere.
        for value in [one for one in _NASTY if (name, one) != ("power", 0.5)]:
            for pair in ((Number(value), Name("x")), (Name("x"), Number(value))):
                ours = _in_octave(session, Call(name, pair), list(_NASTY))
                with np.errstate(all="ignore"):
                    theirs = FUNCTIONS[name](
                        *(np.array(_NASTY) if part == Name("x") else value for part in pair)
                    )
                assert ours == pytest.approx(theirs.tolist(), rel=1e-14, abs=1e-300, nan_ok=True), pair


def test_programs_mean_what_their_trees_mean(session: octave.Session) -> None:
    dice = random.Random(4)
    x, y = [dice.uniform(-3, 3) for _ in range(9)], [dice.uniform(-3, 3) for _ in range(9)]
    for _ in range(60):
        tree = formulas.parse(formula(dice, ["y"], 6), ["x", "y"])
        with np.errstate(all="ignore"):
            values = formulas.evaluate(tree, {"x": np.array(x), "y": np.array(y)}, FUNCTIONS, np.float64)
        found = _in_octave(session, tree, x, y)
        assert found == pytest.approx(np.broadcast_to(values, 9).tolist(), rel=1e-6, abs=1e-9, nan_ok=True)


def test_a_program_computes_what_is_common_once_and_uses_places_again() -> None:
    tree = formulas.parse("+".join(["sin(x)*cos(x)"] * 30), ["x"])
    program = compiled([tree], ["x"])
    assert len(program.steps) == 4 * (3 + 29)
    assert program.places <= 5


def test_only_functions_of_the_vocabulary_are_named() -> None:
    with pytest.raises(ValueError, match="system"):
        compiled([Call("system", (Name("x"),))], ["x"])


@pytest.mark.parametrize("text", ["log(-1)", "sqrt(-1)", "(-8)^(1/3)", "asin(2)", "0/0", "max(0/0, 1)"])
def test_what_has_no_real_value_is_nan_to_the_end(bench: OctaveBench, text: str) -> None:
    found = bench.produce(document(*grid(0, 1, 2, f"x + {text}")))
    assert found.path("series/csv").read_bytes() == b"x,y\r\n0.0,NaN\r\n1.0,NaN\r\n"
    assert '"y": [{"$number": "NaN"}, {"$number": "NaN"}]' in found.path("data/json").read_text()
    assert found.quantity("mean") == {"$number": "NaN"}
    assert found.result["warnings"] == ["/nodes/1: data (expression): y is not finite at 2 of 2 samples."]
    report = bench.verify(found)
    assert is_verified(report), failures(report)


def test_infinities_keep_their_signs(bench: OctaveBench) -> None:
    found = bench.produce(document(*grid(-1, 1, 3, "-1/x")))
    assert found.path("series/csv").read_bytes() == b"x,y\r\n-1.0,1.0\r\n0.0,-Infinity\r\n1.0,-1.0\r\n"
    assert found.quantity("min") == {"$number": "-Infinity"}
    assert is_verified(bench.verify(found))


# Equations


@pytest.mark.parametrize(
    ("name", "parameters", "initial"),
    [
        ("decay", {"rate": 2.5}, [3]),
        ("decay", {"rate": -9}, [1]),
        ("logistic", {"rate": 1.3, "capacity": 7}, [0.2]),
        ("oscillator", {"angularFrequency": 9, "dampingRatio": 0.01}, [1, -2]),
        (
            "oscillator",
            {"angularFrequency": 4, "dampingRatio": 3, "forceAmplitude": 5, "forceFrequency": 6},
            [0, 1],
        ),
        ("pendulum", {"length": 0.8, "damping": 0.1}, [3, 0.2]),
        ("vanDerPol", {"mu": 8}, [0.1, 0]),
        ("lotkaVolterra", {"growth": 1.1, "predation": 0.4, "conversion": 0.1, "death": 0.4}, [10, 5]),
        ("epidemic", {"transmission": 3, "recovery": 0.5}, [0.999, 0.001, 0]),
    ],
)
def test_every_state_of_every_system_agrees_with_numpy(
    bench: OctaveBench, reverse: ReverseBench, name: str, parameters: dict[str, float], initial: list[float]
) -> None:
    common = {
        "system": {"type": name, **parameters},
        "initial": initial,
        "start": 0.5,
        "stop": 7,
        "count": 40,
    }
    nodes = [node(state, "ode", **common, component=state) for state in SYSTEMS[name].states]
    made = document(*nodes, outputs=[one["id"] for one in nodes])
    ours, theirs = bench.produce(made), reverse.produce(made)
    for one in nodes:
        (t, y), (s, z) = series(ours, one["id"]), series(theirs, one["id"])
        assert t == s
        assert y == pytest.approx(z, rel=0, abs=2e-10 * max(map(abs, z)))
    assert is_verified(bench.verify(ours))


@pytest.mark.parametrize(
    ("system", "initial", "stop"),
    [
        ({"type": "logistic", "rate": 1, "capacity": 1}, [-1], 5),
        ({"type": "decay", "rate": -1000}, [1], 10),
        pytest.param(
            {"type": "oscillator", "angularFrequency": 1e4}, [1, 0], 1e6, marks=pytest.mark.campaign
        ),
    ],
)
def test_what_leaves_every_bound_or_takes_too_long_is_refused(
    bench: OctaveBench, system: dict[str, Any], initial: list[float], stop: float
) -> None:
    with pytest.raises(Refused) as refused:
        bench.produce(document(node("o", "ode", system=system, initial=initial, stop=stop, count=3)))
    assert refused.value.pointer == "/nodes/0/options/stop"


def test_a_singular_matrix_is_refused_and_a_doubtful_one_warned_of(bench: OctaveBench) -> None:
    with pytest.raises(Refused) as refused:
        bench.produce(document(node("u", "solveLinear", matrix=[[1, 2], [2, 4]], rightHandSide=[1, 2])))
    assert "singular" in refused.value.message
    assert refused.value.pointer == "/nodes/0/options/matrix"
    matrix = [[1, 1], [1, 1 + 1e-9]]
    found = bench.produce(document(node("u", "solveLinear", matrix=matrix, rightHandSide=[2, 2 + 1e-9])))
    (warning,) = found.result["warnings"]
    assert warning.startswith("/nodes/0: u (solveLinear): The condition number is ")


def test_a_linear_system_loses_no_digits(bench: OctaveBench) -> None:
    matrix = [[1 / (row + column + 1) for column in range(8)] for row in range(8)]
    right = [sum(row) for row in matrix]
    exact = eliminate([[Fraction(a) for a in row] for row in matrix], [Fraction(b) for b in right])
    found = bench.produce(document(node("u", "solveLinear", matrix=matrix, rightHandSide=right)))
    assert series(found)[1] == pytest.approx([float(one) for one in exact], rel=1e-15)


# Fits


@pytest.mark.parametrize("start", [(500, 0.0001), (250, 0.0005)])
def test_the_certified_fit_is_found_from_both_of_its_starts(
    bench: OctaveBench, start: tuple[float, float]
) -> None:
    initial = [{"name": name, "value": value} for name, value in zip(("b1", "b2"), start, strict=True)]
    fit = node("f", "leastSquares", "data", model="b1*(1 - exp(-b2*x))", initial=initial)
    found = bench.table(test_numpy_results.MISRA, fit)
    assert found.quantity("coefficients") == pytest.approx([2.3894212918e2, 5.5015643181e-4], rel=1e-9)
    assert is_verified(bench.verify(found))


@pytest.mark.parametrize(
    ("nodes", "pointer"),
    [
        ([*grid(0, 1, 3, "log(x)"), node("n", "smooth", "data", window=3)], "/nodes/2/inputs/0"),
        ([*grid(1, 0, 3, "x"), node("n", "integral", "data")], "/nodes/2/inputs/0"),
        ([*grid(0, 1, 3, "x"), node("n", "window", "data")], "/nodes/2/inputs/0"),
        (
            [*grid(0, 1, 3, "x"), node("n", "interpolate", "data", points=[0.5, 1.1])],
            "/nodes/2/options/points/1",
        ),
        ([*grid(0, 1, 3, "x"), node("n", "statistics", "data", **{"from": 2})], "/nodes/2/options"),
        ([*grid(0, 1, 3, "x"), node("n", "polyfit", "data", degree=3)], "/nodes/2/options/degree"),
        (
            [
                *grid(0, 1, 9, "x"),
                node(
                    "n",
                    "leastSquares",
                    "data",
                    model="a*b*x",
                    initial=[{"name": n, "value": 1} for n in "ab"],
                ),
            ],
            "/nodes/2/options/model",
        ),
        (
            [
                *grid(0, 1, 3, "x"),
                {
                    "id": "n",
                    "filter": "expression",
                    "options": {"expression": "x", "name": "x"},
                    "inputs": ["data"],
                },
            ],
            "/nodes/2/options/name",
        ),
    ],
)
def test_refusals_are_those_of_numpy(
    bench: OctaveBench, reverse: ReverseBench, nodes: list[dict[str, Any]], pointer: str
) -> None:
    found = []
    for one in (bench, reverse):
        with pytest.raises(Refused) as refused:
            one.produce(document(*nodes))
        assert refused.value.pointer == pointer
        found.append(refused.value.message)
    assert found[0] == found[1]


def test_an_empty_series_goes_through(bench: OctaveBench) -> None:
    nodes = *grid(0, 1, 9, "x"), node("p", "peaks", "data"), node("s", "smooth", "p", window=3)
    found = bench.produce(document(*nodes, node("e", "expression", "s", expression="2*y")))
    assert found.path("series/csv").read_bytes() == b"x,y\r\n"
    assert is_verified(bench.verify(found))


_EACH: tuple[tuple[str, dict[str, Any]], ...] = (
    ("smooth", {"window": 5}),
    ("detrend", {"degree": 1}),
    ("window", {}),
    ("lowpass", {"cutoff": 0.2}),
    ("resample", {"count": 4}),
    ("interpolate", {"points": [0.5, 0], "method": "cubic"}),
    ("interpolate", {"points": [0], "method": "linear"}),
    ("derivative", {}),
    ("integral", {"initial": 2}),
    ("spectrum", {"scaling": "power"}),
    ("peaks", {"minHeight": 0}),
    ("statistics", {}),
    ("polyfit", {"degree": 0}),
    ("polyfit", {"degree": 2}),
    ("expression", {"expression": "3"}),
    (
        "leastSquares",
        {"model": "a + b*x^2", "initial": [{"name": "a", "value": 1}, {"name": "b", "value": 1}]},
    ),
)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_short_series_go_the_same_way_in_both(bench: OctaveBench, reverse: ReverseBench, count: int) -> None:
    rows = {"x": [float(k) for k in range(count)], "y": [1.5, -2.0, 4.0, 0.25][:count]}
    for operation, options in _EACH:
        told = []
        for one in (bench, reverse):
            try:
                made = one.table(rows, node("n", operation, "data", **options))
            except Refused as refused:
                told.append((refused.message, refused.pointer))
                continue
            report = one.verify(made)
            assert is_verified(report), (operation, failures(report))
            told.append(("", ""))
        assert told[0] == told[1], operation


def test_sums_beyond_the_range_of_a_double_are_infinite(bench: OctaveBench) -> None:
    rows = {"x": [0.0, 1.0, 2.0], "y": [1.5e308, 1.5e308, -1.0]}
    found = bench.table(rows, node("s", "statistics", "data"))
    assert found.quantity("statistics")["sum"] == {"$number": "Infinity"}
    assert found.quantity("rms") == pytest.approx(1.5e308 * math.sqrt(2 / 3))


@pytest.mark.campaign
def test_long_series_take_seconds_at_most(bench: OctaveBench) -> None:
    nodes = [
        *grid(0, 1, 200_000, "sin(1e5*x^2) + 0.3*sin(7e4*x)"),
        node("p", "peaks", "data", count=1000, minDistance=1e-5),
        node("s", "smooth", "data", window=999),
        node("f", "polyfit", "data", degree=12),
    ]
    found = bench.produce(document(*nodes, outputs=["p", "s", "f"]))
    assert found.quantity("count", "p") == 1000


# Octave as verifier


def test_a_result_that_is_off_is_caught_by_octave(reverse: ReverseBench) -> None:
    made = reverse.produce(document(*grid(0, 1, 50, "sin(5*x)"), node("p", "polyfit", "data", degree=3)))
    report = reverse.verify(made)
    assert is_verified(report)
    assert any(check["engine"].startswith("GNU Octave ") for check in report["checks"])
    path = made.path("series/csv")
    rows = path.read_bytes().decode().split("\r\n")
    x, y = rows[20].split(",")
    rows[20] = f"{x},{float(y) + 1e-6!r}"
    wrong = path.with_name("wrong.csv")
    wrong.write_text("\r\n".join(rows), newline="")
    report = reverse.verify(made, files={"p.csv": wrong})
    assert "samples of p" in [check["name"] for check in report["checks"] if not check["passed"]]


def test_numpy_is_verified_by_octave_where_there_is_one(reverse: ReverseBench) -> None:
    program = NUMPY.verifier({"octave": PROVIDER.engine(None)})
    assert program.entry.endswith("octave.verifier:run_of_numpy")
    assert program.ahead
    for engines in ({}, {"octave": Engine("GNU Octave", "", "", False, "missing", "install it")}):
        assert NUMPY.verifier(engines).entry.endswith("numpy_.verifier:run")


def test_without_a_working_octave_the_second_formulation_judges(
    reverse: ReverseBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = reverse.produce(document(*grid(0, 1, 5, "x^2")))
    publications = [{**one, "path": str(made.directory / one["file"])} for one in made.result["publications"]]
    request = {"document": made.document, "outputs": made.result["outputs"], "publications": publications}
    monkeypatch.setenv(octave.PROGRAM_VARIABLE, "/nowhere/octave-cli")
    assert octave.start_if_possible() is None
    report = run_of_numpy(request, Kit(made.directory))
    assert is_verified(report)
    assert report["warnings"][0].startswith("Octave could not compute it again, a second formulation did")
    assert not any(check["engine"].startswith("GNU Octave") for check in report["checks"])


# The daemon's side


def test_planning_and_the_producer_need_no_numpy() -> None:
    code = (
        "import sys; from schemaxis_server.providers.octave.provider import PROVIDER as p;"
        "import schemaxis_server.providers.octave.host;"
        "[p.plan(one.example) for one in p.manifest.operations];"
        "print(sorted({'numpy', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_engine_is_looked_for_where_it_is_said_to_be(tmp_path: Any) -> None:
    found = PROVIDER.engine(None)
    assert PROVIDER.engine(found.path) == found
    assert PROVIDER.engine(str(tmp_path)).install == "apt-get install octave"
    other = tmp_path / "octave-cli"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    assert "is it GNU Octave" in PROVIDER.engine(str(tmp_path)).problem
    other.write_text("#!/bin/sh\necho 'GNU Octave, version 5.2.0'\n")
    assert "or later is needed" in PROVIDER.engine(str(other)).problem
    other.write_text("no program at all\n")
    assert "does not tell its version" in PROVIDER.engine(str(other)).problem
