"""A status's details stay below the size at which they may be lost, in any script."""

from __future__ import annotations

import pytest
from google.rpc import status_pb2
from schemaxis.v1 import fault_pb2
from schemaxis_server.faults import FaultRecord
from schemaxis_server.rpc.statuses import MAX_DETAILS_BYTES, status_of


@pytest.mark.parametrize("letter", ["x", "é", "漢", "🙂"])
@pytest.mark.parametrize("long", ["message", "pointer", "details", "all"])
def test_details_are_bounded_in_bytes(letter: str, long: str) -> None:
    text = letter * 5000
    record = FaultRecord(
        "INVALID_DOCUMENT",
        text if long in ("message", "all") else "Mend it.",
        text if long in ("pointer", "all") else "/a",
        {"problems": [text]} if long in ("details", "all") else {},
    )
    _, message, trailers = status_of(record)
    ((_, data),) = trailers
    assert isinstance(data, bytes)
    assert len(data) <= MAX_DETAILS_BYTES
    fault = fault_pb2.Fault()
    assert status_pb2.Status.FromString(data).details[1].Unpack(fault)
    assert (fault.code, fault.message) == ("INVALID_DOCUMENT", message)
    assert record.message.startswith(fault.message)
    assert record.pointer.startswith(fault.pointer)
    assert fault.message
    assert fault.pointer


def test_details_that_fit_are_whole() -> None:
    record = FaultRecord("INVALID_DOCUMENT", "漢" * 200, "/a", {"total": 3})
    _, message, trailers = status_of(record)
    fault = fault_pb2.Fault()
    data = trailers[0][1]
    assert isinstance(data, bytes)
    assert status_pb2.Status.FromString(data).details[1].Unpack(fault)
    assert (message, fault.details_json) == (record.message, '{"total":3}')
