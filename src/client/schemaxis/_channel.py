"""How a channel to the server's socket is made."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

RECEIVE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How patient a client is.

    ``call_seconds`` bounds one ordinary call; ``patience_seconds`` is how long a broken connection,
    or a server that restarts, is borne before the call, watch or download fails.
    """

    call_seconds: float = 60.0
    patience_seconds: float = 10.0


def target(socket: Path) -> str:
    """The gRPC target of a socket. A target is percent-decoded, so whatever is special is encoded."""
    return "unix:" + quote(os.fsencode(socket), safe="/")


def options() -> Sequence[tuple[str, str | int]]:
    """Channel options: local only, prompt reconnection, bounded messages."""
    return (
        # Without it the encoded path is sent as the authority, which some servers refuse.
        ("grpc.default_authority", "localhost"),
        ("grpc.enable_http_proxy", 0),
        ("grpc.max_receive_message_length", RECEIVE_BYTES),
        # A server that restarts on this machine is back within moments.
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.min_reconnect_backoff_ms", 50),
        ("grpc.max_reconnect_backoff_ms", 500),
        # Otherwise clients of one process would share their reconnection pauses.
        ("grpc.use_local_subchannel_pool", 1),
    )


def new_request_id() -> str:
    """A request id that nobody else uses."""
    return f"py-{secrets.token_hex(16)}"
