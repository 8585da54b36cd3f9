"""One streaming call, resumed from its cursor when its connection breaks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import grpc
from google.protobuf.message import Message

from schemaxis.bridge.faults import BridgeFault, fault_of_status, is_broken, local_fault
from schemaxis.bridge.link import Link
from schemaxis.bridge.methods import Method

_CURSOR = "after_sequence"
_SEQUENCE = "sequence"
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 2.0
# Breaks in a row, without an event between them, after which the stream is given up.
_MOST_BREAKS = 8


class EventStream:
    """The events of one streaming call. ``result`` is its last frame's, once the iteration has ended.

    A stream whose request has a cursor and whose events are numbered goes on after a break where
    it stood, and no event comes twice.
    """

    def __init__(self, link: Link, method: Method, request: Message) -> None:
        self._link = link
        self._method = method
        self._request = request
        self._resumable = _is_resumable(method)
        self._breaks = 0
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
                    for event in self._fresh(frame):
                        yield self._method.write_event(event)
                    if frame.HasField(self._method.result_field):
                        self.result = self._method.write_result(frame)
                        return
            except grpc.aio.AioRpcError as error:
                if not is_broken(error):
                    raise fault_of_status(error) from error
                fault = fault_of_status(error)
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
            self._breaks = 0
            yield event

    async def _pause(self, fault: BridgeFault | None) -> None:
        broken = fault or local_fault("INTERNAL", "The stream ended without its last frame; watch again.")
        if not self._resumable or self._breaks >= _MOST_BREAKS:
            raise broken
        pause = min(_FIRST_PAUSE_SECONDS * 2**self._breaks, _LONGEST_PAUSE_SECONDS)
        self._breaks += 1
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
