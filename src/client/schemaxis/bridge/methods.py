"""Every method of the bridge, read off the descriptors: there is no second list."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message import Message

from schemaxis.bridge import encoding, prose
from schemaxis.bridge.faults import local_fault, nearest
from schemaxis.v1 import fault_pb2, options_pb2

PROTOCOL = "schemaxis.agent/1"
# What the session answers by itself, without the service.
LOCAL_METHODS = ("methods", "stop")


@dataclass(frozen=True, slots=True)
class Method:
    """One method: where it lives on the service and how its JSON is made.

    ``result_field`` is the response field that is the result (empty: the whole response);
    ``event_field`` the repeated field whose entries are a stream's events; ``faults`` the codes of
    its refusals, besides those of :func:`faults_of_any_method`.
    """

    name: str
    path: str
    full_name: str
    request: Descriptor
    response: Descriptor
    response_class: Any
    streaming: bool
    agent_tool: bool
    result_field: str
    event_field: str
    faults: tuple[str, ...]
    write_result: Callable[[Message], str]
    write_event: Callable[[Any], str]


def load_methods() -> Mapping[str, Method]:
    """Every method that has a ``json_method``, by that name, in the order of the protos."""
    methods: dict[str, Method] = {}
    for file_name in prose.proto_files():
        module = importlib.import_module(file_name.removesuffix(".proto").replace("/", ".") + "_pb2")
        for service in module.DESCRIPTOR.services_by_name.values():
            for descriptor in service.methods:
                if descriptor.GetOptions().Extensions[options_pb2.json_method]:
                    method = _method(descriptor)
                    methods[method.name] = method
    return methods


def _method(descriptor: MethodDescriptor) -> Method:
    options = descriptor.GetOptions().Extensions
    response = descriptor.output_type
    result_field = options[options_pb2.json_result]
    event_field = options[options_pb2.json_event]
    return Method(
        name=options[options_pb2.json_method],
        path=f"/{descriptor.containing_service.full_name}/{descriptor.name}",
        full_name=descriptor.full_name,
        request=descriptor.input_type,
        response=response,
        response_class=message_factory.GetMessageClass(response),
        streaming=descriptor.server_streaming,
        agent_tool=options[options_pb2.agent_tool],
        result_field=result_field,
        event_field=event_field,
        faults=_faults(descriptor),
        write_result=encoding.part_encoder(response, result_field),
        write_event=encoding.entry_encoder(response, event_field) if event_field else encoding.encode,
    )


def faults_of(path: str) -> tuple[str, ...]:
    """The codes that the method of a gRPC path lists, whether the bridge has it or not."""
    service, _, name = path.removeprefix("/").rpartition("/")
    methods = descriptor_pool.Default().FindServiceByName(service).methods_by_name
    return _faults(methods[name])


def _faults(descriptor: MethodDescriptor) -> tuple[str, ...]:
    return tuple(_code(number) for number in descriptor.GetOptions().Extensions[fault_pb2.faults].codes)


def faults_of_any_method() -> tuple[str, ...]:
    """The codes with which every method may be refused."""
    return tuple(
        _code(value.number)
        for value in fault_pb2.FaultCode.DESCRIPTOR.values
        if value.GetOptions().Extensions[fault_pb2.any_method]
    )


def _code(number: int) -> str:
    name: str = fault_pb2.FaultCode.DESCRIPTOR.values_by_number[number].name
    return name.removeprefix("FAULT_CODE_")


def find_method(methods: Mapping[str, Method], name: str) -> Method:
    """The method of that name. Raises ``UNKNOWN_METHOD`` with the nearest one in the details."""
    if (method := methods.get(name)) is not None:
        return method
    shown = name if len(name) <= 60 else f"{name[:60]}…"
    close = nearest(name, (*methods, *LOCAL_METHODS))
    if close is None:
        raise local_fault(
            "UNKNOWN_METHOD", f"There is no method {shown}; `methods` lists all of them.", "/method"
        )
    raise local_fault(
        "UNKNOWN_METHOD", f"There is no method {shown}; did you mean {close}?", "/method", nearest=close
    )
