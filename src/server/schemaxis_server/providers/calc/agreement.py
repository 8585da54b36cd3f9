"""When a value of Calc and one of another engine are the same.

Calc rounds a sum to 0 that is below 2^-48 of its terms, writes 15 digits into files, and has names of its own for
errors. All three are bounded here by what the other engine computes, and said in the report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
"""What 15 digits leave of a number, at most."""
TOLERANCE = (
    f"{RELATIVE:g} of each number, of a sum or difference also {CANCELLED:g} of its terms; all else exactly, but errors "
    "for a wrong argument (#NUM!, #VALUE!, #REF!, a quotient by 0 that overflows) alike"
)

_WRONG_ARGUMENT = ({"#NUM!", "#VALUE!"}, {"#NUM!", "#REF!"}, {"#VALUE!", "#REF!"}, {"#DIV/0!", "#NUM!"})
_PARTS = re.compile(
    r'("(?:[^"]|"")*")|([A-Za-z_$][A-Za-z0-9_.$!]*)|([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)'
)

Room = Mapping[tuple[int, int], float]
"""How far the number in a cell may lie off, by row and column of the sheet from 1."""


def alike(one: Value, other: Value, room: float = 0.0) -> bool:
    """Whether two values are the same, one of them Calc's."""
    if isinstance(one, CellError) and isinstance(other, CellError):
        return one == other or {one.code, other.code} in _WRONG_ARGUMENT
    return agree(one, other, room)


def rounded(sheets: Sequence[Sheet]) -> list[Sheet]:
    """The workbook with its numbers at the 15 digits that a file of Calc's holds, in formulas too."""
    return [
        Sheet(sheet.name, [[_short(content) for content in row] for row in sheet.rows]) for sheet in sheets
    ]


def _short(content: Value | Formula) -> Value | Formula:
    if isinstance(content, Formula):
        return Formula(short_numbers(content.text))
    return float(f"{content:.15g}") if is_number(content) else content


def short_numbers(formula: str) -> str:
    """A formula with its numbers at 15 digits."""
    return _PARTS.sub(lambda found: f"{float(found[3]):.15g}" if found[3] else found[0], formula)


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
