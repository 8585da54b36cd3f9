"""IronCalc as the engine of ``sheet``: calculates workbooks and writes them as XLSX."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable, Sequence
from importlib.metadata import version

import ironcalc

from schemaxis_server.providers.spreadsheet.formulas.tree import Cell, address
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet
from schemaxis_server.providers.spreadsheet.values import CODES, NO_NUMBER, CellError, Value

NAME = "IronCalc"
PACKAGE = "ironcalc"

_DATES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
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
        return _settled(bytes(_model(sheets).to_xlsx()))


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


def _settled(data: bytes) -> bytes:
    """The file without the time of writing, and with the blanks around texts marked as part of them."""
    settled = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(settled, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == "docProps/core.xml":
                content = _DATES.sub(_FIXED_DATE, content)
            elif entry.filename == "xl/sharedStrings.xml":
                content = content.replace(b"<t>", b'<t xml:space="preserve">')
            if not entry.is_dir():
                target.writestr(zipfile.ZipInfo(entry.filename), content, zipfile.ZIP_DEFLATED, 6)
    return settled.getvalue()
