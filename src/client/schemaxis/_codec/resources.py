"""Resources between model and message."""

from __future__ import annotations

from schemaxis._codec.common import member, time
from schemaxis.models import Producer, Range, Receipt, ResourceRecord, ResourceState
from schemaxis.v1 import resource_pb2

_STATE = resource_pb2.ResourceState.DESCRIPTOR


def resource_record(resource: resource_pb2.Resource) -> ResourceRecord:
    made_by = resource.producer
    return ResourceRecord(
        resource_id=resource.resource_id,
        producer=Producer(
            job_id=made_by.job_id if made_by.HasField("job_id") else None,
            operation_id=made_by.operation_id if made_by.HasField("operation_id") else None,
            turn_id=made_by.turn_id if made_by.HasField("turn_id") else None,
        ),
        document_digest=resource.document_digest,
        name=resource.name,
        kind=resource.kind,
        media_type=resource.media_type,
        size_bytes=resource.size_bytes,
        sha256=resource.sha256,
        receipt=Receipt(resource.receipt.receipt_id, resource.receipt.digest),
        units=resource.units,
        state=member(ResourceState, _STATE, resource.state),
        derived_from=resource.derived_from if resource.HasField("derived_from") else None,
        create_time=time(resource.create_time),
        output=resource.output,
    )


def byte_range(message: resource_pb2.Range) -> Range:
    return Range(
        resource_id=message.resource_id,
        offset=message.offset,
        data=message.data,
        next_offset=message.next_offset if message.HasField("next_offset") else None,
        size_bytes=message.size_bytes,
        sha256=message.sha256,
    )
