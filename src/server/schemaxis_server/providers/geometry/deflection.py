"""How closely a published mesh follows its surface. Standard library only: hosts import it too."""

from __future__ import annotations

import math
from collections.abc import Sequence

# The mesh is to stay this close to the surface, as a part of the bounding box's diagonal; the mesher
# refuses what its own tolerance of 1e-7 mm cannot tell apart.
_OF_DIAGONAL = 5e-4
_LEAST = 1e-6

ANGLES_RADIANS = (0.3, 0.15, 0.075, 0.0375)
"""Between neighbouring triangles, the first one that will do."""
OF_ALLOWED_VOLUME = 0.7
"""Of area times deflection: what an honest mesh may lie off; it was seen to use up to 0.56."""


def mesh_deflection(low: Sequence[float], high: Sequence[float]) -> float:
    """How far, in mm, the mesh of a shape with this bounding box may lie from its surface."""
    return max(_LEAST, _OF_DIAGONAL * math.dist(low, high))
