"""Finds an installed FreeCAD and its version, without loading it where the packages say enough."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.providers.contract import Engine

_NAME = "FreeCAD"
_MODULE = "FreeCAD.so"
_DEFAULT = Path("/usr/lib/freecad-python3/lib")
_PYTHON = Path("/usr/bin/python3")
_INSTALL = "apt-get install freecad-python3"
_BELOW_PREFIX = (
    "",
    "lib",
    "lib/freecad-python3/lib",
    "lib/freecad/lib",
    "usr/lib",
    "usr/lib/freecad-python3/lib",
)
_PACKAGES = Path("/var/lib/dpkg")
_START_SECONDS = 20.0
_ASK = (
    "import os, sys\n"
    "sys.path.append(sys.argv[1])\n"
    "import FreeCAD\n"
    "sys.stdout.write('\\nversion ' + '.'.join(FreeCAD.Version()[:3]) + '\\n')\n"
    "sys.stdout.flush()\n"
    "os._exit(0)\n"
)


@dataclass(frozen=True, slots=True)
class Installation:
    """``library`` is the folder of FreeCAD's modules, ``python`` the interpreter that they are made for."""

    library: str
    python: str


def of(module: str) -> Installation:
    """The installation that a module belongs to; ``module`` is the path of :func:`look`'s engine."""
    library = Path(module).parent if module else _DEFAULT
    for prefix in (library.parent, library.parent.parent):
        own = prefix / "bin" / "python"
        # One of its own goes before the system's: modules are made for one version of Python.
        if prefix not in (Path("/usr"), Path("/")) and own.exists():
            return Installation(str(library), str(own))
    return Installation(str(library), str(_PYTHON))


def look(location: str | None) -> Engine:
    """The engine at ``location``, or at Debian's place. Its path is that of the module ``FreeCAD.so``."""
    module = _module(location)
    if module is None:
        where = f"there is no {_MODULE} at {location}" if location else f"{_DEFAULT / _MODULE} is not there"
        return Engine(_NAME, "", "", False, where, _INSTALL)
    found = of(str(module))
    if not os.access(found.python, os.X_OK):
        problem = f"its interpreter {found.python} is not there"
        return Engine(_NAME, "", str(module), False, problem, "apt-get install python3")
    version, problem = _version(module, found)
    return Engine(_NAME, version, str(module), not problem, problem, _INSTALL if problem else "")


def _module(location: str | None) -> Path | None:
    if not location:
        return _DEFAULT / _MODULE if (_DEFAULT / _MODULE).is_file() else None
    given = Path(location).expanduser()
    if given.is_file() and given.name == _MODULE:
        return given
    starts = [given]
    if given.is_file():
        # A command: the folder above the one it lies in, with the links that lead to it followed or not.
        starts = [given.parent.parent, given.resolve().parent.parent]
    for start in starts:
        for below in _BELOW_PREFIX:
            module = start / below / _MODULE
            if module.is_file():
                return module
    return None


_versions: dict[tuple[str, str, int, int], tuple[str, str]] = {}


def _version(module: Path, found: Installation) -> tuple[str, str]:
    """The version and an empty text, or nothing and the problem; asked once for each state of the module."""
    state = module.stat()
    key = (str(module), found.python, state.st_mtime_ns, state.st_size)
    if key not in _versions:
        packaged = _packaged_version(module)
        _versions[key] = (packaged, "") if packaged else _asked_version(found)
    return _versions[key]


def _packaged_version(module: Path, packages: Path = _PACKAGES) -> str:
    """The upstream version of the Debian package that a module came with, or nothing."""
    line = f"\n{module}\n"
    for listing in sorted((packages / "info").glob("*freecad*.list")):
        try:
            if line in listing.read_text("utf-8", "replace"):
                return _status_version(packages / "status", listing.stem.split(":")[0])
        except OSError:
            continue
    return ""


def _status_version(status: Path, package: str) -> str:
    name = f"\nPackage: {package}\n"
    text = "\n" + status.read_text("utf-8", "replace")
    start = text.find(name)
    if start < 0:
        return ""
    for line in text[start + 1 :].split("\n\n", 1)[0].splitlines():
        if line.startswith("Version: "):
            # Of [epoch:]upstream[+what Debian took out][-revision].
            return line.removeprefix("Version: ").split(":")[-1].split("-")[0].split("+")[0]
    return ""


def _asked_version(found: Installation) -> tuple[str, str]:
    """What FreeCAD itself says, which takes a third of a second."""
    try:
        done = subprocess.run(  # noqa: S603, RUF100
            [found.python, "-I", "-c", _ASK, found.library],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_START_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return "", f"{found.python} cannot load it ({type(problem).__name__})"
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith("version "):
            return line.removeprefix("version "), ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return (
        "",
        f"{found.python} cannot load it ({said[0][:200] if said else f'exit status {done.returncode}'})",
    )
