"""The one interceptor: validation before a servicer, faults to statuses after it.

It also lets streaming servicers hand over frames that are encoded already, by swapping the
response serializer for one that passes bytes through.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from schemaxis_server.faults import CATALOGUE, Fault, FaultRecord
from schemaxis_server.ids import new_id
from schemaxis_server.rpc.statuses import status_of
from schemaxis_server.rpc.validation import validate

log = logging.getLogger(__name__)

Handler = Any
PREFIX = "/schemaxis.v1."


class FaultInterceptor(aio.ServerInterceptor):
    """Wraps each method of ``schemaxis.v1`` once; other services pass through."""

    def __init__(self) -> None:
        self._wrapped: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        method: str = handler_call_details.method
        wrapped = self._wrapped.get(method)
        if wrapped is None:
            handler = await continuation(handler_call_details)
            if handler is None or not method.startswith(PREFIX):
                return handler
            wrapped = self._wrapped[method] = _wrap(handler, method)
        return wrapped


def _wrap(handler: Handler, method: str) -> Handler:
    if handler.response_streaming:
        return grpc.unary_stream_rpc_method_handler(
            _guard_stream(handler.unary_stream, method),
            request_deserializer=_forgiving(handler.request_deserializer),
            response_serializer=_encoded,
        )
    return grpc.unary_unary_rpc_method_handler(
        _guard_unary(handler.unary_unary, method),
        request_deserializer=_forgiving(handler.request_deserializer),
        response_serializer=handler.response_serializer,
    )


def _forgiving(parse: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """A parser that answers None for bytes that are no message, so that the refusal is a fault of ours."""

    def parse_or_none(data: bytes) -> Any:
        try:
            return parse(data)
        except DecodeError:
            return None

    return parse_or_none


def _parsed(request: Any) -> Any:
    if request is None:
        raise Fault(
            "INVALID_REQUEST", "The bytes are no request of this method; generate stubs from the protos."
        )
    return request


def _encoded(frame: Any) -> bytes:
    return frame if type(frame) is bytes else frame.SerializeToString()


def _guard_unary(
    call: Callable[[Any, Any], Awaitable[Any]], method: str
) -> Callable[[Any, Any], Awaitable[Any]]:
    async def guarded(request: Any, context: Any) -> Any:
        try:
            validate(_parsed(request))
            return await call(request, context)
        except aio.AbortError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            await _refuse(error, context, method)

    return guarded


def _guard_stream(call: Callable[[Any, Any], AsyncIterator[Any]], method: str) -> Callable[[Any, Any], Any]:
    async def guarded(request: Any, context: Any) -> AsyncIterator[Any]:
        frames = None
        try:
            validate(_parsed(request))
            frames = call(request, context)
            async for frame in frames:
                yield frame
        except aio.AbortError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            await _refuse(error, context, method)
        finally:
            if frames is not None:
                await frames.aclose()  # type: ignore[attr-defined]

    return guarded


async def _refuse(error: BaseException, context: Any, method: str) -> NoReturn:
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise error
        # Something that the method waited for was cancelled, not the call: without an answer
        # of its own the client would wait for ever.
        record = FaultRecord(
            "SHUTTING_DOWN", CATALOGUE["SHUTTING_DOWN"].meaning + " Connect again when it is back."
        )
    elif isinstance(error, Fault):
        record = error.record
    else:
        incident = new_id("inc")
        log.error("unexpected error", exc_info=error, extra={"incident": incident, "method": method})
        record = FaultRecord(
            "INTERNAL",
            f"The service met a state it did not expect; report incident {incident}, its log has the rest.",
            details={"incident": incident},
        )
    code, text, trailers = status_of(record)
    await context.abort(code, text, trailers)
    raise AssertionError("abort does not return")
