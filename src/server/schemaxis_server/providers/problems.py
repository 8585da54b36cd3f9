"""Collects the problems of a document and turns them into one bounded fault."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import Problem

KEPT_PROBLEMS = 32
LISTED_BYTES = 3 * 1024
_SHOWN_CHARACTERS = 48


def clip(value: object) -> str:
    """``value`` as short printable text that any encoder accepts."""
    text = (
        json.dumps(value, ensure_ascii=True, default=lambda other: type(other).__name__)
        if _is_small(value)
        else _kind(value)
    )
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _is_small(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHOWN_CHARACTERS
    return (
        value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**30)
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value[:_SHOWN_CHARACTERS], ensure_ascii=True)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return "a number" if isinstance(value, int) else type(value).__name__


def child(pointer: str, key: str | int) -> str:
    """The JSON Pointer of a member. A name too long to show gives the parent's pointer."""
    if isinstance(key, int):
        return f"{pointer}/{key}"
    if len(key) > _SHOWN_CHARACTERS or not key.isprintable():
        return pointer
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


class Problems:
    """The problems found so far.

    The first :data:`KEPT_PROBLEMS` are kept whole, the rest only counted, so that a hostile
    document costs little.
    """

    def __init__(self, room: int = KEPT_PROBLEMS) -> None:
        self.room = room
        self.total = 0
        self.kept: list[Problem] = []

    def add(
        self,
        pointer: str,
        message: str,
        expected: str = "",
        *,
        given: object = None,
        names: Iterable[str] = (),
    ) -> None:
        """Record a problem; ``given`` is the name that was not found among ``names``."""
        self.total += 1
        if len(self.kept) < self.room:
            self.kept.append(Problem(pointer, message, expected, nearest(given, names)))

    def branch(self) -> Problems:
        """A collector for an attempt whose problems may be dropped or taken over."""
        return Problems(self.room - len(self.kept))

    def take(self, branch: Problems) -> None:
        """Take over what a branch found."""
        self.total += branch.total
        self.kept.extend(branch.kept)

    def fault(self) -> Fault:
        """``INVALID_DOCUMENT`` with the first problems that fit and how many there are."""
        first = self.kept[0]
        listed = list(_that_fit(self.kept))
        count = "one problem" if self.total == 1 else f"{self.total} problems"
        return Fault(
            "INVALID_DOCUMENT",
            f"The document has {count}; mend what details.problems lists and plan again. First: "
            f"{first.message}",
            first.pointer,
            problems=listed,
            total=self.total,
        )


def _that_fit(problems: Sequence[Problem]) -> Iterable[dict[str, str]]:
    used = 0
    for problem in problems:
        shown = asdict(problem)
        used += len(json.dumps(shown)) + 1
        if used > LISTED_BYTES:
            return
        yield shown


def nearest(given: object, names: Iterable[str]) -> str:
    """The name most like ``given``, or an empty text when none is near."""
    if not isinstance(given, str) or not given:
        return ""
    by_folded = {name.casefold(): name for name in names}
    found = difflib.get_close_matches(given[:64].casefold(), by_folded, n=1, cutoff=0.55)
    return by_folded[found[0]] if found else ""
