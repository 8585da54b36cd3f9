"""Cuts a formula into its tokens, and says what is wrong with one that cannot be cut."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_CHARACTERS = 1000

_TOKEN = re.compile(
    r"""(?P<space>[ ]+)
    |(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z_0-9.]))
    |(?P<text>"(?:[^"]|"")*")
    |(?P<column>\[(?:[^\[\]']|'.)*\])
    |(?P<cell>\$?[A-Za-z]{1,3}\$?[0-9]+(?![A-Za-z_0-9.(!]))
    |(?P<word>[A-Za-z_][A-Za-z_0-9.]*)
    |(?P<operator><=|>=|<>|[-+*/^&=<>%(),:])""",
    re.VERBOSE,
)


class FormulaError(Exception):
    """A formula that is not allowed. ``position`` counts characters of the formula from 1, the ``=`` included."""

    def __init__(self, position: int, message: str, expected: str, near: str = "") -> None:
        super().__init__(message)
        self.position = position
        self.message = message
        self.expected = expected
        self.near = near


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    position: int


def tokens(formula: str) -> list[Token]:
    """The tokens after the ``=``. Raises ``FormulaError``."""
    found_tokens: list[Token] = []
    place = 1
    while place < len(formula):
        found = _TOKEN.match(formula, place)
        if found is None:
            raise _unreadable(formula, place)
        kind = str(found.lastgroup)
        if kind != "space":
            found_tokens.append(Token(kind, found.group(), place + 1))
        place = found.end()
    _no_other_sheets(formula, found_tokens)
    return found_tokens


def _unreadable(formula: str, place: int) -> FormulaError:
    character = formula[place]
    position = place + 1
    if character == '"':
        return FormulaError(position, "The text that begins here has no closing quote.", 'a closing "')
    if character in "[]":
        return FormulaError(
            position,
            "A bracket does not fit; brackets name a column, and nothing outside of the sheet.",
            "[@name] for this row's cell of a column, [name] for the whole column",
        )
    if character in "!'|#":
        return _outside(position)
    if character == ";":
        return FormulaError(position, "Arguments are not separated by semicolons.", "a comma", ",")
    if character in "{}":
        return FormulaError(position, "Arrays cannot be written out.", "cells or ranges")
    if character.isdigit():
        return FormulaError(position, "A number cannot be read here.", "a number such as 12, 0.5 or 1e-3")
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return FormulaError(
        position, f"{shown} has no place in a formula.", "cells, numbers, texts and operators"
    )


def _outside(position: int) -> FormulaError:
    return FormulaError(
        position,
        "A formula sees its own sheet only: no other sheet, workbook, link or DDE.",
        "cells and columns of this table; lookup brings another table's columns in",
    )


def _no_other_sheets(formula: str, tokens: list[Token]) -> None:
    for token in tokens:
        after = token.position - 1 + len(token.text)
        if token.kind in ("word", "cell", "column") and formula[after : after + 1] == "!":
            raise _outside(token.position)
