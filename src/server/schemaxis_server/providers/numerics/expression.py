"""Formulas over series: parsed into a tree of allow-listed functions, never run as code.

The grammar is that of a pocket calculator: numbers, names, ``+ - * /``, ``^`` (or ``**``), a sign,
parentheses and calls such as ``max(a, b)``. ``-2^2`` is -4; ``a^b^c`` is refused, since engines differ on
what it means. Standard library only: the planner, the hosts and those who write for another engine walk
the same tree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemaxis_server.providers.problems import clip, nearest

MAX_CHARACTERS = 2000
MAX_TERMS = 400
MAX_DEPTH = 64

CONSTANTS = {"pi": math.pi, "e": math.e}

FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), (1, 1)),
    **dict.fromkeys(("exp", "log", "log10", "log2", "sqrt", "abs", "sign", "step", "floor", "ceil"), (1, 1)),
    **dict.fromkeys(("atan2", "hypot"), (2, 2)),
    **dict.fromkeys(("min", "max"), (2, 8)),
}
"""The functions that may be called, with the least and the most arguments."""

OPERATORS = ("add", "subtract", "multiply", "divide", "power", "negate")
"""The names that the operators have in a tree."""

MEANING = (
    "Numbers, + - * / ^, parentheses, the constants pi and e, and the functions "
    + ", ".join(FUNCTIONS)
    + ". Angles are in radians; log is natural; sign(0) is 0; step(a) is 1 for a ≥ 0 and otherwise 0. What has no "
    "real value is NaN (log(-1), sqrt(-1), (-8)^(1/3)); 1/0 is Infinity; min and max of NaN are NaN. "
    "Write a product with *, and parentheses in (a^b)^c."
)

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|[-+*/^(),]))",
    re.ASCII,
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator with its arguments."""

    function: str
    arguments: tuple[Tree, ...]


Tree = Number | Name | Call


class ExpressionError(ValueError):
    """A formula that cannot be read; ``nearest`` is the name that may have been meant."""

    def __init__(self, message: str, nearest: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.nearest = nearest


def parse(text: str, variables: Collection[str]) -> Tree:
    """The tree of a formula in which ``variables`` may stand. Raises ``ExpressionError``."""
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"The formula has {len(text)} characters, and {MAX_CHARACTERS} are the most.")
    return _Parser(text, variables).whole()


class _Parser:
    def __init__(self, text: str, variables: Collection[str]) -> None:
        self._variables = variables
        self._tokens = _tokens(text)
        self._at = 0
        self._terms = 0
        self._depth = 0

    def whole(self) -> Tree:
        tree = self._sum()
        if self._kind() != "end":
            raise self._unexpected("an operator such as + or *")
        # Long sums are as deep as they are long, and those who walk the tree do so by recursion.
        if depth(tree) > MAX_DEPTH * 2:
            raise ExpressionError(
                f"The formula nests deeper than {MAX_DEPTH * 2}; write it with fewer terms."
            )
        return tree

    def _kind(self) -> str:
        return self._tokens[self._at][0]

    def _mark(self, *marks: str) -> str:
        """The next token if it is one of these marks, which is then taken."""
        kind, text, _ = self._tokens[self._at]
        if kind == "mark" and text in marks:
            self._at += 1
            return text
        return ""

    def _made(self, tree: Tree) -> Tree:
        self._terms += 1
        if self._terms > MAX_TERMS:
            raise ExpressionError(f"The formula has more than {MAX_TERMS} terms; make it shorter.")
        return tree

    def _sum(self) -> Tree:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"The formula nests deeper than {MAX_DEPTH}; make it flatter.")
        tree = self._product()
        while mark := self._mark("+", "-"):
            tree = self._made(Call("add" if mark == "+" else "subtract", (tree, self._product())))
        self._depth -= 1
        return tree

    def _product(self) -> Tree:
        tree = self._signed()
        while mark := self._mark("*", "/"):
            tree = self._made(Call("multiply" if mark == "*" else "divide", (tree, self._signed())))
        return tree

    def _signed(self) -> Tree:
        negative = False
        signs = 0
        while mark := self._mark("+", "-"):
            negative ^= mark == "-"
            signs += 1
            if signs > 2:
                raise self._unexpected("a number or a name")
        tree = self._power()
        return self._made(Call("negate", (tree,))) if negative else tree

    def _power(self) -> Tree:
        base = self._atom()
        if not self._mark("^", "**"):
            return base
        negative = self._mark("-")
        exponent = self._atom()
        if negative:
            exponent = self._made(Call("negate", (exponent,)))
        if self._mark("^", "**"):
            raise ExpressionError("a^b^c is read in two ways; write (a^b)^c or a^(b^c).")
        return self._made(Call("power", (base, exponent)))

    def _atom(self) -> Tree:
        kind, text, place = self._tokens[self._at]
        if kind == "number":
            self._at += 1
            value = float(text)
            if math.isinf(value):
                raise ExpressionError(f"The number {clip(text)} is beyond the range of a double.")
            return self._made(Number(value))
        if kind == "name":
            self._at += 1
            called = bool(self._mark("("))
            return self._call(text, place) if called else self._made(self._name(text, place))
        if self._mark("("):
            tree = self._sum()
            self._close()
            return tree
        raise self._unexpected("a number, a name or an opening parenthesis")

    def _call(self, name: str, place: int) -> Tree:
        if name not in FUNCTIONS:
            meant = nearest(name, FUNCTIONS)
            hint = "; write a product with *" if name in self._variables or name in CONSTANTS else ""
            raise ExpressionError(f"There is no function {clip(name)} (character {place + 1}){hint}.", meant)
        arguments = [self._sum()]
        while self._mark(","):
            arguments.append(self._sum())
        self._close()
        least, most = FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise ExpressionError(f"{name} has {len(arguments)} arguments and takes {wanted}.")
        return self._made(Call(name, tuple(arguments)))

    def _name(self, name: str, place: int) -> Tree:
        if name in self._variables:
            return Name(name)
        if name in CONSTANTS:
            return Number(CONSTANTS[name])
        if name in FUNCTIONS:
            raise ExpressionError(f"{name} (character {place + 1}) is a function; write {name}(…).")
        known = [*self._variables, *CONSTANTS, *FUNCTIONS]
        shown = ", ".join([*list(self._variables)[:12], *CONSTANTS])
        message = f"There is no variable {clip(name)} (character {place + 1}); the names are {shown}."
        raise ExpressionError(message, nearest(name, known))

    def _close(self) -> None:
        if not self._mark(")"):
            raise self._unexpected("a closing parenthesis")

    def _unexpected(self, wanted: str) -> ExpressionError:
        kind, text, place = self._tokens[self._at]
        if kind == "end":
            return ExpressionError(f"The formula ends where {wanted} should follow.")
        return ExpressionError(f"{clip(text)} stands at character {place + 1} where {wanted} should.")


