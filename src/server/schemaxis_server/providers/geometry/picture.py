"""Draws a mesh: an isometric, softly lit preview with its sharp edges, in NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemaxis_server.providers.geometry import edges, png
from schemaxis_server.providers.geometry.edges import unit
from schemaxis_server.providers.geometry.mesh import Floats, Integers, Mesh

WIDTH, HEIGHT = 480, 360
_SAMPLES = 2
_MARGIN = 0.09
_SPECK = 3.0 * _SAMPLES
_BACKGROUND = np.array([0.965, 0.97, 0.975])
_MATERIAL = np.array([0.55, 0.66, 0.78])
_LINE = np.array([0.16, 0.21, 0.28])
_CHUNK_SAMPLES = 1_000_000
_LARGE = 64


def _view() -> Floats:
    # Looking down on the part from the front right, z upwards.
    towards = unit(np.array([1.0, -1.35, 1.0]))
    right = unit(np.cross([0, 0, 1], towards))
    return np.stack([right, np.cross(towards, right), towards])


_VIEW = _view()
_KEY = _VIEW @ unit(np.array([0.35, -0.75, 1.2]))
_FILL = _VIEW @ unit(np.array([1.2, 0.2, 0.25]))
_HALFWAY = unit(_KEY + np.array([0.0, 0.0, 1.0]))


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
    visible = _Visible.blank()
    facing = _Facing.of(scene)
    _fill(scene, facing, visible)
    colour = _coloured(scene, facing, visible)
    _stroke(scene, visible.depth, colour)
    return png.encode(_averaged(colour))


@dataclass(frozen=True, slots=True)
class _Visible:
    """Per sample how near the nearest surface is to the eye, and which triangle it is (-1: none)."""

    depth: NDArray[np.float32]
    owner: NDArray[np.int32]

    @classmethod
    def blank(cls) -> _Visible:
        shape = (HEIGHT * _SAMPLES, WIDTH * _SAMPLES)
        return cls(np.full(shape, -np.inf, dtype=np.float32), np.full(shape, -1, dtype=np.int32))


@dataclass(frozen=True, slots=True)
class _Facing:
    """The triangles that face the eye.

    ``triangle`` (n,) indexes the scene's; a sample at (x, y) of one has the share a·x + b·y + c of each
    corner; ``low`` and ``span`` (n, 2) are the box of samples around it.
    """

    triangle: Integers
    a: Floats
    b: Floats
    c: Floats
    low: Integers
    span: Integers

    @classmethod
    def of(cls, scene: _Scene) -> _Facing:
        corners = scene.points[scene.triangles][:, :, :2]
        p, q = corners[:, [1, 2, 0]], corners[:, [2, 0, 1]]
        a, b = p[..., 1] - q[..., 1], q[..., 0] - p[..., 0]
        doubled = a[:, 0] * (corners[:, 0, 0] - p[:, 0, 0]) + b[:, 0] * (corners[:, 0, 1] - p[:, 0, 1])
        # y runs downwards, so that what faces the eye runs clockwise.
        chosen = np.flatnonzero(doubled < -1e-9)
        a, b = a[chosen] / doubled[chosen, None], b[chosen] / doubled[chosen, None]
        c = -a * p[chosen, :, 0] - b * p[chosen, :, 1]
        low = np.floor(corners[chosen].min(axis=1)).astype(np.int64)
        span = np.ceil(corners[chosen].max(axis=1)).astype(np.int64) - low + 1
        return cls(chosen, a, b, c, low, span)


def _averaged(colour: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Each pixel the mean of its samples."""
    total = np.full((HEIGHT, WIDTH, 3), _SAMPLES**2 // 2, dtype=np.uint16)
    for row in range(_SAMPLES):
        for column in range(_SAMPLES):
            total += colour[row::_SAMPLES, column::_SAMPLES]
    return (total // _SAMPLES**2).astype(np.uint8)


def _bytes(colours: Any) -> NDArray[np.uint8]:
    return np.asarray(np.clip(colours * 255 + 0.5, 0, 255).astype(np.uint8))


def _scene(mesh: Mesh) -> _Scene:
    points = mesh.vertices @ _VIEW.T
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = WIDTH * _SAMPLES, HEIGHT * _SAMPLES
    extent = np.maximum((high - low)[:2], 1e-12)
    zoom = (1 - 2 * _MARGIN) * min(width / extent[0], height / extent[1])
    points = (points - (low + high) / 2) * zoom
    points[:, 1] *= -1
    points[:, :2] += (width / 2, height / 2)
    corners = mesh.vertices[mesh.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    creases, smooth = edges.split(mesh, unit(faces))
    normals = edges.corner_normals(faces, smooth) @ _VIEW.T
    return _Scene(points, mesh.triangles, normals, edges.without_specks(creases, points[:, :2], _SPECK))


def _shade(normals: Any) -> Any:
    """Colour of surface points whose eye-space normals are given."""
    normal = unit(normals)
    key = np.clip(normal @ _KEY, 0, 1)
    fill = np.clip(normal @ _FILL, 0, 1)
    gloss = np.clip(normal @ _HALFWAY, 0, 1) ** 40
    light = 0.41 + 0.11 * normal[:, 2] + 0.56 * key + 0.07 * fill
    return _MATERIAL * light[:, None] + 0.16 * gloss[:, None]


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Room for the samples of one triangle, used again and again: fresh memory costs more than the sums."""

    value: NDArray[np.float32]
    inside: NDArray[np.bool_]
    passed: NDArray[np.bool_]

    @classmethod
    def room(cls) -> _Scratch:
        shape = (HEIGHT * _SAMPLES, WIDTH * _SAMPLES)
        return cls(np.empty(shape, np.float32), np.empty(shape, np.bool_), np.empty(shape, np.bool_))


def _fill(scene: _Scene, facing: _Facing, visible: _Visible) -> None:
    """Find what is seen at each sample: large triangles each alone, small ones many at a time."""
    side = 2 ** np.ceil(np.log2(facing.span.max(axis=1, initial=1))).astype(np.int64)
    scratch = _Scratch.room()
    for size in np.unique(side):
        members = np.flatnonzero(side == size)
        if size >= _LARGE:
            for one in members:
                _fill_one(scene, facing, int(one), visible, scratch)
            continue
        step = max(1, _CHUNK_SAMPLES // int(size * size))
        for start in range(0, len(members), step):
            _fill_some(scene, facing, members[start : start + step], visible)


def _fill_one(scene: _Scene, facing: _Facing, one: int, visible: _Visible, scratch: _Scratch) -> None:
    (left, top), (width, height) = facing.low[one], facing.span[one]
    a, b = facing.a[one], facing.b[one]
    # Measured from the triangle's own box, single precision is enough.
    c = facing.c[one] + a * (left + 0.5) + b * (top + 0.5)
    heights = scene.points[scene.triangles[facing.triangle[one]], 2]
    x = np.arange(width, dtype=np.float32)[None, :]
    y = np.arange(height, dtype=np.float32)[:, None]
    value, inside = scratch.value[:height, :width], scratch.inside[:height, :width]
    passed = scratch.passed[:height, :width]

    def plane(slope_x: float, slope_y: float, level: float) -> None:
        np.add(np.float32(slope_x) * x, np.float32(slope_y) * y + np.float32(level), out=value)

    inside[:] = True
    for index in range(3):
        plane(a[index], b[index], c[index])
        np.greater_equal(value, -1e-5, out=passed)
        inside &= passed
    plane(a @ heights, b @ heights, c @ heights)
    window = (slice(top, top + height), slice(left, left + width))
    np.greater(value, visible.depth[window], out=passed)
    inside &= passed
    np.copyto(visible.depth[window], value, where=inside)
    np.copyto(visible.owner[window], np.int32(one), where=inside)


def _fill_some(scene: _Scene, facing: _Facing, chosen: Any, visible: _Visible) -> None:
    low, extent = facing.low[chosen], facing.span[chosen].max(axis=0)
    heights = scene.points[scene.triangles[facing.triangle[chosen]], 2]
    a, b = facing.a[chosen], facing.b[chosen]
    # Measured from each triangle's own box, single precision is enough.
    c = facing.c[chosen] + a * (low[:, 0:1] + 0.5) + b * (low[:, 1:2] + 0.5)
    x = np.arange(extent[0], dtype=np.float32)[None, None, :]
    y = np.arange(extent[1], dtype=np.float32)[None, :, None]

    def plane(slope_x: Any, slope_y: Any, level: Any) -> Any:
        along_x, along_y, start = (one.astype(np.float32)[:, None, None] for one in (slope_x, slope_y, level))
        return along_x * x + (along_y * y + start)

    inside = plane(a[:, 0], b[:, 0], c[:, 0]) >= -1e-5
    inside &= plane(a[:, 1], b[:, 1], c[:, 1]) >= -1e-5
    inside &= plane(a[:, 2], b[:, 2], c[:, 2]) >= -1e-5
    which, row, column = np.nonzero(inside)
    z = plane((a * heights).sum(axis=1), (b * heights).sum(axis=1), (c * heights).sum(axis=1))[inside]
    place = (low[which, 1] + row) * visible.depth.shape[1] + low[which, 0] + column
    depth, owner = visible.depth.reshape(-1), visible.owner.reshape(-1)
    nearer = z > depth[place]
    which, place, z = which[nearer], place[nearer], z[nearer]
    # From back to front: of the samples at one place, the last assignment stays.
    order = np.argsort(z, kind="stable")
    depth[place[order]] = z[order]
    owner[place[order]] = chosen[which[order]]


def _coloured(scene: _Scene, facing: _Facing, visible: _Visible) -> NDArray[np.uint8]:
    """The colour of each sample: flat triangles have one, in round ones each sample has its own."""
    normals = scene.normals[facing.triangle]
    flat = np.ptp(normals, axis=1).max(axis=1) < 1e-6
    palette = np.vstack([_bytes(_shade(normals[:, 0])), _bytes(_BACKGROUND)])
    # Owner -1 finds the background, the last of the palette.
    colour = palette[visible.owner]
    if not flat.all():
        row, column = np.nonzero(np.concatenate([~flat, [False]])[visible.owner])
        one = visible.owner[row, column]
        share = facing.a[one] * (column + 0.5)[:, None] + facing.b[one] * (row + 0.5)[:, None] + facing.c[one]
        normal = np.einsum("ij,ijk->ik", share.astype(np.float32), normals.astype(np.float32)[one])
        colour[row, column] = _bytes(_shade(normal))
    return np.asarray(colour)


def _stroke(scene: _Scene, depth: NDArray[np.float32], colour: NDArray[np.uint8]) -> None:
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
    rows, columns = depth.shape
    for dx, dy in ((-0.45, -0.45), (0.45, -0.45), (-0.45, 0.45), (0.45, 0.45)):
        column = np.floor(points[:, 0] + dx).astype(np.int64).clip(0, columns - 1)
        row = np.floor(points[:, 1] + dy).astype(np.int64).clip(0, rows - 1)
        seen = nearer >= depth[row, column]
        colour[row[seen], column[seen]] = _bytes(_LINE)
