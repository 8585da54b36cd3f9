"""JSON text to Python values and back, with the numbers that JSON lacks.

NaN and the infinities travel as ``{"$number": "NaN"}``, ``"Infinity"`` and ``"-Infinity"``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from schemaxis._pointer import escaped

# Well above what the service takes: only what would exhaust the stack is refused here.
_DEEPEST = 256
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def parse(text: str) -> Any:
    """The value of JSON text from the service; a number that JSON lacks becomes a float."""
    return json.loads(text, object_hook=_number_or_object)


def render(value: Any) -> str:
    """Compact JSON text of a value made of mappings, sequences, strings, numbers, booleans and ``None``.

    Number types of other libraries are taken by their value. Raises ``TypeError`` for anything
    else, naming the place, and ``ValueError`` for a value that contains itself.
    """
    plain = _plain(value, "", frozenset())
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; escaped, it reaches the service, which says what to do.
        return json.dumps(plain, allow_nan=False, separators=(",", ":"))
    return text


def document_text(document: Mapping[str, Any] | str) -> str:
    """The JSON text of a document; text passes exactly as it is."""
    return document if isinstance(document, str) else render(document)


def _number_or_object(value: dict[str, Any]) -> Any:
    if len(value) == 1:
        name = value.get("$number")
        if isinstance(name, str) and name in _SPECIAL:
            return _SPECIAL[name]
    return value


def _plain(value: Any, pointer: str, inside: frozenset[int]) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _number(float(value))
    if not isinstance(value, (Mapping, list, tuple)):
        raise TypeError(f"{pointer or '/'}: {type(value).__name__} is not JSON: use plain values there")
    if id(value) in inside:
        raise ValueError(f"{pointer or '/'}: the value contains itself")
    if len(inside) >= _DEEPEST:
        raise ValueError(f"{pointer}: the value is nested more than {_DEEPEST} levels deep")
    inside |= {id(value)}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{pointer or '/'}: the key {key!r} is not a string")
        return {str(key): _plain(child, f"{pointer}/{escaped(key)}", inside) for key, child in value.items()}
    return [_plain(child, f"{pointer}/{index}", inside) for index, child in enumerate(value)]


def _number(value: float) -> Any:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return {"$number": "NaN"}
    return {"$number": "Infinity" if value > 0 else "-Infinity"}
