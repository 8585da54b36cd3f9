"""The bridge's connection to the service: attached to a running one, or to one that it started."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.message import Message

from schemaxis._channel import options, target
from schemaxis.bridge.faults import local_fault
from schemaxis.bridge.methods import Method
from schemaxis.errors import SchemaxisError
from schemaxis.process import STOP_SECONDS, Served

# How long a connection that broke may take to come back by itself.
_RECONNECT_SECONDS = 1.0

Starter = Callable[[], Served]


class Link:
    """The channel to the service and, where the bridge started it, its process."""

    def __init__(self, start: Starter) -> None:
        self._start = start
        self._served: Served | None = None
        self._channel: grpc.aio.Channel | None = None

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
        """Attach or start. Raises a :class:`SchemaxisError` that says what to do."""
        served = await asyncio.to_thread(self._start)
        if self._channel is not None:
            await self._channel.close()
        self._served = served
        self._channel = grpc.aio.insecure_channel(target(served.socket), options=options())
        await self._connected(STOP_SECONDS)

    async def ready(self) -> None:
        """Return when calls can be made, so that they leave in the order in which they are made.

        A server that is gone is waited for, or started again. Raises ``SHUTTING_DOWN``.
        """
        assert self._channel is not None
        if self._channel.get_state(try_to_connect=True) is grpc.ChannelConnectivity.READY:
            return
        if await self._connected(_RECONNECT_SECONDS):
            return
        try:
            await self._reopen()
        except SchemaxisError as error:
            raise local_fault("SHUTTING_DOWN", f"The service is not reachable: {error.message}") from error

    async def _reopen(self) -> None:
        if self._served is not None and self._served.owned is not None:
            await asyncio.to_thread(self._served.stop)
            self._served = None
        await self.open()

    async def _connected(self, seconds: float) -> bool:
        assert self._channel is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._channel.channel_ready()
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
        if self._channel is not None:
            await self._channel.close()
        if self._served is not None:
            await asyncio.to_thread(self._served.stop)


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()
