"""Runs the real command as a program."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

SECONDS = 60

BOX = {
    "version": "schemaxis.occt/1",
    "nodes": [{"id": "body", "filter": "box", "options": {"length": 20, "width": 10, "height": 5}}],
    "output": "body",
}


def environment(workspace: Path, **more: str) -> Mapping[str, str]:
    """This process's environment with the workspace in it."""
    return {**os.environ, "SCHEMAXIS_WORKSPACE": str(workspace), **more}


def on_terminal(workspace: Path, *arguments: str, width: int, **more: str) -> str:
    """What ``schemaxis`` writes to a terminal of that width, both streams together."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, width))
    unset = {name: value for name, value in environment(workspace, TERM="xterm").items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "schemaxis", *arguments], stdout=theirs, stderr=theirs, env={**unset, **more}
    )
    os.close(theirs)
    shown = b""
    # Reading fails once nobody has the other end open.
    with contextlib.suppress(OSError):
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    process.wait(SECONDS)
    return shown.decode().replace("\r\n", "\n")


def schemaxis(
    workspace: Path, *arguments: str, stdin: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run ``schemaxis`` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "schemaxis", *arguments],
        input=stdin,
        capture_output=True,
        timeout=SECONDS,
        check=False,
        cwd=cwd,
        env=environment(workspace),
    )
