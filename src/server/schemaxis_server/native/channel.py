"""Messages between the daemon, a zygote, an init and a worker: one JSON object a packet.

The sockets are ``SOCK_SEQPACKET`` pairs, so a message is whole or absent, and descriptors
travel with the message that speaks of them. Standard library only.
"""

from __future__ import annotations

import array
import json
import os
import select
import socket
from collections.abc import Sequence
from typing import Any

MESSAGE_BYTES = 128 * 1024
_DESCRIPTORS = 8
_INT_BYTES = array.array("i").itemsize


def channel() -> tuple[socket.socket, socket.socket]:
    """Two connected ends. Neither survives an exec unless it is passed on by name."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message. Raises ``BrokenPipeError`` when the other end is gone."""
    payload = json.dumps(message).encode("ascii")
    ancillary = []
    if descriptors:
        ancillary.append((socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors)))
    end.sendmsg([payload], ancillary)


def tell(end: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message to whoever may have gone; then there is nobody to be told."""
    try:
        send(end, message, descriptors)
    except (BrokenPipeError, ConnectionResetError):
        return


def receive(end: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message with its descriptors (the caller's to close), or None at the end.

    Raises ``BlockingIOError`` when the socket does not block and nothing has come.
    """
    space = socket.CMSG_SPACE(_DESCRIPTORS * _INT_BYTES)
    try:
        payload, ancillary, _flags, _address = end.recvmsg(MESSAGE_BYTES, space, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return None
    descriptors: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            received = array.array("i")
            received.frombytes(data[: len(data) - len(data) % _INT_BYTES])
            descriptors.extend(received)
    if not payload:
        close_all(descriptors)
        return None
    message: dict[str, Any] = json.loads(payload)
    return message, descriptors


def hung_up(end: socket.socket) -> bool:
    """Whether the other end has closed."""
    poll = select.poll()
    poll.register(end, 0)
    return bool(poll.poll(0))


def close_all(descriptors: Sequence[int]) -> None:
    """Close descriptors that were received or made for somebody else."""
    for descriptor in descriptors:
        os.close(descriptor)
