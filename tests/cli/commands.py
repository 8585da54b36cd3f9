"""Runs the real command as a program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SECONDS = 60


def environment(workspace: Path, **more: str) -> Mapping[str, str]:
    """This process's environment with the workspace in it."""
    return {**os.environ, "SCHEMAXIS_WORKSPACE": str(workspace), **more}


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
