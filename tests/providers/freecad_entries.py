"""Hosts that misbehave inside FreeCAD's interpreter. Like any host: standard library, FreeCAD, the host kit."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.freecad import application  # noqa: F401 - FreeCAD is found by it

import FreeCAD  # isort: skip
import Part  # isort: skip


def segmentation_fault(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Ask for one by a signal, or reach for nothing."""
    if request["real"]:
        ctypes.string_at(0)
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def hang(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    print("hanging", flush=True)  # noqa: T201
    time.sleep(600)
    return {}


def long_boolean(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """A union inside the kernel that takes minutes, so that Python hears of no signal meanwhile."""
    rings = []
    for index in range(60):
        ring = Part.makeTorus(10 + index * 0.07, 3)
        ring.rotate(FreeCAD.Vector(), FreeCAD.Vector(1, index * 0.31, 0.2), index * 7.3)
        rings.append(ring)
    print("uniting", flush=True)  # noqa: T201
    united = rings[0].multiFuse(rings[1:])
    return {"volume": united.Volume}


def surroundings(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """What the worker finds itself in."""
    document = FreeCAD.newDocument("probe", hidden=True)
    return {
        "threads": len(os.listdir("/proc/self/task")),
        "home": os.environ["HOME"],
        "transient": document.TransientDir,
        "loaded": sorted(
            name
            for name, module in sys.modules.items()
            if "site-packages" in (getattr(module, "__file__", None) or "")
        ),
        "foreign": sorted(name for name in sys.modules if name.split(".")[0] in ("numpy", "OCP", "msgspec")),
        "python": sys.executable,
    }
