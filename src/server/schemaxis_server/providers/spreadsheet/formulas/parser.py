"""Parses formulas by a small grammar of its own, before any engine sees them.

What the grammar refuses on purpose: missing parentheses (an engine would add one in silence), other
sheets, workbooks and links, functions beyond the list, ranges where one value is wanted, empty
arguments, and what spreadsheet programs and mathematics read differently (``-2^2``, ``2^3^2``, ``1<2<3``).
"""

from __future__ import annotations

import math
import re

from schemaxis_server.providers.problems import nearest
from schemaxis_server.providers.spreadsheet.formulas import functions
from schemaxis_server.providers.spreadsheet.formulas.tokens import MAX_CHARACTERS, FormulaError, Token, tokens
from schemaxis_server.providers.spreadsheet.formulas.tree import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    Binary,
    Boolean,
    Call,
    Cell,
    Group,
    Node,
    Number,
    Text,
    ThisRow,
    Unary,
    WholeColumn,
    column_number,
    upright,
)

MAX_DEPTH = 32
MAX_TOKENS = 400

_CELL = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)([0-9]+)\Z")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def parse(formula: str) -> Node:
    """The tree of a formula that begins with ``=``. Raises ``FormulaError``."""
    if not formula.startswith("="):
        raise FormulaError(1, "A formula begins with =.", "= and an expression")
    if len(formula) > MAX_CHARACTERS:
        message = f"The formula has {len(formula)} characters."
        raise FormulaError(MAX_CHARACTERS, message, f"at most {MAX_CHARACTERS}; use several columns")
    found = tokens(formula)
    if len(found) > MAX_TOKENS:
        message = f"The formula has more than {MAX_TOKENS} parts."
        raise FormulaError(found[MAX_TOKENS].position, message, "a shorter formula; use several columns")
    parser = _Parser(found, len(formula) + 1)
    tree = parser.expression(0)
    parser.end()
    _no_stray_range(tree)
    return tree


def reference(text: str) -> Cell | None:
    """The cell that a text such as ``B2`` names, or None."""
    found = _CELL.match(text)
    return None if found is None else _cell(found, 1)


