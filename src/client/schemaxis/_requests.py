"""The requests that both clients send, made in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from schemaxis._evidence import Look
from schemaxis.errors import UnexpectedAnswer
from schemaxis.v1 import inspection_pb2, observation_pb2

T = TypeVar("T")


def observe(
    target: dict[str, str],
    section: str,
    pointer: str,
    offset: int,
    limit: int | None,
    max_bytes: int | None,
    revision: str | None,
) -> observation_pb2.ObserveRequest:
    """``target`` is ``{"job_id": …}`` or ``{"plan_id": …}``."""
    return observation_pb2.ObserveRequest(
        job_id=target.get("job_id"),
        plan_id=target.get("plan_id"),
        section=section,
        pointer=pointer,
        offset=offset,
        limit=limit,
        max_bytes=max_bytes,
        revision=revision,
    )


def inspect(
    resource_id: str,
    pointer: str,
    offset: int,
    limit: int | None,
    max_bytes: int | None,
    revision: str | None,
) -> inspection_pb2.InspectResourceRequest:
    return inspection_pb2.InspectResourceRequest(
        resource_id=resource_id,
        pointer=pointer,
        offset=offset,
        limit=limit,
        max_bytes=max_bytes,
        revision=revision,
    )


def look_at(target: dict[str, str], section: str, look: Look) -> observation_pb2.ObserveRequest:
    return observe(target, section, look.pointer, look.offset, look.limit, look.max_bytes, look.revision)


def look_into(resource_id: str, look: Look) -> inspection_pb2.InspectResourceRequest:
    return inspect(resource_id, look.pointer, look.offset, look.limit, look.max_bytes, look.revision)


def checked_page(asked: str, found: Iterable[T], token: str) -> tuple[Sequence[T], str]:
    """A page and where it goes on. Raises ``UnexpectedAnswer`` when that is where it began: the list
    would never end."""
    if token and token == asked:
        raise UnexpectedAnswer("A list goes on where it began: use a client of the server's version.")
    return list(found), token
