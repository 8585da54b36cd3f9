"""Previews show the part: its silhouette is the projection's, and lines stand on its edges alone."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from numpy.typing import NDArray
from schemaxis_server.providers.geometry.edges import _without_loose_ends, without_specks
from schemaxis_server.providers.geometry.mesh import Mesh
from schemaxis_server.providers.geometry.picture import _VIEW, HEIGHT, WIDTH, preview

Pixels = NDArray[np.int64]


def decode(png: bytes) -> Pixels:
    """The pixels of an 8-bit RGB picture whose rows use the filters none or left, as (h, w, 3)."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place, data, width, height = 8, b"", 0, 0
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 8 : place + 8 + size]
        assert struct.unpack(">I", png[place + 8 + size : place + 12 + size])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        if kind == b"IDAT":
            data += body
        place += 12 + size
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * 3)
    assert set(rows[:, 0]) <= {0, 1}
    values = rows[:, 1:].reshape(height, width, 3).astype(np.int64)
    left = rows[:, 0] == 1
    values[left] = np.cumsum(values[left], axis=1) % 256
    return values


def box(x: float, y: float, z: float) -> Mesh:
    corners = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], dtype=float) * (x, y, z)
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return Mesh(corners, np.array([t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]))


def ball(rings: int = 40) -> Mesh:
    """A closed sphere of quads between two poles."""
    turns = np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False)
    heights = np.linspace(0, np.pi, rings + 1)[1:-1]
    belt = np.array(
        [[np.sin(h) * np.cos(t), np.sin(h) * np.sin(t), np.cos(h)] for h in heights for t in turns]
    )
    points = np.vstack([belt, [[0, 0, 1], [0, 0, -1]]])
    north, south, around = len(belt), len(belt) + 1, len(turns)
    triangles = []
    for column in range(around):
        following = (column + 1) % around
        triangles.append((north, column, following))
        for row in range(len(heights) - 1):
            a, b = row * around + column, row * around + following
            triangles += [(a, a + around, b + around), (a, b + around, b)]
        last = (len(heights) - 1) * around
        triangles.append((south, last + following, last + column))
    return Mesh(points, np.array(triangles))


def drawn(pixels: Pixels) -> NDArray[np.bool_]:
    return np.asarray((np.abs(pixels - pixels[0, 0]) > 12).any(axis=2))


def dark(pixels: Pixels) -> int:
    """How many pixels are as dark as an edge's line."""
    return int((pixels.max(axis=2) < 76).sum())


@pytest.mark.parametrize("size", [(20, 10, 5), (4, 4, 9), (30, 5, 1)])
def test_the_silhouette_is_the_projected_box_s(size: tuple[float, float, float]) -> None:
    mesh = box(*size)
    pixels = decode(preview(mesh))
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    rows, columns = np.nonzero(drawn(pixels))
    seen = (np.ptp(columns) + 1) / (np.ptp(rows) + 1)
    wide, high, _ = np.ptp(mesh.vertices @ _VIEW.T, axis=0)
    assert seen == pytest.approx(wide / high, rel=0.02)


def test_a_box_has_its_edges_drawn_and_a_ball_has_none() -> None:
    assert dark(decode(preview(box(20, 10, 5)))) > 300
    assert dark(decode(preview(ball()))) == 0


def test_lines_that_end_in_mid_face_are_dropped() -> None:
    loop = [(0, 1), (1, 2), (2, 0)]
    loose = [(2, 3), (3, 4), (7, 8)]
    assert _without_loose_ends(np.array(loop + loose)).tolist() == [list(edge) for edge in loop]
    assert _without_loose_ends(np.array(loose)).tolist() == []


def test_outlines_too_small_to_be_an_edge_are_dropped() -> None:
    points = np.array([[0, 0], [8, 0], [0, 1], [20, 20], [21, 20], [20, 21], [50, 50]], dtype=float)
    large, speck = [[0, 1], [1, 2], [2, 0]], [[3, 4], [4, 5], [5, 3]]
    assert without_specks(np.array(speck + large), points, 6.0).tolist() == large
    assert without_specks(np.array(speck), points, 0.5).tolist() == speck
    assert without_specks(np.empty((0, 2), dtype=int), points, 6.0).tolist() == []
