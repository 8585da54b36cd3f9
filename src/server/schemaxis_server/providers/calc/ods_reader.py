"""Reads the values, formulas and charts that stand in an ODS, with the standard library only.

It knows what OpenDocument 1.3 says of table cells (part 3, 9.1.4) and formulas (part 4, 5), and nothing of styles.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from schemaxis_server.providers.spreadsheet.values import CODES, CellError, Value
from schemaxis_server.providers.spreadsheet.xlsx_reader import (
    MAX_FILE_BYTES,
    MAX_PART_BYTES,
    ReadSheet,
    Unreadable,
)

MEDIA_TYPE = b"application/vnd.oasis.opendocument.spreadsheet"

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    ValueError,
    IndexError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ElementTree.ParseError,
)
_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT = f"{{{_OASIS}office:1.0}}", f"{{{_OASIS}table:1.0}}", f"{{{_OASIS}text:1.0}}"
_DRAW, _CHART = f"{{{_OASIS}drawing:1.0}}", f"{{{_OASIS}chart:1.0}}"
_CALC = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_MAX_PLACES = 4_000_000

_REFERENCE = re.compile(
    r'("(?:[^"]|"")*")'
    r"|\[(?:\$?'?([A-Za-z]+)'?)?\.(\$?[A-Z]+\$?[0-9]+)(?::(?:\$?'?[A-Za-z]+'?)?\.(\$?[A-Z]+\$?[0-9]+))?\]"
    r"|(;)"
)


@dataclass(frozen=True, slots=True)
class ReadChart:
    """A chart: its kind (``scatter``, ``bar``), title, the ranges of its series, and the numbers that it shows."""

    kind: str
    title: str
    x: str
    series: tuple[str, ...]
    numbers: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Workbook:
    sheets: list[ReadSheet]
    charts: list[ReadChart]


def read(path: Path) -> Workbook:
    """The sheets of a workbook, in their order, and its charts. Raises ``Unreadable``, or ``OSError``."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise Unreadable(f"the file has more than {MAX_FILE_BYTES} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            broken = archive.testzip()
            if broken is not None:
                raise Unreadable(f"its part {broken[:100]} is damaged")
            if archive.read("mimetype") != MEDIA_TYPE:
                raise Unreadable("it does not say that it is a spreadsheet")
            root = _part(archive, "content.xml")
            charts = [_chart(_part(archive, f"{name}/content.xml")) for name in _objects(root)]
            return Workbook([_sheet(table) for table in _tables(root)], charts)
    except _UNREADABLE as reason:
        raise Unreadable(f"{type(reason).__name__}: {reason}"[:200]) from reason


