"""Imported by a warm verifier before a job arrives: goes once through what a verification uses.

The first use of NumPy's and manifold3d's functions in a process costs some twenty milliseconds.
"""

from __future__ import annotations

import numpy as np

from schemaxis_server.providers.geometry import closed_form, mesh, picture, second_kernel
from schemaxis_server.providers.occt import verifier, warm

__all__ = ["verifier", "warm"]

_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float64)
_SIDES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], dtype=np.int64)
_SIZE = {"length": 1.0, "width": 1.0, "height": 1.0}
# A box and nothing larger: over larger meshes manifold3d starts threads, and a process that has any cannot
# be forked.
_BOX = {"nodes": [{"id": "box", "filter": "box", "options": _SIZE, "inputs": []}]}


def _rehearse() -> None:
    closed_form.forms(_BOX)
    second_kernel.rebuild(_BOX, "box")
    tetrahedron = mesh.Mesh(_CORNERS, _SIDES)
    mesh.is_closed(tetrahedron)
    mesh.integrate(tetrahedron)
    picture.preview(tetrahedron)


_rehearse()