def _tokens(text: str) -> list[tuple[str, str, int]]:
    found = []
    place = 0
    end = len(text.rstrip())
    while place < end:
        token = _TOKEN.match(text, place)
        if token is None:
            rest = text[place:].lstrip()
            at = len(text) - len(rest)
            raise ExpressionError(f"{clip(rest[0])} (character {at + 1}) has no meaning in a formula.")
        kind = token.lastgroup or ""
        found.append((kind, token[kind], token.start(kind)))
        place = token.end()
    return [*found, ("end", "", end)]


def depth(tree: Tree) -> int:
    """How many levels a tree has, found without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        part, level = waiting.pop()
        deepest = max(deepest, level)
        if isinstance(part, Call):
            waiting += [(argument, level + 1) for argument in part.arguments]
    return deepest


def names(tree: Tree) -> set[str]:
    """The variables that stand in a tree."""
    found, waiting = set(), [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Name):
            found.add(part.name)
        elif isinstance(part, Call):
            waiting += part.arguments
    return found


def evaluate(
    tree: Tree,
    variables: Mapping[str, Any],
    functions: Mapping[str, Callable[..., Any]],
    number: Callable[[float], Any] = float,
) -> Any:
    """The value of a tree; ``functions`` gives each function and operator a meaning."""
    if isinstance(tree, Number):
        return number(tree.value)
    if isinstance(tree, Name):
        return variables[tree.name]
    arguments = [evaluate(argument, variables, functions, number) for argument in tree.arguments]
    return functions[tree.function](*arguments)


def bind(
    tree: Tree, order: Sequence[str], functions: Mapping[str, Callable[..., Any]]
) -> Callable[[Sequence[Any]], Any]:
    """The same as nested closures over a sequence of values, for a formula that is asked many times."""
    if isinstance(tree, Number):
        value = tree.value
        return lambda _: value
    if isinstance(tree, Name):
        place = order.index(tree.name)
        return lambda values: values[place]
    function = functions[tree.function]
    parts = [bind(argument, order, functions) for argument in tree.arguments]
    if len(parts) == 1:
        (only,) = parts
        return lambda values: function(only(values))
    if len(parts) == 2:
        first, second = parts
        return lambda values: function(first(values), second(values))
    return lambda values: function(*[part(values) for part in parts])


def unparse(tree: Tree) -> str:
    """A tree as fully parenthesised text with function calls for operators: ``add(x, negate(2.0))``."""
    if isinstance(tree, Number):
        return repr(tree.value)
    if isinstance(tree, Name):
        return tree.name
    return f"{tree.function}({', '.join(unparse(argument) for argument in tree.arguments)})"


# Derivatives


def derivative(tree: Tree, variable: str) -> Tree:
    """The derivative of a tree by one of its variables. Where a function jumps it is that of its sides."""
    if isinstance(tree, Number):
        return Number(0.0)
    if isinstance(tree, Name):
        return Number(1.0 if tree.name == variable else 0.0)
    inner = [derivative(argument, variable) for argument in tree.arguments]
    if all(part == Number(0.0) for part in inner):
        return Number(0.0)
    return _DERIVATIVES[tree.function](tree, inner)


def _add(a: Tree, b: Tree) -> Tree:
    if a == Number(0.0):
        return b
    return a if b == Number(0.0) else Call("add", (a, b))


def _times(a: Tree, b: Tree) -> Tree:
    if Number(0.0) in (a, b):
        return Number(0.0)
    if a == Number(1.0):
        return b
    return a if b == Number(1.0) else Call("multiply", (a, b))


def _over(a: Tree, b: Tree) -> Tree:
    return a if a == Number(0.0) or b == Number(1.0) else Call("divide", (a, b))


def _minus(a: Tree) -> Tree:
    return Number(0.0) if a == Number(0.0) else Call("negate", (a,))


def _of(function: str, *arguments: Tree) -> Tree:
    return Call(function, arguments)


def _square(a: Tree) -> Tree:
    return _of("multiply", a, a)


def _chain(outer: Callable[[Tree], Tree]) -> Callable[[Call, list[Tree]], Tree]:
    return lambda call, inner: _times(outer(call.arguments[0]), inner[0])


def _power(call: Call, inner: list[Tree]) -> Tree:
    base, exponent = call.arguments
    by_base = _times(_times(exponent, _of("power", base, _of("subtract", exponent, Number(1.0)))), inner[0])
    if inner[1] == Number(0.0):
        return by_base
    return _add(by_base, _times(_times(call, _of("log", base)), inner[1]))


def _quotient(call: Call, inner: list[Tree]) -> Tree:
    above, below = call.arguments
    return _add(_over(inner[0], below), _minus(_over(_times(above, inner[1]), _square(below))))


def _atan2(call: Call, inner: list[Tree]) -> Tree:
    y, x = call.arguments
    return _over(_add(_times(x, inner[0]), _minus(_times(y, inner[1]))), _add(_square(x), _square(y)))


def _hypot(call: Call, inner: list[Tree]) -> Tree:
    a, b = call.arguments
    return _over(_add(_times(a, inner[0]), _times(b, inner[1])), call)


def _extreme(call: Call, inner: list[Tree]) -> Tree:
    """Folded from the left; where both are equal it is the derivative of the earlier."""
    value, slope = call.arguments[0], inner[0]
    for other, rate in zip(call.arguments[1:], inner[1:], strict=True):
        ahead = (value, other) if call.function == "max" else (other, value)
        first = _of("step", _of("subtract", *ahead))
        slope = _add(_times(first, slope), _times(_of("subtract", Number(1.0), first), rate))
        value = _of(call.function, value, other)
    return slope


def _root_of_one_minus_square(a: Tree) -> Tree:
    return _of("sqrt", _of("subtract", Number(1.0), _square(a)))


def _inverse(a: Tree) -> Tree:
    return _over(Number(1.0), a)


_DERIVATIVES: dict[str, Callable[[Call, list[Tree]], Tree]] = {
    "add": lambda call, inner: _add(*inner),
    "subtract": lambda call, inner: _add(inner[0], _minus(inner[1])),
    "multiply": lambda call, inner: _add(
        _times(inner[0], call.arguments[1]), _times(call.arguments[0], inner[1])
    ),
    "divide": _quotient,
    "power": _power,
    "negate": lambda call, inner: _minus(inner[0]),
    "sin": _chain(lambda a: _of("cos", a)),
    "cos": _chain(lambda a: _minus(_of("sin", a))),
    "tan": _chain(lambda a: _inverse(_square(_of("cos", a)))),
    "asin": _chain(lambda a: _inverse(_root_of_one_minus_square(a))),
    "acos": _chain(lambda a: _minus(_inverse(_root_of_one_minus_square(a)))),
    "atan": _chain(lambda a: _inverse(_of("add", Number(1.0), _square(a)))),
    "sinh": _chain(lambda a: _of("cosh", a)),
    "cosh": _chain(lambda a: _of("sinh", a)),
    "tanh": _chain(lambda a: _inverse(_square(_of("cosh", a)))),
    "exp": _chain(lambda a: _of("exp", a)),
    "log": _chain(_inverse),
    "log10": _chain(lambda a: _inverse(_times(a, Number(math.log(10))))),
    "log2": _chain(lambda a: _inverse(_times(a, Number(math.log(2))))),
    "sqrt": _chain(lambda a: _over(Number(0.5), _of("sqrt", a))),
    "abs": _chain(lambda a: _of("sign", a)),
    "sign": lambda call, inner: Number(0.0),
    "step": lambda call, inner: Number(0.0),
    "floor": lambda call, inner: Number(0.0),
    "ceil": lambda call, inner: Number(0.0),
    "atan2": _atan2,
    "hypot": _hypot,
    "min": _extreme,
    "max": _extreme,
}