class _Parser:
    """Recursive descent; the methods are named after what they read."""

    def __init__(self, tokens: list[Token], end: int) -> None:
        self._tokens = tokens
        self._next = 0
        self._end = end
        self._open: list[Token] = []

    def _peek(self) -> str:
        return self._tokens[self._next].text if self._next < len(self._tokens) else ""

    def _is_operator(self, *texts: str) -> bool:
        return (
            self._next < len(self._tokens)
            and self._tokens[self._next].kind == "operator"
            and self._tokens[self._next].text in texts
        )

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _position(self) -> int:
        return self._tokens[self._next].position if self._next < len(self._tokens) else self._end

    def end(self) -> None:
        if self._next < len(self._tokens):
            token = self._tokens[self._next]
            if token.text == ")":
                raise FormulaError(token.position, "This parenthesis closes nothing.", "as many ( as )")
            if token.text == ":":
                raise FormulaError(token.position, "A range joins two cells.", "a range such as A2:B9")
            message = f"{token.text[:40]} follows where an operator or the end should."
            raise FormulaError(token.position, message, "an operator, or the end of the formula")

    def expression(self, depth: int) -> Node:
        left = self._concatenation(depth)
        if not self._is_operator(*_COMPARISONS):
            return left
        operator = self._take()
        right = self._concatenation(depth)
        if self._is_operator(*_COMPARISONS):
            message = "Comparisons cannot be chained."
            raise FormulaError(self._position(), message, "AND(…,…) of single comparisons")
        return Binary(operator.text, left, right, operator.position)

    def _concatenation(self, depth: int) -> Node:
        left = self._sum(depth)
        while self._is_operator("&"):
            operator = self._take()
            left = Binary("&", left, self._sum(depth), operator.position)
        return left

    def _sum(self, depth: int) -> Node:
        left = self._product(depth)
        while self._is_operator("+", "-"):
            operator = self._take()
            left = Binary(operator.text, left, self._product(depth), operator.position)
        return left

    def _product(self, depth: int) -> Node:
        left = self._power(depth)
        while self._is_operator("*", "/"):
            operator = self._take()
            left = Binary(operator.text, left, self._power(depth), operator.position)
        return left

    def _power(self, depth: int) -> Node:
        left = self._signed(depth)
        if not self._is_operator("^"):
            return left
        operator = self._take()
        if isinstance(left, Unary) and left.operator != "%":
            message = f"A sign before a power is read in two ways: {left.operator}a^b."
            raise FormulaError(left.position, message, "(-a)^b or -(a^b)")
        right = self._signed(depth)
        if self._is_operator("^"):
            message = "A power of a power is read in two ways: a^b^c."
            raise FormulaError(self._position(), message, "(a^b)^c or a^(b^c)")
        return Binary("^", left, right, operator.position)

    def _signed(self, depth: int) -> Node:
        if self._is_operator("+", "-"):
            operator = self._take()
            if depth >= MAX_DEPTH:
                raise self._too_deep()
            return Unary(operator.text, self._signed(depth + 1), operator.position)
        operand = self._primary(depth)
        while self._is_operator("%"):
            operand = Unary("%", operand, self._take().position)
        return operand

    def _primary(self, depth: int) -> Node:
        if depth >= MAX_DEPTH:
            raise self._too_deep()
        if self._next >= len(self._tokens):
            raise FormulaError(self._end, "The formula ends where a value should follow.", "a value")
        token = self._take()
        if token.kind == "number":
            return _number(token)
        if token.kind == "text":
            return Text(token.text[1:-1].replace('""', '"'), token.position)
        if token.kind == "column":
            return _named_column(token)
        if token.kind == "cell":
            return self._cell_or_area(token)
        if token.kind == "word":
            return self._word(token, depth)
        if token.text == "(":
            self._open.append(token)
            inner = self.expression(depth + 1)
            self._close()
            return Group(inner, token.position)
        if token.text in (",", ")"):
            raise FormulaError(token.position, "A value is missing here.", "a value before " + token.text)
        message = f"The operator {token.text} lacks what it works on."
        raise FormulaError(token.position, message, "a value before it")

    def _too_deep(self) -> FormulaError:
        message = f"The formula is nested deeper than {MAX_DEPTH}."
        return FormulaError(self._position(), message, "several columns")

    def _close(self) -> None:
        opened = self._open.pop()
        if self._is_operator(")"):
            self._take()
            return
        if self._next < len(self._tokens):
            message = (
                f"{self._peek()[:40]} follows where the parenthesis opened at {opened.position} should close."
            )
            raise FormulaError(self._position(), message, "an operator, a comma or )")
        message = f"The parenthesis opened at character {opened.position} is never closed."
        raise FormulaError(self._end, message, ")")

    def _cell_or_area(self, token: Token) -> Node:
        first = _cell_of(token)
        if not self._is_operator(":"):
            return first
        self._take()
        if self._next >= len(self._tokens) or self._tokens[self._next].kind != "cell":
            raise FormulaError(self._position(), "A range ends with a cell.", "a range such as A2:B9")
        last = _cell_of(self._take())
        if self._is_operator(":"):
            raise FormulaError(self._position(), "A range has two corners.", "a range such as A2:B9")
        return _area(first, last, token.position)

    def _word(self, token: Token, depth: int) -> Node:
        name = token.text.upper()
        if not self._is_operator("("):
            if name in ("TRUE", "FALSE"):
                return Boolean(name == "TRUE", token.position)
            raise _unknown_word(token, self._is_operator(":"))
        function = functions.FUNCTIONS.get(name)
        if function is None:
            raise _unknown_function(token)
        self._open.append(self._take())
        arguments: list[Node] = []
        if not self._is_operator(")"):
            arguments.append(self.expression(depth + 1))
            while self._is_operator(","):
                self._take()
                arguments.append(self.expression(depth + 1))
        self._close()
        if not function.least <= len(arguments) <= function.most:
            count = (
                f"{function.least}"
                if function.least == function.most
                else f"{function.least} to {function.most}"
            )
            message = f"{name} has {len(arguments)} arguments."
            raise FormulaError(token.position, message, f"{count} arguments")
        for place, argument in enumerate(arguments):
            is_range = isinstance(argument, Area | WholeColumn)
            if is_range and not function.accepts_range(place):
                message = f"Argument {place + 1} of {name} is a range."
                raise FormulaError(argument.position, message, "one value")
            if function.needs_range(place) and not is_range and not isinstance(argument, Cell):
                message = f"Argument {place + 1} of {name} is no range."
                raise FormulaError(argument.position, message, "a range such as A2:B9 or [name]")
        return Call(name, tuple(arguments), token.position)


