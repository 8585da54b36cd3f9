"""Measures a shape: volume, area, centre, tight bounds, number of solids, validity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from OCP.Bnd import Bnd_Box
from OCP.BRepBndLib import BRepBndLib
from OCP.BRepCheck import BRepCheck_Analyzer
from OCP.BRepClass import BRepClass_FaceClassifier
from OCP.BRepGProp import BRepGProp
from OCP.ElSLib import ElSLib
from OCP.GeomAbs import GeomAbs_CurveType, GeomAbs_SurfaceType
from OCP.gp import gp_Pnt2d, gp_Vec
from OCP.GProp import GProp_GProps
from OCP.TopAbs import TopAbs_State

from schemaxis_server.providers.occt import topology
from schemaxis_server.providers.occt.topology import Shape, Triple

_QUADRATURE = 1e-10
# Rounding leaves a part that stands on a plane some 1e-16 of its size beside it. What checks allow is 1e-9.
_DUST = 1e-12


def is_valid(shape: Shape) -> bool:
    """Whether the kernel's own check of geometry and topology passes."""
    return bool(BRepCheck_Analyzer(shape).IsValid())


def rough_volume(shape: Shape) -> float:
    """The volume in mm^3, good enough to tell whether there is any."""
    found = GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, found)
    return float(found.Mass())


def volume(shape: Shape) -> float:
    """The volume in mm^3, as exact as :func:`measure` gives it."""
    if is_flat(shape):
        return rough_volume(shape)
    found = GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, found, _QUADRATURE)
    return float(found.Mass())


def meshed_volume(shape: Shape) -> float:
    """The volume in mm^3 that the mesh of a meshed shape encloses."""
    found = GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, found, False, False, True)
    return float(found.Mass())


def measure(shape: Shape) -> dict[str, Any]:
    """Every quantity of a result, each with its unit. Call it before the shape is meshed.

    A coordinate below 1e-12 of the largest one is rounding and given as 0.
    """
    solid, skin = _integrals(shape)
    low, high = bounds(shape)
    dust = _DUST * max(map(abs, [*low, *high]))
    low, high = _without_dust(low, dust), _without_dust(high, dust)
    extent = [b - a for a, b in zip(low, high, strict=True)]
    return {
        "volume": {"value": float(solid.Mass()), "unit": "mm^3"},
        "area": {"value": float(skin.Mass()), "unit": "mm^2"},
        "boundingBox": {"value": {"min": low, "max": high, "size": extent}, "unit": "mm"},
        "centerOfMass": {
            "value": _without_dust(_coordinates(solid.CentreOfMass()), dust),
            "unit": "mm",
        },
        "solids": {"value": len(topology.solids(shape)), "unit": ""},
        "valid": {"value": is_valid(shape), "unit": ""},
    }


def _without_dust(point: Sequence[float], dust: float) -> list[float]:
    return [0.0 if abs(value) <= dust else value for value in point]


def _integrals(shape: Shape) -> tuple[Any, Any]:
    """The kernel's volume and surface integrals.

    On round faces its fixed quadrature was seen 1.4e-5 off where holes cut a turned part; the
    adaptive one agrees with another kernel to what that one can resolve. Flat faces are exact with either.
    """
    solid, skin = GProp_GProps(), GProp_GProps()
    if is_flat(shape):
        BRepGProp.VolumeProperties_s(shape, solid)
        BRepGProp.SurfaceProperties_s(shape, skin)
    else:
        BRepGProp.VolumeProperties_s(shape, solid, _QUADRATURE)
        BRepGProp.SurfaceProperties_s(shape, skin, _QUADRATURE)
    return solid, skin


def has_free_edges(shape: Shape) -> bool:
    """Whether any edge is neither a straight line nor a circle nor an ellipse."""
    known = (
        GeomAbs_CurveType.GeomAbs_Line,
        GeomAbs_CurveType.GeomAbs_Circle,
        GeomAbs_CurveType.GeomAbs_Ellipse,
    )
    curves = (topology.curve(edge) for edge in topology.edges(shape))
    return any(curve.GetType() not in known and not _is_polyline(curve) for curve in curves)


def _is_polyline(curve: Any) -> bool:
    """Whether a curve is a spline of straight parts, as other programs write a line now and then."""
    return bool(curve.GetType() == GeomAbs_CurveType.GeomAbs_BSplineCurve and curve.Degree() == 1)


def is_flat(shape: Shape) -> bool:
    """Whether every face is plane and every edge straight."""
    return all(
        topology.surface(face).GetType() == GeomAbs_SurfaceType.GeomAbs_Plane
        for face in topology.faces(shape)
    ) and all(
        topology.curve(edge).GetType() == GeomAbs_CurveType.GeomAbs_Line for edge in topology.edges(shape)
    )


