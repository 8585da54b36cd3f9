"""Formulas: what the grammar allows gives what was worked out by hand; all else is refused where it stands."""

from __future__ import annotations

import math
from typing import Any

import pytest
from schemaxis_server.providers.spreadsheet.formulas import functions
from schemaxis_server.providers.spreadsheet.formulas.layout import Filled, check_inside, placed
from schemaxis_server.providers.spreadsheet.formulas.parser import parse
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError

from providers.hosts import Bench
from providers.sheet_bench import cells, node, problems, run, table

# A: 1, 4, 9. B: 2.5, 0, 0.001. C: -3, 7, 100. D: abc, ABC, b. E: text "5", blank, "007". F: TRUE, FALSE, TRUE.
_COLUMNS = ["a", "b", "c", "d", "e", "f"]
_ROWS: list[list[Any]] = [
    [1, 2.5, -3, "abc", "5", True],
    [4, 0, 7, "ABC", None, False],
    [9, 1e-3, 100, "b", "007", True],
]
_BY_HAND: dict[str, float | str | bool] = {
    "=1+2*3^2": 19.0,
    "=(-2)^2": 4.0,
    "=2^-1": 0.5,
    "=50%*8": 4.0,
    "=1-2-3": -4.0,
    "=2/4*2": 1.0,
    '="a"&1&TRUE': "a1TRUE",
    '="a"="A"': True,
    '="say ""hi"""': 'say "hi"',
    "=SUM(A2:C4)": 120.501,
    "=SUM(D2:F4)": 0.0,
    "=AVERAGE(A2:A4)": 14 / 3,
    "=MIN(A2:C4)": -3.0,
    "=MAX(A2:C4,1000)": 1000.0,
    "=COUNT(A2:F4)": 9.0,
    "=COUNTA(A2:F4)": 17.0,
    "=COUNTBLANK(A2:F4)": 1.0,
    "=PRODUCT(A2:A4)": 36.0,
    "=MEDIAN(1,2,3,4)": 2.5,
    "=SUMSQ(A2:A4)": 98.0,
    "=SUMPRODUCT(A2:A4,C2:C4)": 925.0,
    "=SMALL(A2:A4,2)": 4.0,
    "=LARGE(A2:A4,1)": 9.0,
    '=SUMIF(A2:A4,">3",C2:C4)': 107.0,
    '=COUNTIF(D2:D4,"abc")': 2.0,
    '=AVERAGEIF(A2:A4,">3")': 6.5,
    "=VLOOKUP(4,A2:C4,3,FALSE)": 7.0,
    "=MATCH(9,A2:A4,0)": 3.0,
    "=ROWS(A2:C4)*COLUMNS(A2:B4)": 6.0,
    '=IF(A2>0,"y","n")': "y",
    "=IF(TRUE,1,1/0)": 1.0,
    "=IFERROR(1/0,7)": 7.0,
    "=IFNA(NA(),3)": 3.0,
    "=ISERROR(1/0)": True,
    "=ISNA(NA())": True,
    "=ISNUMBER(E2)": False,
    "=ISTEXT(E2)": True,
    "=ISBLANK(E3)": True,
    "=ISLOGICAL(F2)": True,
    "=AND(TRUE,A2>0)": True,
    "=OR(FALSE,A2<0)": False,
    "=NOT(FALSE)": True,
    "=TRUE()": True,
    "=FALSE()": False,
    "=PI()": math.pi,
    "=ROW()+COLUMN()": 3.0,
    "=ROUND(2.5,0)+ROUND(-2.5,0)": 0.0,
    "=ROUND(1234.5,-2)": 1200.0,
    "=ROUNDUP(2.1,0)": 3.0,
    "=ROUNDDOWN(-2.9,0)": -2.0,
    "=MOD(-7,3)": 2.0,
    "=QUOTIENT(-7,2)": -3.0,
    "=POWER(2,10)": 1024.0,
    "=ATAN2(1,2)": math.atan2(2, 1),
    "=COMBIN(5,2)": 10.0,
    "=TRUNC(-2.9)": -2.0,
    "=LOG(8,2)": 3.0,
    "=LOG(100)": 2.0,
    "=ABS(-3)": 3.0,
    "=SIGN(-2)": -1.0,
    "=INT(-2.1)": -3.0,
    "=SQRT(2)": math.sqrt(2),
    "=EXP(1)": math.e,
    "=LN(2)": math.log(2),
    "=LOG10(1000)": 3.0,
    "=FACT(5)": 120.0,
    "=SIN(1)": math.sin(1),
    "=COS(1)": math.cos(1),
    "=TAN(1)": math.tan(1),
    "=ASIN(0.5)": math.pi / 6,
    "=ACOS(0.5)": math.pi / 3,
    "=ATAN(1)": math.pi / 4,
    "=SINH(1)": math.sinh(1),
    "=COSH(1)": math.cosh(1),
    "=TANH(1)": math.tanh(1),
    "=DEGREES(PI())": 180.0,
    "=RADIANS(180)": math.pi,
    '=LEN("héllo")': 5.0,
    '=TRIM("  a  b ")': "a b",
    '=VALUE("12.5")': 12.5,
    '=LEFT("hello",2)': "he",
    '=RIGHT("hello",2)': "lo",
    '=MID("hello",2,3)': "ell",
    '=CONCATENATE("a",1,"b")': "a1b",
    '=SUBSTITUTE("aXbX","X","-")': "a-b-",
    '=FIND("l","hello")': 3.0,
    '=EXACT("a","A")': False,
}


