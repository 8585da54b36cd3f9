"""Documents from files, with values replaced on the command line; numbers stay as they were written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from schemaxis._pointer import unescaped
from schemaxis.bridge.text import Members, NotJson, TooDeep, constant_pointer, parse, write
from schemaxis.cli.main import UsageError


def read_document(source: str) -> Any:
    """The document of a file, or of standard input for ``-``. Raises :class:`UsageError`."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{source} cannot be read: {error}") from None
    try:
        document = parse(text)
        if found := constant_pointer(document):
            raise UsageError(f"{source} is not JSON: {found[1]} at {found[0]} is no number there.")
        return document
    except (NotJson, TooDeep) as error:
        raise UsageError(f"{source} is not a JSON document: {error}.") from None


def override(document: Any, assignment: str) -> Any:
    """The document with one value replaced, or added to an object, as ``POINTER=JSON`` says.

    What is not JSON on the right counts as text.
    """
    pointer, separator, right = assignment.partition("=")
    if not separator or not pointer.startswith("/"):
        raise UsageError(
            f"--set {assignment}: write a pointer and a value, as in /nodes/0/options/height=7.5"
        )
    tokens = [unescaped(token) for token in pointer[1:].split("/")]
    try:
        value = parse(right)
    except (NotJson, TooDeep):
        value = right
    try:
        return _replaced(document, tokens, value)
    except LookupError as error:
        raise UsageError(f"--set {pointer}: {error.args[0]}") from None


def _replaced(of: Any, tokens: list[str], value: Any) -> Any:
    if not tokens:
        return value
    first, *rest = tokens
    if isinstance(of, Members):
        found = dict(of)
        if rest and first not in found:
            names = ", ".join(found) or "nothing"
            raise LookupError(f"there is no {first} here; there is {names}")
        found[first] = _replaced(found.get(first), rest, value)
        return Members(found.items())
    if isinstance(of, list):
        if not first.isdecimal() or int(first) >= len(of):
            raise LookupError(f"{first} is no index of a list of {len(of)}")
        index = int(first)
        return [*of[:index], _replaced(of[index], rest, value), *of[index + 1 :]]
    raise LookupError(f"{first} lies in a value that has no members")


def version_of(document: Any) -> str:
    """The document's version, empty when it names none."""
    version = dict(document).get("version") if isinstance(document, Members) else None
    return version if type(version) is str else ""


def request_with(document: Any, **params: Any) -> str:
    """Parameters with a document among them, as JSON text."""
    plain = json.dumps(params, ensure_ascii=False)
    return f'{plain[:-1]},"document":{write(document)}}}'
