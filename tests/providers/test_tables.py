"""Strict CSV: what is read comes out as written, and everything else is refused where it stands."""

from __future__ import annotations

import csv
import io
import math
import struct
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from schemaxis_server.providers.problems import Problems
from schemaxis_server.providers.tables import dialect as dialects
from schemaxis_server.providers.tables.dialect import MAX_CELL_CHARACTERS, MAX_COLUMNS, Dialect
from schemaxis_server.providers.tables.numbers import NotANumber, format_number, parse_number, parse_plain
from schemaxis_server.providers.tables.reader import Table, TableRefused, read
from schemaxis_server.providers.tables.writer import write, write_rows

SEMICOLONS = Dialect(delimiter=";", decimal=",")


def table(text: str, dialect: Dialect = Dialect()) -> Table:  # noqa: B008 - frozen
    return read(text.encode(), dialect)


def refusal(text: str | bytes, dialect: Dialect = Dialect(), column: str | None = None) -> TableRefused:  # noqa: B008
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(TableRefused) as refused:
        read(data, dialect).numbers(column or "")
    return refused.value


# What is read


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n3,4",
        "x,y\n1,2\n3,4\n",
        "x,y\r\n1,2\r\n3,4\r\n",
        '"x","y"\r\n"1",2\r\n3,"4"',
        "\ufeffx,y\n1,2\n3,4\n",
    ],
)
def test_the_same_table_in_its_legal_forms(text: str) -> None:
    found = table(text)
    assert found.names == ("x", "y")
    assert found.numbers("x") == [1.0, 3.0]
    assert found.numbers("y") == [2.0, 4.0]


def test_dialects() -> None:
    assert table("x;y\n1,5;-2,5e3\n", SEMICOLONS).numbers("y") == [-2500.0]
    assert table("x\ty\n1.5\t2\n", Dialect(delimiter="\t")).numbers("x") == [1.5]
    assert table("1,2\n3,4\n", Dialect(header=False)).numbers("2") == [2.0, 4.0]
    assert read("größe\n1\n".encode("latin-1"), Dialect(encoding="latin-1")).names == ("größe",)
    assert read("preis €\n1\n".encode("cp1252"), Dialect(encoding="windows-1252")).names == ("preis €",)
    assert read("x,y\r\n1,2\r\n".encode("utf-16"), Dialect(encoding="utf-16")).numbers("y") == [2.0]


def test_text_stays_text_letter_for_letter() -> None:
    cells = [
        "007",
        "12345678901234567890",
        "=1+2",
        "@x",
        "2024-01-31",
        " a ",
        "",
        "1,5",
        'say "hi"\r\nthere',
        "-0",
        "1e5",
    ]
    data = write({"id": cells, "n": [float(n) for n in range(len(cells))]})
    found = read(data, Dialect(text_columns=("id",)))
    assert found.columns() == {"id": cells, "n": [float(n) for n in range(len(cells))]}


def test_a_header_alone_is_an_empty_table() -> None:
    assert table("x,y\n").rows == []
    assert table("x,y").columns() == {"x": [], "y": []}


def test_empty_cells_are_missing_and_never_zero() -> None:
    found = table("x,y\n1,\n,2\n")
    assert found.columns() == {"x": [1.0, None], "y": [None, 2.0]}
    assert "blank" in refusal("x,y\n1,\n,2\n", column="x").message


def test_what_is_no_number_stays_distinguishable() -> None:
    values = table("x\nNaN\nInfinity\n-Infinity\n-0.0\n5e-324\n").numbers("x")
    assert math.isnan(values[0])
    assert values[1:3] == [math.inf, -math.inf]
    assert math.copysign(1, values[3]) == -1
    assert values[4] == 5e-324
    assert write({"x": values}) == b"x\r\nNaN\r\nInfinity\r\n-Infinity\r\n-0.0\r\n5e-324\r\n"


def test_unicode_line_separators_are_text() -> None:
    assert table("x,y\na\u2028b,\x85".replace("\x85", "c") + "\n").rows == [["a\u2028b", "c"]]


