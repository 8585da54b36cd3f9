"""FreeCAD inside of a host: found where the daemon says, without the user's settings, quiet when it dies.

Import this module before any of FreeCAD's. Standard library only, besides FreeCAD itself.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

from schemaxis_server.providers.freecad.location import LIBRARY_VARIABLE


def _prepare() -> None:
    library = os.environ.get(LIBRARY_VARIABLE, "")
    if library and library not in sys.path:
        # Last, so that nothing there hides a module of the standard library.
        sys.path.append(library)
    for name in ("HOME", "TMPDIR"):
        # Without them FreeCAD writes to the root of the file system, or does not start at all.
        if not os.path.isdir(os.environ.get(name, "")):
            os.environ[name] = tempfile.mkdtemp(prefix="freecad-")
    tempfile.tempdir = None


_prepare()

import FreeCAD  # noqa: E402

# FreeCAD turns a segmentation fault into an exit; a signal is the truth.
signal.signal(signal.SIGSEGV, signal.SIG_DFL)

NAME = "FreeCAD"
VERSION = ".".join(FreeCAD.Version()[:3])


def work_below(folder: Path) -> None:
    """Let FreeCAD keep its temporary files in ``folder``, which it decided on when it was loaded."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for setting in ("UserCachePath", "AppTempPath"):
        FreeCAD.ConfigSet(setting, f"{folder}/")
