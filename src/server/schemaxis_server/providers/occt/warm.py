"""Imported by a warm host before a job arrives: makes the kernel fill its tables once.

The first STEP translation of a process, the first boolean and the first mesh cost several
milliseconds of set-up each; a process forked from this one has them behind it. It works in memory
and leaves nothing behind.
"""

from __future__ import annotations

import io

from OCP.BRepMesh import BRepMesh_IncrementalMesh
from OCP.STEPControl import STEPControl_Reader, STEPControl_StepModelType, STEPControl_Writer
from OCP.StlAPI import StlAPI_Writer

from schemaxis_server.providers.occt import host, measure, shapes


def _rehearse() -> None:
    host.silence()
    block = shapes.build("box", {"length": 4, "width": 4, "height": 4}, [], None)
    drill = shapes.build("cylinder", {"radius": 1, "height": 9}, [], None)
    part = shapes.build("cut", {}, [block, drill], None)
    measure.measure(part)
    writer = STEPControl_Writer()
    writer.Transfer(part, STEPControl_StepModelType.STEPControl_AsIs)
    step = io.BytesIO()
    writer.WriteStream(step)
    reader = STEPControl_Reader()
    reader.ReadStream("rehearsal", io.BytesIO(step.getvalue()))
    reader.TransferRoots()
    BRepMesh_IncrementalMesh(part, 0.1, False, 0.5, False)
    StlAPI_Writer().Write(part, io.BytesIO())


_rehearse()
