"""The workspace's directory."""

from __future__ import annotations

import os
from pathlib import Path

from schemaxis_server.faults import Fault
from schemaxis_server.store.files import make_directory


def own_directory(workspace: Path) -> Path:
    """The workspace's directory, absolute, made if need be, private to its user (0700).

    Raises ``INVALID_REQUEST`` for a place that cannot be used.
    """
    directory = Path(os.path.abspath(workspace))
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        make_directory(directory)
        os.chmod(directory, 0o700)
    except OSError as error:
        raise Fault(
            "INVALID_REQUEST",
            f"The workspace directory cannot be used ({error.strerror}); name one that you own.",
        ) from error
    return directory
