"""Finding the socket of a workspace's server, and refusing what must not be talked to."""

from __future__ import annotations

import json
import os
import socket as sockets
import stat
from pathlib import Path

from schemaxis.errors import ServerNotRunning, UnsafeSocket

SOCKET_NAME = "schemaxis.sock"
POINTER_NAME = "schemaxis.sock.json"

Workspace = str | os.PathLike[str]


def locate_socket(workspace: Workspace) -> Path:
    """The absolute path at which the workspace's server listens, or would.

    It is ``schemaxis.sock`` in the workspace, unless the server recorded another one there: because
    that path is too long for a socket, or because it was told to. A server that listens at
    ``schemaxis.sock`` removes the record. In a copy of a workspace the record is the original's.
    """
    root = Path(workspace).absolute()
    try:
        record = json.loads((root / POINTER_NAME).read_bytes())
        recorded, place = record["socket"], root.stat()
        own = [place.st_dev, place.st_ino]
        if record.get("directory", own) != own:
            return root / SOCKET_NAME
    except (FileNotFoundError, NotADirectoryError):
        return root / SOCKET_NAME
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise ServerNotRunning(
            f"{root / POINTER_NAME} cannot be read ({error}): start the server again, it writes it anew."
        ) from error
    if not isinstance(recorded, str) or not os.path.isabs(recorded):
        raise UnsafeSocket(f"{root / POINTER_NAME} names no absolute path: start the server again.")
    return Path(recorded)


def check_socket(path: Path) -> None:
    """Refuse a path that must not be connected to.

    Raises ``ServerNotRunning`` when nothing is there, ``UnsafeSocket`` when what is there is no
    socket (a symbolic link is none) or belongs to another user.
    """
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise ServerNotRunning(f"There is no socket at {path}: start a server for the workspace.") from None
    except PermissionError:
        raise UnsafeSocket(f"{path} cannot be looked at: its directory belongs to somebody else.") from None
    if not stat.S_ISSOCK(found.st_mode):
        raise UnsafeSocket(f"{path} is not a socket: move it away, then start a server.")
    if found.st_uid != os.getuid():
        raise UnsafeSocket(
            f"{path} belongs to user {found.st_uid}, not to you ({os.getuid()}): use a workspace of your own."
        )


def is_listening(path: Path) -> bool:
    """Whether a process accepts connections at the socket; a stale socket is ``False``."""
    probe = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    with probe:
        probe.settimeout(5.0)
        try:
            probe.connect(os.fspath(path))
        except BlockingIOError:
            return True  # The queue of a busy server is full: somebody listens.
        except OSError:
            return False
    return True


def is_serving(workspace: Workspace) -> bool:
    """Whether a server of ours serves the workspace now.

    Raises ``UnsafeSocket`` when something that must not be talked to lies at the path.
    """
    try:
        path = locate_socket(workspace)
        check_socket(path)
    except ServerNotRunning:
        return False
    return is_listening(path)


def attachable_socket(workspace: Workspace) -> Path:
    """The socket of the server that serves the workspace now.

    Raises ``ServerNotRunning`` when none does, ``UnsafeSocket`` when the path must not be used.
    """
    path = locate_socket(workspace)
    check_socket(path)
    if not is_listening(path):
        raise ServerNotRunning(
            f"The server of {Path(workspace).absolute()} is gone and left its socket: start it again."
        )
    return path
