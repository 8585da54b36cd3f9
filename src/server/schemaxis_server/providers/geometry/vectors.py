"""Vectors of three numbers and isometries, as plain tuples: exact to rounding, and free of NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_UNIT: Mapping[str, Vector] = dict(zip("xyz", IDENTITY, strict=True))


def direction(value: str | Sequence[float]) -> Vector:
    """A unit vector from an axis' name or a vector."""
    if isinstance(value, str):
        return _UNIT[value]
    length = math.hypot(*value)
    return (value[0] / length, value[1] / length, value[2] / length)


def rotation(axis: Vector, angle: float) -> Matrix:
    """Rodrigues' formula; ``angle`` in radians."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    t = 1 - c
    return (
        (c + t * x * x, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, c + t * y * y, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, c + t * z * z),
    )


def reflection(plane: str) -> Matrix:
    """Across a coordinate plane: the axis that the plane lacks changes its sign."""
    signs = [1.0 if axis in plane else -1.0 for axis in "xyz"]
    return ((signs[0], 0.0, 0.0), (0.0, signs[1], 0.0), (0.0, 0.0, signs[2]))


def add(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def times(factor: float, a: Vector) -> Vector:
    return (factor * a[0], factor * a[1], factor * a[2])


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def apply(matrix: Matrix, a: Vector) -> Vector:
    return (dot(matrix[0], a), dot(matrix[1], a), dot(matrix[2], a))


def transposed(matrix: Matrix) -> Matrix:
    x, y, z = zip(*matrix, strict=True)
    return (x, y, z)


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = transposed(b)
    rows = [apply(columns, row) for row in a]
    return (rows[0], rows[1], rows[2])


def scaled(matrix: Matrix, factor: float) -> Matrix:
    return (times(factor, matrix[0]), times(factor, matrix[1]), times(factor, matrix[2]))