def _part(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    with archive.open(name) as part:
        content = part.read(MAX_PART_BYTES + 1)
    if len(content) > MAX_PART_BYTES:
        raise ValueError(f"{name} has more than {MAX_PART_BYTES} bytes")
    if b"<!DOCTYPE" in content[:1024] or b"<!ENTITY" in content:
        raise ValueError(f"{name} declares entities")
    return ElementTree.fromstring(content)


def _tables(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    body = root.find(f"{_OFFICE}body/{_OFFICE}spreadsheet")
    if body is None:
        raise ValueError("it has no spreadsheet")
    yield from body.findall(f"{_TABLE}table")


def _objects(root: ElementTree.Element) -> Iterator[str]:
    for one in root.iter(f"{_DRAW}object"):
        yield one.attrib[_LINK].removeprefix("./")


def _sheet(table: ElementTree.Element) -> ReadSheet:
    sheet = ReadSheet(table.attrib[f"{_TABLE}name"], {}, {})
    row = 1
    for element in table.iter(f"{_TABLE}table-row"):
        times = int(element.attrib.get(f"{_TABLE}number-rows-repeated", "1"))
        cells = list(_cells(element))
        if any(value is not None or formula for _, value, formula in cells):
            if times * max(1, len(cells)) > _MAX_PLACES:
                raise ValueError("a row with content is repeated too often")
            for again in range(row, row + times):
                for column, value, formula in cells:
                    if formula:
                        sheet.formulas[again, column] = formula
                    if formula or value is not None:
                        sheet.values[again, column] = value
        row += times
    return sheet


def _cells(row: ElementTree.Element) -> Iterator[tuple[int, Value, str]]:
    column = 1
    for element in row:
        if element.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        times = int(element.attrib.get(f"{_TABLE}number-columns-repeated", "1"))
        value, formula = _value(element), _formula(element.attrib.get(f"{_TABLE}formula", ""))
        if value is not None or formula:
            if times > _MAX_PLACES:
                raise ValueError("a cell with content is repeated too often")
            for place in range(column, column + times):
                yield place, value, formula
        column += times


def _value(cell: ElementTree.Element) -> Value:
    kind = cell.attrib.get(f"{_OFFICE}value-type")
    if kind in ("float", "percentage", "currency"):
        return float(cell.attrib[f"{_OFFICE}value"])
    if kind == "boolean":
        # A number that looks like a boolean is written in its place, so that only these two are booleans.
        written = cell.attrib[f"{_OFFICE}boolean-value"]
        return {"true": True, "false": False}[written] if written in ("true", "false") else float(written)
    if kind is None:
        return None
    if kind != "string":
        raise ValueError(f"a cell is of the type {kind[:20]}")
    shown = "\n".join(_text(one) for one in cell.findall(f"{_TEXT}p"))
    if cell.attrib.get(f"{_CALC}value-type") == "error":
        # Err:502 and the like have no name in a spreadsheet; Calc writes them as #VALUE! elsewhere.
        return CellError(shown if shown in CODES else "#VALUE!")
    return cell.attrib.get(f"{_OFFICE}string-value", shown)


def _text(paragraph: ElementTree.Element) -> str:
    parts = [paragraph.text or ""]
    for element in paragraph:
        if element.tag == f"{_TEXT}s":
            parts.append(" " * int(element.attrib.get(f"{_TEXT}c", "1")))
        elif element.tag == f"{_TEXT}tab":
            parts.append("\t")
        elif element.tag == f"{_TEXT}line-break":
            parts.append("\n")
        else:
            parts.append(_text(element))
        parts.append(element.tail or "")
    return "".join(parts)


def _formula(written: str) -> str:
    """The formula in the vocabulary's notation, with its ``=``; nothing for none."""
    if not written:
        return ""
    if not written.startswith("of:="):
        raise ValueError(f"a formula in another notation: {written[:40]}")
    return _REFERENCE.sub(_reference, written.removeprefix("of:"))


def _reference(found: re.Match[str]) -> str:
    text, sheet, first, last, semicolon = found.groups()
    if text is not None:
        return str(text)
    if semicolon is not None:
        return ","
    return (f"{sheet}!" if sheet else "") + first + (f":{last}" if last else "")


def _chart(root: ElementTree.Element) -> ReadChart:
    chart = root.find(f"{_OFFICE}body/{_OFFICE}chart/{_CHART}chart")
    if chart is None:
        raise ValueError("an embedded object is no chart")
    series = list(chart.iter(f"{_CHART}series"))
    domain = chart.find(f".//{_CHART}domain")
    categories = chart.find(f".//{_CHART}categories")
    along = domain if domain is not None else categories
    title = chart.find(f"{_CHART}title")
    rows = chart.findall(f"{_TABLE}table/{_TABLE}table-rows/{_TABLE}table-row")
    return ReadChart(
        chart.attrib[f"{_CHART}class"].removeprefix("chart:"),
        "" if title is None else "".join(_text(one) for one in title.findall(f"{_TEXT}p")),
        "" if along is None else _range(along.attrib[f"{_TABLE}cell-range-address"]),
        tuple(_range(one.attrib[f"{_CHART}values-cell-range-address"]) for one in series),
        tuple(tuple(_number(cell) for cell in row.findall(f"{_TABLE}table-cell")) for row in rows),
    )


def _range(written: str) -> str:
    return written.replace("$", "").replace("Result.", "")


def _number(cell: ElementTree.Element) -> float | None:
    value = cell.attrib.get(f"{_OFFICE}value")
    return None if value is None else float(value)
