"""The edges of a mesh: where its surface breaks, and the normals that are smooth elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from schemaxis_server.providers.geometry.mesh import Floats, Integers, Mesh

_CREASE_COSINE = 0.87
_LOOSE_ROUNDS = 8


def unit(vectors: Any) -> Floats:
    """Each vector (..., 3) at length 1; the zero vector stays."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1))


def split(mesh: Mesh, directions: Floats) -> tuple[Integers, Integers]:
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
    creases = _without_loose_ends(np.column_stack([starts[one[broken]], ends[one[broken]]]))
    return creases, np.column_stack([one[~broken], other[~broken]])


def _without_loose_ends(creases: Integers) -> Integers:
    """The creases that go on at both ends. A part's edges do; what ends in mid-face comes from
    slivers of the mesh, whose normals lean."""
    for _ in range(_LOOSE_ROUNDS):
        kept = (np.bincount(creases.ravel())[creases] > 1).all(axis=1)
        if kept.all():
            break
        creases = creases[kept]
    return creases


def corner_normals(faces: Floats, smooth: Integers) -> Floats:
    """(m, 3, 3): at each corner the mean normal of the triangles joined to it without a crease.

    Corners at the same vertex are grouped by following the smooth edges between their triangles.
    """
    count = len(faces)

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
    group = _groups(3 * count, links)
    total = np.zeros((3 * count, 3))
    for axis in range(3):
        total[:, axis] = np.bincount(group, weights=np.repeat(faces[:, axis], 3), minlength=3 * count)
    return unit(total[group]).reshape(count, 3, 3)


def without_specks(creases: Integers, points: Floats, size: float) -> Integers:
    """The creases that hang together over more than ``size`` of the plane of ``points`` (n, 2).

    A single sliver whose normal leans is a closed outline, too, and would be drawn as a dot.
    """
    if not len(creases):
        return creases
    group = _groups(len(points), creases)[creases[:, 0]]
    low, high = np.full(points.shape, np.inf), np.full(points.shape, -np.inf)
    for end in creases.T:
        np.minimum.at(low, group, points[end])
        np.maximum.at(high, group, points[end])
    return np.asarray(creases[((high - low)[group] > size).any(axis=1)])


def _groups(count: int, links: Integers) -> Integers:
    """(count,) for each thing the lowest number among those that pairs of ``links`` join it to."""
    group = np.arange(count)
    for _ in range(64):
        lowest = np.minimum(group[links[:, 0]], group[links[:, 1]])
        before = group.copy()
        np.minimum.at(group, links[:, 0], lowest)
        np.minimum.at(group, links[:, 1], lowest)
        group = group[group]
        if np.array_equal(before, group):
            break
    return group
