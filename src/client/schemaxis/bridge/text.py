"""JSON text read without loss: numbers keep their digits, objects keep their order and their duplicates.

``json`` alone would round numbers through floats, drop repeated keys and accept ``NaN``. Here a
number stays the text that was written, so that a document reaches the service exactly as its
author wrote it, only without white space between tokens.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import Any

from schemaxis._pointer import escaped

# A request line and its params are two levels; the document inside may have 64 of its own.
MAX_NESTING = 64
_LINE_NESTING = MAX_NESTING + 2

# A string without an end reaches to the end of the text: searching on inside it would be quadratic.
_STRING_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRING = re.compile(_STRING_TEXT, re.DOTALL)
_STRING_OR_BRACKET = re.compile(_STRING_TEXT + r"|[\[\]{}]", re.DOTALL)
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")
_INNERMOST = re.compile(r"\[\]|\{\}")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Number(str):
    """The text of a JSON number, as it was written."""

    __slots__ = ()


class Constant(str):
    """``NaN``, ``Infinity`` or ``-Infinity``: not JSON, kept so that the fault can point at it."""

    __slots__ = ()


class Members(tuple[tuple[str, Any], ...]):
    """The members of a JSON object in order, duplicates included."""

    __slots__ = ()


class NotJson(ValueError):
    """The text is not JSON; the message says where and why."""


class TooDeep(ValueError):
    """The text nests deeper than a line may."""


_DECODER = json.JSONDecoder(
    object_pairs_hook=Members, parse_float=Number, parse_int=Number, parse_constant=Constant
)


def parse(text: str) -> Any:
    """The value of ``text`` as ``Members``, ``list``, ``str``, ``Number``, ``bool`` and ``None``.

    Raises :class:`NotJson` for malformed text and :class:`TooDeep` beyond the nesting limit.
    """
    if _is_too_deep(text):
        raise TooDeep(f"the line nests deeper than {MAX_NESTING} levels; flatten it")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg[0].lower()}{error.msg[1:]} at character {error.pos + 1}") from None


def _is_too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= _LINE_NESTING:
        return False
    # Taking away the innermost pairs lowers the depth by one; much faster than counting in a loop.
    brackets = _NO_BRACKETS.sub("", _STRING.sub("", text))
    for _ in range(_LINE_NESTING):
        if not brackets:
            return False
        brackets = _INNERMOST.sub("", brackets)
    # What is left may also be unbalanced, which is for the parser to say.
    return bool(brackets) and _depth(text) > _LINE_NESTING


def _depth(text: str) -> int:
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        first = text[match.start()]
        if first in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in "]}":
            depth -= 1
    return deepest


def member_of_deep_text(text: str, key: str) -> Any:
    """The value of one member of the outermost object, of text too deep to be parsed; else None."""
    depth = 0
    quoted = f'"{key}"'
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
        elif token in "]}":
            depth -= 1
        elif depth == 1 and token == quoted and (colon := _COLON.match(text, match.end())):
            try:
                return _DECODER.raw_decode(text, colon.end())[0]
            except (json.JSONDecodeError, RecursionError):
                return None
    return None


def quote(text: str) -> str:
    """``text`` as a JSON string that can always be encoded as UTF-8."""
    quoted: str = encode_basestring(text)
    return quoted if quoted.isascii() else _escape_surrogates(quoted)


def _escape_surrogates(text: str) -> str:
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write(value: Any) -> str:
    """The compact JSON text of a value that :func:`parse` gave; a ``Constant`` was refused before."""
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is Number:
        return str(value)
    if kind is Members:
        return "{" + ",".join([f"{quote(key)}:{write(child)}" for key, child in value]) + "}"
    if kind is list:
        return "[" + ",".join([write(child) for child in value]) + "]"
    if value is None:
        return "null"
    return "true" if value else "false"


def constant_pointer(value: Any, pointer: str = "") -> tuple[str, str] | None:
    """Where the first ``NaN`` or ``Infinity`` stands in a value, as (pointer, constant), or None."""
    kind = type(value)
    if kind is Constant:
        return pointer, str(value)
    children: Any = ()
    if kind is Members:
        children = value
    elif kind is list:
        children = enumerate(value)
    for key, child in children:
        if found := constant_pointer(child, f"{pointer}/{escaped(str(key))}"):
            return found
    return None
