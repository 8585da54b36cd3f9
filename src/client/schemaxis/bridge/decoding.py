"""Requests: from JSON as :func:`schemaxis.bridge.text.parse` gives it to Protobuf messages.

Types are checked strictly and a plan is compiled for each message type once. Ranges and other
rules are left to the service, which checks them for every door alike. Every refusal is an
``INVALID_REQUEST`` whose pointer uses the keys as the caller wrote them.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, NamedTuple

from google.protobuf import message_factory, timestamp_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from schemaxis._pointer import escaped
from schemaxis.bridge import fields
from schemaxis.bridge.faults import BridgeFault, local_fault, nearest
from schemaxis.bridge.fields import Kind
from schemaxis.bridge.text import Members, Number, write

# Reads one JSON value, given its pointer, to what a message's constructor takes.
_Read = Callable[[Any, str], Any]

_INTEGER = re.compile(r"-?[0-9]+")
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)
_SPECIAL_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# No integer type needs more digits; a longer exponent would only cost time.
_MAX_INTEGER_TEXT = 40
_UNSIGNED = {
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_FIXED32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED64,
}


class _Plan(NamedTuple):
    create: Callable[..., Message]
    # By both spellings: the constructor's keyword, how to read the value, the oneof or "".
    members: dict[str, tuple[str, _Read, str]]
    names: list[str]


def decode(descriptor: Descriptor, value: Any, pointer: str = "") -> Message:
    """The message of type ``descriptor`` that the JSON object ``value`` describes.

    Keys may be snake_case or lowerCamelCase; ``null`` is absent. Raises ``INVALID_REQUEST``.
    """
    if type(value) is not Members:
        raise _wrong(value, "an object", pointer)
    create, members, names = _plan(descriptor)
    keywords: dict[str, Any] = {}
    written: dict[str, str] = {}
    for key, child in value:
        place = f"{pointer}/{escaped(key)}"
        if (member := members.get(key)) is None:
            raise _unknown_key(key, names, place)
        keyword, read, oneof = member
        group = oneof or keyword
        if group in written:
            raise _given_twice(key, written[group], place)
        written[group] = key
        if child is not None:
            keywords[keyword] = read(child, place)
    return create(**keywords)


def _unknown_key(key: str, names: list[str], place: str) -> BridgeFault:
    close = nearest(key, names)
    if close is not None:
        return local_fault(
            "INVALID_REQUEST",
            f"{_short(key)} is no parameter here; did you mean {close}?",
            place,
            nearest=close,
        )
    allowed = f"use {', '.join(names)}" if names else "none is taken"
    return local_fault("INVALID_REQUEST", f"{_short(key)} is no parameter here; {allowed}.", place)


def _given_twice(key: str, before: str, place: str) -> BridgeFault:
    if key == before:
        return local_fault("INVALID_REQUEST", f"{_short(key)} stands twice in one object; keep one.", place)
    return local_fault(
        "INVALID_REQUEST",
        f"{_short(key)} and {_short(before)} are one parameter or exclude each other; give one.",
        place,
    )


@cache
def _plan(descriptor: Descriptor) -> _Plan:
    members: dict[str, tuple[str, _Read, str]] = {}
    names = []
    for field in descriptor.fields:
        oneof = field.containing_oneof
        # A proto3 `optional` lies in a oneof of its own, which is no choice.
        group = oneof.name if oneof is not None and len(oneof.fields) > 1 else ""
        member = (field.name, _field_reader(field), group)
        members[fields.snake_name(field)] = members[fields.camel_name(field)] = member
        names.append(fields.snake_name(field))
    return _Plan(message_factory.GetMessageClass(descriptor), members, names)


def _field_reader(field: FieldDescriptor) -> _Read:
    if fields.is_map(field):
        return _map_reader(_value_reader(fields.message_type(field).fields_by_name["value"]))
    read = _value_reader(field)
    return _list_reader(read) if field.is_repeated else read


def _list_reader(read: _Read) -> _Read:
    def read_list(value: Any, pointer: str) -> list[Any]:
        if type(value) is not list:
            raise _wrong(value, "an array", pointer)
        return [_present(read, child, f"{pointer}/{index}") for index, child in enumerate(value)]

    return read_list


def _map_reader(read: _Read) -> _Read:
    def read_map(value: Any, pointer: str) -> dict[str, Any]:
        if type(value) is not Members:
            raise _wrong(value, "an object", pointer)
        entries: dict[str, Any] = {}
        for key, child in value:
            place = f"{pointer}/{escaped(key)}"
            if key in entries:
                raise _given_twice(key, key, place)
            entries[_text(key, place)] = _present(read, child, place)
        return entries

    return read_map


def _present(read: _Read, value: Any, pointer: str) -> Any:
    # Absent has no meaning inside a list or a map.
    if value is None:
        raise local_fault(
            "INVALID_REQUEST", "null stands where a value is needed; leave the entry out.", pointer
        )
    return read(value, pointer)


def _value_reader(field: FieldDescriptor) -> _Read:
    match fields.kind_of(field):
        case Kind.BOOLEAN:
            return _boolean
        case Kind.INTEGER:
            return _integer_reader(32, signed=field.type not in _UNSIGNED)
        case Kind.INTEGER64:
            return _integer_reader(64, signed=field.type not in _UNSIGNED)
        case Kind.NUMBER:
            return _number
        case Kind.STRING:
            return _text
        case Kind.JSON:
            return lambda value, pointer: write(value)
        case Kind.BYTES:
            return _bytes
        case Kind.TIMESTAMP:
            return _timestamp
        case Kind.ENUM:
            return _enum_reader(field)
        case Kind.MESSAGE:
            message_type = fields.message_type(field)
            return lambda value, pointer: decode(message_type, value, pointer)


def _boolean(value: Any, pointer: str) -> bool:
    if type(value) is not bool:
        raise _wrong(value, "true or false", pointer)
    return value


def _integer_reader(bits: int, *, signed: bool) -> _Read:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    expected = f"an integer from {low} to {high}"

    def read_integer(value: Any, pointer: str) -> int:
        text = value if type(value) is Number or (bits == 64 and type(value) is str) else ""
        number = _whole(text) if type(value) is Number or _INTEGER.fullmatch(text) else None
        if number is None or not low <= number <= high:
            raise _wrong(value, expected, pointer)
        return number

    return read_integer


def _whole(text: str) -> int | None:
    """The integer that a number's text denotes (``2``, ``2.0`` and ``2e0`` alike), or None."""
    if len(text) > _MAX_INTEGER_TEXT:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if number.adjusted() > _MAX_INTEGER_TEXT or number != number.to_integral_value():
        return None
    return int(number)


