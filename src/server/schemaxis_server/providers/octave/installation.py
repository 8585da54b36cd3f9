"""Finds an installed GNU Octave and its version, starting it once for each state of its file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from schemaxis_server.providers.contract import Engine

_NAME = "GNU Octave"
_PROGRAM = "octave-cli"
_INSTALL = "apt-get install octave"
_START_SECONDS = 20.0
_VERSION = re.compile(rb"GNU Octave, version (\d+)\.([\w.+-]+)")
_OLDEST = 6


def look(location: str | None) -> Engine:
    """The engine at ``location``, which is the program or a folder that holds it or ``bin``; or that on PATH."""
    program = _program(location)
    if program is None:
        where = f"there is no {_PROGRAM} at {location}" if location else f"{_PROGRAM} is not on PATH"
        return Engine(_NAME, "", "", False, where, _INSTALL)
    version, problem = _version(program)
    return Engine(_NAME, version, str(program), not problem, problem, _INSTALL if problem else "")


def _program(location: str | None) -> Path | None:
    if not location:
        found = shutil.which(_PROGRAM)
        return Path(found).absolute() if found else None
    given = Path(location).expanduser()
    for path in (given, given / _PROGRAM, given / "bin" / _PROGRAM):
        if path.is_file() and os.access(path, os.X_OK):
            return path.absolute()
    return None


_versions: dict[tuple[str, int, int], tuple[str, str]] = {}


def _version(program: Path) -> tuple[str, str]:
    """The version and an empty text, or nothing and the problem."""
    try:
        state = program.stat()
    except OSError as reason:
        return "", f"{program} cannot be looked at ({reason.strerror})"
    key = (str(program), state.st_mtime_ns, state.st_size)
    if key not in _versions:
        try:
            _versions[key] = _asked_version(program)
        except (OSError, subprocess.TimeoutExpired) as problem:
            # On a busy machine that may be otherwise the next time.
            return "", f"{program} does not tell its version ({type(problem).__name__})"
    return _versions[key]


def _asked_version(program: Path) -> tuple[str, str]:
    done = subprocess.run(  # noqa: S603, RUF100
        [str(program), "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_START_SECONDS,
        check=False,
    )
    found = _VERSION.match(done.stdout)
    if found is None:
        return "", f"{program} does not tell its version; is it GNU Octave?"
    version = f"{found[1].decode()}.{found[2].decode()}"
    if int(found[1]) < _OLDEST:
        return version, f"{program} is of version {version}; {_OLDEST} or later is needed"
    return version, ""
