"""One streaming call, resumed from its cursor when its connection breaks."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import grpc
from google.protobuf.message import Message

from schemaxis._retry import Patience
from schemaxis._status import error_of
from schemaxis.bridge.faults import BridgeFault, fault_of_status, local_fault
from schemaxis.bridge.link import Link
from schemaxis.bridge.methods import Method
from schemaxis.errors import ConnectionLost

_CURSOR = "after_sequence"
_SEQUENCE = "sequence"
# How long breaks without a frame between them are borne.
_PATIENCE_SECONDS = 10.0


class EventStream:
    """The events of one streaming call. ``result`` is its last frame's, once the iteration has ended.

    A stream whose request has a cursor and whose events are numbered goes on after a break where
    it stood, and no event comes twice. ``note`` is told each frame.
    """

    def __init__(
        self, link: Link, method: Method, request: Message, note: Callable[[Message], None] | None = None
    ) -> None:
        self._link = link
        self._method = method
        self._request = request
        self._note = note
        self._resumable = _is_resumable(method)
        self._patience = Patience(_PATIENCE_SECONDS, time.monotonic)
        self.result = ""

    @property
    def cursor(self) -> int | None:
        """The last sequence delivered, where the stream has one."""
        return getattr(self._request, _CURSOR) if self._resumable else None

    async def events(self) -> AsyncGenerator[str, None]:
        """The JSON text of each event. Raises :class:`BridgeFault` when the stream fails for good."""
        while not self.result:
            fault: BridgeFault | None = None
            call = self._link.stream(self._method, self._request)
            try:
                async for frame in call:
                    self._patience.progress()
                    if self._note is not None:
                        self._note(frame)
                    for event in self._fresh(frame):
                        yield self._method.write_event(event)
                    if frame.HasField(self._method.result_field):
                        self.result = self._method.write_result(frame)
                        return
            except grpc.aio.AioRpcError as error:
                fault = fault_of_status(error)
                if not isinstance(error_of(error), ConnectionLost):
                    raise fault from error
            finally:
                # Leaving the iteration early would leave the call open.
                call.cancel()
            await self._pause(fault)

    def _fresh(self, frame: Any) -> Iterator[Any]:
        for event in _events_of(frame, self._method.event_field):
            if self._resumable:
                if event.sequence <= self._request.after_sequence:  # type: ignore[attr-defined]
                    continue
                self._request.after_sequence = event.sequence  # type: ignore[attr-defined]
            yield event

    async def _pause(self, fault: BridgeFault | None) -> None:
        broken = fault or local_fault("INTERNAL", "The stream ended without its last frame; watch again.")
        if not self._resumable:
            raise broken
        try:
            pause = self._patience.pause(ConnectionLost(broken.message))
        except ConnectionLost:
            raise broken from None
        await asyncio.sleep(pause)
        with contextlib.suppress(BridgeFault):
            await self._link.ready()


def _events_of(frame: Any, field: str) -> Any:
    if frame.DESCRIPTOR.fields_by_name[field].is_repeated:
        return getattr(frame, field)
    return (getattr(frame, field),) if frame.HasField(field) else ()


def _is_resumable(method: Method) -> bool:
    event = method.response.fields_by_name[method.event_field].message_type
    return (
        _CURSOR in method.request.fields_by_name and event is not None and _SEQUENCE in event.fields_by_name
    )
