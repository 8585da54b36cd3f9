"""A FreeCAD document that is being built: objects are added, computed at once and asked whether they are sound."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.providers.freecad import application  # noqa: F401 - FreeCAD is found by it

import FreeCAD  # isort: skip
import Part  # isort: skip

Object = Any

_UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_LINK = "App::Link"


class Failed(Exception):
    """FreeCAD could not compute an object; the text is what it said."""


class Drawing:
    """One document, never shown."""

    def __init__(self) -> None:
        self._document = FreeCAD.newDocument("model", hidden=True)
        self._document.UndoMode = 0
        self._document.CreatedBy = "schemaxis"
        self._published: dict[str, Object] = {}

    def add(self, kind: str, label: str, **properties: Any) -> Object:
        """An object of FreeCAD's type ``kind``, computed. Raises :class:`Failed`."""
        made = self._document.addObject(kind, re.sub(r"[^A-Za-z0-9]", "_", label))
        made.Label = label
        for name, value in properties.items():
            setattr(made, name, value)
        self.compute(made)
        return made

    def combine(self, kind: str, label: str, **properties: Any) -> Object:
        """A boolean whose faces and edges that continue each other are made one, where that is sound."""
        made = self.add(kind, label, Refine=True, **properties)
        if not self.shape(made).isValid():
            made.Refine = False
            self.compute(made)
        return made

    def compute(self, made: Object) -> None:
        """Compute an object alone. Raises :class:`Failed`, since FreeCAD itself only takes a note."""
        # Not by its document, which looks through all that it holds each time.
        if not made.recompute() or not made.isValid():
            raise Failed(made.getStatusString())
        made.purgeTouched()

    def shape(self, made: Object) -> Any:
        """The shape of an object, a link's among them, in place."""
        return Part.getShape(made)

    def publish(self, name: str, made: Object) -> None:
        """Make sure that the file holds the shape of a node's object, which that of a link does not."""
        if made.TypeId == _LINK:
            made = self.add("Part::Compound", f"shape of {name}", Links=[made])
        self._published[name] = made

    def save(self, path: Path, name: str) -> None:
        """Write the whole document with one of the published objects to be seen."""
        for one in self._document.Objects:
            one.Visibility = one is self._published[name]
        self._document.Label = name
        self._document.recompute()
        self._document.saveCopy(str(path))


def vector(values: Sequence[float]) -> Any:
    return FreeCAD.Vector(*values)


def unit(direction: str | Sequence[float]) -> tuple[float, float, float]:
    """A direction by name or by a vector, at length 1."""
    if isinstance(direction, str):
        return _UNIT[direction]
    length = math.hypot(*direction)
    return (direction[0] / length, direction[1] / length, direction[2] / length)


def rotation(axis: str | Sequence[float], degrees: float) -> Any:
    return FreeCAD.Rotation(vector(unit(axis)), degrees)
