"""Formualizer as the second engine of ``sheet``: calculates again what IronCalc has calculated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import formualizer

from schemaxis_server.providers.spreadsheet.table import Formula, Sheet
from schemaxis_server.providers.spreadsheet.values import NO_NUMBER, CellError, Value

NAME = "Formualizer"
PACKAGE = "formualizer"

_T = TypeVar("_T")

_KINDS = {
    "Div": "#DIV/0!",
    "Na": "#N/A",
    "Name": "#NAME?",
    "Null": "#NULL!",
    "Num": "#NUM!",
    "Ref": "#REF!",
    "Value": "#VALUE!",
    "Circ": "#CIRC!",
}
_NAMES = {code: kind for kind, code in _KINDS.items()}
_LOAD_LIMITS = {"max_input_bytes": 256 * 1024 * 1024, "max_expanded_bytes": 2 * 1024**3}


def engine() -> dict[str, str]:
    """Name and version of the engine."""
    return {"name": NAME, "version": version(PACKAGE)}


class CannotCalculate(Exception):
    """The engine refused a workbook, or did not understand a formula."""


class Formualizer:
    """Implements :class:`schemaxis_server.providers.spreadsheet.table.Engine`."""

    def calculate(self, sheets: Sequence[Sheet]) -> list[list[list[Value]]]:
        workbook = _guarded(lambda: _filled(sheets))
        return [_values(workbook, sheet.name, len(sheet.rows), max(map(len, sheet.rows))) for sheet in sheets]

    def probe(
        self, sheets: Sequence[Sheet], cell: tuple[int, int], goal: tuple[int, int]
    ) -> Callable[[float], Value]:
        workbook = _guarded(lambda: _filled(sheets))
        name = sheets[0].name

        def value(number: float) -> Value:
            workbook.set_value(name, *cell, formualizer.LiteralValue.number(number))
            workbook.evaluate_all()
            return _value(workbook.get_value(name, *goal))

        return lambda number: _guarded(lambda: value(number))

    def recalculated(self, path: Path, extents: Sequence[tuple[str, int, int]]) -> list[list[list[Value]]]:
        """The values of the named sheets, of so many rows and columns, of a workbook read from a file."""

        def read() -> Any:
            workbook = formualizer.Workbook.from_path(str(path), config=_config(), load_limits=_LOAD_LIMITS)
            workbook.evaluate_all()
            return workbook

        workbook = _guarded(read)
        return [_values(workbook, *extent) for extent in extents]


def _config() -> Any:
    evaluation = formualizer.EvaluationConfig()
    # Threads of its own would keep a warm process from being forked.
    evaluation.enable_parallel = False
    evaluation.max_threads = 1
    evaluation.warmup_enabled = False
    # Every formula for itself, so that filled-down ones are computed no cleverer than single ones.
    evaluation.span_evaluation = False
    return formualizer.WorkbookConfig(mode=formualizer.WorkbookMode.Ephemeral, eval_config=evaluation)


def _guarded(work: Callable[[], _T]) -> _T:
    try:
        return work()
    except CannotCalculate:
        raise
    except BaseException as reason:
        # A panic in Rust is no Exception.
        if isinstance(reason, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise CannotCalculate(f"{type(reason).__name__}: {reason}"[:200]) from reason


def _filled(sheets: Sequence[Sheet]) -> Any:
    workbook = formualizer.Workbook(config=_config())
    for sheet in sheets:
        workbook.add_sheet(sheet.name)
    for sheet in sheets:
        literals = [
            [_literal(content) if not isinstance(content, Formula) else None for content in row]
            for row in sheet.rows
        ]
        workbook.set_values_batch(sheet.name, 1, 1, literals)
        for row, column, texts in _runs(sheet):
            workbook.set_formulas_batch(sheet.name, row, column, [[text] for text in texts])
    workbook.evaluate_all()
    return workbook


def _runs(sheet: Sheet) -> list[tuple[int, int, list[str]]]:
    """The formulas, those below each other together."""
    runs: list[tuple[int, int, list[str]]] = []
    for column in range(max(map(len, sheet.rows))):
        open_run = False
        for row, contents in enumerate(sheet.rows, 1):
            content = contents[column] if column < len(contents) else None
            if not isinstance(content, Formula):
                open_run = False
                continue
            if not open_run:
                runs.append((row, column + 1, []))
                open_run = True
            runs[-1][2].append(content.text)
    return runs


def _literal(value: Value) -> Any:
    if isinstance(value, CellError):
        return formualizer.LiteralValue.error(_NAMES[value.code], None)
    if isinstance(value, str):
        return formualizer.LiteralValue.text(value)
    if isinstance(value, bool) or value is None:
        return value
    if not math.isfinite(value):
        return formualizer.LiteralValue.error("Num", None)
    return formualizer.LiteralValue.number(float(value))


def _values(workbook: Any, sheet: str, rows: int, columns: int) -> list[list[Value]]:
    area = formualizer.RangeAddress(sheet, 1, 1, rows, columns)
    read = _guarded(lambda: workbook[sheet].get_values(area))
    return [[_value(value) for value in row] for row in read]


def _value(value: Any) -> Value:
    if isinstance(value, dict):
        code = _KINDS.get(str(value.get("kind")))
        if code is None:
            raise CannotCalculate(f"Formualizer gives {value.get('kind')}")
        return CellError(code)
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        # It lets some overflows through as infinities.
        return NO_NUMBER
    if value is None or isinstance(value, str | bool | float):
        return value
    raise CannotCalculate(f"Formualizer gives a {type(value).__name__}")
