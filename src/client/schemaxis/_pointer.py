"""Tokens of JSON pointers (RFC 6901)."""

from __future__ import annotations


def escaped(token: str) -> str:
    """A key or an index as it stands in a pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def unescaped(token: str) -> str:
    """The key or index that stands in a pointer."""
    return token.replace("~1", "/").replace("~0", "~")


def last_token(pointer: str) -> str:
    """The key or index that a pointer ends with."""
    return unescaped(pointer.rpartition("/")[2])
