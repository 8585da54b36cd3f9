"""The workspace's directory."""

from __future__ import annotations

import os
from pathlib import Path

from schemaxis_server.faults import Fault
from schemaxis_server.store.files import make_directory

_OURS = ("jobs", "lock", "objects", "plans", "run")
_MARKS = ("schemaxis.db", "schemaxis.format")
_SHOWN = 3


def own_directory(workspace: Path) -> Path:
    """The workspace's directory, absolute, made if need be, private to its user (0700).

    Raises ``INVALID_REQUEST`` for a place that cannot be used, and for a directory that is in use
    for something else, which stays as it is.
    """
    directory = Path(os.path.abspath(workspace))
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        make_directory(directory)
        if foreign := foreign_names(directory):
            shown = ", ".join(foreign[:_SHOWN]) + (" …" if len(foreign) > _SHOWN else "")
            raise Fault(
                "INVALID_REQUEST",
                f"The directory {directory.name} is no workspace and holds other things ({shown}); name a new "
                "or an empty one.",
            )
        os.chmod(directory, 0o700)
    except OSError as error:
        raise Fault(
            "INVALID_REQUEST",
            f"The workspace directory cannot be used ({error.strerror}); name one that you own.",
        ) from error
    return directory


def foreign_names(directory: Path) -> list[str]:
    """What makes a directory another's: names that are not ours, where no workspace was opened yet.

    Raises :class:`OSError`.
    """
    names = os.listdir(directory)
    if any(mark in names for mark in _MARKS):
        return []
    return sorted(name for name in names if not name.startswith("schemaxis.") and name not in _OURS)