# What is refused, and where


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 0, 0, "empty"),
        ("x,y\n1,2\n3\n", 3, 0, "has 1 cells"),
        ("x,y\n1,2,3\n", 2, 0, "has 3 cells"),
        ("x,y\n1,2\n\n3,4\n", 3, 0, "empty; remove"),
        ("x,y\n1,2\n\n", 3, 0, "empty; remove"),
        ("x,y\n1,5,2,5\n", 2, 0, "decimal comma"),
        ('x,y\n1,a"b\n', 2, 2, "put the cell in quotes"),
        ('x,y\n1,"a"b\n', 2, 2, "After the closing quote"),
        ('x,y\n1, "a"\n', 2, 2, "put the cell in quotes"),
        ('x,y\n"a\nb",2\n3,"never\nclosed', 4, 2, "never closed"),
        ("x,y\r\n1,2\n", 2, 0, "ends differently"),
        ("x,y\n1,2\r\n3,4\n", 2, 0, "ends differently"),
        ('x,y\n"a\r\nb",2\r\n', 3, 0, "ends differently"),
        ("x,y\r1,2\r", 1, 0, "carriage return"),
        ('x,y\n"a",b\r1,2\n', 2, 0, "carriage return"),
        ("x,y\n1,\x002\n", 2, 0, "U+0000"),
        ("x,y\n1,\x1b2\n", 2, 0, "U+001B"),
        ("x,x\n1,2\n", 1, 2, "already"),
        ("x,\n1,2\n", 1, 2, "no name"),
        ("x;y\n1;2\n", 1, 1, "set delimiter"),
        (b"x,y\n1,\xff\n", 2, 0, "0xff is not utf-8"),
        ("x,y\n".encode("utf-16"), 1, 0, "set encoding to utf-16"),
        (f"x\n{'a' * (MAX_CELL_CHARACTERS + 1)}\n", 2, 1, "characters"),
        (",".join(map(str, range(MAX_COLUMNS + 1))), 1, 0, "columns"),
        ("x" * 300 + "\n", 1, 1, "name has 300"),
    ],
)
def test_refused_with_line_and_column(text: str | bytes, line: int, column: int, says: str) -> None:
    refused = refusal(text)
    assert (refused.line, refused.column) == (line, column), refused.message
    assert says in refused.message
    assert len(refused.message) < 400


def test_control_characters_of_latin_1_hint_at_windows() -> None:
    assert "windows-1252" in refusal(b"x\n\x80\n", Dialect(encoding="latin-1")).message


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("007", "leading zeros"),
        ("-01.5", "leading zeros"),
        ("12345678901234567890", "more digits"),
        ("9007199254740993", "more digits"),
        ("=1+2", "formula"),
        ("@x", "formula"),
        ("+A1", "formula"),
        ("1;5", "more than a number"),
        ("5 mm", "more than a number"),
        ("1_000", "more than a number"),
        ("0x10", "more than a number"),
        ("1.000.000", "more than a number"),
        ("2024-01-31", "more than a number"),
        (" 1", "spaces"),
        ("1\t", "spaces"),
        ("nan", "write NaN"),
        ("inf", "write NaN"),
        ("#N/A", "write NaN"),
        ("1e999", "range"),
        ("1" * 5000, "range"),
        ("١٢", "more than a number"),
        ("true", "text"),
        ("", "blank"),
        ("'--", "text"),
    ],
)
def test_a_cell_that_is_no_number_is_never_made_one(cell: str, says: str) -> None:
    refused = refusal(f"n,x\n1,2\n3,{cell}\n", column="x")
    assert (refused.line, refused.column) == (3, 2)
    assert says in refused.message
    assert "x" in refused.message
    with pytest.raises(TableRefused):
        table(f"n,x\n1,2\n3,{cell or ' '}\n").columns()


def test_the_wrong_decimal_mark_is_named() -> None:
    assert "decimal comma" in refusal('x\n"1,5"\n', column="x").message
    assert "decimal point" in refusal("x;y\n1.5;2\n", SEMICOLONS, "x").message


