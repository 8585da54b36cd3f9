"""A ``request_id`` makes a retry safe: the second use answers with what the first one made."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any, TypeVar

from schemaxis_server.documents import MAX_INTEGER, canonical
from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import Connection
from schemaxis_server.store.database import Transaction
from schemaxis_server.store.requests import Remembered, recall, remember

T = TypeVar("T")


def digest_of(request: dict[str, Any]) -> str:
    """Identity of a request's meaning: SHA-256 over its canonical JSON.

    Numbers that JSON cannot tell apart, or not write at all, go in as text: a request is looked up
    before anything in it is judged.
    """
    return hashlib.sha256(canonical(_writable(request))).hexdigest()


def _writable(value: Any) -> Any:
    match value:
        case dict():
            return {name: _writable(child) for name, child in value.items()}
        case list() | tuple():
            return [_writable(child) for child in value]
        case bool():
            return value
        case int() if abs(value) > MAX_INTEGER:
            return str(value)
        case float() if not math.isfinite(value):
            return str(value)
    return value


def made_before(
    connection: Connection, method: str, request_id: str | None, request: Callable[[], str]
) -> str | None:
    """The id of what this request made before, or None.

    Raises ``REQUEST_ID_REUSED`` when the id was used for another request.
    """
    earlier = recall(connection, method, request_id) if request_id is not None else None
    if earlier is None:
        return None
    if earlier.digest != request():
        raise Fault(
            "REQUEST_ID_REUSED",
            "This request_id was used for another request; send a fresh one with this request.",
            "/request_id",
            made=earlier.thing_id,
        )
    return earlier.thing_id


def once(
    tx: Transaction,
    method: str,
    request_id: str | None,
    request: Callable[[], str],
    find: Callable[[str], T],
    make: Callable[[], tuple[str, T]],
) -> T:
    """Within one transaction: make the thing, or find it if this request made it before.

    ``request()`` is the digest of the request, ``find(id)`` reads a thing as it now is, and
    ``make()`` returns the new thing with its id. Refusals are not remembered.
    """
    made = made_before(tx.connection, method, request_id, request)
    if made is not None:
        return find(made)
    thing_id, thing = make()
    if request_id is not None:
        remember(tx.connection, method, request_id, Remembered(request(), thing_id))
    return thing
