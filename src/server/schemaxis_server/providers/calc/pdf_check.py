"""The check of a published PDF: whether its pages show the values that they should."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.providers.calc import pdf_reader
from schemaxis_server.providers.spreadsheet import comparison
from schemaxis_server.providers.spreadsheet.comparison import Check, Differences, failed
from schemaxis_server.providers.spreadsheet.operations import cell_name
from schemaxis_server.providers.spreadsheet.values import CellError, Value, is_number

_LONGEST = 40
_ASCII = re.compile(r"[!-~]([ -~]*[!-~])?\Z")
_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?(%?)\Z")
_ERROR = re.compile(r"#[A-Z0-9/]+[!?]?\Z|Err:\d+\Z")
_TOLERANCE = "half of the last digit that is shown; texts, booleans and the number of errors exactly"


def check(name: str, scope: str, path: Path, sheets: Sequence[list[list[Value]]], *, drawn: bool) -> Check:
    """``drawn`` tells that a chart is on the pages too, with numbers and texts of its own."""
    try:
        pages = pdf_reader.texts(path)
    except (OSError, pdf_reader.UnreadablePdf) as reason:
        return failed(name, scope, "schemaxis", "a readable PDF", str(reason))
    cells = [(place, value) for place, value in _cells(sheets)]
    left = Counter(text for page in pages for text in page)
    differences = Differences()
    checked = 0
    unchecked = 0
    for place, value in cells:
        wanted = str(value).upper() if isinstance(value, bool) else value
        if not isinstance(wanted, str):
            continue
        if len(wanted) > _LONGEST or not _ASCII.match(wanted):
            unchecked += 1
        elif left[wanted]:
            left[wanted] -= 1
            checked += 1
        else:
            differences.add(place, wanted, None)
    errors = sum(isinstance(value, CellError) or not _finite(value) for _, value in cells)
    shown_errors = sum(count for text, count in left.items() if _ERROR.match(text))
    if errors != shown_errors:
        differences.add("errors", errors, shown_errors)
    numbers = [(value, place) for place, value in cells if is_number(value) and math.isfinite(value)]
    shown = sorted(_number(text) for text in left.elements() if _NUMBER.match(text))
    _pair(sorted(numbers), shown, differences)
    others = sum(left.values()) - len(shown) - shown_errors
    if not drawn and not unchecked and (others or len(shown) != len(numbers)):
        differences.add("further texts", 0, others + len(shown) - len(numbers))
    expected: dict[str, Any] = {"numbers": len(numbers), "texts": checked, "errors": errors}
    observed = {"numbers": min(len(shown), len(numbers)), "texts": checked, "errors": shown_errors}
    return comparison.check(name, scope, "schemaxis", differences, expected, observed, _TOLERANCE)


def _cells(sheets: Sequence[list[list[Value]]]) -> Iterable[tuple[str, Value]]:
    for index, sheet in enumerate(sheets):
        for row, contents in enumerate(sheet):
            for column, value in enumerate(contents):
                if value is not None and value != "":
                    yield f"{'' if index == 0 else f'sheet {index + 1} '}{cell_name(row - 1, column)}", value


def _finite(value: Value) -> bool:
    return not is_number(value) or math.isfinite(value)


def _number(text: str) -> tuple[float, float]:
    """A number as it is shown, and half of its last digit."""
    found = _NUMBER.match(text)
    if found is None:
        raise ValueError(text)
    exponent = int(found[4] or 0) - (2 if found[5] else 0)
    digits = len(found[3] or "")
    value = float(f"{found[1]}{found[2]}.{found[3] or '0'}e{exponent}")
    return value, 0.5 * 10.0 ** (exponent - digits)


def _pair(
    wanted: Sequence[tuple[float, str]], shown: Sequence[tuple[float, float]], differences: Differences
) -> None:
    """Find for each number one that is shown; both are sorted, and what is shown may be more."""
    place = 0
    for value, where in wanted:
        while place < len(shown) and shown[place][0] + _room(shown[place], value) < value:
            place += 1
        if place < len(shown) and abs(shown[place][0] - value) <= _room(shown[place], value):
            place += 1
        else:
            differences.add(where, value, shown[place][0] if place < len(shown) else None)


def _room(shown: tuple[float, float], value: float) -> float:
    # Ten decimals are the most that are shown, and 15 digits.
    return shown[1] * (1 + 1e-9) + 1e-14 * abs(value)
