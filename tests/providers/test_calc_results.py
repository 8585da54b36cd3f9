"""What Calc makes of documents: the numbers of the vocabulary, nothing that it would read in another way."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.providers.calc import ods_reader, pdf_reader
from schemaxis_server.providers.calc.provider import PROVIDER, VERSION
from schemaxis_server.providers.contract import JsonObject
from schemaxis_server.providers.spreadsheet import xlsx_reader

from providers.engines import needs
from providers.hosts import Bench, Produced, Refused, failures, is_verified

pytestmark = needs(PROVIDER)


@pytest.fixture(scope="module")
def calc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(PROVIDER, tmp_path_factory.mktemp("calc")) as bench:
        yield bench


def document(*nodes: JsonObject) -> JsonObject:
    return {"version": VERSION, "nodes": list(nodes), "output": nodes[-1]["id"]}


def cells(rows: Sequence[Sequence[Any]], columns: list[str] | None = None, name: str = "t") -> JsonObject:
    width = max(len(row) for row in rows)
    options = {"columns": columns or list("abcdefghij"[:width]), "rows": rows}
    return {"id": name, "filter": "cells", "options": options}


def step(name: str, operation: str, source: str, **options: Any) -> JsonObject:
    return {"id": name, "filter": operation, "options": options, "inputs": [source]}


def published(produced: Produced) -> list[list[str]]:
    text = produced.path("table/csv").read_text("utf-8")
    return list(csv.reader(io.StringIO(text, newline="")))[1:]


def verified(bench: Bench, produced: Produced) -> JsonObject:
    report = bench.verify(produced, pictures=True)
    assert is_verified(report), failures(report)
    return report


# What stands in files


def test_texts_of_a_csv_stay_texts_in_every_file(calc: Bench, tmp_path: Path) -> None:
    texts = [
        "=1+2",
        "@SUM(A1)",
        "+1",
        "-1",
        "007",
        "2024-01-02",
        "12345678901234567890",
        "1e5",
        "TRUE",
        " x ",
        "'y",
    ]
    file = tmp_path / "data.csv"
    with file.open("w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows(
            [["t", "n"], *([text, "1.5"] for text in texts), ['two\nlines, "quoted"', "2"]]
        )
    read = {"id": "t", "filter": "readCSV", "options": {"file": None, "textColumns": ["t"]}}
    produced = calc.produce(document(read), {"/nodes/0/options/file": str(file)})
    wanted = [*texts, 'two\nlines, "quoted"']
    assert [row[0] for row in published(produced)] == wanted
    for sheets in (
        xlsx_reader.read(produced.path("table/xlsx")),
        ods_reader.read(produced.path("table/ods")).sheets,
    ):
        assert sheets[0].formulas == {}
        assert [sheets[0].values[row, 1] for row in range(2, len(wanted) + 2)] == wanted
    verified(calc, produced)
    assert any("may be run as formulas" in one for one in produced.result["warnings"])


def test_errors_are_counted_carried_and_shown(calc: Bench) -> None:
    rows = [
        [1, "=1/0"],
        [2, "=SQRT(-1)"],
        [3, "=NA()"],
        [4, "=B2+1"],
        [5, '=IFERROR(B3,"caught")'],
        [6, "=SUM(B2:B5)"],
    ]
    produced = calc.produce(document(cells(rows)))
    assert [row[1] for row in published(produced)] == [
        "#DIV/0!",
        "#VALUE!",
        "#N/A",
        "#DIV/0!",
        "caught",
        "#DIV/0!",
    ]
    assert produced.quantity("errors") == 5
    shown = [text for page in pdf_reader.texts(produced.path("document/pdf")) for text in page]
    assert shown.count("#DIV/0!") == 3
    verified(calc, produced)


def test_an_error_that_was_swallowed_is_caught(calc: Bench, tmp_path: Path) -> None:
    produced = calc.produce(document(cells([[1, "=1/0"], [2, "=A2*2"]])))
    text = produced.path("table/csv").read_text("utf-8")
    assert "#DIV/0!" in text
    wrong = tmp_path / "t.csv"
    wrong.write_text(text.replace("#DIV/0!", "0"), "utf-8")
    assert not is_verified(calc.verify(produced, files={"t.csv": wrong}))


def test_numbers_keep_their_digits(calc: Bench) -> None:
    values = [1 / 3, 1e-300, 1e299, 123456789.123456789, -2.5e-10, 9007199254740993.0, 0.1]
    produced = calc.produce(document(cells([[value, "=[@a]*1"] for value in values])))
    for row, value in zip(published(produced), values, strict=True):
        assert float(row[0]) == value
        assert float(row[1]) == value
    verified(calc, produced)


# The numbers of the vocabulary


_MEANINGS = [
    ('="3"+1', "4"),
    ('=IF("a"="A",1,2)', "1"),
    ("=ROUND(2.5,0)", "3"),
    ("=ROUND(-2.5,0)", "-3"),
    ("=ROUND(1.005,2)", "1.01"),
    ("=MOD(-3,2)", "1"),
    ("=QUOTIENT(-7,2)", "-3"),
    ('=COUNTIF(A2:A4,">1")', "2"),
    ("=C2+1", "1"),
    ('=C2&"x"', "x"),
    ("=TRUE+1", "2"),
    ("=A2>1", "FALSE"),
    ("=IFNA(NA(),7)", "7"),
    ('=IF(A2<2,"a,b;c!TRUE",0)', "a,b;c!TRUE"),
    ("=1.23456789012345678*1", "1.2345678901234567"),
]


def test_formulas_mean_what_they_mean_elsewhere(calc: Bench) -> None:
    rows: list[list[Any]] = [[1, "x", None, None], [2, "X", None, None], [3, "y", None, None]]
    rows += [[None] * 3 for _ in _MEANINGS]
    for row, (formula, _) in zip(rows, _MEANINGS, strict=False):
        row[3:] = [formula]
    produced = calc.produce(document(cells(rows)))
    found = [row[3] for row in published(produced)][: len(_MEANINGS)]
    assert found == [expected for _, expected in _MEANINGS]
    verified(calc, produced)


def test_a_difference_below_its_terms_is_0_and_said_to_be(calc: Bench) -> None:
    produced = calc.produce(document(cells([[0.1, "=A2+0.2-0.3"], [0.2, "=A3*1"]])))
    assert published(produced)[0][1] == "0"
    report = verified(calc, produced)
    assert any("of its terms" in check["tolerance"] for check in report["checks"])


def test_every_output_of_a_longer_way_is_verified(calc: Bench) -> None:
    nodes = [
        cells([["n", 1.5, 2], ["s", 2.5, 4], ["n", 3.5, 8], ["s", None, 16]], ["side", "x", "y"], "data"),
        step("product", "formulaColumn", "data", column="p", formula="=[@x]*[@y]-SUM([y])/7"),
        step(
            "sides",
            "aggregate",
            "product",
            groupBy=["side"],
            values=[
                {"name": one, "function": one, "column": "p"}
                for one in (
                    "sum",
                    "average",
                    "min",
                    "max",
                    "median",
                    "variance",
                    "standardDeviation",
                    "count",
                )
            ],
        ),
        step("ranked", "sort", "product", by=[{"column": "p", "order": "descending"}]),
    ]
    asked = {"version": VERSION, "nodes": nodes, "outputs": ["product", "sides", "ranked"]}
    produced = calc.produce(asked)
    assert len(produced.result["publications"]) == 12
    verified(calc, produced)
    p = [x * y - 30 / 7 for x, y in ((1.5, 2), (2.5, 4), (3.5, 8), (0, 16))]
    with produced.path("table/csv", "sides").open(newline="", encoding="utf-8") as file:
        north = next(csv.DictReader(file))
    assert math.isclose(float(north["sum"]), p[0] + p[2], rel_tol=1e-12)
    assert math.isclose(float(north["variance"]), (p[0] - p[2]) ** 2 / 2, rel_tol=1e-12)


# What Calc takes for something else


@pytest.mark.parametrize(
    "formula",
    [
        "=(A2>1)=1",
        "=TRUE=2",
        '=(A2>1)&"x"',
        "=ISNUMBER(A2>1)",
        "=LEN(TRUE)",
        '=SUM("3",1)',
        "=SUM(A2,A2&1)",
        '=FIND("",B2)',
        "=IF(A2>1,TRUE,5)>2",
    ],
)
def test_what_calc_reads_otherwise_is_refused_when_planning(formula: str) -> None:
    with pytest.raises(Fault) as refused:
        PROVIDER.plan(document(cells([[1, "x", formula]])))
    (problem,) = refused.value.record.details["problems"]
    assert problem["pointer"] == "/nodes/0/options/rows/0/2"
    assert "Calc" in problem["message"]
    assert problem["expected"]


@pytest.mark.parametrize(
    "formula", ["=SUM([flag])", "=[@flag]=1", '=[@flag]&""', "=COUNTIF([flag],1)", "=MAX(A2:B2)"]
)
def test_truths_in_cells_that_calc_takes_for_numbers_are_refused(calc: Bench, formula: str) -> None:
    rows: list[list[Any]] = [[1, True], [2, "=A3>1"], [3, False]]
    nodes = [cells(rows, ["n", "flag"]), step("f", "formulaColumn", "t", column="f", formula=formula)]
    with pytest.raises(Refused) as refused:
        calc.produce(document(*nodes))
    assert refused.value.pointer == "/nodes/1"
    assert "TRUE or FALSE" in refused.value.message
    assert "Result!C2" in refused.value.message


def test_a_truth_of_the_formula_s_own_is_told_from_what_a_cell_holds(calc: Bench) -> None:
    with pytest.raises(Refused) as refused:
        calc.produce(document(cells([[1, "=A2=TRUE"]])))
    assert "=A2=TRUE in Result!B2" in refused.value.message


def test_truths_that_mean_the_same_pass(calc: Bench) -> None:
    rows: list[list[Any]] = [[1, True], [2, "=A3>1"], [3, False]]
    formula = "=IF(AND([@flag],[@n]<3),COUNTA([flag])*[@n],IF([@flag]=FALSE,-1,0))"
    nodes = [cells(rows, ["n", "flag"]), step("f", "formulaColumn", "t", column="f", formula=formula)]
    produced = calc.produce(document(*nodes))
    assert [row[2] for row in published(produced)] == ["3", "6", "-1"]
    verified(calc, produced)


def test_truths_in_a_figure_are_refused(calc: Bench) -> None:
    values = [{"name": "total", "function": "sum", "column": "flag"}]
    nodes = [cells([[1, True], [2, 5]], ["n", "flag"]), step("s", "aggregate", "t", values=values)]
    with pytest.raises(Refused) as refused:
        calc.produce(document(*nodes))
    assert refused.value.pointer == "/nodes/1"


# Charts


def chart(kind: str = "line") -> JsonObject:
    rows: list[list[Any]] = [[0, 1, 5], [1, 2.5, None], [2, 4, 7]]
    return document(
        cells(rows, ["x", "up", "down"], "data"),
        step("curve", "chart", "data", kind=kind, x="x", y=["up", "down"], title="Both"),
    )


@pytest.mark.parametrize("kind", ["line", "scatter", "bar"])
def test_a_chart_stands_in_ods_xlsx_and_pdf(calc: Bench, kind: str) -> None:
    produced = calc.produce(chart(kind))
    (drawn,) = ods_reader.read(produced.path("table/ods")).charts
    assert (drawn.title, drawn.series) == ("Both", ("B2:B4", "C2:C4"))
    assert [row[1] for row in drawn.numbers] == [1.0, 2.5, 4.0]
    with zipfile.ZipFile(produced.path("table/xlsx")) as archive:
        assert any(re.match(r"xl/charts/chart\d*\.xml", name) for name in archive.namelist())
    pages = pdf_reader.texts(produced.path("document/pdf"))
    assert len(pages) == 1
    assert "Both" in pages[0]
    report = verified(calc, produced)
    assert "picture/png" in [one["kind"] for one in report["pictures"]]


def test_a_chart_of_truths_is_refused(calc: Bench) -> None:
    nodes = [cells([[1, True], [2, 3]], ["x", "y"]), step("c", "chart", "t", x="x", y=["y"])]
    with pytest.raises(Refused) as refused:
        calc.produce(document(*nodes))
    assert refused.value.pointer == "/nodes/1"


def test_an_empty_chart_is_refused(calc: Bench) -> None:
    nodes = [cells([["a", "b"]], ["x", "y"]), step("c", "chart", "t", x="x", y=["y"])]
    with pytest.raises(Refused) as refused:
        calc.produce(document(*nodes))
    assert "nothing to draw" in refused.value.message


@pytest.fixture(scope="module")
def charted(calc: Bench) -> Produced:
    return calc.produce(chart())


@pytest.fixture(scope="module")
def modelled(calc: Bench) -> Produced:
    return calc.produce(document(cells([[1.25, "=A2*3"], [2.5, "=SUM(A2:A3)"], [4, "=B2+B3"]])))


def changed(source: Path, target: Path, change: Callable[[dict[str, bytes]], Mapping[str, bytes]]) -> Path:
    """A file like another but for some of its parts."""
    with zipfile.ZipFile(source) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in change(parts).items():
            archive.writestr(name, content)
    return target


def replaced(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], Mapping[str, bytes]]:
    def change(parts: dict[str, bytes]) -> Mapping[str, bytes]:
        assert old in parts[name], parts[name][-2000:]
        return {**parts, name: parts[name].replace(old, new)}

    return change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Result.B2:Result.B4", b"Result.B2:Result.B3"),
        (b'office:value="2.5"', b'office:value="2.500001"'),
        (b">Both<", b">Other<"),
        (b'chart:class="chart:scatter"', b'chart:class="chart:bar"'),
    ],
)
def test_a_chart_with_other_data_is_caught(
    calc: Bench, charted: Produced, tmp_path: Path, old: bytes, new: bytes
) -> None:
    wrong = changed(
        charted.path("table/ods"), tmp_path / "curve.ods", replaced("Chart/content.xml", old, new)
    )
    report = calc.verify(charted, files={"curve.ods": wrong})
    assert failures(report)[0].startswith("chart in the ODS of curve")


def test_a_chart_that_is_not_there_is_caught(calc: Bench, charted: Produced, tmp_path: Path) -> None:

    def without(parts: dict[str, bytes]) -> Mapping[str, bytes]:
        content = re.sub(rb"<draw:frame.*?</draw:frame>", b"", parts["content.xml"], flags=re.DOTALL)
        return {**parts, "content.xml": content}

    wrong = changed(charted.path("table/ods"), tmp_path / "curve.ods", without)
    assert not is_verified(calc.verify(charted, files={"curve.ods": wrong}))


# Lies


@pytest.mark.parametrize(
    ("kind", "part", "old", "new"),
    [
        ("table/xlsx", "xl/worksheets/sheet1.xml", b"<v>3.75</v>", b"<v>3.750004</v>"),
        ("table/xlsx", "xl/worksheets/sheet1.xml", b"<v>1.25</v>", b"<v>1.250001</v>"),
        ("table/xlsx", "xl/worksheets/sheet1.xml", b"SUM(A2:A3)", b"SUM(A2:A3)+0"),
        ("table/xlsx", "xl/worksheets/sheet1.xml", b"SUM(A2:A3)", b"SUM(A2,A3)"),
        ("table/ods", "content.xml", b'office:value="3.75"', b'office:value="3.750004"'),
        ("table/ods", "content.xml", b'office:value="1.25"', b'office:value="1.250001"'),
        ("table/ods", "content.xml", b"[.A2:.A3]", b"[.A2:.A4]"),
        ("table/ods", "content.xml", b' table:formula="of:=[.B2]+[.B3]"', b""),
    ],
)
def test_a_workbook_that_says_something_else_is_caught(
    calc: Bench, modelled: Produced, tmp_path: Path, kind: str, part: str, old: bytes, new: bytes
) -> None:
    suffix = kind.split("/")[1]
    wrong = changed(modelled.path(kind), tmp_path / f"t.{suffix}", replaced(part, old, new))
    assert not is_verified(calc.verify(modelled, files={f"t.{suffix}": wrong}))


def test_a_csv_that_is_off_in_the_last_digits_is_caught(
    calc: Bench, modelled: Produced, tmp_path: Path
) -> None:
    text = modelled.path("table/csv").read_text("utf-8")
    for new, caught in (("3.75000000001", True), ("3.7500000000001", False)):
        wrong = tmp_path / "t.csv"
        wrong.write_text(text.replace("3.75", new), "utf-8")
        checks = calc.verify(modelled, files={"t.csv": wrong})["checks"]
        assert {one["name"]: one["passed"] for one in checks}["CSV of t"] is not caught


def test_large_tables_have_no_pdf_and_say_so(calc: Bench) -> None:
    rows = [[float(row + place) for place in range(10)] for row in range(2000)]
    produced = calc.produce(document(cells(rows)))
    assert {one["kind"] for one in produced.result["publications"]} == {
        "table/csv",
        "table/xlsx",
        "table/ods",
    }
    assert any("No PDF" in one for one in produced.result["warnings"])
    verified(calc, produced)
