"""Synchronous looks at evidence and walks through pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import grpc

from schemaxis import _requests
from schemaxis._codec.observations import observation
from schemaxis._evidence import Look, whole_value
from schemaxis.connection import Connection
from schemaxis.models import Observation

T = TypeVar("T")
Q = TypeVar("Q", bound=_requests.Listing)
P = TypeVar("P", bound=_requests.Listed)


class Observed:
    """Something with sections of evidence: a plan or a job."""

    _connection: Connection

    def _target(self) -> dict[str, str]:
        raise NotImplementedError

    def observe(
        self,
        section: str,
        pointer: str = "",
        *,
        offset: int = 0,
        limit: int | None = None,
        max_bytes: int | None = None,
        revision: str | None = None,
    ) -> Observation:
        """A bounded look at a section, or at an RFC 6901 pointer in it.

        A job has the sections summary, document, plan, result, verification, criteria, operations,
        resources, log and fault; a plan has document, plan, bindings and providers. ``limit`` is 1
        to 100 members, ``max_bytes`` 2,048 to 65,536. Raises ``Stale`` when ``revision`` no longer
        holds, ``Unobservable`` when one scalar is larger than ``max_bytes``.
        """
        request = _requests.observe(self._target(), section, pointer, offset, limit, max_bytes, revision)
        answer = self._connection.call(self._connection.observation.Observe, request)
        return observation(answer.observation)

    def evidence(self, section: str, pointer: str = "") -> Any:
        """The whole value of a section, or at a pointer in it, in as many looks as it takes."""

        def ask(look: Look) -> Observation:
            request = _requests.look_at(self._target(), section, look)
            answer = self._connection.call(self._connection.observation.Observe, request)
            return observation(answer.observation)

        return look_whole(ask, pointer)


def look_whole(ask: Callable[[Look], Observation], pointer: str) -> Any:
    """The whole value at ``pointer``, put together from what ``ask`` sees."""
    looks = whole_value(pointer)
    look = next(looks)
    while True:
        seen = ask(look)
        try:
            look = looks.send(seen)
        except StopIteration as done:
            return done.value


def walk(
    connection: Connection,
    method: grpc.UnaryUnaryMultiCallable[Q, P],
    request: Q,
    read: Callable[[P], Iterable[T]],
) -> Iterator[T]:
    """The entries of a list; a page is fetched when the one before it is used up."""
    while True:
        page = connection.call(method, request)
        following = _requests.next_token(request, page)
        yield from read(page)
        if not following:
            return
        request.page_token = following
