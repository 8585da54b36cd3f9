"""Triangle meshes: reading STL, integrating over the surface, and whether it is closed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_STL_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_STL_HEADER_BYTES = 84


@dataclass(frozen=True, slots=True)
class Mesh:
    """``vertices`` is (n, 3) in mm, ``triangles`` (m, 3) indices, outwards counter-clockwise."""

    vertices: Floats
    triangles: Integers


def read_stl(path: Path) -> Mesh:
    """Read a binary STL and join the corners that coincide bit by bit. Raises ``ValueError``."""
    data = path.read_bytes()
    if len(data) < _STL_HEADER_BYTES:
        raise ValueError("the file is shorter than an STL header")
    count = int.from_bytes(data[80:84], "little")
    if count == 0 or len(data) != _STL_HEADER_BYTES + count * _STL_RECORD.itemsize:
        raise ValueError(f"the header says {count} triangles, which the file's size does not fit")
    corners = np.frombuffer(data, _STL_RECORD, offset=_STL_HEADER_BYTES)["corners"].reshape(
        -1, 3
    ) + np.float32(0)
    if not np.isfinite(corners).all():
        raise ValueError("a coordinate is not finite")
    keys = np.ascontiguousarray(corners).view(np.dtype((np.void, 12))).ravel()
    _, first, joined = np.unique(keys, return_index=True, return_inverse=True)
    triangles = joined.reshape(-1, 3).astype(np.int64)
    a, b, c = triangles.T
    # A sliver whose corners coincide in single precision has no area and no edge of its own.
    kept = (a != b) & (b != c) & (c != a)
    return Mesh(corners[first].astype(np.float64), triangles[kept])


def is_closed(mesh: Mesh) -> bool:
    """Whether every edge is run through as often one way as the other: no hole, no flipped face."""
    starts = mesh.triangles.ravel()
    ends = np.roll(mesh.triangles, -1, axis=1).ravel()
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    keys = low * len(mesh.vertices) + high
    _, joined = np.unique(keys, return_inverse=True)
    balance = np.bincount(joined, weights=np.where(starts < ends, 1.0, -1.0))
    return bool(len(keys) > 0 and not balance.any())


def integrate(mesh: Mesh) -> dict[str, Any]:
    """Plain volume, area, boundingBox and centerOfMass, by the divergence theorem."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    middle = (low + high) / 2
    # Tetrahedra from the middle of the box: their signed volumes stay near the body's own.
    corners = (mesh.vertices - middle)[mesh.triangles]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normals = np.cross(b - a, c - a)
    tetrahedra = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = float(tetrahedra.sum())
    center = (tetrahedra[:, None] * (a + b + c)).sum(axis=0) / 4
    return {
        "volume": volume,
        "area": float(np.linalg.norm(normals, axis=1).sum() / 2),
        "boundingBox": {"min": low.tolist(), "max": high.tolist()},
        "centerOfMass": (middle + (center / volume if volume else center)).tolist(),
    }
