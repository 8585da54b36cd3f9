"""Random spreadsheet documents from a seed, each with what it must give, worked out in plain Python.

Formulas are drawn together with a function that computes them, which knows nothing of the parser, the
layout or any engine.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

Row = dict[str, Any]
Rows = list[Row]
Compute = Callable[[Row, Rows, int], Any]

NUMBERS = ("a", "b", "c d")


class Failure(Exception):
    """A formula that gives an error value."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Draft:
    """A document and the table that its output must be: columns and rows of plain values.

    A number is a float, an error the ``Failure`` that it comes from, a blank None.
    """

    document: dict[str, Any]
    columns: list[str]
    rows: list[list[Any]]


class _Drawing:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def number(self) -> float:
        kind = self.dice.random()
        if kind < 0.4:
            return float(self.dice.randint(-20, 20))
        if kind < 0.8:
            return round(self.dice.uniform(-50, 50), 3)
        return self.dice.uniform(-1, 1) * 10.0 ** self.dice.randint(-6, 6)

    def literal(self) -> tuple[str, Compute]:
        value = abs(self.number())
        text = repr(value)
        return text, lambda *_: value

    def column(self) -> tuple[str, Compute]:
        name = self.dice.choice(NUMBERS)
        place = NUMBERS.index(name) + 1
        text = self.dice.choice([f"[@{name}]", f"{'xABC'[place + 0]}2", "$" + "xABC"[place] + "2"])

        def compute(row: Row, rows: Rows, index: int) -> float:
            return 0.0 if row[name] is None else row[name]

        return text, compute

    def whole(self) -> tuple[str, Compute]:
        name = self.dice.choice(NUMBERS)
        function = self.dice.choice(["SUM", "MIN", "MAX", "COUNT", "SUMSQ", "AVERAGE", "MEDIAN"])

        def compute(row: Row, rows: Rows, index: int) -> float:
            return _figure(function, [one[name] for one in rows])

        return f"{function}([{name}])", compute

    def running(self) -> tuple[str, Compute]:
        name = self.dice.choice(NUMBERS)
        letter = "ABC"[NUMBERS.index(name)]

        def compute(row: Row, rows: Rows, index: int) -> float:
            return _figure("SUM", [one[name] for one in rows[: index + 1]])

        return f"SUM({letter}$2:{letter}2)", compute

    def expression(self, depth: int) -> tuple[str, Compute]:
        if depth == 0 or self.dice.random() < 0.15:
            return self.dice.choice([self.literal, self.column, self.column, self.whole, self.running])()
        return self.dice.choice([self.arithmetic, self.arithmetic, self.call, self.condition])(depth)

    def arithmetic(self, depth: int) -> tuple[str, Compute]:
        left, one = self.expression(depth - 1)
        right, other = self.expression(depth - 1)
        operator = self.dice.choice("+-*/")

        def compute(*at: Any) -> float:
            first, second = one(*at), other(*at)
            if operator == "/":
                if second == 0:
                    raise Failure("#DIV/0!")
                return float(first / second)
            return float({"+": first + second, "-": first - second, "*": first * second}[operator])

        return f"({left}{operator}{right})", compute

    def call(self, depth: int) -> tuple[str, Compute]:
        inner, of = self.expression(depth - 1)
        name = self.dice.choice(["ABS", "SQRT", "SIN", "EXP", "INT", "ROUND", "IFERROR", "SIGN"])
        if name == "EXP":
            return f"EXP(SIN({inner}))", lambda *at: math.exp(math.sin(of(*at)))
        if name == "ROUND":
            # Of multiples of 1/8, which are exact, so that no rounding of the argument decides.
            return f"ROUND(INT({inner})/8,2)", lambda *at: _rounded(math.floor(of(*at)) / 8, 2)
        if name == "IFERROR":
            return f"IFERROR({inner},-1)", lambda *at: _caught(of, *at)
        functions: dict[str, Callable[[float], float]] = {
            "ABS": abs,
            "SQRT": _root,
            "SIN": math.sin,
            "INT": lambda value: float(math.floor(value)),
            "SIGN": lambda value: float((value > 0) - (value < 0)),
        }
        return f"{name}({inner})", lambda *at: functions[name](of(*at))

    def condition(self, depth: int) -> tuple[str, Compute]:
        # Both sides are authored numbers or whole ones: what is computed might differ in its last digit.
        left, one = self.column()
        bound = float(self.dice.randint(-20, 20))
        operator = self.dice.choice(["<", "<=", ">", ">=", "=", "<>"])
        yes, then = self.expression(depth - 1)
        no, otherwise = self.expression(depth - 1)
        holds: dict[str, Callable[[float, float], bool]] = {
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            ">": lambda a, b: a > b,
            ">=": lambda a, b: a >= b,
            "=": lambda a, b: a == b,
            "<>": lambda a, b: a != b,
        }

        def compute(*at: Any) -> Any:
            return (then if holds[operator](one(*at), bound) else otherwise)(*at)

        return f"IF({left}{operator}{int(bound)},{yes},{no})", compute


