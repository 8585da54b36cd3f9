"""The one map from domain faults to gRPC statuses."""

from __future__ import annotations

import json

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from schemaxis.v1 import fault_pb2

from schemaxis_server.faults import CATALOGUE, FaultRecord

DOMAIN = "schemaxis"
MAX_DETAILS_BYTES = 4096
"""Larger details risk being dropped on the way together with the code, so the rest is evidence."""

_MAX_TEXT_BYTES = 600
_STATUS_DETAILS_KEY = "grpc-status-details-bin"

Trailers = tuple[tuple[str, str | bytes], ...]


def fault_message(record: FaultRecord) -> fault_pb2.Fault:
    """The fault as its Protobuf message."""
    message = fault_pb2.Fault(
        code=record.code, message=record.message, retryable=record.retryable, pointer=record.pointer
    )
    if record.details:
        message.details_json = json.dumps(record.details, separators=(",", ":"), ensure_ascii=False)
    return message


def status_of(record: FaultRecord) -> tuple[grpc.StatusCode, str, Trailers]:
    """Code, text and trailing metadata of a refusal; ErrorInfo and Fault together at most 4 KiB."""
    code: grpc.StatusCode = grpc.StatusCode[CATALOGUE[record.code].status]
    fault = fault_message(record)
    status = _pack(code, fault)
    if status.ByteSize() > MAX_DETAILS_BYTES:
        fault.details_json = '{"truncated":true}'
        fault.message = _cut(fault.message)
        fault.pointer = _cut(fault.pointer)
        status = _pack(code, fault)
    return code, fault.message, ((_STATUS_DETAILS_KEY, status.SerializeToString()),)


def _cut(text: str) -> str:
    return text.encode()[:_MAX_TEXT_BYTES].decode("utf-8", "ignore")


def _pack(code: grpc.StatusCode, fault: fault_pb2.Fault) -> status_pb2.Status:
    info = error_details_pb2.ErrorInfo(domain=DOMAIN, reason=fault.code)
    details = []
    for part in (info, fault):
        packed = any_pb2.Any()
        packed.Pack(part)
        details.append(packed)
    return status_pb2.Status(code=code.value[0], message=fault.message, details=details)
