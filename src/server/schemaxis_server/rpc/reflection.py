"""Server reflection: v1alpha from the library, v1 with the same messages under its own name."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
from grpc import aio
from grpc_reflection.v1alpha import reflection, reflection_pb2
from grpc_reflection.v1alpha._async import ReflectionServicer

V1_NAME = "grpc.reflection.v1.ServerReflection"


def add_reflection(server: aio.Server, services: Iterable[str]) -> None:
    """Serve both versions for ``services`` (full names)."""
    names = (*services, reflection.SERVICE_NAME, V1_NAME)
    reflection.enable_server_reflection(names, server)
    # The messages of v1 are those of v1alpha field for field, so one servicer speaks both.
    servicer = ReflectionServicer(names)
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(V1_NAME, {"ServerReflectionInfo": handler}),)
    )
