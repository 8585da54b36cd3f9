"""Putting a large observed value together from bounded looks.

A generator says which look it wants and is sent what was seen, so that the synchronous and the
asynchronous client share it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from schemaxis._pointer import last_token
from schemaxis.errors import UnexpectedAnswer
from schemaxis.models import Observation, ObservationMember, ObservationMode

LOOK_MAX_BYTES = 65_536
LOOK_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Look:
    """One bounded look, as large as the service allows."""

    pointer: str
    offset: int
    revision: str | None
    limit: int = LOOK_LIMIT
    max_bytes: int = LOOK_MAX_BYTES


def whole_value(pointer: str) -> Generator[Look, Observation, Any]:
    """The whole value at ``pointer``, however many looks it takes, all at one revision."""
    seen = yield Look(pointer, 0, None)
    return (yield from _rest(pointer, seen))


def _rest(pointer: str, seen: Observation) -> Generator[Look, Observation, Any]:
    if seen.mode is ObservationMode.VALUE:
        return seen.value
    if seen.mode is not ObservationMode.MEMBERS:
        raise UnexpectedAnswer(f"The observation came in the mode {seen.mode}: use a newer client.")
    if seen.type not in ("array", "object"):
        # Pointers alone do not tell a list from an object with the keys 0, 1, …
        raise UnexpectedAnswer("The members came without their type: use a client of the server's version.")
    kind, revision = seen.type, seen.revision
    keys: list[str] = []
    values: list[Any] = []
    while True:
        for member in seen.members:
            keys.append(last_token(member.pointer))
            values.append((yield from _child(member, revision)))
        following = seen.page.next_offset if seen.page else None
        if following is None:
            break
        if following != len(keys):
            raise UnexpectedAnswer(
                f"The members of {pointer or '/'} go on at {following} instead of {len(keys)}: observe again."
            )
        seen = yield Look(pointer, following, revision)
    return values if kind == "array" else dict(zip(keys, values, strict=True))


def _child(member: ObservationMember, revision: str) -> Generator[Look, Observation, Any]:
    if member.has_value:
        return member.value
    seen = yield Look(member.pointer, 0, revision)
    return (yield from _rest(member.pointer, seen))
