"""Authored JSON: strict, bounded reading of I-JSON (RFC 7493) and its canonical digest (RFC 8785)."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, NoReturn

import rfc8785

from schemaxis_server.faults import Fault

MAX_DOCUMENT_BYTES = 1024 * 1024
MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1


class _Refused(ValueError):
    """Raised inside the parser's hooks, where no position is known."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused(f"the key {key[:80]!r} stands twice in one object; keep one")
            seen.add(key)
    return result


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        raise _Refused(f"the integer {text[:24]} is beyond 2^53-1; write it as a string or a smaller number")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Refused(f"the number {text[:24]} overflows a double; use one that fits")
    return value


def _constant(text: str) -> NoReturn:
    raise _Refused(f'{text} is not JSON; write {{"$number":"{text}"}} where a value may be missing')


def _check(value: Any, depth: int) -> None:
    if isinstance(value, str):
        # A lone surrogate cannot be stored or digested as UTF-8.
        if not value.isascii():
            value.encode()
        return
    if isinstance(value, dict | list):
        if depth >= MAX_DEPTH:
            raise _Refused(f"the document nests deeper than {MAX_DEPTH} levels; flatten it")
        if isinstance(value, dict):
            for key, child in value.items():
                key.encode()
                _check(child, depth + 1)
        else:
            for child in value:
                _check(child, depth + 1)


def parse_document(text: str) -> Any:
    """Read an authored document.

    Returns plain JSON values. Raises ``REQUEST_TOO_LARGE`` beyond 1 MiB and
    ``INVALID_DOCUMENT`` for what is not I-JSON: duplicate keys, integers beyond 2^53-1,
    overflowing numbers, lone surrogates, nesting beyond 64.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_DOCUMENT_BYTES:
        raise Fault(
            "REQUEST_TOO_LARGE",
            f"The document has {size} bytes; send at most {MAX_DOCUMENT_BYTES}.",
            limit=MAX_DOCUMENT_BYTES,
        )
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_constant,
        )
        _check(value, 0)
    except json.JSONDecodeError as error:
        raise Fault(
            "INVALID_DOCUMENT",
            f"The document is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            line=error.lineno,
            column=error.colno,
        ) from None
    except RecursionError:
        raise Fault(
            "INVALID_DOCUMENT", f"The document nests deeper than {MAX_DEPTH} levels; flatten it."
        ) from None
    except UnicodeEncodeError:
        raise Fault(
            "INVALID_DOCUMENT", "The document has a lone surrogate (\\ud800 to \\udfff); remove it."
        ) from None
    except _Refused as error:
        raise Fault("INVALID_DOCUMENT", f"The document is refused: {error}.") from None
    return value


def parse_value(text: str) -> Any:
    """Read a small JSON value under the same rules. Raises ValueError that says what is wrong."""
    try:
        return parse_document(text)
    except Fault as fault:
        raise ValueError(fault.record.message) from None


def canonical(value: Any) -> bytes:
    """The canonical JSON text (RFC 8785) of plain JSON values."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """SHA-256, in hexadecimal, of the canonical JSON text."""
    return hashlib.sha256(canonical(value)).hexdigest()