def bounds(shape: Shape) -> tuple[list[float], list[float]]:
    """The tight axis-aligned box as (min, max) in mm.

    Exact to rounding where the extremes lie on corners, straight edges, circles, ellipses and on
    planes, cylinders, cones, spheres and tori; to the kernel's 1e-7 mm elsewhere.
    """
    points: list[Triple] = topology.vertices(shape)
    for edge in topology.edges(shape):
        points += _edge_extremes(edge)
    for face in topology.faces(shape):
        points += _face_extremes(face)
    return (
        [min(point[axis] for point in points) for axis in range(3)],
        [max(point[axis] for point in points) for axis in range(3)],
    )


def _coordinates(point: Any) -> Triple:
    return (point.X(), point.Y(), point.Z())


def _edge_extremes(edge: Shape) -> list[Triple]:
    """Where an edge turns back along an axis, between its ends."""
    curve = topology.curve(edge)
    kind = curve.GetType()
    if kind == GeomAbs_CurveType.GeomAbs_Line:
        return []
    if _is_polyline(curve):
        return [_coordinates(curve.Value(knot)) for knot in curve.BSpline().Knots() if _within(curve, knot)]
    if kind == GeomAbs_CurveType.GeomAbs_Circle:
        conic = curve.Circle()
        radii = (conic.Radius(), conic.Radius())
    elif kind == GeomAbs_CurveType.GeomAbs_Ellipse:
        conic = curve.Ellipse()
        radii = (conic.MajorRadius(), conic.MinorRadius())
    else:
        return _searched(edge)
    along, across = _coordinates(conic.XAxis().Direction()), _coordinates(conic.YAxis().Direction())
    first, last = curve.FirstParameter(), curve.LastParameter()
    found = []
    for axis in range(3):
        turn = math.atan2(radii[1] * across[axis], radii[0] * along[axis])
        for angle in (turn, turn + math.pi):
            parameter = first + (angle - first) % (2 * math.pi)
            if parameter <= last:
                found.append(_coordinates(curve.Value(parameter)))
    return found


def _within(curve: Any, parameter: float) -> bool:
    return bool(curve.FirstParameter() <= parameter <= curve.LastParameter())


def _face_extremes(face: Shape) -> list[Triple]:
    """Where a face turns back along an axis, inside its outline."""
    surface = topology.surface(face)
    kind = surface.GetType()
    if kind in (
        GeomAbs_SurfaceType.GeomAbs_Plane,
        GeomAbs_SurfaceType.GeomAbs_Cylinder,
        GeomAbs_SurfaceType.GeomAbs_Cone,
    ):
        # Straight in one direction everywhere, so that the outline is reached first.
        return []
    if kind == GeomAbs_SurfaceType.GeomAbs_Sphere:
        parameters = _sphere_turns(surface.Sphere())
    elif kind == GeomAbs_SurfaceType.GeomAbs_Torus:
        parameters = _torus_turns(surface.Torus())
    else:
        return _searched(face)
    first_u, first_v = surface.FirstUParameter(), surface.FirstVParameter()
    found = []
    for u, v in parameters:
        # The outline is drawn in the face's own turn of the periodic parameters.
        u = first_u + (u - first_u) % (2 * math.pi)
        if kind == GeomAbs_SurfaceType.GeomAbs_Torus:
            v = first_v + (v - first_v) % (2 * math.pi)
        state = BRepClass_FaceClassifier(face, gp_Pnt2d(u, v), 1e-9).State()
        if state != TopAbs_State.TopAbs_OUT:
            found.append(_coordinates(surface.Value(u, v)))
    return found


def _sphere_turns(sphere: Any) -> list[tuple[float, float]]:
    center = sphere.Location()
    turns = []
    for axis in range(3):
        for sign in (1, -1):
            reach = [0.0, 0.0, 0.0]
            reach[axis] = sign * sphere.Radius()
            point = center.Translated(gp_Vec(*reach))
            turns.append(ElSLib.Parameters_s(sphere, point))
    return [(float(u), float(v)) for u, v in turns]


def _torus_turns(torus: Any) -> list[tuple[float, float]]:
    frame = torus.Position()
    x, y, z = (_coordinates(one) for one in (frame.XDirection(), frame.YDirection(), frame.Direction()))
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


def _searched(shape: Shape) -> list[Triple]:
    box = Bnd_Box()
    BRepBndLib.AddOptimal_s(shape, box, False, False)
    box.SetGap(0.0)
    return [
        (box.GetXMin(), box.GetYMin(), box.GetZMin()),
        (box.GetXMax(), box.GetYMax(), box.GetZMax()),
    ]
