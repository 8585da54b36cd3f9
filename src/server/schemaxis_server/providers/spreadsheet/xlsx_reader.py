"""Reads the values and formulas that stand in an XLSX, with the standard library only.

A verifier reads with it what is written in a published file, before any engine recalculates it. It knows
what ECMA-376 says of cells (section 18.3.1.4) and shared strings (18.4), and nothing of styles.
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

from schemaxis_server.providers.spreadsheet.formulas.parser import reference
from schemaxis_server.providers.spreadsheet.values import CellError, Value

MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_PART_BYTES = 512 * 1024 * 1024

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
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

Place = tuple[int, int]


class Unreadable(Exception):
    """The file is no XLSX, or one that this reader does not understand."""


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """Values and formulas (with their ``=``) by row and column from 1."""

    name: str
    values: dict[Place, Value]
    formulas: dict[Place, str]


def read(path: Path) -> list[ReadSheet]:
    """The sheets of a workbook, in their order. Raises ``Unreadable``, or ``OSError``."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise Unreadable(f"the file has more than {MAX_FILE_BYTES} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            return list(_sheets(archive))
    except _UNREADABLE as reason:
        raise Unreadable(f"{type(reason).__name__}: {reason}"[:200]) from reason


def _sheets(archive: zipfile.ZipFile) -> Iterator[ReadSheet]:
    targets = {
        one.attrib["Id"]: one.attrib["Target"].removeprefix("/xl/")
        for one in _part(archive, "xl/_rels/workbook.xml.rels")
    }
    strings = [_text(one) for one in _part(archive, "xl/sharedStrings.xml").iter(f"{_MAIN}si")]
    for one in _part(archive, "xl/workbook.xml").iter(f"{_MAIN}sheet"):
        yield _sheet(one.attrib["name"], _bytes(archive, f"xl/{targets[one.attrib[_RELATION]]}"), strings)


def _part(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(_bytes(archive, name))


def _bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as part:
        content = part.read(MAX_PART_BYTES + 1)
    if len(content) > MAX_PART_BYTES:
        raise ValueError(f"{name} has more than {MAX_PART_BYTES} bytes")
    if b"<!DOCTYPE" in content[:1024] or b"<!ENTITY" in content:
        raise ValueError(f"{name} declares entities")
    return content


def _text(item: ElementTree.Element) -> str:
    # Phonetic readings (rPh) are no part of the text.
    parts = [item.findtext(f"{_MAIN}t", "")]
    parts += [run.findtext(f"{_MAIN}t", "") for run in item.findall(f"{_MAIN}r")]
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), "".join(parts))


def _sheet(name: str, content: bytes, strings: list[str]) -> ReadSheet:
    sheet = ReadSheet(name, {}, {})
    for _, element in ElementTree.iterparse(io.BytesIO(content)):
        if element.tag == f"{_MAIN}row":
            # What was read is let go, so that a large sheet does not stand in memory as a tree.
            element.clear()
        if element.tag != f"{_MAIN}c":
            continue
        cell = reference(element.attrib["r"])
        if cell is None:
            raise ValueError(f"{element.attrib['r'][:20]} is no cell")
        place = cell.row, cell.column
        if place in sheet.values:
            raise ValueError(f"{element.attrib['r']} stands there twice")
        formula = element.find(f"{_MAIN}f")
        if formula is not None:
            if not formula.text or formula.attrib.get("t", "normal") != "normal":
                raise ValueError(f"{element.attrib['r']} holds a shared or array formula")
            sheet.formulas[place] = f"={formula.text}"
        sheet.values[place] = _value(element, strings)
    return sheet


def _value(element: ElementTree.Element, strings: list[str]) -> Value:
    kind = element.attrib.get("t", "n")
    if kind == "inlineStr":
        inline = element.find(f"{_MAIN}is")
        return "" if inline is None else _text(inline)
    written = element.findtext(f"{_MAIN}v")
    if written is None:
        return None
    if kind == "s":
        return strings[int(written)]
    if kind == "str":
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), written)
    if kind == "b":
        return {"0": False, "1": True}[written]
    if kind == "e":
        return CellError(written)
    return float(written)
