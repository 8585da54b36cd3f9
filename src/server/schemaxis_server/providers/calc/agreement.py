"""When a value of Calc and one of another engine are the same.

Calc rounds a sum to 0 that is below 2^-48 of its terms, writes 15 digits into files, and has names of its own for
errors. All three are bounded here by what the other engine computes, and said in the report.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence

from schemaxis_server.providers.spreadsheet import comparison
from schemaxis_server.providers.spreadsheet.formulas.layout import Filled
from schemaxis_server.providers.spreadsheet.formulas.parser import parse
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.formulas.tree import Binary, Call, Group, Node, Number, Unary
from schemaxis_server.providers.spreadsheet.second_formulation import RELATIVE, agree
from schemaxis_server.providers.spreadsheet.table import Engine, Formula, Sheet
from schemaxis_server.providers.spreadsheet.values import CellError, Value, is_number

CANCELLED = 4e-15
"""2^-48, and the rounding of the terms."""
DIGITS = 1e-14
"""What 15 digits change of a number, at most."""
DECIMALS = 5.1e-21
"""What 20 decimals change, which are the most that Calc writes without an exponent."""
TOLERANCE = (
    f"{RELATIVE:g} of each number; where that fails, of a sum or difference {CANCELLED:g} of its terms, or 8 times what "
    f"1e-15 of the cells' numbers change, at most {1e-8:g} of the number; all else exactly, but errors for a wrong "
    "argument (#NUM!, #VALUE!, #REF!, a quotient by 0 that overflows) alike"
)

_WRONG_ARGUMENT = ({"#NUM!", "#VALUE!"}, {"#NUM!", "#REF!"}, {"#VALUE!", "#REF!"}, {"#DIV/0!", "#NUM!"})
_PARTS = re.compile(
    r'("(?:[^"]|"")*")|([A-Za-z_$][A-Za-z0-9_.$!]*)|([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)'
)

_SMALLEST_PLAIN = 1e-14
_SHAKE = 1e-15
_SHAKES = 2
_SHAKEN_ROOM = 8.0
_FILE_ROOM = 5.0
_ILL_CONDITIONED = 1e-8

Room = Mapping[tuple[int, int], float]
"""How far the number in a cell may lie off, by row and column of the sheet from 1."""


def alike(one: Value, other: Value, room: float = 0.0) -> bool:
    """Whether two values are the same, one of them Calc's."""
    if isinstance(one, CellError) and isinstance(other, CellError):
        return one == other or {one.code, other.code} in _WRONG_ARGUMENT
    return agree(one, other, room)


def written(wanted: float, found: float) -> bool:
    """Whether a number that stands in a file is the one that was to be written there."""
    return abs(wanted - found) <= DIGITS * abs(wanted) + DECIMALS


def same_formula(wanted: str, found: str) -> bool:
    """Whether a formula in a file means what it should; its numbers at the digits that Calc writes."""
    if wanted == found:
        return True
    ours, theirs = ([float(one[3]) for one in _PARTS.finditer(text) if one[3]] for text in (wanted, found))
    return (
        len(ours) == len(theirs)
        and all(map(written, ours, theirs))
        and comparison.same_formula(_without_numbers(wanted), _without_numbers(found))
    )


def _without_numbers(formula: str) -> str:
    return _PARTS.sub(lambda part: "1" if part[3] else part[0], formula)


def rounded(sheets: Sequence[Sheet]) -> list[Sheet]:
    """The workbook with its numbers, those in formulas too, at the digits that a file of Calc's holds."""
    return [
        Sheet(sheet.name, [[_short(content) for content in row] for row in sheet.rows]) for sheet in sheets
    ]


def _short(content: Value | Formula) -> Value | Formula:
    if isinstance(content, Formula):
        return Formula(
            _PARTS.sub(lambda part: repr(_digits(float(part[3]))) if part[3] else part[0], content.text)
        )
    return float(f"{content:.15g}") if is_number(content) else content


def _digits(number: float) -> float:
    if _SMALLEST_PLAIN < number < 1:
        number = round(number, 20)
    return float(f"{number:.15g}")


def shaken(sheets: Sequence[Sheet], seed: int) -> list[Sheet]:
    """The workbook with each number moved by a few of its last bits."""
    dice = random.Random(seed)

    def moved(content: Value | Formula) -> Value | Formula:
        if isinstance(content, Formula) or not is_number(content) or not math.isfinite(content):
            return content
        return content * (1 + dice.choice((-1, 1)) * _SHAKE)

    return [
        Sheet(sheet.name, [[moved(content) for content in row] for row in sheet.rows]) for sheet in sheets
    ]


