"""The exceptions of the kernel, which share no base class in Python."""

from __future__ import annotations

from importlib import import_module

_MODULES = (
    "Standard",
    "StdFail",
    "BRepExtrema",
    "Geom",
    "GProp",
    "gp",
    "Interface",
    "math",
    "OSD",
    "TopoDS",
    "Transfer",
)

KERNEL_FAILURES: tuple[type[Exception], ...] = tuple(
    member
    for module in _MODULES
    for member in vars(import_module(f"OCP.{module}")).values()
    if isinstance(member, type) and issubclass(member, Exception)
)
"""What a call into the kernel may raise when it cannot do what it was asked."""
