"""What tables come to: text that stays text, errors that are carried, orders, ties and blanks as they are defined."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from schemaxis_server.providers.spreadsheet import xlsx_reader
from schemaxis_server.providers.spreadsheet.values import CellError

from providers.hosts import Bench, Refused, failures, is_verified
from providers.sheet_bench import cells, document, node, run, table

_TEXTS = [
    "007",
    "12345678901234567890",
    "1e5",
    "=1+2",
    "+1",
    "-x",
    "@x",
    "2024-01-31",
    "1/2",
    "TRUE",
    "#N/A",
    "NaN",
    " a ",
    "a\nb",
    'say "hi"',
    "größe €",
    "'x",
    "_x0041_",
    "<b>&amp;",
]


def _csv(path: Path, text: str) -> dict[str, Path]:
    path.write_bytes(text.encode())
    return {"/nodes/0/options/file": path}


def _read(**options: Any) -> dict[str, Any]:
    return node("data", "readCSV", file=None, **options)


# Text stays text


def test_text_columns_come_through_letter_for_letter(sheet: Bench, tmp_path: Path) -> None:
    quoted = "".join('"{}",1\r\n'.format(text.replace('"', '""')) for text in _TEXTS)
    produced = run(sheet, _read(textColumns=["id"]), files=_csv(tmp_path / "a.csv", "id,n\r\n" + quoted))
    assert [row[0] for row in table(produced)[1:]] == _TEXTS
    (workbook,) = xlsx_reader.read(produced.path("table/xlsx"))
    assert [workbook.values[row, 1] for row in range(2, len(_TEXTS) + 2)] == _TEXTS
    assert not workbook.formulas
    (warning,) = produced.result["warnings"]
    assert "may be run as formulas" in warning


def test_authored_texts_come_through_too(sheet: Bench) -> None:
    rows: list[list[Any]] = [[{"text": text}] for text in _TEXTS]
    produced = run(sheet, cells(["id"], rows))
    assert [row[0] for row in table(produced)[1:]] == _TEXTS


def test_a_text_that_no_one_declared_is_refused_and_not_converted(sheet: Bench, tmp_path: Path) -> None:
    for cell in ("007", "12345678901234567890", "=1+2", "2024-01-31", "1,5", "5 mm", "#DIV/0!"):
        files = {"/nodes/0/options/file": str(tmp_path / "a.csv")}
        (tmp_path / "a.csv").write_text(f'n\n"{cell}"\n')
        with pytest.raises(Refused) as refused:
            sheet.produce(document(_read()), files)
        assert refused.value.pointer == "/nodes/0/options/file"
        assert "Line 2, column 1" in refused.value.message


def test_numbers_keep_every_digit(sheet: Bench, tmp_path: Path) -> None:
    written = [
        "0.30000000000000004",
        "123456789012345",
        "1e-300",
        "5e-324",
        "1.7976931348623157e+308",
        "-0.1",
        "NaN",
        "Infinity",
        "-Infinity",
    ]
    text = "n\n" + "".join(f"{one}\n" for one in written)
    produced = run(sheet, _read(), files=_csv(tmp_path / "a.csv", text))
    assert [row[0] for row in table(produced)[1:]] == written
    (workbook,) = xlsx_reader.read(produced.path("table/xlsx"))
    assert [workbook.values[row, 1] for row in range(8, 11)] == [CellError("#NUM!")] * 3


def test_what_is_no_number_is_an_error_to_formulas_and_never_left_out(sheet: Bench, tmp_path: Path) -> None:
    files = _csv(tmp_path / "a.csv", "n,m\n1,2\nNaN,3\nInfinity,4\n")
    double = node("f", "formulaColumn", "data", column="f", formula="=[@n]*2")
    total = node("s", "aggregate", "f", groupBy=[], values=[{"name": "t", "function": "sum", "column": "n"}])
    produced = run(sheet, _read(), double, files=files)
    assert [row[2] for row in table(produced)[1:]] == ["2", "#NUM!", "#NUM!"]
    assert run(sheet, _read(), double, total, files=files).quantity("values") == {"t": {"error": "#NUM!"}}


def test_dialects(sheet: Bench, tmp_path: Path) -> None:
    files = _csv(tmp_path / "a.csv", "größe;n\r\n1,5;2\r\n")
    produced = run(sheet, _read(delimiter=";", decimal=","), files=files)
    assert table(produced) == [["größe", "n"], ["1.5", "2"]]
    (tmp_path / "b.csv").write_bytes("preis €\n7\n".encode("cp1252"))
    produced = run(sheet, _read(encoding="windows-1252"), files={"/nodes/0/options/file": tmp_path / "b.csv"})
    assert produced.quantity("header") == ["preis €"]
    produced = run(sheet, _read(header=False), files=_csv(tmp_path / "c.csv", "1,2\n3,4\n"))
    assert table(produced) == [["1", "2"], ["1", "2"], ["3", "4"]]


def test_what_was_published_can_be_read_again(sheet: Bench) -> None:
    first = run(sheet, cells(["x", "y"], [[1, 0.1], [None, "=A2/3"], [3, None]]))
    again = run(sheet, _read(), files={"/nodes/0/options/file": first.path("table/csv")})
    assert again.path("table/csv").read_bytes() == first.path("table/csv").read_bytes()


def test_a_series_becomes_a_table_and_a_series_again(sheet: Bench, tmp_path: Path) -> None:
    from schemaxis_server.providers.tables.dialect import Dialect
    from schemaxis_server.providers.tables.reader import read_file
    from schemaxis_server.providers.tables.writer import write

    (tmp_path / "s.csv").write_bytes(write({"t": [0.0, 1e-05, 2e-05], "u": [0.0, 0.5, -0.25]}))
    column = node("f", "formulaColumn", "data", column="p", formula="=[@u]*[@u]/50")
    produced = run(sheet, _read(), column, files={"/nodes/0/options/file": tmp_path / "s.csv"})
    found = read_file(produced.path("table/csv"), Dialect())
    assert found.numbers("t") == [0.0, 1e-05, 2e-05]
    assert found.numbers("p") == [0.0, 0.005, 0.00125]


# Errors are carried


def test_errors_are_values_and_counted(sheet: Bench) -> None:
    rows = [["=1/0", "=SQRT(-1)", "=NA()"], ['="a"+1', "=SUM(A2:C2)", '=IFERROR(A2,"caught")']]
    produced = run(sheet, cells(["a", "b", "c"], rows, first="A2", caught="C3"))
    assert table(produced)[1:] == [["#DIV/0!", "#NUM!", "#N/A"], ["#VALUE!", "#DIV/0!", "caught"]]
    assert produced.quantity("errors") == 5
    assert produced.quantity("values") == {"first": {"error": "#DIV/0!"}, "caught": "caught"}
    assert "5 of 6 formulas give an error, first #DIV/0! in A2" in produced.result["warnings"][0]


# Order, ties, blanks

_MIXED: list[list[Any]] = [
    ["b", 1],
    [None, 2],
    [2, 3],
    ["B", 4],
    [True, 5],
    ["=1/0", 6],
    [10, 7],
    ["b", 8],
    [False, 9],
    [None, 10],
    [{"text": "10"}, 11],
]


def test_sorting_has_one_order_for_all_kinds(sheet: Bench) -> None:
    for order, wanted in (
        ("ascending", [3, 7, 11, 4, 1, 8, 9, 5, 6, 2, 10]),
        ("descending", [6, 5, 9, 1, 8, 4, 11, 7, 3, 2, 10]),
    ):
        sort = node("s", "sort", "t", by=[{"column": "k", "order": order}])
        produced = run(sheet, cells(["k", "n"], _MIXED), sort)
        assert [int(row[1]) for row in table(produced)[1:]] == wanted


def test_later_columns_break_ties(sheet: Bench) -> None:
    by = [{"column": "a"}, {"column": "b", "order": "descending"}]
    rows: list[list[Any]] = [[2, 1, "p"], [1, 1, "q"], [2, 3, "r"], [1, None, "s"], [1, 1, "t"]]
    produced = run(sheet, cells(["a", "b", "c"], rows), node("s", "sort", "t", by=by))
    assert [row[2] for row in table(produced)[1:]] == ["q", "t", "s", "r", "p"]


@pytest.mark.parametrize(
    ("operator", "value", "wanted"),
    [
        ("equals", "b", [1, 8]),
        ("equals", 10, [7]),
        ("equals", True, [5]),
        ("notEquals", "b", [2, 3, 4, 5, 7, 9, 10, 11]),
        ("less", 10, [3]),
        ("lessOrEqual", 10, [3, 7]),
        ("greater", 2, [7]),
        ("greaterOrEqual", "B", [1, 4, 8]),
        ("contains", "1", [11]),
        ("startsWith", "b", [1, 8]),
        ("endsWith", "0", [11]),
        ("isBlank", None, [2, 10]),
        ("isNotBlank", None, [1, 3, 4, 5, 7, 8, 9, 11]),
        ("isNumber", None, [3, 7]),
        ("isText", None, [1, 4, 8, 11]),
        ("isError", None, [6]),
    ],
)
def test_filters_compare_like_with_like(sheet: Bench, operator: str, value: Any, wanted: list[int]) -> None:
    condition = {"column": "k", "operator": operator, "value": value}
    produced = run(sheet, cells(["k", "n"], _MIXED), node("f", "filterRows", "t", conditions=[condition]))
    assert [int(row[1]) for row in table(produced)[1:]] == wanted
    assert any("with an error" in one for one in produced.result["warnings"]) == (operator != "isError")


def test_groups_keep_kinds_apart_and_come_in_the_order_of_their_first_rows(sheet: Bench) -> None:
    values = [
        {"name": "s", "function": "sum", "column": "n"},
        {"name": "c", "function": "countAll", "column": "k"},
    ]
    produced = run(
        sheet, cells(["k", "n"], _MIXED), node("g", "aggregate", "t", groupBy=["k"], values=values)
    )
    assert table(produced)[1:] == [
        ["b", "9", "2"],
        ["", "12", "0"],
        ["2", "3", "1"],
        ["B", "4", "1"],
        ["TRUE", "5", "1"],
        ["#DIV/0!", "6", "1"],
        ["10", "7", "1"],
        ["FALSE", "9", "1"],
        ["10", "11", "1"],
    ]


def test_the_variance_of_large_numbers_does_not_cancel(sheet: Bench) -> None:
    values = [
        {"name": one, "function": one, "column": "x"} for one in ("variance", "standardDeviation", "average")
    ]
    rows: list[list[Any]] = [[1e9], [1e9 + 1], [1e9 + 2], ["text"], [None]]
    produced = run(sheet, cells(["x"], rows), node("a", "aggregate", "t", values=values))
    assert produced.quantity("values") == {"variance": 1.0, "standardDeviation": 1.0, "average": 1e9 + 1}


def test_a_lookup_takes_the_first_row_and_tells_kinds_apart(sheet: Bench) -> None:
    left = cells(["k"], [["a"], ["A"], [7], [{"text": "7"}], [None], ["zz"], ["=1/0"]])
    right = cells(["k", "v"], [["a", 1], ["a", 2], [7, 3], [{"text": "7"}, 4], [None, 5]], name="r")
    look = node("l", "lookup", "t", "r", key="k", referenceKey="k", columns=["v"])
    produced = run(sheet, left, right, look)
    assert [row[1] for row in table(produced)[1:]] == ["1", "#N/A", "3", "4", "#N/A", "#N/A", "#DIV/0!"]
    assert any("repeat a key" in one for one in produced.result["warnings"])


# Goal seek, chart


def test_goal_seek_finds_the_crossing(sheet: Bench) -> None:
    model = cells(["name", "x"], [["x", 1], ["f", "=B2*B2*B2-2*B2"]])
    seek = node("g", "goalSeek", "t", cell="B2", goal="B3", target=21, low=0, high=10)
    found = run(sheet, model, seek).quantity("values")
    assert found["solution"] == pytest.approx(3.0, rel=1e-14)
    assert found["value"] == pytest.approx(21.0, rel=1e-13)


@pytest.mark.parametrize(
    ("changed", "pointer", "said"),
    [
        ({"low": 5}, "low", "same side"),
        ({"cell": "A2"}, "cell", "no number"),
        ({"goal": "A3"}, "goal", "no formula"),
        ({"goal": "B9"}, "goal", "outside"),
        ({"low": -1}, "goal", "#NUM!"),
    ],
)
def test_goal_seek_says_why_it_cannot(sheet: Bench, changed: dict[str, Any], pointer: str, said: str) -> None:
    model = cells(["name", "x"], [["x", 1], ["f", "=SQRT(B2)"]])
    options = {"cell": "B2", "goal": "B3", "target": 2, "low": 0, "high": 10} | changed
    with pytest.raises(Refused) as refused:
        sheet.produce(document(model, node("g", "goalSeek", "t", **options)))
    assert refused.value.pointer == f"/nodes/1/options/{pointer}"
    assert said in refused.value.message


def test_a_chart_without_anything_to_draw_is_refused(sheet: Bench) -> None:
    for rows in ([["a", "b"]], [[None, 1]], [[1, "=1/0"]], [[1, None]]):
        with pytest.raises(Refused) as refused:
            sheet.produce(document(cells(["x", "y"], rows), node("c", "chart", "t", x="x", y=["y"])))
        assert "nothing to draw" in refused.value.message


@pytest.mark.parametrize("kind", ["line", "scatter", "bar"])
def test_a_chart_shows_its_data(sheet: Bench, kind: str) -> None:
    source = cells(["x", "y"], [[0, 0], [1, 1], [2, 4], [3, 9]])
    chart = node("c", "chart", "t", kind=kind, x="x", y=["y"], title="T", xLabel="", yLabel="")
    produced = sheet.produce(document(source, chart))
    report = sheet.verify(produced, pictures=True)
    assert is_verified(report), failures(report)
    png, svg = report["pictures"]
    assert {png["derivedFrom"], svg["derivedFrom"]} == {"c.csv"}
    pixels = matplotlib.image.imread(Path(report["directory"]) / png["file"])[50:470, 110:930, :3]
    shown = np.any((pixels[..., 2] > 0.5) & (pixels[..., 0] < 0.3), axis=1)
    assert shown.sum() > (15 if kind == "scatter" else 300)
    assert shown[:60].any(), "the largest value is drawn at the top"
    assert b"<svg" in (Path(report["directory"]) / svg["file"]).read_bytes()[:1000]


# Files


def test_the_same_document_gives_the_same_bytes(sheet: Bench) -> None:
    nodes = cells(["a", "b"], [[1, "=A2/3"], ["x", "=IFNA(NA(),2)"]])
    one, other = (run(sheet, nodes) for _ in range(2))
    for kind in ("table/csv", "table/xlsx"):
        assert one.path(kind).read_bytes() == other.path(kind).read_bytes()


def test_a_workbook_holds_the_formulas_as_they_were_written(sheet: Bench) -> None:
    rows = [[0.1, "=(A2+(0.2-0.3))*0.12345678901234567"], [2, '=IFNA(NA(),"IFNA(")&"<&>"']]
    produced = run(sheet, cells(["a", "b"], rows))
    (workbook,) = xlsx_reader.read(produced.path("table/xlsx"))
    assert workbook.formulas[2, 2] == rows[0][1]
    assert workbook.formulas[3, 2] == '=_xlfn.IFNA(NA(),"IFNA(")&"<&>"'
    assert table(produced)[2] == ["2", "IFNA(<&>"]


def test_an_aggregate_has_its_source_beside_it(sheet: Bench) -> None:
    values = [{"name": "s", "function": "sum", "column": "f"}]
    produced = run(
        sheet,
        cells(["a"], [[1], [2]]),
        node("f", "formulaColumn", "t", column="f", formula="=[@a]*10"),
        node("g", "aggregate", "f", values=values),
    )
    result, source = xlsx_reader.read(produced.path("table/xlsx"))
    assert (result.name, source.name) == ("Result", "Source")
    assert result.formulas == {(2, 1): "=SUM(Source!B2:B3)"}
    assert source.formulas == {(2, 2): "=$A2*10", (3, 2): "=$A3*10"}
    assert zipfile.ZipFile(produced.path("table/xlsx")).testzip() is None


def test_tables_without_rows_go_through_everything(sheet: Bench, tmp_path: Path) -> None:
    files = _csv(tmp_path / "a.csv", "a,b\n")
    values = [{"name": one, "function": one, "column": "a"} for one in ("sum", "min", "count", "variance")]
    nodes = [
        _read(),
        node("f", "formulaColumn", "data", column="f", formula="=[@a]+1"),
        node("s", "sort", "f", by=[{"column": "f"}]),
        node("w", "filterRows", "s", conditions=[{"column": "a", "operator": "isNumber"}]),
        node("g", "aggregate", "w", values=values),
    ]
    assert table(run(sheet, *nodes[:4], files=files)) == [["a", "b", "f"]]
    found = run(sheet, *nodes, files=files).quantity("values")
    assert found == {"sum": 0, "min": {"error": "#N/A"}, "count": 0, "variance": {"error": "#DIV/0!"}}


def test_names_that_a_file_lacks_are_told_with_the_nearest(sheet: Bench, tmp_path: Path) -> None:
    files = _csv(tmp_path / "a.csv", "price,units\n1,2\n")
    bindings = {pointer: str(path) for pointer, path in files.items()}
    column = node("f", "formulaColumn", "data", column="f", formula="=[@prise]*2")
    with pytest.raises(Refused) as refused:
        sheet.produce(document(_read(), column), bindings)
    assert refused.value.pointer == "/nodes/1/options/formula"
    assert "nearest is price" in refused.value.message
    with pytest.raises(Refused) as refused:
        sheet.produce(document(_read()))
    assert refused.value.pointer == "/nodes/0/options/file"