def test_the_line_is_that_of_the_file_though_cells_span_lines() -> None:
    refused = refusal('t,x\n"a\nb\nc",1\n"d\ne",bad\n', column="x")
    assert (refused.line, refused.column) == (5, 2)


def test_an_unknown_column_is_refused_with_the_nearest() -> None:
    assert 'nearest is "force"' in refusal("time,force\n1,2\n", column="forse").message


def test_a_decimal_mark_that_is_the_delimiter_is_a_problem() -> None:
    problems = Problems()
    dialects.check({"decimal": ",", "delimiter": ","}, "/nodes/0/options", problems)
    assert problems.kept[0].pointer == "/nodes/0/options/decimal"
    with pytest.raises(ValueError, match="decimal"):
        Dialect(decimal=",")


def test_a_file_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemaxis_server.providers.tables.reader.MAX_ROWS", 3)
    assert len(table("x\n1\n2\n3\n").rows) == 3
    assert refusal("x\n1\n2\n3\n4\n").line == 4
    monkeypatch.setattr("schemaxis_server.providers.tables.reader.MAX_BYTES", 8)
    assert "8 bytes" in refusal("x\n1\n2\n3\n4\n").message


# Against other readers

_CELLS = st.text(
    st.one_of(st.sampled_from(',;"\r\n\t =0aé'), st.characters(exclude_categories=["Cs", "Cc"])), max_size=6
)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(_CELLS, min_size=width, max_size=width), min_size=1, max_size=5)
    )
)
@example([["\ufeff"]])
@example([["", ""], ["\r", "\n"]])
def test_what_is_written_comes_back_and_python_reads_the_same(rows: list[list[str]]) -> None:
    plain = Dialect(header=False)
    data = write_rows([], rows, plain)
    assert read(data, plain).rows == rows
    if all(len(row) > 1 or row[0] for row in rows):
        assert list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True)) == rows


@given(st.lists(st.floats(), max_size=30), st.sampled_from([".", ","]))
def test_numbers_come_back_bit_for_bit(values: list[float], decimal: str) -> None:
    dialect = Dialect(delimiter=";", decimal=decimal)
    found = read(write({"x": values}, dialect), dialect).numbers("x")
    canonical = [math.nan if math.isnan(value) else value for value in values]
    assert struct.pack(f"{len(values)}d", *found) == struct.pack(f"{len(values)}d", *canonical)


@given(st.text(st.sampled_from("0123456789.,eE+-_ xnaif\n"), max_size=12))
@example("1\n2")
@example("9007199254740992")
def test_a_whole_column_is_read_as_each_of_its_cells(cell: str) -> None:
    fast = parse_plain([cell])
    try:
        slow = parse_number(cell)
    except NotANumber:
        assert fast is None
        return
    assert slow == float(cell) or math.isnan(slow)
    assert fast is None or fast == [slow]


@given(st.floats(allow_nan=False))
def test_the_shortest_text_is_written(value: float) -> None:
    text = format_number(value)
    assert parse_number(text) == value
    assert math.isinf(value) or len(text) <= len(repr(value)) <= 25


@pytest.mark.parametrize(
    "rows", [100_000, pytest.param(1_000_000, marks=pytest.mark.campaign, id="a-million")]
)
def test_long_files_are_read_whole(rows: int) -> None:
    found = read(("x,y\n" + "1.25,-3e-7\n" * rows).encode(), Dialect())
    assert len(found.rows) == rows
    assert sum(found.numbers("y")) == pytest.approx(-3e-7 * rows)


def test_hostile_quotes_take_linear_time() -> None:
    # In quadratic time these would take hours.
    assert "never closed" in refusal('x\n"' + '""' * 1_000_000 + "a").message
    assert "closing quote" in refusal("x\n" + '"a' * 500_000).message


def test_nothing_but_the_standard_library_is_imported() -> None:
    import subprocess

    code = "import sys; from schemaxis_server.providers.tables import reader, writer; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
