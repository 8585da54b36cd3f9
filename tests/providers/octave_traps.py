"""A host like the octave producer whose Octave has operations that go wrong; see the folder octave_traps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.octave import session as octave

FOLDERS = (octave.SCRIPTS, Path(__file__).with_name("octave_traps"))


def start() -> octave.Session:
    return octave.Session(os.environ.get(octave.PROGRAM_VARIABLE) or "octave-cli", FOLDERS)


def run(request: dict[str, Any], kit: Kit) -> dict[str, Any]:
    """Call the operation that the request names."""
    with octave.at_work(kit) as session:
        answer = session.call(request["operation"], *request.get("arguments", ()))
        return {"results": [one.tolist() for one in answer.results], "warnings": answer.warnings}
