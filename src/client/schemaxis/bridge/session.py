"""One session of ``schemaxis.agent/1``: requests start in the order of their lines."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import grpc

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
from schemaxis.bridge.lines import MAX_LINE_BYTES, LineReader, LineWriter, OutputClosed, Oversized
from schemaxis.bridge.link import Link
from schemaxis.bridge.methods import Method, find_method
from schemaxis.bridge.reference import describe_method, describe_methods
from schemaxis.bridge.started import StartedWork
from schemaxis.bridge.streams import EventStream
from schemaxis.bridge.text import Members, Number, quote

_log = logging.getLogger("schemaxis.bridge")

_MAX_CALLS = 64
_MAX_STREAMS = 64
# After the end of input: how long answers may take before their work is cancelled, then afterwards.
_ANSWER_SECONDS = 5.0
_SETTLE_SECONDS = 30.0
# A stream whose work is over ends at once; one of others' work would go on for ever.
_STREAM_SECONDS = 2.0


@dataclass(slots=True)
class _InFlight:
    task: asyncio.Task[None]
    streaming: bool
    stopped: bool = False


class Session:
    """Serves the lines of one client until its input ends.

    Nothing it holds grows without bound: it takes no line while 64 calls are unanswered or the
    reader is 16 MiB behind, and opens at most 64 streams.
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
        except OutputClosed:
            pass
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
            await self._writer.send(fault_line(refused.id_text, refused.fault))

    async def _start(self, request: Request) -> None:
        if request.id_text in self._in_flight:
            raise local_fault(
                "INVALID_REQUEST", "A request with this id is still in flight; use another.", "/id"
            )
        if (local := self._local.get(request.method)) is not None:
            await self._writer.send(result_line(request.id_text, local(request)))
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
        if method.streaming:
            work = self._stream(request, EventStream(self._link, method, message))
        else:
            work = self._call(request, method, self._link.call(method, message))
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
        self._in_flight[id_text] = _InFlight(task, method.streaming)
        if not method.streaming:
            task.add_done_callback(lambda _: self._calls.release())
        # Let it start: a task that is cancelled before could not answer, and its call keeps its place.
        await asyncio.sleep(0)

    async def _answer(self, id_text: str, work: Awaitable[None]) -> None:
        """Run a request's work and see that it is answered exactly once, whatever happens."""
        try:
            await work
            return
        except BridgeFault as raised:
            fault = raised
        except grpc.aio.AioRpcError as error:
            fault = fault_of_status(error)
        except OutputClosed:
            self._in_flight.pop(id_text, None)
            return
        except asyncio.CancelledError:
            # Only `stop` and the end of the session cancel, and both owe the answer.
            fault = self._ended_fault(id_text)
        except Exception:
            # Whatever it is, the client waits for its answer.
            _log.exception("A request failed unexpectedly")
            fault = local_fault(
                "INTERNAL", "The bridge met a state it did not expect; its stderr has the rest."
            )
        await self._reply(id_text, fault_line(id_text, fault))

    def _ended_fault(self, id_text: str) -> BridgeFault:
        entry = self._in_flight.get(id_text)
        if entry is not None and entry.stopped:
            return local_fault("CANCELLED", "The stream was stopped at this session's request.")
        return local_fault(
            "SHUTTING_DOWN", "The session ended before the answer; ask again in a new session."
        )

    async def _reply(self, id_text: str, line: str) -> None:
        # The id is free before its answer can be read, since its next use may come right after.
        self._in_flight.pop(id_text, None)
        with contextlib.suppress(OutputClosed):
            await self._writer.send(line)

    async def _call(self, request: Request, method: Method, call: grpc.aio.UnaryUnaryCall[Any, Any]) -> None:
        response = await call
        self._started.note(response)
        await self._reply(request.id_text, result_line(request.id_text, method.write_result(response)))

    async def _stream(self, request: Request, stream: EventStream) -> None:
        async with contextlib.aclosing(stream.events()) as events:
            async for event in events:
                await self._writer.send(event_line(request.id_text, event))
        await self._reply(request.id_text, result_line(request.id_text, stream.result))

    def _describe(self, request: Request) -> str:
        name = _one_param(request.params, "method", required=False)
        if name is None:
            return describe_methods(self._methods)
        if type(name) is not str:
            raise local_fault("INVALID_REQUEST", "Give the name of one method as a string.", "/method")
        return describe_method(find_method(self._methods, name))

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
        await self._settle(streaming=False, seconds=_ANSWER_SECONDS)
        await self._started.cancel(_SETTLE_SECONDS)
        await self._settle(streaming=False, seconds=_SETTLE_SECONDS)
        await self._settle(streaming=True, seconds=_STREAM_SECONDS)
        for entry in list(self._in_flight.values()):
            entry.task.cancel()
        if tasks := [entry.task for entry in self._in_flight.values()]:
            await asyncio.wait(tasks)

    async def _settle(self, *, streaming: bool, seconds: float) -> None:
        if tasks := [entry.task for entry in self._in_flight.values() if entry.streaming is streaming]:
            await asyncio.wait(tasks, timeout=seconds)


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
                "INVALID_REQUEST", f"The one parameter here is {name}; give it once.", f"/{key}"
            )
        value = child
    if required and value is None:
        raise local_fault("INVALID_REQUEST", f"Give {name}.", f"/{name}")
    return value