def _no_stray_range(tree: Node, allowed: bool = False) -> None:
    """A range stands only where a function takes one."""
    if isinstance(tree, Area | WholeColumn):
        if not allowed:
            message = "A range stands where one value is wanted."
            if isinstance(tree, WholeColumn):
                raise FormulaError(tree.position, message, "this row's cell of the column", f"[@{tree.name}]")
            raise FormulaError(tree.position, message, "one cell, or a function of a range such as SUM")
    elif isinstance(tree, Call):
        for argument in tree.arguments:
            _no_stray_range(argument, allowed=True)
    elif isinstance(tree, Binary):
        _no_stray_range(tree.left)
        _no_stray_range(tree.right)
    elif isinstance(tree, Unary):
        _no_stray_range(tree.operand)
    elif isinstance(tree, Group):
        _no_stray_range(tree.inner)


def _number(token: Token) -> Number:
    if not math.isfinite(float(token.text)):
        raise FormulaError(token.position, f"The number {token.text[:40]} is too large.", "at most 1.7e308")
    return Number(token.text, token.position)


def _named_column(token: Token) -> Node:
    inner = token.text[1:-1]
    whole = not inner.startswith("@")
    name = re.sub(r"'(.)", r"\1", inner if whole else inner[1:])
    if not name.strip():
        raise FormulaError(token.position, "The brackets name no column.", "[@name] or [name]")
    return WholeColumn(name, token.position) if whole else ThisRow(name, token.position)


def _cell(found: re.Match[str], position: int) -> Cell | None:
    column, row = column_number(found.group(2)), int(found.group(4)[:9])
    if not (1 <= column <= MAX_COLUMN and 1 <= row <= MAX_ROW) or found.group(4).startswith("0"):
        return None
    return Cell(column, row, bool(found.group(1)), bool(found.group(3)), position)


def _cell_of(token: Token) -> Cell:
    found = _CELL.match(token.text)
    cell = None if found is None else _cell(found, token.position)
    if cell is None:
        message = f"{token.text[:40]} is no cell of a sheet."
        raise FormulaError(token.position, message, f"a cell from A1 to XFD{MAX_ROW}")
    return cell


def _area(first: Cell, last: Cell, position: int) -> Area:
    return Area(*upright(first, last), position)


def _unknown_word(token: Token, before_colon: bool) -> FormulaError:
    name = token.text
    if before_colon or re.fullmatch(r"[A-Za-z]{1,3}", name):
        return FormulaError(
            token.position,
            f"{name[:40]} is no cell; whole columns are named by their heading.",
            "a cell such as A2, a range such as A2:A9, or [name] for a whole column",
        )
    meant = nearest(name.upper(), functions.FUNCTIONS)
    return FormulaError(
        token.position,
        f"{name[:40]} is no cell, and names are not defined.",
        'a cell such as A2, a column as [@name], a text in "quotes", or a function with (',
        f"{meant}(" if meant else f"[@{name[:40]}]",
    )


def _unknown_function(token: Token) -> FormulaError:
    name = token.text.upper()
    if name in functions.VOLATILE:
        message = f"{name} is volatile: its value is not given by the document."
        return FormulaError(token.position, message, "a function of the list, or a value in a cell")
    if name in functions.OUTSIDE:
        message = f"{name} reaches outside of the document."
        return FormulaError(token.position, message, "a function of the list")
    if name in functions.SPREADS:
        message = f"{name} is no function of the list, since engines lose digits in it."
        return FormulaError(
            token.position, message, "the operation aggregate with standardDeviation or variance"
        )
    near = functions.ALIASES.get(name) or nearest(name, functions.FUNCTIONS)
    message = f"{token.text[:40]} is no function of the list."
    return FormulaError(
        token.position, message, "one of the functions that the operation's description lists", near
    )
