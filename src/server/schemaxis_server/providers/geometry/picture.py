"""Draws a mesh: an isometric, softly lit preview with its sharp edges, in NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemaxis_server.providers.geometry import png
from schemaxis_server.providers.geometry.mesh import Floats, Integers, Mesh

WIDTH, HEIGHT = 480, 360
_SAMPLES = 2
_MARGIN = 0.09
_CREASE_COSINE = 0.87
_BACKGROUND = np.array([0.965, 0.97, 0.975])
_MATERIAL = np.array([0.55, 0.66, 0.78])
_LINE = np.array([0.16, 0.21, 0.28])
_CHUNK_SAMPLES = 1_000_000
_LARGE = 64

# Looking down on the part from the front right, z upwards.
_TOWARDS_EYE = np.array([1.0, -1.35, 1.0])
_KEY_LIGHT = np.array([0.35, -0.75, 1.2])
_FILL_LIGHT = np.array([1.2, 0.2, 0.25])


@dataclass(frozen=True, slots=True)
class _Scene:
    """Vertices in samples (x right, y down, z towards the eye), corner normals in eye space."""

    points: Floats
    triangles: Integers
    normals: Floats
    creases: Integers


def preview(mesh: Mesh) -> bytes:
    """A PNG of :data:`WIDTH` by :data:`HEIGHT` pixels."""
    scene = _scene(mesh)
    canvas = _Canvas.blank()
    _fill(scene, canvas)
    _stroke(scene, canvas)
    return png.encode(canvas.averaged())


@dataclass(frozen=True, slots=True)
class _Canvas:
    """Samples: how near to the eye (rows, columns), and their colour (rows, columns, 3)."""

    depth: NDArray[np.float32]
    colour: NDArray[np.uint8]

    @classmethod
    def blank(cls) -> _Canvas:
        shape = (HEIGHT * _SAMPLES, WIDTH * _SAMPLES)
        colour = np.empty((*shape, 3), dtype=np.uint8)
        colour[:] = _bytes(_BACKGROUND)
        return cls(np.full(shape, -np.inf, dtype=np.float32), colour)

    def averaged(self) -> NDArray[np.uint8]:
        """Each pixel the mean of its samples."""
        total = np.full((HEIGHT, WIDTH, 3), _SAMPLES**2 // 2, dtype=np.uint16)
        for row in range(_SAMPLES):
            for column in range(_SAMPLES):
                total += self.colour[row::_SAMPLES, column::_SAMPLES]
        return (total // _SAMPLES**2).astype(np.uint8)


def _bytes(colours: Any) -> NDArray[np.uint8]:
    return np.asarray(np.clip(colours * 255 + 0.5, 0, 255).astype(np.uint8))


def _unit(vectors: Any) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float64)


def _view() -> Floats:
    towards = _unit(_TOWARDS_EYE)
    right = _unit(np.cross([0, 0, 1], towards))
    return np.stack([right, np.cross(towards, right), towards])


def _scene(mesh: Mesh) -> _Scene:
    view = _view()
    points = mesh.vertices @ view.T
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = WIDTH * _SAMPLES, HEIGHT * _SAMPLES
    extent = np.maximum((high - low)[:2], 1e-12)
    zoom = (1 - 2 * _MARGIN) * min(width / extent[0], height / extent[1])
    points = (points - (low + high) / 2) * zoom
    points[:, 1] *= -1
    points[:, :2] += (width / 2, height / 2)
    corners = mesh.vertices[mesh.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    creases, smooth = _edges(mesh, _unit(faces))
    normals = _corner_normals(mesh, faces, smooth) @ view.T
    return _Scene(points, mesh.triangles, normals, creases)


def _edges(mesh: Mesh, directions: Floats) -> tuple[Integers, Integers]:
    """The edges where the surface breaks (as vertex pairs), and pairs of triangles across the others."""
    count = len(mesh.triangles)
    starts = mesh.triangles.T.ravel()
    ends = mesh.triangles[:, [1, 2, 0]].T.ravel()
    owner = np.tile(np.arange(count), 3)
    keys = np.minimum(starts, ends) * len(mesh.vertices) + np.maximum(starts, ends)
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    one, other = order[:-1][same], order[1:][same]
    bend = np.einsum("ij,ij->i", directions[owner[one]], directions[owner[other]])
    broken = bend < _CREASE_COSINE
    creases = np.column_stack([starts[one[broken]], ends[one[broken]]])
    return creases, np.column_stack([one[~broken], other[~broken]])


def _corner_normals(mesh: Mesh, faces: Floats, smooth: Integers) -> Floats:
    """(m, 3, 3): at each corner the mean normal of the triangles joined to it without a crease.

    Corners at the same vertex are grouped by following the smooth edges between their triangles.
    """
    count = len(mesh.triangles)
    group = np.arange(3 * count)

    def corner(half_edge: Any, end: int) -> Any:
        """The corner of the half edge's triangle at its start (0) or end (1)."""
        return (half_edge % count) * 3 + (half_edge // count + end) % 3

    one, other = smooth[:, 0], smooth[:, 1]
    links = np.concatenate(
        [
            np.column_stack([corner(one, 0), corner(other, 1)]),
            np.column_stack([corner(one, 1), corner(other, 0)]),
        ]
    )
    for _ in range(64):
        lowest = np.minimum(group[links[:, 0]], group[links[:, 1]])
        before = group.copy()
        np.minimum.at(group, links[:, 0], lowest)
        np.minimum.at(group, links[:, 1], lowest)
        group = group[group]
        if np.array_equal(before, group):
            break
    total = np.zeros((3 * count, 3))
    for axis in range(3):
        total[:, axis] = np.bincount(group, weights=np.repeat(faces[:, axis], 3), minlength=3 * count)
    return _unit(total[group]).reshape(count, 3, 3)


def _shade(normals: Floats) -> Floats:
    """Colour of surface points whose eye-space normals are given."""
    view = _view()
    normal = _unit(normals)
    key = np.clip(normal @ (view @ _unit(_KEY_LIGHT)), 0, 1)
    fill = np.clip(normal @ (view @ _unit(_FILL_LIGHT)), 0, 1)
    sky = 0.5 + 0.5 * (normal @ (view @ np.array([0.0, 0.0, 1.0])))
    halfway = _unit(view @ _unit(_KEY_LIGHT) + np.array([0.0, 0.0, 1.0]))
    gloss = np.clip(normal @ halfway, 0, 1) ** 40
    light = 0.30 + 0.22 * sky + 0.56 * key + 0.07 * fill
    return np.asarray(_MATERIAL * light[:, None] + 0.16 * gloss[:, None])


def _fill(scene: _Scene, canvas: _Canvas) -> None:
    """Draw the triangles that face the eye: large ones each alone, small ones many at a time."""
    corners = scene.points[scene.triangles]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    doubled = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    # y runs downwards, so that what faces the eye runs clockwise.
    facing = np.flatnonzero(doubled < -1e-9)
    low = np.floor(corners[facing, :, :2].min(axis=1)).astype(np.int64)
    span = np.ceil(corners[facing, :, :2].max(axis=1)).astype(np.int64) - low + 1
    side = 2 ** np.ceil(np.log2(span.max(axis=1))).astype(np.int64)
    for size in np.unique(side):
        members = np.flatnonzero(side == size)
        if size >= _LARGE:
            for one in members:
                _fill_one(scene, int(facing[one]), low[one], span[one], canvas)
            continue
        step = max(1, _CHUNK_SAMPLES // int(size * size))
        for start in range(0, len(members), step):
            chosen = members[start : start + step]
            _fill_some(scene, facing[chosen], low[chosen], span[chosen].max(axis=0), canvas)


def _slopes(corners: Any) -> tuple[Any, Any, Any]:
    """Per triangle and corner the plane a·x + b·y + c that is 1 at the corner and 0 across from it.

    ``corners`` is (..., 3, 2) or more; what comes back is (..., 3).
    """
    p, q = np.roll(corners, -1, axis=-2), np.roll(corners, -2, axis=-2)
    a = -(q[..., 1] - p[..., 1])
    b = q[..., 0] - p[..., 0]
    c = -a * p[..., 0] - b * p[..., 1]
    at_corner = a * corners[..., 0] + b * corners[..., 1] + c
    return a / at_corner, b / at_corner, c / at_corner


def _fill_one(scene: _Scene, triangle: int, low: Any, span: Any, canvas: _Canvas) -> None:
    corners = scene.points[scene.triangles[triangle]]
    origin = np.array([low[0], low[1], 0.0])
    a, b, c = _slopes(corners - origin)
    x, y = (np.arange(span[0]) + 0.5)[None, :], (np.arange(span[1]) + 0.5)[:, None]
    shares = [((b[i] * y + c[i]) + a[i] * x).astype(np.float32) for i in range(3)]
    inside = (shares[0] >= -1e-6) & (shares[1] >= -1e-6) & (shares[2] >= -1e-6)
    heights = corners[:, 2]
    z = (((b @ heights) * y + c @ heights) + (a @ heights) * x).astype(np.float32)
    window = (slice(low[1], low[1] + span[1]), slice(low[0], low[0] + span[0]))
    depth = canvas.depth[window]
    inside &= z > depth
    np.copyto(depth, z, where=inside)
    normals = scene.normals[triangle]
    if np.ptp(normals, axis=0).max() < 1e-6:
        canvas.colour[window][inside] = _bytes(_shade(normals[:1]))[0]
    else:
        share = np.column_stack([one[inside] for one in shares])
        canvas.colour[window][inside] = _bytes(_shade(share @ normals))


def _fill_some(scene: _Scene, chosen: Any, low: Any, extent: Any, canvas: _Canvas) -> None:
    corners = scene.points[scene.triangles[chosen]]
    flat = corners[:, :, :2] - low[:, None, :]
    a, b, c = (one.astype(np.float32)[:, :, None, None] for one in _slopes(flat))
    x = (np.arange(extent[0], dtype=np.float32) + 0.5)[None, None, :]
    y = (np.arange(extent[1], dtype=np.float32) + 0.5)[None, :, None]
    shares = [(b[:, i] * y + c[:, i]) + a[:, i] * x for i in range(3)]
    inside = (shares[0] >= -1e-5) & (shares[1] >= -1e-5) & (shares[2] >= -1e-5)
    which, row, column = np.nonzero(inside)
    share = np.column_stack([one[inside] for one in shares])
    z = np.einsum("ij,ij->i", share, corners[which, :, 2].astype(np.float32))
    width = canvas.depth.shape[1]
    place = (low[which, 1] + row) * width + low[which, 0] + column
    depth, colour = canvas.depth.reshape(-1), canvas.colour.reshape(-1, 3)
    # From back to front: of the samples at one place, the last assignment stays.
    order = np.argsort(z, kind="stable")
    order = order[z[order] > depth[place[order]]]
    depth[place[order]] = z[order]
    order = order[z[order] == depth[place[order]]]
    normal = np.einsum("ij,ijk->ik", share[order], scene.normals[chosen[which[order]]])
    colour[place[order]] = _bytes(_shade(normal))


def _stroke(scene: _Scene, canvas: _Canvas) -> None:
    """Draw the sharp edges where nothing lies before them."""
    if not len(scene.creases):
        return
    start, end = scene.points[scene.creases[:, 0]], scene.points[scene.creases[:, 1]]
    length = np.linalg.norm((end - start)[:, :2], axis=1)
    counts = np.maximum(2, np.ceil(length).astype(np.int64) + 1)
    edge = np.repeat(np.arange(len(counts)), counts)
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    part = offset / (counts[edge] - 1)
    points = start[edge] + part[:, None] * (end - start)[edge]
    # An edge lies on its faces; a little nearer, it is not lost in their rounding.
    nearer = points[:, 2] + 2.5
    rows, columns = canvas.depth.shape
    for dx, dy in ((-0.45, -0.45), (0.45, -0.45), (-0.45, 0.45), (0.45, 0.45)):
        column = np.floor(points[:, 0] + dx).astype(np.int64).clip(0, columns - 1)
        row = np.floor(points[:, 1] + dy).astype(np.int64).clip(0, rows - 1)
        seen = nearer >= canvas.depth[row, column]
        canvas.colour[row[seen], column[seen]] = _bytes(_LINE)
