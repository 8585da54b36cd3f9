"""Hosts whose engine is a program of its own: started ahead of each job, or kept for many."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit

Json = dict[str, Any]

_ANSWERS = 'while read line; do echo $$ "$line" $(ulimit -n); done'


def start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["/bin/sh", "-c", _ANSWERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def ask(request: Json, kit: Kit) -> Json:
    engine = kit.ahead
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write("hello\n")
    engine.stdin.flush()
    _, said, files = engine.stdout.readline().split()
    return {"said": said, "files": int(files)}


def fail_ahead() -> None:
    raise OSError("no engine here")


def resident(request: Json, kit: Kit) -> Json:
    """Tell the process id of the engine that the warm process started."""
    from native import resident_engine

    if request.get("fail"):
        raise ValueError("told to")
    return {"engine": resident_engine.PID}


def wait(request: Json, kit: Kit) -> Json:
    Path("waiting").touch()
    print("waiting", flush=True)  # noqa: T201
    signal.pause()
    return {}
