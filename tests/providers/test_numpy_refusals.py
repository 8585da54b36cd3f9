"""What is refused, where, and in which words; and that formulas are never run as code."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from typing import Any

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numpy_.provider import PROVIDER

from providers.hosts import Refused, failures, is_verified
from providers.numerics_bench import NumericsBench, document, grid, node, series


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> NumericsBench:
    return NumericsBench(tmp_path_factory.mktemp("numerics"))


def problems(*nodes: dict[str, Any]) -> list[dict[str, str]]:
    with pytest.raises(Fault) as refused:
        PROVIDER.plan(document(*nodes))
    assert refused.value.code == "INVALID_DOCUMENT"
    found: list[dict[str, str]] = refused.value.record.details["problems"]
    return found


def refusal(bench: NumericsBench, *nodes: dict[str, Any]) -> Refused:
    with pytest.raises(Refused) as refused:
        bench.produce(document(*nodes))
    return refused.value


def table_refusal(bench: NumericsBench, data: bytes | str, *nodes: dict[str, Any], **options: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        bench.table(data, *nodes, **options)
    return refused.value


# Planning


def test_a_readcsv_without_a_file_plans_as_it_is_written() -> None:
    authored = {
        "version": "schemaxis.numpy/1",
        "nodes": [
            {"id": "data", "filter": "readCSV", "options": {"file": None, "xColumn": "x", "yColumn": "y"}}
        ],
        "outputs": ["data"],
    }
    resolved = PROVIDER.plan(copy.deepcopy(authored))
    assert resolved.document["nodes"][0]["options"]["delimiter"] == ","
    operation = next(one for one in PROVIDER.manifest.operations if one.name == "readCSV")
    assert operation.file_options == {"file": ("series/csv", "table/csv")}


@pytest.mark.parametrize(
    ("formula", "says", "near"),
    [
        ("sine(x)", "no function", "sin"),
        ("sqr(x)", "no function", "sqrt"),
        ("wav + 1", "no variable", "wave"),
        ("2x", "should", ""),
        ("x(2)", "write a product", ""),
        ("x +", "ends where", ""),
        ("(x", "closing parenthesis", ""),
        ("x))", "operator", ""),
        ("x^2^3", "two ways", ""),
        ("sin", "write sin(", ""),
        ("sin(x, x)", "1", ""),
        ("max(x)", "2 to 8", ""),
        ("1e999", "range", ""),
        ("x = 2", "no meaning", ""),
        ("x; x", "no meaning", ""),
        ("__import__('os').system('id')", "no meaning", ""),
        ("x.__class__", "no meaning", ""),
        ("lambda: x", "no meaning", ""),
        ("[x for x in y]", "no meaning", ""),
        ("exec(x)", "no function", "exp"),
        ("'a'", "no meaning", ""),
        ("x\u2212 1", "no meaning", ""),
        ("٣*x", "no meaning", ""),
        ("---x", "should", ""),
        ("(" * 65 + "x" + ")" * 65, "deeper", ""),
        ("+".join(["x"] * 401), "terms", ""),
        ("-".join(["(x)"] * 200), "deeper", ""),
    ],
)
def test_a_formula_that_is_none_is_a_problem(formula: str, says: str, near: str) -> None:
    nodes = (
        *grid(0, 1, 3),
        node("wave", "expression", "grid", expression="x"),
        node("f", "expression", "wave", expression=formula),
    )
    (problem,) = problems(*nodes)
    assert problem["pointer"] == "/nodes/2/options/expression"
    assert says in problem["message"]
    assert problem["nearest"] == near


@pytest.mark.parametrize(
    ("operation", "options", "pointer"),
    [
        ("readCSV", {"file": None, "xColumn": "x", "yColumn": "x"}, "yColumn"),
        ("readCSV", {"file": None, "xColumn": "x", "yColumn": "y", "decimal": ","}, "decimal"),
        ("readCSV", {"file": "/etc/passwd", "xColumn": "x", "yColumn": "y"}, "file"),
        ("linspace", {"start": 1, "stop": 1, "count": 3}, "stop"),
        ("linspace", {"start": 0, "stop": 1, "count": 10**9}, "count"),
        ("solveLinear", {"matrix": [[1, 2], [3]], "rightHandSide": [1, 2]}, "matrix/1"),
        ("solveLinear", {"matrix": [[1, 2], [3, 4]], "rightHandSide": [1]}, "rightHandSide"),
        (
            "ode",
            {"system": {"type": "decay", "rate": 1}, "initial": [1, 2], "stop": 1, "count": 3},
            "initial",
        ),
        ("ode", {"system": {"type": "decay", "rate": 1}, "initial": [1], "stop": 0, "count": 3}, "stop"),
        ("ode", {"system": {"type": "pendulun"}, "initial": [1], "stop": 1, "count": 3}, "system/type"),
        (
            "ode",
            {
                "system": {"type": "decay", "rate": 1},
                "initial": [1],
                "stop": 1,
                "count": 3,
                "component": "angle",
            },
            "component",
        ),
    ],
)
def test_options_that_do_not_fit_each_other(operation: str, options: dict[str, Any], pointer: str) -> None:
    (problem,) = problems(node("n", operation, **options))
    assert problem["pointer"] == f"/nodes/0/options/{pointer}"


@pytest.mark.parametrize(
    ("operation", "options", "pointer"),
    [
        ("smooth", {"window": 4}, "window"),
        ("interpolate", {}, "points"),
        ("statistics", {"from": 3, "to": 2}, "to"),
        ("leastSquares", {"model": "a*x", "initial": [{"name": "a", "value": 1}] * 2}, "initial/1/name"),
        ("leastSquares", {"model": "a*x", "initial": [{"name": "x", "value": 1}]}, "initial/0/name"),
        ("leastSquares", {"model": "x", "initial": [{"name": "a", "value": 1}]}, "initial/0/name"),
        ("leastSquares", {"model": "a*b", "initial": [{"name": "a", "value": 1}]}, "model"),
    ],
)
def test_options_of_operations_on_a_series(operation: str, options: dict[str, Any], pointer: str) -> None:
    found = problems(*grid(0, 1, 5), node("n", operation, "grid", **options))
    assert found[0]["pointer"] == f"/nodes/1/options/{pointer}"


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        node("a", "linspace", start=0, stop=0, count=1),
        node("b", "expression", "a", expression="foo("),
        node("c", "smoth", "b"),
        node("d", "polyfit", "nowhere", degree=99),
    )
    assert {one["pointer"] for one in found} >= {
        "/nodes/0/options/count",
        "/nodes/1/options/expression",
        "/nodes/2/filter",
        "/nodes/3/inputs/0",
        "/nodes/3/options/degree",
    }


def test_names_in_formulas(bench: NumericsBench) -> None:
    nodes = [
        *grid(0, 1, 3),
        node("two", "expression", "grid", expression="2 + 0*x"),
        node("my-id", "expression", "grid", expression="3 + 0*x"),
        node("sin", "expression", "grid", expression="5 + 0*x"),
        node(
            "all", "expression", "two", "my-id", "sin", expression="100*two + 10*y2 + y3 + x + 0*y1 + sin(0)"
        ),
    ]
    assert series(bench.produce(document(*nodes)))[1] == [235, 235.5, 236]


def test_what_formulas_mean(bench: NumericsBench) -> None:
    cases = {
        "-2^2": -4,
        "2^-1": 0.5,
        "2**3": 8,
        "(2^3)^2": 64,
        "6/3/2": 1,
        "2-3-4": -5,
        "-x^2": -9,
        "2*-x": -6,
        "--x": 3,
        "max(1, x, 2)": 3,
        "min(1, x, 2)": 1,
        "atan2(1, -1)": math.atan2(1, -1),
        "hypot(3, 4)": 5,
        "step(0) + step(-1) + sign(0)": 1,
        "floor(-1.5) + ceil(-1.5)": -3,
        "log(e) + log10(1000) + log2(8)": 7,
        "e^1 - exp(1)": 0,
        ".5e1 + 1.": 6,
        "0^0": 1,
    }
    for formula, value in cases.items():
        assert series(bench.produce(document(*grid(3, 4, 2, f"0*x + {formula}"))))[1][0] == pytest.approx(
            value
        ), formula


@pytest.mark.parametrize(
    "formula", ["log(-1)", "sqrt(-1)", "(-8)^(1/3)", "asin(2)", "0/0", "max(0/0, 1)", "step(0/0)"]
)
def test_what_has_no_real_value_is_nan_to_the_end(bench: NumericsBench, formula: str) -> None:
    found = bench.produce(document(*grid(0, 1, 2, f"x + {formula}")))
    assert found.path("series/csv").read_bytes() == b"x,y\r\n0.0,NaN\r\n1.0,NaN\r\n"
    assert '"y": [{"$number": "NaN"}, {"$number": "NaN"}]' in found.path("data/json").read_text()
    assert found.quantity("mean") == {"$number": "NaN"}
    assert found.result["warnings"]
    report = bench.verify(found)
    assert is_verified(report), failures(report)


def test_infinities_keep_their_signs(bench: NumericsBench) -> None:
    found = bench.produce(document(*grid(-1, 1, 3, "1/x")))
    assert found.path("series/csv").read_bytes() == b"x,y\r\n-1.0,-1.0\r\n0.0,Infinity\r\n1.0,1.0\r\n"
    assert found.quantity("max") == {"$number": "Infinity"}
    assert is_verified(bench.verify(found))


def test_planning_imports_no_numpy_and_is_quick() -> None:
    code = (
        "import sys; from schemaxis_server.providers.numpy_.provider import PROVIDER as p;"
        "[p.plan(one.example) for one in p.manifest.operations];"
        "print(sorted({'numpy', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_nothing_evaluates_text_as_code() -> None:
    folder = formulas.__file__.rsplit("/", 2)[0]
    done = subprocess.run(
        [
            "grep",
            "-rnE",
            r"\b(eval|exec|compile)\(",
            f"{folder}/numerics",
            f"{folder}/numpy_",
            "--include=*.py",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if "re.compile(" not in line]
    assert lines == []


# Files


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("x,y\n1,two\n", "Line 2, column 2"),
        ("x,y\n1,\n", "blank"),
        ("x,y\n1,2\n3\n", "Line 3"),
        ("x,y\n1,=1+2\n", "formula"),
        ("x,y\n1,007\n", "leading zeros"),
        ("x,y\n1,5 mm\n", "more than a number"),
        ("x,y\nNaN,1\n", "not finite"),
        ("x,y\n", "no row"),
        ("", "empty"),
        ("x;y\n1;2\n", "set delimiter"),
        ("time,y\n1,2\n", "no column"),
        (b"x,y\n1,\xff\n", "utf-8"),
        ("x,y\n1,2\x00\n", "U+0000"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_and_no_cell_becomes_zero(
    bench: NumericsBench, data: bytes | str, says: str
) -> None:
    refused = table_refusal(bench, data)
    assert says in refused.message
    assert refused.pointer.startswith("/nodes/0/options/")


def test_other_columns_may_hold_anything(bench: NumericsBench) -> None:
    found = bench.table("note;x;y\n=cmd();0,5;1\n007;1,5;NaN\n", delimiter=";", decimal=",")
    assert found.path("series/csv").read_bytes() == b"x,y\r\n0.5,1.0\r\n1.5,NaN\r\n"
    assert is_verified(bench.verify(found))


def test_names_of_columns_stay_what_they_are(bench: NumericsBench) -> None:
    data = 'Zeit [s];"Kraft, ""F"" [kN]"\r\n1;2\r\n2;3\r\n'.encode("latin-1")
    options = {"xColumn": "Zeit [s]", "yColumn": 'Kraft, "F" [kN]', "delimiter": ";", "encoding": "latin-1"}
    found = bench.table(data, node("s", "statistics", "data"), **options)
    assert found.path("series/csv").read_bytes().startswith(b'Zeit [s],"Kraft, ""F"" [kN]"\r\n')
    report = bench.verify(found, pictures=True)
    assert is_verified(report), failures(report)
    assert report["pictures"]


def test_columns_without_a_header_are_counted(bench: NumericsBench) -> None:
    found = bench.table("1,2,3\n4,5,6\n", header=False, xColumn="1", yColumn="3")
    assert series(found) == ([1, 4], [3, 6])
    assert is_verified(bench.verify(found))


# Series


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        *[(name, {}) for name in ("derivative", "integral", "spectrum", "peaks")],
        ("smooth", {"window": 3}),
        ("lowpass", {"cutoff": 1}),
        ("resample", {"count": 5}),
        ("polyfit", {"degree": 1}),
        ("detrend", {}),
    ],
)
def test_nan_is_refused_with_its_sample(
    bench: NumericsBench, operation: str, options: dict[str, Any]
) -> None:
    refused = table_refusal(bench, "x,y\n1,2\n2,NaN\n3,4\n4,5\n", node("n", operation, "data", **options))
    assert "y is NaN at sample 1" in refused.message
    assert refused.pointer == "/nodes/1/inputs/0"


@pytest.mark.parametrize("operation", ["derivative", "integral", "spectrum", "peaks"])
@pytest.mark.parametrize("x", ["1,1,2", "3,2,1"])
def test_x_has_to_increase(bench: NumericsBench, operation: str, x: str) -> None:
    rows = "".join(f"{value},1\n" for value in x.split(","))
    assert (
        "does not increase at sample 1"
        in table_refusal(bench, "x,y\n" + rows, node("n", operation, "data")).message
    )


@pytest.mark.parametrize(("operation", "options"), [("spectrum", {}), ("lowpass", {"cutoff": 1})])
def test_steps_have_to_be_equal(bench: NumericsBench, operation: str, options: dict[str, Any]) -> None:
    refused = table_refusal(bench, "x,y\n0,1\n1,2\n2.1,3\n", node("n", operation, "data", **options))
    assert "resample" in refused.message


def test_interpolation_does_not_leave_the_series(bench: NumericsBench) -> None:
    refused = refusal(bench, *grid(0, 1, 3, "x"), node("n", "interpolate", "data", points=[0.5, 1.5]))
    assert refused.pointer == "/nodes/2/options/points/1"


def test_series_of_different_x_do_not_mix(bench: NumericsBench) -> None:
    nodes = (
        *grid(0, 1, 3),
        node("b", "linspace", start=0, stop=1.001, count=3),
        node("c", "linspace", start=0, stop=1, count=4),
    )
    assert (
        "sample 1"
        in refusal(bench, *nodes, node("n", "expression", "grid", "b", expression="y1 + y2")).message
    )
    assert (
        "3 and 4"
        in refusal(bench, *nodes, node("n", "expression", "grid", "c", expression="y1 + y2")).message
    )


# Equations and fits


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 2], [2, 4]],
        [[0, 0], [1, 1]],
        [[1, 1], [1, 1 + 1e-14]],
        [[1 / (r + c + 1) for c in range(12)] for r in range(12)],
    ],
)
def test_a_singular_matrix_is_refused(bench: NumericsBench, matrix: list[list[float]]) -> None:
    refused = refusal(bench, node("u", "solveLinear", matrix=matrix, rightHandSide=[1] * len(matrix)))
    assert "singular" in refused.message
    assert refused.pointer.startswith("/nodes/0/options/matrix")


def test_a_doubtful_matrix_is_warned_of_and_still_exact(bench: NumericsBench) -> None:
    matrix = [[1 / (r + c + 1) for c in range(8)] for r in range(8)]
    found = bench.produce(document(node("u", "solveLinear", matrix=matrix, rightHandSide=[1] * 8)))
    assert "condition number" in found.result["warnings"][0]
    report = bench.verify(found)
    assert is_verified(report), failures(report)


def test_rows_of_very_different_sizes_are_not_singular(bench: NumericsBench) -> None:
    found = bench.produce(
        document(node("u", "solveLinear", matrix=[[1e20, 2e20], [1e-20, 3e-20]], rightHandSide=[3e20, 4e-20]))
    )
    assert found.quantity("coefficients") == pytest.approx([1, 1])
    assert is_verified(bench.verify(found))


@pytest.mark.parametrize(
    ("model", "names", "says"),
    [
        ("a*b*x", "ab", "apart"),
        ("a + 0*b*x", "ab", "slope by b"),
        ("log(a - 5)*x", "a", "not finite"),
        ("exp(a*x)/(1 + a*a)^20", "a", ""),
    ],
)
def test_a_fit_that_cannot_be_is_refused(bench: NumericsBench, model: str, names: str, says: str) -> None:
    initial = [{"name": name, "value": 1} for name in names]
    nodes = *grid(0, 1, 20, "x + 1"), node("f", "leastSquares", "data", model=model, initial=initial)
    if says:
        assert says in refusal(bench, *nodes).message
    else:
        assert is_verified(bench.verify(bench.produce(document(*nodes))))


def test_a_polynomial_needs_samples(bench: NumericsBench) -> None:
    refused = refusal(bench, *grid(0, 1, 3, "x"), node("p", "polyfit", "data", degree=3))
    assert "needs 4" in refused.message


def test_a_solution_that_explodes_is_refused(bench: NumericsBench) -> None:
    system = {"type": "logistic", "rate": 10, "capacity": 1}
    refused = refusal(bench, node("o", "ode", system=system, initial=[-1], stop=100, count=5))
    assert refused.pointer == "/nodes/0/options/stop"


def test_sizes_at_the_ends_of_a_double(bench: NumericsBench) -> None:
    found = bench.produce(
        document(*grid(0, 1, 11, "1e200*cos(x)"), node("d", "derivative", "data"), outputs=["data", "d"])
    )
    assert found.quantity("rms", "data") == pytest.approx(8.5e199, rel=0.1)
    report = bench.verify(found)
    assert is_verified(report), failures(report)
    tiny = bench.produce(document(*grid(0, 1, 11, "5e-324*x")))
    assert is_verified(bench.verify(tiny))
