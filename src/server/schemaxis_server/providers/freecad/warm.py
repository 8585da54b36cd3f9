"""Imported by a warm host before a job arrives: makes FreeCAD and its kernel fill their tables once.

A process forked from this one has the set-up of the first boolean and STEP translation behind it. A process
with threads cannot be forked: the kernel's booleans would start one for each processor, so they are shown one
processor while they decide how many there are; meshing starts one whatever it is shown, and costs little the
first time, so that it is left to the job.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from schemaxis_server.providers.freecad import application, exchange, measure, objects, topology
from schemaxis_server.providers.freecad.drawing import Drawing

import FreeCAD  # isort: skip


def _rehearse(folder: Path) -> None:
    application.work_below(folder)
    drawing = Drawing()
    block = objects.build(drawing, "block", "box", {"length": 4, "width": 4, "height": 4}, [], None)
    drill = objects.build(drawing, "drill", "cylinder", {"radius": 1, "height": 9}, [], None)
    part = objects.build(drawing, "part", "cut", {}, [block, drill], None)
    drawing.publish("part", part)
    shape = topology.body(drawing.shape(part))
    measured = measure.measure(shape)
    exchange.write_step(shape, folder / "part.step", "part", measured["volume"]["value"])
    exchange.write_brep(shape, folder / "part.brep")
    drawing.save(folder / "part.FCStd", "part")
    for name in list(FreeCAD.listDocuments()):
        FreeCAD.closeDocument(name)


def _on_one_processor() -> None:
    allowed = os.sched_getaffinity(0)
    folder = tempfile.mkdtemp(prefix="rehearsal-")
    os.sched_setaffinity(0, {min(allowed)})
    try:
        _rehearse(Path(folder))
    finally:
        os.sched_setaffinity(0, allowed)
        shutil.rmtree(folder, ignore_errors=True)


_on_one_processor()
