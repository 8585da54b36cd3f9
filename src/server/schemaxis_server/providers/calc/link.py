"""The link from a job's process to the office: UNO over a connection that this process makes itself.

UNO's own connector looks for the socket in /tmp, where an office with a /tmp of its own is not to be found.
"""

from __future__ import annotations

import socket
from typing import Any

import uno
import unohelper  # type: ignore[import-not-found]
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import XConnection

from schemaxis_server.providers.calc.office import Office


class _Connection(unohelper.Base, XConnection):  # type: ignore[misc]
    """A connected socket as UNO's bridge wants it."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def read(self, data: Any, wanted: int) -> tuple[int, Any]:
        """Less than ``wanted`` bytes only at the end."""
        received = bytearray()
        while len(received) < wanted:
            part = self._socket.recv(wanted - len(received))
            if not part:
                break
            received += part
        return len(received), uno.ByteSequence(bytes(received))

    def write(self, data: Any) -> None:
        self._socket.sendall(data.value)

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def getDescription(self) -> str:  # noqa: N802
        return "office"


def connect(office: Office) -> Any:
    """The office's component context. Starts threads, so that no process can be forked from this one any more."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # By the descriptor: a path may be longer than an address can be, and lies in another mount namespace.
    connected.connect(f"/proc/self/fd/{office.sockets}/{office.socket}")
    local = uno.getComponentContext()
    factory = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.BridgeFactory", local)
    bridge = factory.createBridge("", "urp", _Connection(connected), None)
    context = bridge.getInstance("StarOffice.ComponentContext")
    if context is None:
        raise ConnectionError("The office gives no component context")
    return context


def created(context: Any, service: str) -> Any:
    """A service of the office."""
    return context.ServiceManager.createInstanceWithContext(service, context)


def properties(**values: Any) -> tuple[Any, ...]:
    """Named arguments of a UNO call."""
    return tuple(PropertyValue(name, 0, value, 0) for name, value in values.items())


def any_of(kind: str, value: Any) -> Any:
    """A value of a UNO type that Python would not choose by itself."""
    return uno.Any(kind, value)
