"""Observations, resources and ranges as Protobuf."""

from __future__ import annotations

from schemaxis.v1 import observation_pb2, resource_pb2

from schemaxis_server.execution.observation import Mode, Observation
from schemaxis_server.execution.records import Resource, ResourceState
from schemaxis_server.execution.resources import ResourceRange
from schemaxis_server.rpc.codecs.common import numbers_of, timestamp, varint

_MODES = numbers_of(observation_pb2.ObservationMode, "OBSERVATION_MODE_", Mode)
_DATA_TAG = bytes([resource_pb2.ReadResourceResponse.DATA_FIELD_NUMBER << 3 | 2])
_RESOURCE_STATES = numbers_of(resource_pb2.ResourceState, "RESOURCE_STATE_", ResourceState)


def observation_message(observation: Observation) -> observation_pb2.Observation:
    message = observation_pb2.Observation(
        mode=_MODES[observation.mode], type=observation.type, revision=observation.revision
    )
    if observation.value is not None:
        message.value_json = observation.value.decode()
    for member in observation.members:
        message.members.add(
            pointer=member.pointer,
            type=member.type,
            size_bytes=member.size_bytes,
            value_json=None if member.value is None else member.value.decode(),
        )
    if observation.page is not None:
        page = observation.page
        message.page.CopyFrom(
            observation_pb2.ObservationPage(
                offset=page.offset, next_offset=page.next_offset, total=page.total
            )
        )
    return message


def resource_message(resource: Resource) -> resource_pb2.Resource:
    producer = resource.producer
    return resource_pb2.Resource(
        resource_id=resource.resource_id,
        producer=resource_pb2.Producer(
            job_id=producer.job_id, operation_id=producer.operation_id, turn_id=producer.turn_id
        ),
        document_digest=resource.document_digest,
        name=resource.name,
        kind=resource.kind,
        media_type=resource.media_type,
        size_bytes=resource.size_bytes,
        sha256=resource.sha256,
        receipt=resource_pb2.Receipt(receipt_id=resource.receipt.receipt_id, digest=resource.receipt.digest),
        units=resource.units,
        state=_RESOURCE_STATES[resource.state],
        derived_from=resource.derived_from,
        output=resource.output,
        create_time=timestamp(resource.create_time),
    )


def range_message(part: ResourceRange) -> resource_pb2.Range:
    return resource_pb2.Range(
        resource_id=part.resource.resource_id,
        offset=part.offset,
        data=part.data,
        next_offset=part.next_offset,
        size_bytes=part.resource.size_bytes,
        sha256=part.resource.sha256,
    )


def encode_chunk(resource: Resource | None, offset: int, data: bytes, last: bool) -> bytes:
    """A frame of ReadResource. The bytes are copied once, into the frame.

    The message without its data is encoded by Protobuf and the data field appended: fields
    of a message may stand in any order.
    """
    head = resource_pb2.ReadResourceResponse(
        resource=None if resource is None else resource_message(resource), offset=offset, last=last
    ).SerializeToString()
    return b"".join((head, _DATA_TAG, varint(len(data)), data)) if data else head
