"""Bounded observation: a value within a size that the caller sets, or its members to go on with.

Evidence is JSON text and stays so: values are cut out of the text, never rounded through a
number type. ``max_bytes`` bounds the answer as the bridge writes it, whatever the door.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from schemaxis_server.execution.pointers import index_of, join, tokens
from schemaxis_server.faults import Fault

DEFAULT_MAX_BYTES = 8192
MIN_MAX_BYTES = 2048
MAX_MAX_BYTES = 65_536
DEFAULT_LIMIT = 12
MAX_LIMIT = 100

_INLINE_BYTES = 512
"""A child up to this size is included with its pointer, as long as the answer has room."""

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])


class Mode(StrEnum):
    VALUE = "value"
    MEMBERS = "members"


@dataclass(frozen=True, slots=True)
class Member:
    """A child: its pointer, JSON type, the size of its compact text, and itself when small."""

    pointer: str
    type: str
    size_bytes: int
    value: bytes | None


@dataclass(frozen=True, slots=True)
class MemberPage:
    offset: int
    next_offset: int | None
    total: int


@dataclass(frozen=True, slots=True)
class Observation:
    """``value`` is JSON text in mode value; ``type``, ``members`` and ``page`` are set in mode members."""

    mode: Mode
    revision: str
    value: bytes | None = None
    type: str | None = None
    members: tuple[Member, ...] = ()
    page: MemberPage | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """What of the evidence is wanted, and how much of it."""

    pointer: str = ""
    offset: int = 0
    limit: int = DEFAULT_LIMIT
    max_bytes: int = DEFAULT_MAX_BYTES
    revision: str | None = None

    def check(self) -> None:
        """Raise ``INVALID_REQUEST`` for a window outside its ranges."""
        ranges = (
            ("offset", self.offset, 0, 2**63 - 1),
            ("limit", self.limit, 1, MAX_LIMIT),
            ("max_bytes", self.max_bytes, MIN_MAX_BYTES, MAX_MAX_BYTES),
        )
        for name, value, low, high in ranges:
            if type(value) is not int or not low <= value <= high:
                raise Fault(
                    "INVALID_REQUEST",
                    f"{name} is {value!r}; give an integer from {low} to {high}.",
                    f"/{name}",
                    minimum=low,
                    maximum=high,
                )


def observe(evidence: bytes, window: Window) -> Observation:
    """Answer with the part of ``evidence`` (JSON text) that ``window`` asks for.

    Raises ``NOT_FOUND`` for a pointer to nothing, ``EVIDENCE_CHANGED`` when the revision does
    not hold, ``OUT_OF_RANGE`` for an offset beyond the members, ``OBSERVATION_LIMIT`` for a
    scalar that does not fit.
    """
    window.check()
    revision = hashlib.sha256(evidence).hexdigest()
    if window.revision is not None and window.revision != revision:
        raise Fault(
            "EVIDENCE_CHANGED",
            "The evidence has changed since that revision; observe again from offset 0 without a revision.",
            "/revision",
            revision=revision,
        )
    value = bytes(_descend(evidence, window.pointer))
    if _value_size(value) <= window.max_bytes and window.offset == 0:
        return Observation(Mode.VALUE, revision, compact(value))
    value = compact(value)
    if window.offset == 0 and _value_size(value) <= window.max_bytes:
        return Observation(Mode.VALUE, revision, value)
    kind = type_of(value)
    if kind not in ("object", "array"):
        if window.offset:
            raise Fault("OUT_OF_RANGE", "A scalar has no members; observe it at offset 0.", "/offset")
        raise _too_large(value, window, kind)
    return _members(value, kind, window, revision)


def compact(text: bytes) -> bytes:
    """JSON text without the white space that means nothing. Numbers keep their digits."""
    return msgspec.json.format(text, indent=-1)


def type_of(text: bytes | memoryview) -> str:
    """The JSON type of a text, by its first byte."""
    first = chr(text[0])
    return {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}.get(
        first, "number"
    )


def _descend(evidence: bytes, pointer: str) -> bytes | msgspec.Raw:
    try:
        path = tokens(pointer)
    except ValueError as error:
        raise Fault("INVALID_REQUEST", f"The pointer is wrong: {error}.", "/pointer") from None
    value: bytes | msgspec.Raw = evidence
    walked = ""
    for token in path:
        kind = type_of(bytes(value)[:1])
        child: msgspec.Raw | None = None
        if kind == "object":
            members = _object.decode(value)
            child = members.get(token)
        elif kind == "array":
            entries = _array.decode(value)
            index = index_of(token)
            child = entries[index] if index is not None and index < len(entries) else None
        if child is None:
            raise _nothing_at(walked, token, value, kind)
        value, walked = child, join(walked, token)
    return value


def _nothing_at(walked: str, token: str, value: bytes | msgspec.Raw, kind: str) -> Fault:
    if kind == "object":
        names = list(_object.decode(value))
        shown = ", ".join(name[:60] for name in names[:12]) + (" …" if len(names) > 12 else "")
        advice = f"it has the members {shown}" if names else "it is empty"
    elif kind == "array":
        advice = f"it is an array of {len(_array.decode(value))}"
    else:
        advice = f"it is a {kind}"
    place = walked or "the root"
    return Fault("NOT_FOUND", f"Nothing is at {token[:80]!r} below {place}; {advice}.", "/pointer")


def _members(value: bytes, kind: str, window: Window, revision: str) -> Observation:
    if kind == "object":
        children: list[tuple[str | int, msgspec.Raw]] = list(_object.decode(value).items())
    else:
        children = list(enumerate(_array.decode(value)))
    total = len(children)
    if window.offset > total:
        raise Fault(
            "OUT_OF_RANGE", f"offset {window.offset} is beyond the {total} members.", "/offset", total=total
        )
    chosen: list[Member] = []
    room = window.max_bytes - len(_frame(kind, revision, window.offset, total))
    for member in _candidates(children, window):
        bare = _member_size(member.pointer, member.type, member.size_bytes, None)
        if bare > room:
            break
        whole = _member_size(member.pointer, member.type, member.size_bytes, member.value)
        keep = member if whole <= room else Member(member.pointer, member.type, member.size_bytes, None)
        room -= whole if keep is member else bare
        chosen.append(keep)
    if not chosen and window.offset < total:
        raise Fault(
            "OBSERVATION_LIMIT",
            f"Not one member fits into {window.max_bytes} bytes; ask with a larger max_bytes.",
            "/max_bytes",
        )
    following = window.offset + len(chosen)
    page = MemberPage(window.offset, following if following < total else None, total)
    return Observation(Mode.MEMBERS, revision, None, kind, tuple(chosen), page)


def _candidates(children: list[tuple[str | int, msgspec.Raw]], window: Window) -> Iterator[Member]:
    for name, raw in children[window.offset : window.offset + window.limit]:
        text = bytes(raw)
        small = text if len(text) <= _INLINE_BYTES else None
        yield Member(join(window.pointer, name), type_of(text), len(text), small)


def _too_large(value: bytes, window: Window, kind: str) -> Fault:
    needed = _value_size(value)
    advice = (
        f"ask again with max_bytes {needed}"
        if needed <= MAX_MAX_BYTES
        else "it is larger than any observation; read the resource that it came from"
    )
    return Fault(
        "OBSERVATION_LIMIT",
        f"The {kind} needs {needed} bytes and max_bytes is {window.max_bytes}; {advice}.",
        "/max_bytes",
        neededBytes=needed,
    )


def _value_size(value: bytes) -> int:
    # The bridge's text around the value: mode, the empty members, and the revision's 64 digits.
    return len(value) + len('{"mode":"value","value":,"members":[],"revision":""}') + 64


def _frame(kind: str, revision: str, offset: int, total: int) -> str:
    page = f'"page":{{"offset":{offset},"nextOffset":{total},"total":{total}}}'
    return f'{{"mode":"members","type":"{kind}","members":[],{page},"revision":"{revision}"}}'


def _member_size(pointer: str, kind: str, size: int, value: bytes | None) -> int:
    # Escaped to ASCII, the longest way in which the pointer can be written.
    text = f'{{"pointer":{json.dumps(pointer)},"type":"{kind}","sizeBytes":{size}}},'
    return len(text) + (0 if value is None else len(',"value":') + len(value))
