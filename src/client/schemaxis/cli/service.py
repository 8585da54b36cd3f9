"""A command's connection to the service: the bridge's methods, and the typed client for bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from schemaxis._channel import Settings
from schemaxis.aio.client import Client
from schemaxis.bridge.decoding import decode
from schemaxis.bridge.faults import BridgeFault, fault_of_status
from schemaxis.bridge.link import Link
from schemaxis.bridge.methods import find_method, load_methods
from schemaxis.bridge.streams import EventStream
from schemaxis.bridge.text import NotJson, TooDeep, constant_pointer, parse
from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import complain, print_fault
from schemaxis.errors import FaultError, SchemaxisError, ServerNotRunning, ServerStartFailed, UnsafeSocket
from schemaxis.process import Served, serve_or_attach

# A request that was wrong in itself, as opposed to work that failed.
_USAGE_CODES = frozenset({"INVALID_REQUEST", "UNKNOWN_METHOD", "REQUEST_TOO_LARGE"})


class Service:
    """The methods of the bridge, by name; ``client`` is the typed client of the same server."""

    def __init__(self, link: Link, client: Client) -> None:
        self._link = link
        self._methods = load_methods()
        self.client = client

    async def call_text(self, name: str, params: str) -> str:
        """The result of a unary method as JSON text. Raises :class:`BridgeFault`."""
        method = find_method(self._methods, name)
        message = decode(method.request, params_of(params))
        await self._link.ready()
        try:
            return method.write_result(await self._link.call(method, message))
        except grpc.aio.AioRpcError as error:
            raise fault_of_status(error) from error

    async def call(self, name: str, **params: Any) -> Any:
        """The result of a unary method. Raises :class:`BridgeFault`."""
        return json.loads(await self.call_text(name, json.dumps(params)))

    def is_streaming(self, name: str) -> bool:
        """Whether the method streams."""
        return name in self._methods and self._methods[name].streaming

    def stream(self, name: str, params: str) -> EventStream:
        """The events of a streaming method. Raises :class:`BridgeFault`."""
        method = find_method(self._methods, name)
        return EventStream(self._link, method, decode(method.request, params_of(params)))

    async def listed(self, name: str, key: str, limit: int, **params: Any) -> list[Any]:
        """At most ``limit`` entries of a list method, over as many pages as it takes."""
        entries: list[Any] = []
        token = ""
        while len(entries) < limit:
            size = min(limit - len(entries), 500)
            page = await self.call(name, page_size=size, page_token=token, **params)
            entries += page[key]
            if not (token := page["nextPageToken"]):
                break
        return entries[:limit]


def params_of(text: str) -> Any:
    """Parameters typed as JSON. Raises :class:`UsageError`."""
    try:
        value = parse(text)
    except (NotJson, TooDeep) as error:
        raise UsageError(f"The parameters are not JSON: {error}.") from None
    if found := constant_pointer(value):
        raise UsageError(f'{found[1]} at {found[0]} is not JSON; write {{"$number":"{found[1]}"}}.')
    return value


@asynccontextmanager
async def connected(workspace: Path) -> AsyncIterator[Service]:
    """The service of ``workspace``, started for the time of the context if none runs."""
    served: Served = await asyncio.to_thread(serve_or_attach, workspace)
    link = Link(lambda: served)
    client = Client(served, Settings())
    try:
        await link.open()
        yield Service(link, client)
    finally:
        await link.close()
        await client.close()


def run_with(workspace: Path, work: Callable[[Service], Awaitable[int]], *, json_faults: bool = False) -> int:
    """Run ``work`` with the service of ``workspace``; the exit code, with what failed printed."""

    async def connect_and_work() -> int:
        async with connected(workspace) as service:
            return await work(service)

    try:
        return asyncio.run(connect_and_work())
    except BridgeFault as fault:
        print_fault(json.loads(fault.to_json()), as_json=json_faults)
        return Exit.USAGE if fault.code in _USAGE_CODES else Exit.FAILED
    except (ServerNotRunning, ServerStartFailed, UnsafeSocket) as error:
        complain(str(error))
        return Exit.NO_SERVER
    except FaultError as error:
        fault_json = {"code": error.code, "message": error.message, "pointer": error.pointer}
        print_fault({**fault_json, "details": dict(error.details)}, as_json=json_faults)
        return Exit.FAILED
    except (SchemaxisError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        complain(str(error))
        return Exit.FAILED
