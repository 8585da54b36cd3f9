"""The tight axis-aligned box of a shape.

Exact to rounding where the extremes lie on corners, straight edges, circles, ellipses and on planes,
cylinders, cones, spheres and tori; to the kernel's 1e-7 mm elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from schemaxis_server.providers.freecad import topology
from schemaxis_server.providers.freecad.topology import Shape

import FreeCAD  # isort: skip
import Part  # isort: skip

Triple = tuple[float, float, float]

_TURN = 2 * math.pi
_STRAIGHT_SOMEWHERE = (Part.Plane, Part.Cylinder, Part.Cone)


def bounds(shape: Shape) -> tuple[list[float], list[float]]:
    """(min, max) in mm."""
    points: list[Triple] = [_triple(vertex.Point) for vertex in shape.Vertexes]
    for edge in topology.edges(shape):
        points += _edge_extremes(edge)
    for face in shape.Faces:
        points += _face_extremes(face)
    return (
        [min(point[axis] for point in points) for axis in range(3)],
        [max(point[axis] for point in points) for axis in range(3)],
    )


def _triple(vector: Any) -> Triple:
    return (vector.x, vector.y, vector.z)


def _edge_extremes(edge: Shape) -> list[Triple]:
    """Where an edge turns back along an axis, between its ends."""
    curve = topology.curve(edge)
    if topology.is_straight(edge):
        return []
    if isinstance(curve, Part.BSplineCurve) and curve.Degree == 1:
        first, last = edge.ParameterRange
        return [_triple(curve.value(knot)) for knot in curve.getKnots() if first <= knot <= last]
    if isinstance(curve, Part.Circle):
        radii = (curve.Radius, curve.Radius)
    elif isinstance(curve, Part.Ellipse):
        radii = (curve.MajorRadius, curve.MinorRadius)
    else:
        return _searched(edge)
    # The curve's own axes, seen at the start and a quarter turn on; mirrored ones as well.
    center = _triple(curve.Center)
    along, across = (
        [(place - middle) / radius for place, middle in zip(_triple(curve.value(at)), center, strict=True)]
        for at, radius in zip((0.0, math.pi / 2), radii, strict=True)
    )
    first, last = edge.ParameterRange
    found = []
    for axis in range(3):
        turn = math.atan2(radii[1] * across[axis], radii[0] * along[axis])
        for angle in (turn, turn + math.pi):
            parameter = first + (angle - first) % _TURN
            if parameter <= last:
                found.append(_triple(curve.value(parameter)))
    return found


def _face_extremes(face: Shape) -> list[Triple]:
    """Where a face turns back along an axis, inside its outline."""
    surface = topology.surface(face)
    if isinstance(surface, _STRAIGHT_SOMEWHERE):
        # Straight in one direction everywhere, so that the outline is reached first.
        return []
    if isinstance(surface, Part.Sphere):
        parameters = _sphere_turns(surface)
    elif isinstance(surface, Part.Toroid):
        parameters = _torus_turns(surface)
    else:
        return _searched(face)
    first_u, _, first_v, _ = face.ParameterRange
    found = []
    for u, v in parameters:
        # The outline is drawn in the face's own turn of the periodic parameters.
        u = first_u + (u - first_u) % _TURN
        if isinstance(surface, Part.Toroid):
            v = first_v + (v - first_v) % _TURN
        if face.isPartOfDomain(u, v):
            found.append(_triple(surface.value(u, v)))
    return found


def _sphere_turns(sphere: Any) -> list[tuple[float, float]]:
    center = _triple(sphere.Center)
    turns = []
    for axis in range(3):
        for sign in (1, -1):
            reach = list(center)
            reach[axis] += sign * sphere.Radius
            turns.append(sphere.parameter(FreeCAD.Vector(*reach)))
    return [(float(u), float(v)) for u, v in turns]


def _torus_turns(torus: Any) -> list[tuple[float, float]]:
    x, y, z = _torus_frame(torus)
    turns = []
    for axis in range(3):
        across = math.hypot(x[axis], y[axis])
        around = math.atan2(y[axis], x[axis])
        for outer in (across, -across):
            for sign in (0.0, math.pi):
                tube = math.atan2(z[axis], outer) + sign
                turns.append((around, tube))
                turns.append((around + math.pi, tube))
    return turns


def _torus_frame(torus: Any) -> tuple[Sequence[float], Sequence[float], Sequence[float]]:
    """The directions of u = 0, of a quarter turn on, and of the tube's quarter turn, from derivatives."""
    outer = torus.MajorRadius + torus.MinorRadius
    y = [one / outer for one in _triple(torus.getDN(0, 0, 1, 0))]
    x = [-one / outer for one in _triple(torus.getDN(math.pi / 2, 0, 1, 0))]
    z = [one / torus.MinorRadius for one in _triple(torus.getDN(0, 0, 0, 1))]
    return x, y, z


def _searched(shape: Shape) -> list[Triple]:
    box = shape.optimalBoundingBox(False)
    return [(box.XMin, box.YMin, box.ZMin), (box.XMax, box.YMax, box.ZMax)]
