"""IronCalc as the engine of ``sheet``: calculates workbooks and writes them as XLSX."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from xml.sax.saxutils import escape

import ironcalc

from schemaxis_server.providers.spreadsheet.formulas.tree import Cell, address
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet
from schemaxis_server.providers.spreadsheet.values import CODES, NO_NUMBER, CellError, Value

NAME = "IronCalc"
PACKAGE = "ironcalc"

_DATES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_WRITTEN = re.compile(rb'(<c r="([A-Z]+[0-9]+)"[^>]*>)<f>[^<]*</f>')
# The only function of the list that is younger than the file format.
_NEWER = re.compile(r"\bIFNA\(")
_FIXED_DATE = rb"\g<1>1980-01-01T00:00:00Z"


def engine() -> dict[str, str]:
    """Name and version of the engine."""
    return {"name": NAME, "version": version(PACKAGE)}


class IronCalc:
    """Implements :class:`schemaxis_server.providers.spreadsheet.table.Engine`."""

    def calculate(self, sheets: Sequence[Sheet]) -> list[list[list[Value]]]:
        model = _model(sheets)
        return [
            [
                [
                    _value(model, index, row, column) if isinstance(content, Formula) else content
                    for column, content in enumerate(contents, 1)
                ]
                for row, contents in enumerate(sheet.rows, 1)
            ]
            for index, sheet in enumerate(sheets)
        ]

    def probe(
        self, sheets: Sequence[Sheet], cell: tuple[int, int], goal: tuple[int, int]
    ) -> Callable[[float], Value]:
        model = _model(sheets)

        def value(number: float) -> Value:
            model.update_cell_with_number(0, *cell, number)
            model.evaluate()
            return _value(model, 0, *goal)

        return value

    def xlsx(self, sheets: Sequence[Sheet]) -> bytes:
        """The calculated workbook as a file; the same workbook gives the same bytes."""
        return _settled(bytes(_model(sheets).to_xlsx()), sheets)


def _model(sheets: Sequence[Sheet]) -> ironcalc.Model:
    model = ironcalc.create("workbook", "en", "UTC", "en")
    model.rename_sheet(0, sheets[0].name)
    for sheet in sheets[1:]:
        model.add_sheet(sheet.name)
    for index, sheet in enumerate(sheets):
        for row, contents in enumerate(sheet.rows, 1):
            for column, content in enumerate(contents, 1):
                if content is not None:
                    _put(model, index, row, column, content)
    model.evaluate()
    return model


def _put(model: ironcalc.Model, sheet: int, row: int, column: int, content: Value | Formula) -> None:
    if isinstance(content, Formula):
        model.update_cell_with_formula(sheet, row, column, content.text)
    elif isinstance(content, str):
        model.update_cell_with_text(sheet, row, column, content)
    elif isinstance(content, bool):
        model.update_cell_with_bool(sheet, row, column, content)
    elif isinstance(content, CellError):
        model.set_user_input(sheet, row, column, content.code)
    elif content is not None:
        if math.isfinite(content):
            model.update_cell_with_number(sheet, row, column, content)
        else:
            model.set_user_input(sheet, row, column, NO_NUMBER.code)


def _value(model: ironcalc.Model, sheet: int, row: int, column: int) -> Value:
    value: Value = model.get_cell_value(sheet, row, column)
    if isinstance(value, str) and value.startswith("#"):
        kind = model.get_cell_type(sheet, row, column)
        if kind == ironcalc.CellType.ErrorValue:
            if value not in CODES:
                # Its own complaints (#ERROR!, #N/IMPL!) say that it did not understand what it was given.
                place = address(Cell(column, row))
                raise RuntimeError(f"IronCalc could not calculate {place}: {value}")
            return CellError(value)
    return value


def _settled(data: bytes, sheets: Sequence[Sheet]) -> bytes:
    """The file without the time of writing, with the blanks around texts marked as part of them, and with
    the formulas as they were calculated.

    IronCalc writes numbers in formulas with 15 digits and leaves parentheses out that matter to rounding:
    ``a+(b-c)`` becomes ``a+b-c``.
    """
    formulas = {
        f"xl/worksheets/sheet{number}.xml": _formulas(sheet) for number, sheet in enumerate(sheets, 1)
    }
    settled = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(settled, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == "docProps/core.xml":
                content = _DATES.sub(_FIXED_DATE, content)
            elif entry.filename == "xl/sharedStrings.xml":
                content = content.replace(b"<t>", b'<t xml:space="preserve">')
            elif entry.filename in formulas:
                content = _with_formulas(content, formulas[entry.filename])
            if not entry.is_dir():
                target.writestr(zipfile.ZipInfo(entry.filename), content, zipfile.ZIP_DEFLATED, 6)
    return settled.getvalue()


def _formulas(sheet: Sheet) -> dict[bytes, bytes]:
    """The formulas of a sheet as a file holds them, by the names of their cells."""
    return {
        address(Cell(column, row)).encode(): escape(_filed(content.text[1:])).encode()
        for row, contents in enumerate(sheet.rows, 1)
        for column, content in enumerate(contents, 1)
        if isinstance(content, Formula)
    }


def _filed(formula: str) -> str:
    """The formula with the mark of younger functions, which texts in quotes are spared."""
    parts = formula.split('"')
    parts[::2] = [_NEWER.sub("_xlfn.IFNA(", part) for part in parts[::2]]
    return '"'.join(parts)


def _with_formulas(content: bytes, formulas: Mapping[bytes, bytes]) -> bytes:
    written = _WRITTEN.findall(content)
    if len(written) != len(formulas) or any(name not in formulas for _, name in written):
        raise RuntimeError(f"IronCalc wrote {len(written)} of {len(formulas)} formulas")
    return _WRITTEN.sub(lambda found: found[1] + b"<f>" + formulas[found[2]] + b"</f>", content)