def test_every_function_of_the_list_gives_what_was_worked_out(sheet: Bench) -> None:
    formulas = list(_BY_HAND)
    rows = [*_ROWS, *([text] for text in formulas)]
    names = {f"r{index}": f"A{index + 5}" for index in range(64)}
    produced = run(sheet, cells(_COLUMNS, rows, **names))
    given = table(produced)[4:]
    for text, row in zip(formulas, given, strict=True):
        wanted = _BY_HAND[text]
        if isinstance(wanted, bool):
            assert row[0] == str(wanted).upper(), text
        elif isinstance(wanted, str):
            assert row[0] == wanted, text
        else:
            assert math.isclose(float(row[0]), _moved(text, wanted), rel_tol=1e-14, abs_tol=1e-15), text


def _moved(text: str, wanted: float) -> float:
    """ROW() is the row in which the formula stands."""
    return wanted - 3 + 1 + 5 + list(_BY_HAND).index(text) if text == "=ROW()+COLUMN()" else wanted


def test_every_function_is_among_those_worked_out() -> None:
    used = {name for name in functions.FUNCTIONS for text in _BY_HAND if f"{name}(" in text}
    assert used == set(functions.FUNCTIONS)


@pytest.mark.parametrize(
    ("formula", "position", "said", "near"),
    [
        ("=SUM([a]", 9, "never closed", ""),
        ("=(1+2", 6, "never closed", ""),
        ("=1+2)", 5, "closes nothing", ""),
        ("=Sheet2!A1", 8, "own sheet only", ""),
        ("='file:///tmp/x.ods'#$S.A1", 2, "own sheet only", ""),
        ("=[book.xlsx]S!A1", 14, "own sheet only", ""),
        ("=cmd|'/c calc'!A0", 5, "own sheet only", ""),
        ("=A2#", 4, "own sheet only", ""),
        ('=DDE("soffice","x","y")', 2, "outside", ""),
        ('=HYPERLINK("http://x")', 2, "outside", ""),
        ('=WEBSERVICE("http://x")', 2, "outside", ""),
        ("=NOW()", 2, "volatile", ""),
        ("=1+RAND()", 4, "volatile", ""),
        ('=INDIRECT("A1")', 2, "volatile", ""),
        ("=SUMM([a])", 2, "no function", "SUM"),
        ("=XLOOKUP(1,[a],[b])", 2, "no function", "VLOOKUP"),
        ("=INDEX([a],0,1)", 2, "no function", "VLOOKUP"),
        ("=STDEV.S([a])", 2, "lose digits", ""),
        ("=IF(A2;1;2)", 7, "semicolons", ","),
        ("={1,2}", 2, "Arrays", ""),
        ("=-2^2", 2, "two ways", ""),
        ("=2^3^2", 5, "two ways", ""),
        ("=1<2<3", 5, "chained", ""),
        ("=[a]*2", 2, "one value", "[@a]"),
        ("=A2:A4+1", 2, "one value", ""),
        ("=ROUND([@a])", 2, "1 arguments", ""),
        ("=SQRT([a])", 7, "is a range", ""),
        ("=SUMIF(A2:A4,1,B2:B3)", 2, "differ in shape", ""),
        ("=IF([@a],,1)", 10, "missing", ""),
        ("=1+", 4, "ends where a value", ""),
        ('="x', 2, "closing quote", ""),
        ("=total*2", 2, "no cell", "[@total]"),
        ("=A:A", 2, "whole columns", ""),
        ("=[@pric]", 2, "no column", "price"),
        ("=Z2", 2, "right of the table", ""),
        ("=A0", 2, "no cell of a sheet", ""),
        ("=1e999", 2, "too large", ""),
        ("=1,5", 3, "follows where", ""),
        ("=A2 A3", 5, "follows where", ""),
        ("=" + "(" * 40 + "1" + ")" * 40, 34, "deeper", ""),
        ("=1" + "+1" * 300, 402, "parts", ""),
        ("=" + "-" * 60 + "1", 35, "deeper", ""),
        ("=\u00a01", 2, "no place", ""),
    ],
)
def test_what_is_not_allowed_is_refused_where_it_stands(
    formula: str, position: int, said: str, near: str
) -> None:
    source = cells(["a", "b", "price"], [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    (problem,) = problems(source, node("f", "formulaColumn", "t", column="f", formula=formula))
    assert problem["pointer"] == "/nodes/1/options/formula"
    assert problem["message"].startswith(f"At character {position}: "), problem
    assert said in problem["message"]
    assert problem["expected"]
    assert problem["nearest"] == near


def test_all_problems_of_a_sheet_are_told_at_once() -> None:
    rows: list[list[Any]] = [["=NOW()", "=SUM(A2"], ["=A9", 1, 2], ["=[@q]", None]]
    found = problems(cells(["x", "y"], rows, bad="A1"), node("s", "sort", "t", by=[{"column": "z"}]))
    places = [one["pointer"] for one in found]
    rest = "/nodes/0/options/rows"
    assert places == [
        f"{rest}/0/0",
        f"{rest}/0/1",
        f"{rest}/1",
        f"{rest}/2/0",
        "/nodes/0/options/names/0/cell",
    ]


@pytest.mark.parametrize(
    "rows",
    [[["=A2"]], [["=A3"], ["=A2"]], [["=SUM(A3:A4)"], [1], ["=A2"]], [["=IF(FALSE,A3,1)"], ["=A2"]]],
)
def test_formulas_in_a_circle_are_refused(rows: list[list[Any]]) -> None:
    (problem,) = problems(cells(["x"], rows))
    assert "circle" in problem["message"]


def test_long_chains_of_formulas_are_no_circle(sheet: Bench) -> None:
    rows: list[list[Any]] = [[1], *([f"=A{row}+1"] for row in range(2, 1000))]
    assert table(run(sheet, cells(["x"], rows, last="A1000")))[-1] == ["999"]


def test_formulas_are_bounded_together() -> None:
    long = "=" + "+".join(["1"] * 190)
    found = problems(cells([f"c{n}" for n in range(60)], [[long] * 60] * 10))
    assert found
    assert "too long together" in found[0]["message"]


@pytest.mark.parametrize(
    ("formula", "third_row"),
    [
        ("=A2", "=A4"),
        ("=$A2", "=$A4"),
        ("=A$2", "=A$2"),
        ("=SUM(A$2:A2)", "=SUM(A$2:A4)"),
        ("=SUM(A2:A$2)", "=SUM(A$2:A4)"),
        ("=SUM(A2:A$3)", "=SUM(A$3:A4)"),
        ("=SUM(B3:A2)", "=SUM(A4:B5)"),
        ("=[@b]+SUM([a])", "=$B4+SUM($A$2:$A$6)"),
        ("=( a2 +1)*2%", "=(A4+1)*2%"),
    ],
)
def test_filling_down(formula: str, third_row: str) -> None:
    assert Filled(placed(parse(formula), ["a", "b"], 5)).text(2) == third_row


def test_column_names_of_any_kind_can_be_named() -> None:
    tree = placed(parse("=[@a b]+[@c'[x']]+[@it''s]"), ["a b", "c[x]", "it's"], 1)
    assert Filled(tree).text() == "=$A2+$B2+$C2"


def test_formulas_that_leave_the_table_are_refused() -> None:
    for formula in ("=B3", "=A9", "=SUM(A2:A9)", "=A3", "=SUMIF([a],1,A$2:A$3)"):
        tree = placed(parse(formula), ["a"], 3)
        with pytest.raises(FormulaError):
            check_inside(tree, 1, 3, 2)
