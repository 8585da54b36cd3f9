"""The bridge's connection to the service: attached to a running one, or to one that it started."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message

from schemaxis._channel import options, target
from schemaxis.aio.awaiting import in_thread
from schemaxis.bridge.faults import local_fault
from schemaxis.bridge.methods import Method
from schemaxis.errors import SchemaxisError, ServerNotRunning
from schemaxis.process import Served

# How long a connection that broke may take to come back by itself.
_RECONNECT_SECONDS = 1.0
# How long a server that listens may take to accept a connection.
_ACCEPT_SECONDS = 10.0

Starter = Callable[[], Served]


class Link:
    """The channel to the service and, where the bridge started it, its process."""

    def __init__(self, start: Starter) -> None:
        self._start = start
        self._served: Served | None = None
        self._channel: grpc.aio.Channel | None = None
        self._opening: asyncio.Task[None] | None = None

    @property
    def owned(self) -> bool:
        """Whether the bridge started the server."""
        return self._served is not None and self._served.owned is not None

    @property
    def channel(self) -> grpc.aio.Channel:
        """The channel, once the link is open."""
        assert self._channel is not None
        return self._channel

    async def open(self) -> None:
        """Attach or start, unless the link is open. Raises a :class:`SchemaxisError` that says what to do.

        However many open it at once, one of them attaches or starts; who is cancelled leaves the others
        what was begun.
        """
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)

    async def ready(self) -> None:
        """Return when calls can be made, so that they leave in the order in which they are made.

        A server that is gone is waited for, or started again. Raises ``SHUTTING_DOWN``.
        """
        if self._is_ready() or await self._connected(_RECONNECT_SECONDS):
            return
        try:
            await self.open()
        except SchemaxisError as error:
            raise local_fault("SHUTTING_DOWN", f"The service is not reachable: {error.message}") from error

    async def _open(self) -> None:
        if self._channel is not None and self._is_ready():
            return
        # A server of ours that runs is slow, not gone: beside it another one could only be attached to it.
        if self._served is None or self._served.owned is None or not self._served.owned.running:
            await self._serve()
        if not await self._connected(_ACCEPT_SECONDS):
            assert self._served is not None
            raise ServerNotRunning(
                f"The server at {self._served.socket} accepts no connection: start it again."
            )

    async def _serve(self) -> None:
        before: Path | None = None
        if self._served is not None:
            before = self._served.socket
            await in_thread(self._served.stop)
        self._served = await in_thread(self._start)
        if self._served.socket == before:
            # The channel reconnects by itself, and to close it would end the calls that others make on it.
            return
        left, self._channel = (
            self._channel,
            grpc.aio.insecure_channel(target(self._served.socket), options=options()),
        )
        if left is not None:
            await left.close()

    def _is_ready(self) -> bool:
        return self.channel.get_state(try_to_connect=True) is grpc.ChannelConnectivity.READY

    async def _connected(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.channel.channel_ready()
                return True
        return False

    def call(self, method: Method, request: Message) -> grpc.aio.UnaryUnaryCall[Any, Any]:
        """Start a unary call."""
        return self.channel.unary_unary(
            method.path,
            request_serializer=_serialize,
            response_deserializer=method.response_class.FromString,
        )(request)

    def stream(self, method: Method, request: Message) -> grpc.aio.UnaryStreamCall[Any, Any]:
        """Start a streaming call."""
        return self.channel.unary_stream(
            method.path,
            request_serializer=_serialize,
            response_deserializer=method.response_class.FromString,
        )(request)

    async def close(self) -> None:
        """Close the channel and, where the bridge started the server, let it drain and end."""
        if self._opening is not None:
            # A start cannot be called back, and its server is to be stopped with the rest.
            await asyncio.wait([self._opening])
        if self._channel is not None:
            await self._channel.close()
        if self._served is not None:
            await in_thread(self._served.stop)


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()