def _number(value: Any, pointer: str) -> float:
    if type(value) is Members and len(value) == 1 and value[0][0] == "$number":
        special = value[0][1]
        if type(special) is str and special in _SPECIAL_NUMBERS:
            return _SPECIAL_NUMBERS[special]
    if type(value) is not Number:
        raise _wrong(value, "a number", pointer)
    number = float(value)
    if math.isinf(number):
        raise _wrong(value, "a number that a double can hold", pointer)
    return number


def _text(value: Any, pointer: str) -> str:
    if type(value) is not str:
        raise _wrong(value, "a string", pointer)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise local_fault(
                "INVALID_REQUEST", "The text has a lone surrogate (\\ud800 to \\udfff); remove it.", pointer
            ) from None
    return value


def _bytes(value: Any, pointer: str) -> bytes:
    try:
        return base64.b64decode(_text(value, pointer), validate=True)
    except (binascii.Error, ValueError):
        raise _wrong(value, "bytes as base64 text", pointer) from None


def _timestamp(value: Any, pointer: str) -> timestamp_pb2.Timestamp:
    stamp = timestamp_pb2.Timestamp()
    text = _text(value, pointer)
    try:
        if not _RFC3339.fullmatch(text):
            raise ValueError(text)
        stamp.FromJsonString(text.upper())
    except ValueError:
        raise _wrong(value, "an RFC 3339 time such as 2026-05-01T12:00:00Z", pointer) from None
    return stamp


def _enum_reader(field: FieldDescriptor) -> _Read:
    numbers = fields.enum_numbers(field.enum_type)
    names = [name for number, name in fields.enum_names(field.enum_type).items() if number != 0]

    def read_enum(value: Any, pointer: str) -> int:
        if type(value) is not str:
            raise _wrong(value, f"one of {', '.join(names)}", pointer)
        number = numbers.get(value.replace("-", "_").upper())
        if number is None:
            close = nearest(value, names)
            raise local_fault(
                "INVALID_REQUEST",
                f"{_short(value)} is not accepted; use one of {', '.join(names)}.",
                pointer,
                expected=names,
                **({"nearest": close} if close else {}),
            )
        return number

    return read_enum


_TYPE_NAMES = {Number: "a number", str: "a string", bool: "a boolean", list: "an array", Members: "an object"}


def _wrong(value: Any, expected: str, pointer: str) -> BridgeFault:
    kind = "null" if value is None else _TYPE_NAMES.get(type(value), "no JSON")
    shown = f" {_short(value)}" if type(value) is Number else ""
    return local_fault(
        "INVALID_REQUEST", f"Give {expected} here, not {kind}{shown}.", pointer, expected=expected
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
