"""Writes workbooks as flat ODF (OpenDocument 1.3, one XML file), which is how Calc takes them in.

Cell by cell over UNO the time for formulas grows with the square of their number. Standard library only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.spreadsheet.formulas.tree import Cell, address
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet
from schemaxis_server.providers.spreadsheet.values import NO_NUMBER, CellError, Value

_NAMES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "number": "urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0",
    # The notation of formulas with commas, exclamation marks and English names.
    "msoxl": "http://schemas.microsoft.com/office/excel/formula",
    "of": "urn:oasis:names:tc:opendocument:xmlns:of:1.2",
}
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<office:document '
    + " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in _NAMES.items())
    + ' office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">'
    # To Calc a boolean is a number that looks like one.
    '<office:automatic-styles><number:boolean-style style:name="truth"><number:boolean/></number:boolean-style>'
    '<style:style style:name="logical" style:family="table-cell" style:data-style-name="truth"/>'
    "</office:automatic-styles><office:body><office:spreadsheet>"
    # What formulas mean must not depend on a profile alone.
    '<table:calculation-settings table:case-sensitive="false" table:precision-as-shown="false" '
    'table:search-criteria-must-apply-to-whole-cell="true" table:automatic-find-labels="false" '
    'table:use-regular-expressions="false" table:use-wildcards="true"/>'
)
_TAIL = "</office:spreadsheet></office:body></office:document>\n"
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_SPECIAL = re.compile('[&<>"\n\r\t]')
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PARTS = re.compile(r'("(?:[^"]|"")*")|\b(TRUE|FALSE)\b(?!\()|\b(IFNA)(?=\()')


def written(sheets: Sequence[Sheet]) -> Iterator[str]:
    """The file in parts. Raises ``UnsupportedInput`` for a text that no such file can hold."""
    yield _HEAD
    for sheet in sheets:
        yield f'<table:table table:name="{sheet.name}">'
        for index, row in enumerate(sheet.rows, 1):
            cells = "".join(_cell(content, sheet.name, index, place) for place, content in enumerate(row, 1))
            yield f"<table:table-row>{cells}</table:table-row>\n"
        yield "</table:table>"
    yield _TAIL


def notation(formula: str) -> str:
    """A formula of the vocabulary as Calc reads it in this file."""
    return _PARTS.sub(_part, formula)


def _part(found: re.Match[str]) -> str:
    text, boolean, newer = found.groups()
    if text is not None:
        return str(text)
    # A bare TRUE would become 1, and a function newer than the notation has a prefix.
    return f"{boolean}()" if boolean is not None else f"_xlfn.{newer}"


def _cell(content: Value | Formula, sheet: str, row: int, column: int) -> str:
    if content is None or (content == "" and isinstance(content, str)):
        return "<table:table-cell/>"
    if isinstance(content, str):
        bad = _NO_XML.search(content)
        if bad is not None:
            place = f"{sheet}!{address(Cell(column, row))}"
            message = (
                f"{place} holds the character U+{ord(bad[0]):04X}, which a spreadsheet file cannot hold."
            )
            raise UnsupportedInput(f"{message} Remove it from the data.")
        return f'<table:table-cell office:value-type="string" office:string-value="{_escaped(content)}"/>'
    if isinstance(content, bool):
        kind = f'office:value-type="boolean" office:boolean-value="{str(content).lower()}"'
        return f'<table:table-cell table:style-name="logical" {kind}/>'
    if isinstance(content, float | int) and math.isfinite(content):
        return f'<table:table-cell office:value-type="float" office:value="{float(content)!r}"/>'
    if isinstance(content, Formula):
        return f'<table:table-cell table:formula="msoxl:{_escaped(notation(content.text))}"/>'
    # An error stands in a cell only as a formula that gives it.
    code = content.code if isinstance(content, CellError) else NO_NUMBER.code
    return f'<table:table-cell table:formula="of:={code}"/>'


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)
