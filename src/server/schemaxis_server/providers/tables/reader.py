"""Reads CSV strictly by RFC 4180: what it does not understand it refuses, with line and column.

Cells stay text until a column is asked for as numbers, so that nothing is converted that nobody
meant to be a number.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.providers.problems import clip, nearest
from schemaxis_server.providers.tables.dialect import (
    DELIMITERS,
    ENCODINGS,
    MAX_BYTES,
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_NAME_CHARACTERS,
    MAX_ROWS,
    Dialect,
)
from schemaxis_server.providers.tables.numbers import NotANumber, parse_number, parse_plain

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LONE_RETURN = re.compile("\r(?!\n)")


class TableRefused(Exception):
    """A file that does not fit its dialect.

    ``message`` says where, what is wrong and what to do. ``line`` counts the lines of the file and
    ``column`` its cells, both from 1; 0 where there is no such place.
    """

    def __init__(self, why: str, line: int = 0, column: int = 0) -> None:
        place = ", ".join(
            f"{word} {number}" for word, number in (("line", line), ("column", column)) if number
        )
        self.message = f"{place[0].upper()}{place[1:]}: {why}" if place else why
        self.line = line
        self.column = column
        super().__init__(self.message)


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a file as text, by rows below the header. ``lines`` is where each row starts."""

    names: tuple[str, ...]
    rows: list[list[str]]
    lines: Sequence[int]
    dialect: Dialect

    def position(self, name: str) -> int:
        """Where a column stands, from 0. Raises ``TableRefused`` with the nearest name if there is none."""
        try:
            return self.names.index(name)
        except ValueError:
            near = nearest(name, self.names)
            shown = ", ".join(clip(one) for one in self.names[:12]) + (" …" if len(self.names) > 12 else "")
            meant = f"; the nearest is {clip(near)}" if near else ""
            raise TableRefused(f"There is no column {clip(name)}{meant}. The columns are {shown}.") from None

    def text(self, name: str) -> list[str]:
        """The cells of a column as they stand."""
        position = self.position(name)
        return [row[position] for row in self.rows]

    def numbers(self, name: str) -> list[float]:
        """A column of numbers, none of them missing. Raises ``TableRefused`` at the first that is not."""
        values = self._plain(name)
        return [self._number(name, index) for index in range(len(self.rows))] if values is None else values

    def numbers_or_missing(self, name: str) -> list[float | None]:
        """The same where a cell may be empty, which is None."""
        values = self._plain(name)
        if values is not None:
            return list(values)
        position = self.position(name)
        return [
            None if row[position] == "" else self._number(name, index) for index, row in enumerate(self.rows)
        ]

    def columns(self) -> dict[str, list[str] | list[float | None]]:
        """Every column by name: text where the dialect says so, numbers otherwise."""
        for name in self.dialect.text_columns:
            self.position(name)
        kept = frozenset(self.dialect.text_columns)
        return {
            name: self.text(name) if name in kept else self.numbers_or_missing(name) for name in self.names
        }

    def _plain(self, name: str) -> list[float] | None:
        return parse_plain(self.text(name), self.dialect.decimal)

    def _number(self, name: str, index: int) -> float:
        position = self.position(name)
        cell = self.rows[index][position]
        try:
            return parse_number(cell, self.dialect.decimal)
        except NotANumber as reason:
            where = self.lines[index], position + 1
            shown = f"{clip(cell)} in column {clip(name)} {reason}."
            raise TableRefused(shown, *where) from None


def read_file(path: Path, dialect: Dialect) -> Table:
    """Read a file. Raises ``TableRefused``, or ``OSError`` if it cannot be read at all."""
    with path.open("rb") as file:
        return read(file.read(MAX_BYTES + 1), dialect)


def read(data: bytes, dialect: Dialect) -> Table:
    """The table that ``data`` holds in ``dialect``. Raises ``TableRefused``."""
    if len(data) > MAX_BYTES:
        raise TableRefused(f"The file has more than {MAX_BYTES} bytes; split it.")
    text = _decoded(data, dialect.encoding)
    _no_control(text)
    if not text:
        raise TableRefused("The file is empty; it needs at least one line.")
    rows, lines = _unquoted(text, dialect) if '"' not in text else _quoted(text, dialect)
    _bounded(rows, lines, dialect)
    width = len(rows[0])
    if not dialect.header:
        return Table(tuple(str(index + 1) for index in range(width)), rows, lines, dialect)
    return Table(_names(rows[0]), rows[1:], lines[1:], dialect)


def _decoded(data: bytes, encoding: str) -> str:
    if encoding == "utf-16" and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise TableRefused("The file does not start with the byte order mark of UTF-16; set encoding.", 1)
    if encoding != "utf-16" and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TableRefused("The file starts with the byte order mark of UTF-16; set encoding to utf-16.", 1)
    if encoding not in ("utf-8", "utf-16") and data[:3] == b"\xef\xbb\xbf":
        raise TableRefused("The file starts with the byte order mark of UTF-8; set encoding to utf-8.", 1)
    try:
        return data.decode(ENCODINGS[encoding])
    except UnicodeDecodeError as reason:
        line = data.count(b"\n", 0, reason.start) + 1
        byte = data[reason.start]
        others = "windows-1252 or latin-1" if encoding == "utf-8" else "utf-8"
        raise TableRefused(
            f"The byte {byte:#04x} is not {encoding}; set encoding, perhaps to {others}.", line
        ) from None


def _no_control(text: str) -> None:
    found = _CONTROL.search(text)
    if found is not None:
        code = ord(found[0])
        advice = "set encoding, perhaps to windows-1252" if code >= 0x80 else "remove it"
        if code == 0:
            advice = "remove it, or set encoding to utf-16 if the file is"
        line = text.count("\n", 0, found.start()) + 1
        raise TableRefused(f"The control character U+{code:04X} stands in the file; {advice}.", line)


