"""The requests that both clients send, made in one place."""

from __future__ import annotations

from typing import Protocol

from schemaxis._evidence import Look
from schemaxis.errors import UnexpectedAnswer
from schemaxis.v1 import inspection_pb2, observation_pb2


class Listing(Protocol):
    """The request of a list, which says where its page begins."""

    page_token: str


class Listed(Protocol):
    """A page of a list, which says where it goes on."""

    next_page_token: str


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


def next_token(asked: Listing, page: Listed) -> str:
    """Where a list goes on, empty at its end. Raises ``UnexpectedAnswer`` when that is where the page
    began: the list would never end."""
    if page.next_page_token and page.next_page_token == asked.page_token:
        raise UnexpectedAnswer("A list goes on where it began: use a client of the server's version.")
    return page.next_page_token