def _caught(of: Compute, *at: Any) -> Any:
    try:
        return of(*at)
    except Failure:
        return -1.0


def _root(value: float) -> float:
    if value < 0:
        raise Failure("#NUM!")
    return math.sqrt(value)


def _rounded(value: float, digits: int) -> float:
    quantum = Decimal(1).scaleb(-digits)
    return float(Decimal(value).quantize(quantum, rounding=ROUND_HALF_UP))


def _figure(function: str, cells: list[Any]) -> float:
    wrong = next((one for one in cells if isinstance(one, Failure)), None)
    if wrong is not None and function != "COUNT":
        raise wrong
    numbers = [one for one in cells if isinstance(one, float)]
    if function == "COUNT":
        return float(len(numbers))
    if function == "AVERAGE" and not numbers:
        raise Failure("#DIV/0!")
    if function == "MEDIAN" and not numbers:
        raise Failure("#NUM!")
    if function in ("MIN", "MAX"):
        return (min if function == "MIN" else max)(numbers, default=0.0)
    return {
        "SUM": lambda: float(sum(numbers)),
        "SUMSQ": lambda: float(sum(one * one for one in numbers)),
        "AVERAGE": lambda: sum(numbers) / len(numbers),
        "MEDIAN": lambda: float(statistics.median(numbers)),
    }[function]()


def draft(version: str, seed: int) -> Draft:
    """A table, a formula column, and one or two operations after it; the same seed gives the same draft."""
    drawing = _Drawing(seed)
    dice = drawing.dice
    columns = [*NUMBERS, "key"]
    rows: Rows = [
        {
            **{name: None if dice.random() < 0.1 else drawing.number() for name in NUMBERS},
            "key": dice.choice(["x", "X", "y", "007", None, 7.0, True]),
        }
        for _ in range(dice.randint(1, 12))
    ]
    authored = [[row[name] for name in columns] for row in rows]
    nodes: list[dict[str, Any]] = [
        {"id": "t0", "filter": "cells", "options": {"columns": columns, "rows": authored}}
    ]
    text, compute = drawing.expression(dice.randint(1, 4))
    results = []
    for index, row in enumerate(rows):
        try:
            results.append(compute(row, rows, index))
        except Failure as reason:
            results.append(reason)
    for row, result in zip(rows, results, strict=True):
        row["f"] = result
    columns = [*columns, "f"]
    nodes.append(_node("t1", "formulaColumn", "t0", column="f", formula=f"={text}"))
    for _ in range(dice.randint(0, 2)):
        operation = dice.choice([_sort, _filter, _aggregate])
        columns, rows = operation(dice, nodes, columns, rows)
        if operation is _aggregate:
            break
    document = {"version": version, "nodes": nodes, "output": nodes[-1]["id"]}
    return Draft(document, columns, [[row[name] for name in columns] for row in rows])


