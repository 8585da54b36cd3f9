"""Numbers as text in cells: read strictly, written so that they come back bit for bit."""

from __future__ import annotations

import math
import re

_INTEGER = r"[+-]?(?:0|[1-9]\d*)"
_NUMBER = re.compile(rf"{_INTEGER}(?:\.\d*)?(?:[eE][+-]?\d+)?|[+-]?\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(_INTEGER, re.ASCII)
# Whole columns at once. Long integers are left to the slow path, which asks whether a double holds them.
_PLAIN = r"[+-]?(?:(?:0|[1-9]\d{0,14})(?![\d])(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,2})?"
_PLAIN_COLUMN = re.compile(rf"(?:{_PLAIN}\n)*", re.ASCII)
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LEADING_ZEROS = re.compile(r"[+-]?0\d+([.,]\d*)?", re.ASCII)
_LOOSE_SPECIAL = re.compile(r"[+-]?(nan|inf|infinity)|#n/?a|n/?a|null|none", re.IGNORECASE)


class NotANumber(ValueError):
    """A cell holds no number; the message says why and what to do."""


def parse_number(text: str, decimal: str = ".") -> float:
    """The double nearest to ``text``. Raises ``NotANumber``.

    Refused besides what is no number: leading zeros, whole numbers that a double does not hold exactly
    and numbers beyond its range, since each would come out as something else than was written.
    """
    special = _SPECIAL.get(text)
    if special is not None:
        return special
    plain = text if decimal == "." else text.replace(".", "x").replace(decimal, ".")
    if not _NUMBER.fullmatch(plain):
        raise NotANumber(_why_not(text, decimal))
    value = float(plain)
    if math.isinf(value):
        raise NotANumber("is beyond the range of a double, about 1.8e308")
    if len(plain) > 15 and _WHOLE.fullmatch(plain) and int(value) != _exact(plain):
        raise NotANumber("has more digits than a double holds; list its column in textColumns to keep them")
    return value


def parse_plain(cells: list[str], decimal: str = ".") -> list[float] | None:
    """All of a column at once, or None if a cell needs a closer look with :func:`parse_number`."""
    text = "\n".join(cells) + "\n" if cells else ""
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    if not _PLAIN_COLUMN.fullmatch(text):
        return None
    values = list(map(float, text.split("\n")[:-1]))
    # A line break inside a quoted cell would have made two of one.
    return values if len(values) == len(cells) else None


def _exact(text: str) -> int:
    # int() refuses thousands of digits, and no double has more than 309.
    return int(text) if len(text) <= 400 else -1


def _why_not(text: str, decimal: str) -> str:
    stripped = text.strip()
    if not stripped:
        return "is blank"
    if stripped != text and _is_number(stripped, decimal):
        return "has spaces around it; remove them"
    if _LEADING_ZEROS.fullmatch(text):
        return "has leading zeros; list its column in textColumns to keep them"
    if _LOOSE_SPECIAL.fullmatch(text):
        return "is no number; write NaN, Infinity or -Infinity for what is none"
    if text[0] in "=@" or (text[0] in "+-" and len(text) > 1 and text[1].isalpha()):
        return "looks like a formula, which is text and never evaluated; list its column in textColumns"
    other = "," if decimal == "." else "."
    if other in text and _NUMBER.fullmatch(text.replace(other, ".")):
        return f"has a decimal {'comma' if other == ',' else 'point'}; set decimal to {other!r}"
    if re.match(r"[+-]?\d", text):
        return "is more than a number; write digits, one decimal mark and an exponent only"
    return "is text; list its column in textColumns, or name another column"


def _is_number(text: str, decimal: str) -> bool:
    try:
        parse_number(text, decimal)
    except NotANumber:
        return False
    return True


def format_number(value: float | int, decimal: str = ".") -> str:
    """The shortest text that reads back as the same number; NaN, Infinity and -Infinity by these names."""
    if isinstance(value, int):
        return str(int(value))
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    text = repr(float(value))
    return text if decimal == "." else text.replace(".", decimal)
