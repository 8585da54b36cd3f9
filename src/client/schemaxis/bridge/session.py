"""One session of ``schemaxis.agent/1``: requests start in the order of their lines."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import Message

from schemaxis._pointer import escaped
from schemaxis.bridge.decoding import decode
from schemaxis.bridge.envelope import (
    Refused,
    Request,
    event_line,
    fault_line,
    parse_request,
    result_line,
)
from schemaxis.bridge.faults import BridgeFault, fault_of_status, local_fault
from schemaxis.bridge.lines import MAX_LINE_BYTES, LineReader, LineWriter, Oversized
from schemaxis.bridge.link import Link
from schemaxis.bridge.methods import Method, find_method
from schemaxis.bridge.reference import describe_method, describe_methods
from schemaxis.bridge.started import StartedWork
from schemaxis.bridge.streams import EventStream
from schemaxis.bridge.text import Members, Number, quote

_log = logging.getLogger("schemaxis.bridge")

_MAX_CALLS = 64
_MAX_STREAMS = 64
# After the end of input: for calls that may start work; for all calls, while that work is cancelled;
# for streams, which end at once when their work has, and otherwise would go on for ever.
_ANSWER_SECONDS = 5.0
_SETTLE_SECONDS = 20.0
_STREAM_SECONDS = 1.0
# The transport may deliver two calls in either order. So the next line waits until the service was
# heard from about this one, but not long: a long `verify` must not hold up `cancel`. What moves a
# revision or makes something is usually built upon by the next line, and is given more time.
_HEARD_SECONDS = 0.02
_CHANGED_SECONDS = 1.0
_CHANGING_FIELDS = ("expected_revision", "request_id")


@dataclass(slots=True)
class _InFlight:
    task: asyncio.Task[None]
    streaming: bool
    changing: bool
    heard: asyncio.Event
    stopped: bool = False


class Session:
    """Serves the lines of one client until its input ends.

    Nothing it holds grows without bound: it takes no line while 64 calls are unanswered or the
    reader is 16 MiB behind, opens at most 64 streams, and remembers of the jobs that it started
    little more than those which still work.
    """

    def __init__(
        self, link: Link, methods: Mapping[str, Method], reader: LineReader, writer: LineWriter
    ) -> None:
        self._link = link
        self._methods = methods
        self._reader = reader
        self._writer = writer
        self._in_flight: dict[str, _InFlight] = {}
        self._calls = asyncio.Semaphore(_MAX_CALLS)
        self._started = StartedWork(link)
        self._local: dict[str, Callable[[Request], str]] = {"methods": self._describe, "stop": self._stop}

    async def serve(self) -> None:
        """Take lines until the input ends or nobody reads the output, then see the work off."""
        watch = asyncio.create_task(self._end_when_unread())
        try:
            async for line in self._reader:
                await self._take(line)
                await self._writer.room()
        finally:
            watch.cancel()
            await self._finish()

    async def _end_when_unread(self) -> None:
        await self._writer.broken.wait()
        self._reader.end()

    async def _take(self, line: bytes | Oversized) -> None:
        try:
            if isinstance(line, Oversized):
                raise Refused(_too_large())
            if (request := parse_request(line)) is None:
                return
            try:
                await self._start(request)
            except BridgeFault as fault:
                raise Refused(fault, request.id_text) from None
        except Refused as refused:
            self._writer.send(fault_line(refused.id_text, refused.fault))

    async def _start(self, request: Request) -> None:
        if request.id_text in self._in_flight:
            raise local_fault(
                "INVALID_REQUEST", "A request with this id is still in flight; use another.", "/id"
            )
        if (local := self._local.get(request.method)) is not None:
            self._writer.send(result_line(request.id_text, local(request)))
            return
        method = find_method(self._methods, request.method)
        message = decode(method.request, request.params)
        if method.streaming:
            self._refuse_too_many_streams()
        else:
            await self._calls.acquire()
        try:
            await self._link.ready()
        except BridgeFault:
            if not method.streaming:
                self._calls.release()
            raise
        note = partial(self._started.note, message)
        if method.streaming:
            work = self._stream(request, EventStream(self._link, method, message, note))
        else:
            work = self._call(request, method, self._link.call(method, message), note)
        await self._track(request.id_text, work, method)

    def _refuse_too_many_streams(self) -> None:
        if sum(entry.streaming for entry in self._in_flight.values()) >= _MAX_STREAMS:
            raise local_fault(
                "OVERLOADED",
                f"{_MAX_STREAMS} streams are open; stop one with `stop` and send the request again.",
                retryAfterSeconds=1,
            )

    async def _track(self, id_text: str, work: Coroutine[Any, Any, None], method: Method) -> None:
        task = asyncio.create_task(self._answer(id_text, work), name=f"{method.name} {id_text}")
        changing = any(name in method.request.fields_by_name for name in _CHANGING_FIELDS)
        entry = self._in_flight[id_text] = _InFlight(task, method.streaming, changing, asyncio.Event())
        if not method.streaming:
            task.add_done_callback(lambda _: self._calls.release())
        # Waiting lets it begin in any case: a task that is cancelled before could not answer.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CHANGED_SECONDS if entry.changing else _HEARD_SECONDS):
                await entry.heard.wait()

    async def _answer(self, id_text: str, work: Awaitable[None]) -> None:
        """Run a request's work and see that it is answered exactly once, whatever happens."""
        try:
            await work
            return
        except BridgeFault as raised:
            fault = raised
        except grpc.aio.AioRpcError as error:
            fault = fault_of_status(error)
        except asyncio.CancelledError:
            # Only `stop` and the end of the session cancel, and both owe the answer.
            fault = self._ended_fault(id_text)
        except Exception:
            # Whatever it is, the client waits for its answer.
            _log.exception("A request failed unexpectedly")
            fault = local_fault(
                "INTERNAL", "The bridge met a state it did not expect; its stderr has the rest."
            )
        self._reply(id_text, fault_line(id_text, fault))

    def _ended_fault(self, id_text: str) -> BridgeFault:
        entry = self._in_flight.get(id_text)
        if entry is not None and entry.stopped:
            return local_fault("CANCELLED", "The stream was stopped at this session's request.")
        return local_fault(
            "SHUTTING_DOWN", "The session ended before the answer; ask again in a new session."
        )

    def _reply(self, id_text: str, line: str) -> None:
        # The id is free before its answer can be read, since its next use may come right after.
        self._in_flight.pop(id_text).heard.set()
        self._writer.send(line)

    async def _call(
        self,
        request: Request,
        method: Method,
        call: grpc.aio.UnaryUnaryCall[Any, Any],
        note: Callable[[Message], None],
    ) -> None:
        response = await call
        note(response)
        self._reply(request.id_text, result_line(request.id_text, method.write_result(response)))

    async def _stream(self, request: Request, stream: EventStream) -> None:
        async with contextlib.aclosing(stream.events()) as events:
            async for event in events:
                self._in_flight[request.id_text].heard.set()
                self._writer.send(event_line(request.id_text, event))
                await self._writer.room()
        self._reply(request.id_text, result_line(request.id_text, stream.result))

    def _describe(self, request: Request) -> str:
        name = _one_param(request.params, "method", required=False)
        if name is None:
            return describe_methods(self._methods)
        if type(name) is not str:
            raise local_fault("INVALID_REQUEST", "Give the name of one method as a string.", "/method")
        return describe_method(self._methods, name)

    def _stop(self, request: Request) -> str:
        target = _one_param(request.params, "request", required=True)
        if type(target) not in (str, Number):
            raise local_fault(
                "INVALID_REQUEST", "Give the id of the request that opened the stream.", "/request"
            )
        entry = self._in_flight.get(quote(target) if type(target) is str else str(target))
        if entry is None:
            return '{"stopped":false}'
        if not entry.streaming:
            raise local_fault(
                "INVALID_REQUEST", "That request is no stream; to stop a job, use `cancel`.", "/request"
            )
        entry.stopped = True
        entry.task.cancel()
        return '{"stopped":true}'

    async def _finish(self) -> None:
        """Answer what is in flight, end what this session started, and leave nothing unanswered."""
        if self._writer.broken.is_set():
            # There is nobody to answer, but a call may still start work that is then to be ended.
            for entry in self._in_flight.values():
                if not entry.changing:
                    entry.task.cancel()
        await _settle([entry for entry in self._in_flight.values() if entry.changing], _ANSWER_SECONDS)
        ending = asyncio.create_task(self._started.cancel(_SETTLE_SECONDS))
        await _settle([entry for entry in self._in_flight.values() if not entry.streaming], _SETTLE_SECONDS)
        await ending
        await _settle(list(self._in_flight.values()), _STREAM_SECONDS)
        rest = list(self._in_flight.values())
        for entry in rest:
            entry.task.cancel()
        await _settle(rest, None)


async def _settle(entries: list[_InFlight], seconds: float | None) -> None:
    if entries:
        await asyncio.wait([entry.task for entry in entries], timeout=seconds)


def _too_large() -> BridgeFault:
    return local_fault(
        "REQUEST_TOO_LARGE",
        f"The line has more than {MAX_LINE_BYTES} bytes and was discarded; send less on one line.",
        limit=MAX_LINE_BYTES,
    )


def _one_param(params: Members, name: str, *, required: bool) -> Any:
    value = None
    for key, child in params:
        if key != name or value is not None:
            raise local_fault(
                "INVALID_REQUEST",
                f"The one parameter here is {name}; give it once.",
                f"/{escaped(key)}",
            )
        value = child
    if required and value is None:
        raise local_fault("INVALID_REQUEST", f"Give {name}.", f"/{name}")
    return value