def _node(name: str, operation: str, source: str, **options: Any) -> dict[str, Any]:
    return {"id": name, "filter": operation, "options": options, "inputs": [source]}


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, Failure):
        return 3, value.code
    if isinstance(value, bool):
        return 2, value
    return (1, value) if isinstance(value, str) else (0, value)


def _sort(
    dice: random.Random, nodes: list[dict[str, Any]], columns: list[str], rows: Rows
) -> tuple[list[str], Rows]:
    name, descending = dice.choice(["a", "key", "c d"]), dice.random() < 0.5
    order = "descending" if descending else "ascending"
    by = {"by": [{"column": name, "order": order}]}
    nodes.append(_node(f"t{len(nodes)}", "sort", nodes[-1]["id"], **by))
    filled = sorted((row for row in rows if row[name] is not None), key=lambda row: _rank(row[name]))
    if descending:
        # Not merely reversed: rows that tie keep their order.
        filled = sorted(
            (row for row in rows if row[name] is not None), key=lambda row: _rank(row[name]), reverse=True
        )
    return columns, filled + [row for row in rows if row[name] is None]


def _filter(
    dice: random.Random, nodes: list[dict[str, Any]], columns: list[str], rows: Rows
) -> tuple[list[str], Rows]:
    bound = float(dice.randint(-20, 20))
    conditions = [
        {"column": "a", "operator": "greater", "value": bound},
        {"column": "key", "operator": "equals", "value": "x"},
    ]
    match = dice.choice(["all", "any"])
    nodes.append(_node(f"t{len(nodes)}", "filterRows", nodes[-1]["id"], conditions=conditions, match=match))
    kept = []
    for row in rows:
        met = [row["a"] is not None and row["a"] > bound, row["key"] == "x"]
        if all(met) if match == "all" else any(met):
            kept.append(row)
    return columns, kept


def _aggregate(
    dice: random.Random, nodes: list[dict[str, Any]], columns: list[str], rows: Rows
) -> tuple[list[str], Rows]:
    functions = [
        "sum",
        "average",
        "min",
        "max",
        "median",
        "variance",
        "standardDeviation",
        "count",
        "countAll",
    ]
    values = [{"name": one, "function": one, "column": dice.choice(["a", "b", "f"])} for one in functions]
    by = dice.choice([[], ["key"]])
    nodes.append(_node(f"t{len(nodes)}", "aggregate", nodes[-1]["id"], groupBy=by, values=values))
    groups: dict[Any, Rows] = {} if by else {"all": list(rows)}
    if by:
        for row in rows:
            groups.setdefault((type(row["key"]), row["key"]), []).append(row)
    made: Rows = []
    for members in groups.values():
        figures: Row = {"key": members[0]["key"]} if by else {}
        for value in values:
            figures[value["name"]] = _aggregated(value["function"], [row[value["column"]] for row in members])
        made.append(figures)
    return [*by, *functions], made


def _aggregated(function: str, cells: list[Any]) -> Any:
    if function == "count":
        return float(sum(isinstance(one, float) for one in cells))
    if function == "countAll":
        return float(sum(one is not None for one in cells))
    wrong = next((one for one in cells if isinstance(one, Failure)), None)
    if wrong is not None:
        return wrong
    numbers = [one for one in cells if isinstance(one, float)]
    least = {"sum": 0, "variance": 2, "standardDeviation": 2}.get(function, 1)
    if len(numbers) < least:
        return Failure("#N/A" if function in ("min", "max", "median") else "#DIV/0!")
    return {
        "sum": lambda: math.fsum(numbers),
        "average": lambda: statistics.fmean(numbers),
        "min": lambda: min(numbers),
        "max": lambda: max(numbers),
        "median": lambda: statistics.median(numbers),
        "variance": lambda: statistics.variance(numbers),
        "standardDeviation": lambda: statistics.stdev(numbers),
    }[function]()
