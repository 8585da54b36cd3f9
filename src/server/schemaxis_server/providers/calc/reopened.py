"""The embedded engines, as those that open a published XLSX and calculate it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ironcalc

from schemaxis_server.providers.sheet import engine as first
from schemaxis_server.providers.sheet import second_engine as second
from schemaxis_server.providers.spreadsheet.values import CODES, CellError, Value

Extent = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Reopened:
    """An engine; ``refusals`` is what it raises when it cannot go on."""

    name: str
    title: str
    recalculated: Callable[[Path, Sequence[Extent]], list[list[list[Value]]]]
    refusals: tuple[type[Exception], ...]


def calculators() -> Iterator[Reopened]:
    yield Reopened(
        second.NAME,
        " ".join(second.engine().values()),
        second.Formualizer().recalculated,
        (second.CannotCalculate,),
    )
    yield Reopened(first.NAME, " ".join(first.engine().values()), _by_ironcalc, (second.CannotCalculate,))


def _by_ironcalc(path: Path, extents: Sequence[Extent]) -> list[list[list[Value]]]:
    """Raises ``CannotCalculate``."""
    try:
        model = ironcalc.load_from_xlsx(str(path), "en", "UTC", "en")
        model.evaluate()
        return [
            [
                [_value(model, index, row, column) for column in range(1, columns + 1)]
                for row in range(1, rows + 1)
            ]
            for index, (_, rows, columns) in enumerate(extents)
        ]
    except second.CannotCalculate:
        raise
    except BaseException as reason:
        # A panic in Rust is no Exception.
        if isinstance(reason, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise second.CannotCalculate(f"{type(reason).__name__}: {reason}"[:200]) from reason


def _value(model: ironcalc.Model, sheet: int, row: int, column: int) -> Value:
    value: Value = model.get_cell_value(sheet, row, column)
    if isinstance(value, str) and value.startswith("#"):
        kind = model.get_cell_type(sheet, row, column)
        if kind == ironcalc.CellType.ErrorValue:
            if value not in CODES:
                raise second.CannotCalculate(f"IronCalc gives {value}")
            return CellError(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
