"""The geometry vocabulary: what every CAD provider offers under the same names.

Conventions, stated once and repeated where an agent reads them: right-handed axes, lengths in
mm, angles in degrees; a box has a corner at the origin and grows along +x, +y, +z; round
primitives stand on the z axis; extrusions start in the xy plane and grow along +z; revolved
profiles lie in the xz plane.
"""

from __future__ import annotations

from schemaxis_server.providers.contract import ArtifactKind, Operation, Quantity
from schemaxis_server.providers.geometry.modifiers import booleans, features, patterns, transforms
from schemaxis_server.providers.geometry.sources import import_step, primitives, sweeps

QUANTITIES = (
    Quantity("volume", "mm^3", "The enclosed volume."),
    Quantity("area", "mm^2", "The area of all faces."),
    Quantity("boundingBox", "mm", "min, max and size along x, y, z of the tight axis-aligned box."),
    Quantity("centerOfMass", "mm", "The centroid [x, y, z] at uniform density."),
    Quantity("solids", "", "The number of separate solids."),
    Quantity("valid", "", "Whether the kernel's own check of the shape passed."),
)

PUBLISHES = (
    ArtifactKind("geometry/step", "model/step", "The exact solid as STEP AP214, for other CAD programs."),
    ArtifactKind(
        "geometry/stl", "model/stl", "The triangulated surface as binary STL, for printing and viewing."
    ),
    ArtifactKind("geometry/brep", "model/x-brep", "The exact solid in the kernel's own text format."),
)


def operations(version: str) -> tuple[Operation, ...]:
    """The vocabulary with examples that say ``version``."""
    return (
        *primitives(version),
        *sweeps(version),
        import_step(version),
        *transforms(version),
        *features(version),
        *patterns(version),
        *booleans(version),
    )
