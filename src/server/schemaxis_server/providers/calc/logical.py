"""Where Calc, to which TRUE is a number that looks like one, would make something else of a formula.

The vocabulary tells booleans from numbers: a sum leaves them out, TRUE equals no number, joined to a text it is
TRUE. Such formulas are refused. Standard library only: the planner asks about what formulas say by themselves,
the host again with what the cells hold.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.formulas.tree import (
    Area,
    Binary,
    Boolean,
    Call,
    Cell,
    Group,
    Node,
    Text,
    ThisRow,
    Unary,
    WholeColumn,
    walk,
)


class Truth(Enum):
    """Whether a value is TRUE or FALSE: always, never, sometimes, or that cannot be told yet."""

    ALWAYS = 1
    NEVER = 2
    SOMETIMES = 3
    UNKNOWN = 4


Holds = Callable[[Node], Truth]
"""What the cells of a reference (a cell, a range, a named column) hold."""

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_LOGICAL = frozenset(
    (
        *("AND", "OR", "NOT", "TRUE", "FALSE"),
        *("ISERROR", "ISNA", "ISNUMBER", "ISTEXT", "ISBLANK", "ISLOGICAL"),
    )
)
_FIGURES = frozenset(
    (
        *("SUM", "AVERAGE", "MIN", "MAX", "COUNT", "PRODUCT", "MEDIAN", "SUMSQ"),
        *("SUMPRODUCT", "SMALL", "LARGE"),
    )
)
_SEARCHES = frozenset(("SUMIF", "COUNTIF", "AVERAGEIF", "VLOOKUP", "MATCH"))
_TEXTS = frozenset(
    ("LEN", "TRIM", "VALUE", "LEFT", "RIGHT", "MID", "CONCATENATE", "SUBSTITUTE", "FIND", "EXACT")
)
_GIVE_TEXT = _TEXTS - {"LEN", "VALUE", "FIND", "EXACT"}
_TAKE_TEXTS_FOR_NUMBERS = frozenset(("SUM", "AVERAGE", "MIN", "MAX", "COUNT", "PRODUCT", "MEDIAN", "SUMSQ"))


def unknown(reference: Node) -> Truth:
    """What is known of cells while planning: nothing, and so nothing is refused for them."""
    return Truth.UNKNOWN


def check(tree: Node, holds: Holds = unknown) -> None:
    """Raises ``FormulaError`` at the first place where Calc would give something else."""
    for node in walk(tree):
        if isinstance(node, Binary) and node.operator in _COMPARISONS:
            sides = {truth(node.left, holds), truth(node.right, holds)}
            if Truth.UNKNOWN not in sides and sides not in ({Truth.ALWAYS}, {Truth.NEVER}):
                message = "TRUE or FALSE is compared with something else; Calc takes them for 1 and 0."
                raise FormulaError(node.position, message, "both sides logical, or IF(…,1,0) for a number")
        elif isinstance(node, Binary) and node.operator == "&":
            for side in (node.left, node.right):
                _no_truth(side, holds, "joined to a text", node.position)
        elif isinstance(node, Call):
            _check_call(node, holds)


def _check_call(call: Call, holds: Holds) -> None:
    for place, argument in enumerate(call.arguments):
        # A boolean written out as an argument counts everywhere.
        if call.name in _FIGURES and _is_reference(argument):
            _no_truth(argument, holds, f"among the cells of {call.name}", call.position)
        if call.name in _SEARCHES and (place == 0 or _is_reference(argument) or call.name.endswith("IF")):
            _no_truth(argument, holds, f"searched by {call.name}", call.position)
        if call.name in _TEXTS or call.name == "ISNUMBER":
            _no_truth(argument, holds, f"an argument of {call.name}", call.position)
        if call.name in _TAKE_TEXTS_FOR_NUMBERS and _is_text(argument):
            message = f"A text is an argument of {call.name}; Calc makes an error of it."
            raise FormulaError(argument.position, message, "a number, or VALUE(…)")
    if call.name == "FIND" and isinstance(call.arguments[0], Text) and not call.arguments[0].value:
        message = "An empty text is to be found; Calc makes an error of it."
        raise FormulaError(call.position, message, "a text that is not empty")


def _no_truth(node: Node, holds: Holds, how: str, position: int) -> None:
    if truth(node, holds) in (Truth.ALWAYS, Truth.SOMETIMES):
        message = f"TRUE or FALSE is {how}; Calc takes them for 1 and 0."
        raise FormulaError(position, message, "numbers and texts; IF(…,1,0) makes a number of a condition")


def _is_reference(node: Node) -> bool:
    return isinstance(node, Cell | Area | ThisRow | WholeColumn)


def _is_text(node: Node) -> bool:
    if isinstance(node, Group):
        return _is_text(node.inner)
    if isinstance(node, Binary):
        return node.operator == "&"
    return isinstance(node, Text) or (isinstance(node, Call) and node.name in _GIVE_TEXT)


def truth(node: Node, holds: Holds) -> Truth:
    """Whether what a part of a formula gives is TRUE or FALSE."""
    if isinstance(node, Boolean):
        return Truth.ALWAYS
    if _is_reference(node):
        return holds(node)
    if isinstance(node, Group):
        return truth(node.inner, holds)
    if isinstance(node, Unary):
        return truth(node.operand, holds) if node.operator == "+" else Truth.NEVER
    if isinstance(node, Binary):
        return Truth.ALWAYS if node.operator in _COMPARISONS else Truth.NEVER
    if not isinstance(node, Call):
        return Truth.NEVER
    if node.name in _LOGICAL:
        return Truth.ALWAYS
    if node.name == "IF":
        branches = [truth(one, holds) for one in node.arguments[1:]]
        return _either([*branches, *([Truth.ALWAYS] if len(branches) == 1 else [])])
    if node.name in ("IFERROR", "IFNA"):
        return _either([truth(one, holds) for one in node.arguments])
    if node.name == "VLOOKUP":
        found = holds(node.arguments[1])
        return found if found in (Truth.NEVER, Truth.UNKNOWN) else Truth.SOMETIMES
    return Truth.NEVER


def _either(truths: list[Truth]) -> Truth:
    if Truth.UNKNOWN in truths:
        return Truth.UNKNOWN
    return truths[0] if len(set(truths)) == 1 else Truth.SOMETIMES
