"""Parts that several codecs share: enums, times, JSON text."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec
from google.protobuf.timestamp_pb2 import Timestamp

_encoder = msgspec.json.Encoder()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def numbers_of(wrapper: Any, prefix: str, names: type[StrEnum]) -> dict[Any, Any]:
    """Enum numbers by domain value: ``not-met`` of prefix ``GOAL_`` is ``GOAL_NOT_MET``."""
    return {name: wrapper.Value(prefix + name.value.replace("-", "_").upper()) for name in names}


def timestamp(moment: datetime) -> Timestamp:
    message = Timestamp()
    fill_timestamp(message, moment)
    return message


def fill_timestamp(message: Timestamp, moment: datetime) -> None:
    """Set ``message`` to a moment that knows its zone, at a fifth of what ``FromDatetime`` costs."""
    since = moment - _EPOCH
    message.seconds = since.days * 86_400 + since.seconds
    message.nanos = since.microseconds * 1000


def json_text(value: Any) -> str:
    """Compact JSON of plain values."""
    return _encoder.encode(value).decode()


def varint(number: int) -> bytes:
    """Protobuf's variable-length integer, for frames that splice encoded parts."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
