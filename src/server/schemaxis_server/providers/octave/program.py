"""Formulas as programs for ``sx_evaluate.m``: lists of allow-listed functions over numbered places.

Nothing of a document's text reaches Octave: a step names one of the vocabulary's functions by its place in a
list, and numbers travel as the doubles that they are.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from schemaxis_server.providers.numerics.expression import FUNCTIONS, OPERATORS, Call, Name, Number, Tree

_ALLOWED = frozenset({*FUNCTIONS, *OPERATORS})


@dataclass(frozen=True, slots=True)
class Program:
    """``steps`` are rows of function, first argument, second (0 for none) and place of the result.

    Places and functions count from 1; the first places hold the variables, the next the constants.
    """

    functions: tuple[str, ...]
    steps: tuple[int, ...]
    constants: tuple[float, ...]
    places: int
    results: tuple[int, ...]

    def arguments(self) -> tuple[str | float | Sequence[float], ...]:
        """As ``sx_program.m`` takes it."""
        return "\n".join(self.functions), self.steps, self.constants, self.places, self.results


def compiled(trees: Sequence[Tree], variables: Sequence[str]) -> Program:
    """The program that gives the values of ``trees``; what they have in common is computed once."""
    return _Compiler(variables).program(trees)


class _Compiler:
    """Gives each different value a number, then each number a place that is used again once it is free."""

    def __init__(self, variables: Sequence[str]) -> None:
        self._variables = {name: number for number, name in enumerate(variables)}
        self._constants: dict[bytes, int] = {}
        self._calls: dict[tuple[str, int, int], int] = {}
        self._seen: dict[int, int] = {}
        self._order: list[tuple[str, int, int]] = []

    def program(self, trees: Sequence[Tree]) -> Program:
        self._collect_constants(trees)
        results = [self._number(tree) for tree in trees]
        fixed = len(self._variables) + len(self._constants)
        last = {result: len(self._order) for result in results}
        for step, (_, *arguments) in enumerate(self._order):
            for argument in arguments:
                last[argument] = max(last.get(argument, -1), step)
        place_of = {number: number + 1 for number in range(fixed)}
        functions: dict[str, int] = {}
        free: list[int] = []
        places = fixed
        steps: list[int] = []
        for step, (function, first, second) in enumerate(self._order):
            # A result takes no place of its own arguments, so that a step never reads what it writes.
            if free:
                place = free.pop()
            else:
                places += 1
                place = places
            place_of[fixed + step] = place
            code = functions.setdefault(function, len(functions) + 1)
            steps += [code, place_of[first], place_of[second] if second >= 0 else 0, place]
            free += [
                place_of[argument]
                for argument in {first, second}
                if argument >= fixed and last[argument] == step
            ]
        constants = tuple(struct.unpack("=d", key)[0] for key in self._constants)
        # An empty list of names would not be read: name one that no step uses.
        named = tuple(functions) or ("negate",)
        return Program(named, tuple(steps), constants, places, tuple(place_of[one] for one in results))

    def _collect_constants(self, trees: Sequence[Tree]) -> None:
        waiting, seen = list(trees), set()
        while waiting:
            tree = waiting.pop()
            if id(tree) in seen:
                continue
            seen.add(id(tree))
            if isinstance(tree, Number):
                key = struct.pack("=d", tree.value)
                self._constants.setdefault(key, len(self._variables) + len(self._constants))
            elif isinstance(tree, Call):
                waiting += tree.arguments

    def _number(self, tree: Tree) -> int:
        known = self._seen.get(id(tree))
        if known is None:
            known = self._seen[id(tree)] = self._new_number(tree)
        return known

    def _new_number(self, tree: Tree) -> int:
        if isinstance(tree, Number):
            return self._constants[struct.pack("=d", tree.value)]
        if isinstance(tree, Name):
            return self._variables[tree.name]
        if tree.function not in _ALLOWED:
            raise ValueError(f"{tree.function} is no function of formulas")
        first, *others = [self._number(argument) for argument in tree.arguments]
        if not others:
            return self._call(tree.function, first, -1)
        for other in others:
            first = self._call(tree.function, first, other)
        return first

    def _call(self, function: str, first: int, second: int) -> int:
        key = (function, first, second)
        if key not in self._calls:
            self._calls[key] = len(self._variables) + len(self._constants) + len(self._order)
            self._order.append(key)
        return self._calls[key]
