"""Finds an installed LibreOffice Calc and its version, without starting it. Standard library only."""

from __future__ import annotations

import os
import re
from pathlib import Path

from schemaxis_server.providers.contract import Engine

PROGRAM_VARIABLE = "SCHEMAXIS_CALC_PROGRAM"
"""The environment variable that tells a host the path of ``soffice.bin``."""

NAME = "LibreOffice Calc"
INSTALL = "apt-get install libreoffice-calc python3-uno"

_DEFAULT = Path("/usr/lib/libreoffice/program/soffice.bin")
_PROGRAM = "soffice.bin"
_CALC = "libsclo.so"
_PYTHON = Path("/usr/bin/python3")
_UNO = ("python3/dist-packages/uno.py", "python3*/site-packages/uno.py")
_STATUS = Path("/var/lib/dpkg/status")
_PACKAGES = ("libreoffice-core", "libreoffice-core-nogui")


def look(location: str | None) -> Engine:
    """The engine at ``location`` (``soffice.bin``, its folder, or the installation's), or at Debian's place."""
    program = _program(location)
    if program is None:
        where = location or str(_DEFAULT)
        return Engine(NAME, "", "", False, f"there is no {_PROGRAM} at {where}", INSTALL)
    if not program.with_name(_CALC).is_file():
        return Engine(NAME, "", str(program), False, f"Calc ({_CALC}) is not beside {program}", INSTALL)
    problem = _python_problem(program)
    return Engine(NAME, _version(program), str(program), not problem, problem, INSTALL if problem else "")


def python_of(program: str) -> str:
    """The interpreter that has UNO for a program: one of its own, as LibreOffice's own packages have, or the system's."""
    own = Path(program).with_name("python")
    return str(own) if own.is_file() and os.access(own, os.X_OK) else str(_PYTHON)


def _program(location: str | None) -> Path | None:
    if not location:
        return _DEFAULT if _DEFAULT.is_file() else None
    given = Path(location).expanduser()
    for one in (given, given / _PROGRAM, given / "program" / _PROGRAM, given.resolve().with_name(_PROGRAM)):
        if one.is_file() and one.name == _PROGRAM:
            return one
    return None


def _python_problem(program: Path) -> str:
    python = python_of(str(program))
    if not os.access(python, os.X_OK):
        return f"its interpreter {python} is not there"
    if python == str(_PYTHON) and not any(
        True for folder in ("/usr/lib", "/usr/lib64") for name in _UNO for _ in Path(folder).glob(name)
    ):
        return f"{python} has no module uno"
    return ""


def _version(program: Path) -> str:
    """The version of Debian's package, or the shorter one that stands beside the program; empty if neither does."""
    if program.resolve() == _DEFAULT.resolve():
        packaged = _packaged_version(_STATUS)
        if packaged:
            return packaged
    try:
        text = program.with_name("bootstraprc").read_text("utf-8", "replace")
    except OSError:
        return ""
    found = re.search(r"^ProductKey=\D*([0-9][0-9.]*)", text, re.MULTILINE)
    return found[1] if found else ""


def _packaged_version(status: Path) -> str:
    try:
        text = "\n" + status.read_text("utf-8", "replace")
    except OSError:
        return ""
    for package in _PACKAGES:
        start = text.find(f"\nPackage: {package}\n")
        stanza = text[start + 1 :].split("\n\n", 1)[0] if start >= 0 else ""
        found = re.search(r"^Version: (?:\d+:)?([0-9][0-9.]*)", stanza, re.MULTILINE)
        if found and re.search("^Status: .* installed$", stanza, re.MULTILINE):
            return found[1]
    return ""
