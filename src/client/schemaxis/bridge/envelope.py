"""The envelope of a line: which request it is, and how its answer is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from schemaxis._pointer import escaped
from schemaxis.bridge import text
from schemaxis.bridge.faults import BridgeFault, local_fault, nearest
from schemaxis.bridge.text import Constant, Members, Number, quote

MAX_ID_CHARACTERS = 128

_KEYS = ("id", "method", "params")
_INTEGER = re.compile(r"-?[0-9]+")
_BOM = "\ufeff"
_WHITE_SPACE = " \t\r\n"
NO_ID = "null"


@dataclass(frozen=True, slots=True)
class Request:
    """A request line. ``id_text`` is the id as JSON text, by which ids are told apart: 1 is not "1"."""

    id_text: str
    method: str
    params: Members


class Refused(Exception):
    """The line is no request; ``fault`` answers it, under ``id_text`` (``null`` where it cannot be read)."""

    def __init__(self, fault: BridgeFault, id_text: str = NO_ID) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.id_text = id_text


def parse_request(line: bytes) -> Request | None:
    """The request of a line; None for a blank one. Raises :class:`Refused`."""
    try:
        decoded = line.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise Refused(
            _invalid(f"The line is not UTF-8 at byte {error.start + 1}; encode it as UTF-8.")
        ) from None
    if not decoded.strip(_WHITE_SPACE):
        return None
    try:
        value = text.parse(decoded)
    except text.TooDeep as error:
        deep_id = _id_text(text.member_of_deep_text(decoded, "id"))
        raise Refused(_invalid(f"Flatten the request: {error}."), deep_id or NO_ID) from None
    except text.NotJson as error:
        raise Refused(_invalid(f"The line is not JSON: {error}; write one object on one line.")) from None
    if type(value) is list:
        raise Refused(_invalid("Batches are not taken; write each request on a line of its own."))
    if type(value) is not Members:
        raise Refused(_invalid('A request is an object: {"id":…,"method":…,"params":{…}}.'))
    return _request(value, decoded)


def _request(value: Members, decoded: str) -> Request:
    ids = [child for key, child in value if key == "id"]
    id_text = _id_text(ids[0]) if len(ids) == 1 else None
    if id_text is None:
        raise Refused(_invalid(_id_advice(ids), "/id"))
    try:
        return _checked(value, decoded, id_text)
    except BridgeFault as fault:
        raise Refused(fault, id_text) from None


def _checked(value: Members, decoded: str, id_text: str) -> Request:
    members: dict[str, Any] = {}
    for key, child in value:
        pointer = f"/{escaped(key)}"
        if key in members:
            raise _invalid(f"{key[:40]} stands twice in the request; keep one.", pointer)
        if key not in _KEYS:
            raise _unknown_key(key, pointer)
        members[key] = child
    # Only the parser's own spelling can bring a constant in, and then the text holds it.
    if "NaN" in decoded or "Infinity" in decoded:
        _refuse_constants(value)
    method = members.get("method")
    if type(method) is not str:
        raise _invalid("Name the method as a string; `methods` lists all of them.", "/method")
    params = members.get("params")
    if params is None:
        params = Members()
    if type(params) is not Members:
        raise _invalid("Give params as an object of named parameters, or leave it out.", "/params")
    return Request(id_text, method, params)


def _unknown_key(key: str, pointer: str) -> BridgeFault:
    close = nearest(key, _KEYS)
    advice = f"did you mean {close}?" if close else "a request has id, method and params."
    return _invalid(f"{key[:40]} is no part of a request; {advice}", pointer)


def _refuse_constants(value: Members) -> None:
    if found := text.constant_pointer(value):
        pointer, constant = found
        raise _invalid(f'{constant} is not JSON; write {{"$number":"{constant}"}}.', pointer)


def _id_text(value: Any) -> str | None:
    """An id as JSON text; None for what cannot be an id."""
    kind = type(value)
    if kind not in (str, Number) or len(value) > MAX_ID_CHARACTERS:
        return None
    if kind is Number:
        return str(value) if _INTEGER.fullmatch(value) else None
    return quote(value)


def _id_advice(ids: list[Any]) -> str:
    if not ids:
        return "Give the request an id, a string or an integer, to tell its answer by."
    if len(ids) > 1:
        return "id stands twice in the request; keep one."
    if type(ids[0]) in (str, Number) and not isinstance(ids[0], Constant) and len(ids[0]) > MAX_ID_CHARACTERS:
        return f"Give an id of at most {MAX_ID_CHARACTERS} characters."
    return "Give the id as a string or an integer."


def _invalid(message: str, pointer: str = "") -> BridgeFault:
    return local_fault("INVALID_REQUEST", message, pointer)


def result_line(id_text: str, result: str) -> str:
    """The answer of a request that succeeded; ``result`` is JSON text."""
    return f'{{"id":{id_text},"ok":true,"result":{result}}}'


def fault_line(id_text: str, fault: BridgeFault) -> str:
    """The answer of a request that was refused or failed."""
    return f'{{"id":{id_text},"ok":false,"fault":{fault.to_json()}}}'


def event_line(id_text: str, event: str) -> str:
    """One event of a stream; ``event`` is JSON text."""
    return f'{{"id":{id_text},"event":{event}}}'
