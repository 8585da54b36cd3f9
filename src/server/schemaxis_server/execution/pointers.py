"""RFC 6901 JSON Pointers over plain JSON values."""

from __future__ import annotations

from typing import Any

_MISSING = object()


def tokens(pointer: str) -> list[str]:
    """The reference tokens of a pointer. Raises ValueError if it is not one."""
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError("a JSON Pointer is empty or starts with '/'")
    parts = pointer[1:].split("/")
    for part in parts:
        stripped = part.replace("~0", "").replace("~1", "")
        if "~" in stripped:
            raise ValueError("in a JSON Pointer '~' is written ~0 and '/' is written ~1")
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def join(pointer: str, token: str | int) -> str:
    """The pointer of a child."""
    return f"{pointer}/{str(token).replace('~', '~0').replace('/', '~1')}"


def index_of(token: str) -> int | None:
    """The array index that a token means, or None: digits without a leading zero."""
    if token.isascii() and token.isdigit() and len(token) < 16 and (token == "0" or token[0] != "0"):
        return int(token)
    return None


def resolve(value: Any, pointer: str) -> Any:
    """The value that a pointer names. Raises KeyError if there is none."""
    for token in tokens(pointer):
        child: Any = _MISSING
        if isinstance(value, dict):
            child = value.get(token, _MISSING)
        elif isinstance(value, list):
            index = index_of(token)
            if index is not None and index < len(value):
                child = value[index]
        if child is _MISSING:
            raise KeyError(pointer)
        value = child
    return value