def _unquoted(text: str, dialect: Dialect) -> tuple[list[list[str]], Sequence[int]]:
    """Without any quote, every line is a row and every delimiter parts two cells."""
    _no_lone_return(text)
    lines = text.split("\n")
    if lines[-1] == "":
        del lines[-1]
        unended = 0
    else:
        unended = 1
    returned = text.count("\r")
    if returned:
        if returned != len(lines) - unended:
            raise _mixed(lines, unended)
        lines = [line.removesuffix("\r") for line in lines]
    return [line.split(dialect.delimiter) for line in lines], range(1, len(lines) + 1)


def _no_lone_return(text: str) -> None:
    lone = _LONE_RETURN.search(text)
    if lone is not None:
        raise _lone_return(text.count("\n", 0, lone.start()) + 1)


def _lone_return(line: int) -> TableRefused:
    return TableRefused("A carriage return stands without a line feed; end lines with CRLF or LF.", line)


def _mixed(lines: list[str], unended: int) -> TableRefused:
    ended = [line.endswith("\r") for line in lines[: len(lines) - unended]]
    return _differs(ended.index(not ended[0]) + 1, "CRLF" if ended[0] else "LF")


def _differs(line: int, before: str) -> TableRefused:
    return TableRefused(
        f"The line ends differently from those before it, which end with {before}; end all alike.", line
    )


def _quoted(text: str, dialect: Dialect) -> tuple[list[list[str]], Sequence[int]]:
    """Cell by cell: a cell is quoted from its first character to its last, or holds no quote at all."""
    mark = re.escape(dialect.delimiter)
    cell = re.compile(rf'(?:"((?:[^"]|"")*+)"|([^"\r\n{mark}]*+))({mark}|\r\n|\n|\Z)')
    breaks = [found.start() for found in re.finditer("\n", text)]
    rows: list[list[str]] = []
    lines: list[int] = []
    row: list[str] = []
    start, place, end, ending = 0, 0, len(text), ""
    while place < end or row:
        found = cell.match(text, place)
        if found is None:
            raise _stray(text, place, bisect_right(breaks, place - 1) + 1, len(row) + 1, dialect)
        quoted, bare, after = found.groups()
        row.append(bare if quoted is None else quoted.replace('""', '"'))
        place = found.end()
        if after != dialect.delimiter:
            if after and after != ending:
                if ending:
                    line = bisect_right(breaks, found.start(3) - 1) + 1
                    raise _differs(line, "CRLF" if ending == "\r\n" else "LF")
                ending = after
            rows.append(row)
            lines.append(bisect_right(breaks, start - 1) + 1)
            row, start = [], place
    return rows, lines


def _stray(text: str, place: int, line: int, column: int, dialect: Dialect) -> TableRefused:
    if text[place] == '"':
        closed = re.compile(r'"(?:[^"]|"")*+"').match(text, place)
        if closed is None:
            why = "A quoted cell is never closed; end it with a double quote."
        else:
            after = clip(text[closed.end()])
            why = f"After the closing quote comes {after}; write a quote inside a cell twice, and the delimiter after it."
        return TableRefused(why, line, column)
    rest = re.compile(rf'[^"\r\n{re.escape(dialect.delimiter)}]*').match(text, place)
    if rest is not None and text[rest.end() : rest.end() + 1] == "\r":
        return _lone_return(line)
    why = "A double quote stands inside a cell that does not start with one; put the cell in quotes and write it twice."
    return TableRefused(why, line, column)


def _bounded(rows: list[list[str]], lines: Sequence[int], dialect: Dialect) -> None:
    width = len(rows[0])
    if width > MAX_COLUMNS:
        raise TableRefused(f"There are {width} columns, and {MAX_COLUMNS} are the most.", lines[0])
    if len(rows) > MAX_ROWS + dialect.header:
        raise TableRefused(f"There are more than {MAX_ROWS} rows; split the file.", lines[MAX_ROWS])
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            if row == [""]:
                raise TableRefused("The line is empty; remove it.", line)
            raise TableRefused(
                f"The row has {len(row)} cells, and the first has {width}.{_perhaps(row, width, dialect)}",
                line,
            )
        longest = max(map(len, row))
        if longest > MAX_CELL_CHARACTERS:
            column = [len(cell) for cell in row].index(longest)
            why = f"The cell has {longest} characters, and {MAX_CELL_CHARACTERS} are the most."
            raise TableRefused(why, line, column + 1)


def _perhaps(row: list[str], width: int, dialect: Dialect) -> str:
    """What may have been meant by a row of another width."""
    if len(row) == 2 * width and dialect.delimiter == ",":
        return " Numbers with a decimal comma need another delimiter and decimal set to ','."
    return " Give every row the same number; put a cell that holds a delimiter in double quotes."


def _names(header: list[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for position, name in enumerate(header):
        if not name.strip():
            raise TableRefused("A column has no name; name it, or set header to false.", 1, position + 1)
        if len(name) > MAX_NAME_CHARACTERS:
            raise TableRefused(
                f"A column's name has {len(name)} characters; {MAX_NAME_CHARACTERS} are the most.",
                1,
                position + 1,
            )
        if name in seen:
            why = f"The name {clip(name)} stands in column {seen[name] + 1} already; names have to differ."
            raise TableRefused(why, 1, position + 1)
        seen[name] = position
    if len(header) == 1:
        other = next((mark for mark in DELIMITERS if mark.strip() and mark in header[0]), None)
        if other is not None:
            why = f"The only column's name {clip(header[0])} holds {clip(other)}; set delimiter to it."
            raise TableRefused(why, 1, 1)
    return tuple(header)