def sensitive(
    exact: Sequence[list[list[Value]]], others: Sequence[list[list[Value]]], factor: float
) -> list[dict[tuple[int, int], float]]:
    """``factor`` times what a small change of the numbers changed, where that is small itself.

    Where it is not, a condition has turned out otherwise, and nothing is allowed for.
    """
    rooms: list[dict[tuple[int, int], float]] = []
    for one, other in zip(exact, others, strict=True):
        room: dict[tuple[int, int], float] = {}
        for row, (left, right) in enumerate(zip(one, other, strict=True), 1):
            for column, (before, after) in enumerate(zip(left, right, strict=True), 1):
                if is_number(before) and is_number(after):
                    size = factor * abs(before - after)
                    if 0 < size <= _ILL_CONDITIONED * abs(before):
                        room[row, column] = size
        rooms.append(room)
    return rooms


def room_of(sheets: Sequence[Sheet], engine: Engine) -> list[dict[tuple[int, int], float]]:
    """How far numbers may lie off by rounding: sums that cancel, and formulas that magnify the last bits of cells."""
    exact = engine.calculate(sheets)
    rooms = [dict(room) for room in cancelling(sheets, engine)]
    for seed in range(_SHAKES):
        for room, found in zip(
            rooms, sensitive(exact, engine.calculate(shaken(sheets, seed)), _SHAKEN_ROOM), strict=True
        ):
            for place, size in found.items():
                room[place] = max(size, room.get(place, 0.0))
    return rooms


def room_of_file(sheets: Sequence[Sheet], engine: Engine) -> list[dict[tuple[int, int], float]]:
    """The same for a workbook that is calculated from the digits of a file."""
    rooms = room_of(sheets, engine)
    changed = sensitive(engine.calculate(sheets), engine.calculate(rounded(sheets)), 2.0)
    for room, found in zip(rooms, changed, strict=True):
        for place in room:
            room[place] *= _FILE_ROOM
        for place, size in found.items():
            room[place] = room.get(place, 0.0) + size
    return rooms


def cancelling(sheets: Sequence[Sheet], engine: Engine) -> list[Room]:
    """How far sums and differences may lie off that Calc may round to 0, by the size of their terms.

    The engine is asked for the sizes by formulas beside the tables. Formulas that look into another sheet are the
    vocabulary's own, and sum nothing themselves.
    """
    asked: list[Sheet] = []
    places: list[dict[tuple[int, int], tuple[int, int]]] = []
    for sheet in sheets:
        width = max(map(len, sheet.rows))
        rows: list[list[Value | Formula]] = [[*row, *[None] * (2 * width - len(row))] for row in sheet.rows]
        seen: dict[tuple[int, int], tuple[int, int]] = {}
        for row, contents in enumerate(sheet.rows, 1):
            for column, content in enumerate(contents, 1):
                terms = _size(content) if isinstance(content, Formula) else None
                if terms is not None:
                    rows[row - 1][width + column - 1] = Formula(terms)
                    seen[row, column] = (row, width + column)
        asked.append(Sheet(sheet.name, rows if seen else sheet.rows))
        places.append(seen)
    if not any(places):
        return [{} for _ in sheets]
    answers = engine.calculate(asked)
    return [
        {
            place: CANCELLED * abs(float(size))
            for place, (row, column) in seen.items()
            if is_number(size := values[row - 1][column - 1])
        }
        for seen, values in zip(places, answers, strict=True)
    ]


def _size(formula: Formula) -> str | None:
    """A formula for the size of the terms that the formula's value is the sum of; None if it is no sum."""
    try:
        tree = _terms(parse(formula.text))
    except FormulaError:
        return None
    return None if tree is None else Filled(tree).text()


def _terms(node: Node) -> Node | None:
    if isinstance(node, Group):
        return _terms(node.inner)
    if isinstance(node, Unary) and node.operator != "%":
        return _terms(node.operand)
    if isinstance(node, Call) and node.name in ("IF", "IFERROR", "IFNA"):
        first = 1 if node.name == "IF" else 0
        branches = [_terms(one) for one in node.arguments[first:]]
        if not any(branches):
            return None
        kept = node.arguments[:1] if node.name == "IF" else ()
        if node.name != "IF":
            # An error in the first argument must stay one, for the second to be taken.
            branches[0] = branches[0] or Binary("*", Group(node.arguments[0]), Number("0"))
        return Call(node.name, (*kept, *(one or Number("0") for one in branches)))
    if isinstance(node, Binary) and node.operator in "+-":
        sizes: list[Node] = []
        for side in (node.left, node.right):
            sizes.append(Call("ABS", (side,)))
            inner = _terms(side)
            if inner is not None:
                sizes.append(inner)
        total: Node = sizes[0]
        for size in sizes[1:]:
            total = Binary("+", total, size)
        return total
    return None
