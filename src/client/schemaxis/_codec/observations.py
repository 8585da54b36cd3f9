"""Observations between model and message."""

from __future__ import annotations

from schemaxis import _json
from schemaxis._codec.common import member
from schemaxis.models import Observation, ObservationMember, ObservationMode, ObservationPage
from schemaxis.v1 import observation_pb2

_MODE = observation_pb2.ObservationMode.DESCRIPTOR


def observation(message: observation_pb2.Observation) -> Observation:
    page = message.page
    return Observation(
        mode=member(ObservationMode, _MODE, message.mode),
        value=_json.parse(message.value_json) if message.HasField("value_json") else None,
        members=tuple(_member(item) for item in message.members),
        page=ObservationPage(
            page.offset, page.next_offset if page.HasField("next_offset") else None, page.total
        )
        if message.HasField("page")
        else None,
        revision=message.revision,
        type=message.type if message.HasField("type") else None,
    )


def _member(message: observation_pb2.ObservationMember) -> ObservationMember:
    has_value = message.HasField("value_json")
    return ObservationMember(
        pointer=message.pointer,
        type=message.type,
        size_bytes=message.size_bytes,
        value=_json.parse(message.value_json) if has_value else None,
        has_value=has_value,
    )
