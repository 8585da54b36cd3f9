"""Where the socket lies, and making its place free without destroying what is not ours."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import tempfile
from pathlib import Path

from schemaxis_server.faults import Fault
from schemaxis_server.store.files import write_durably

SOCKET = "schemaxis.sock"
RECORD = "schemaxis.sock.json"
MAX_PATH_BYTES = 107
"""What the kernel's socket address holds, less its final zero byte."""


def choose(directory: Path, wanted: Path | None) -> Path:
    """The socket's path: the one asked for, ``<workspace>/schemaxis.sock``, or a short one instead.

    A workspace whose socket lies elsewhere records where in ``schemaxis.sock.json``. Raises
    ``INVALID_REQUEST`` when a path that was asked for is too long.
    """
    if wanted is not None:
        path = Path(os.path.abspath(wanted))
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            raise Fault(
                "INVALID_REQUEST",
                f"The socket's path has {len(os.fsencode(path))} bytes; give one of at most {MAX_PATH_BYTES}.",
            )
    else:
        path = directory / SOCKET
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            path = _runtime_directory() / (hashlib.sha256(os.fsencode(directory)).hexdigest()[:24] + ".sock")
    record = directory / RECORD
    if path != directory / SOCKET:
        # A copy of the workspace has this record too, and must not be taken for it.
        place = directory.stat()
        content = {"socket": str(path), "directory": [place.st_dev, place.st_ino]}
        write_durably(record, json.dumps(content).encode())
    else:
        record.unlink(missing_ok=True)
    return path


def _runtime_directory() -> Path:
    base = os.environ.get("XDG_RUNTIME_DIR")
    root = Path(base) if base and os.path.isdir(base) else Path(tempfile.gettempdir())
    directory = root / f"schemaxis-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise Fault(
            "INVALID_REQUEST",
            "The directory for short socket paths belongs to somebody else or is open to others; "
            "give a short --socket path.",
        )
    return directory


def clear(path: Path) -> None:
    """Remove a stale socket at ``path``. Only the holder of the workspace's lock may call this.

    Raises ``INVALID_REQUEST`` for anything that is not a socket of this user, and for one at which
    somebody listens, which is another workspace's; it stays untouched.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise Fault("INVALID_REQUEST", f"The socket's place cannot be used ({error.strerror}).") from error
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        raise Fault(
            "INVALID_REQUEST",
            f"At the socket's place {path.name} lies something that is not a socket of yours; "
            "move it away or give another --socket path.",
        )
    if _is_listening(path):
        raise Fault(
            "INVALID_REQUEST",
            f"Another service listens at {path}; give another --socket path, or stop that one.",
        )
    path.unlink()


def _is_listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except BlockingIOError:
            return True  # The queue of a busy listener is full.
        except OSError:
            return False
    return True
