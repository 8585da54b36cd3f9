"""Barriers: named instants at which a test can hold the service, for instance to kill it there.

Off unless the environment names a directory. At instant ``verifying``, when the directory
holds a file of that name, the service writes ``verifying.reached`` and waits until the file
is gone.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from schemaxis_server.execution.attempt import Barrier

VARIABLE = "SCHEMAXIS_BARRIERS"
_POLL_SECONDS = 0.005


def from_environment() -> Barrier:
    """The barrier that the environment asks for; one that never holds if it asks for none."""
    name = os.environ.get(VARIABLE)
    directory = Path(name) if name else None

    async def barrier(instant: str) -> None:
        if directory is None or not (directory / instant).exists():
            return
        (directory / f"{instant}.reached").touch()
        while (directory / instant).exists():
            await asyncio.sleep(_POLL_SECONDS)

    return barrier
