"""Integrals over the faces of a shape, on the side of the parameters up to which they are taken in u.

For a face with parameters (u, v) the divergence theorem makes volume and first moments integrals over
(u, v), and Green's theorem makes those integrals along its outline: of G(u, v) dv, where G is the integral
of the integrand from a fixed u0 to u. Here is G: in closed form for planes and for the quadrics and the
torus as surfaces of revolution, by Gauss's rule for all others.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from schemaxis_server.providers.freecad import topology
from schemaxis_server.providers.freecad.quadrature import gauss

import Part  # isort: skip

Integrals = tuple[float, float, float, float, float]
"""Area, volume and the first moments of volume along x, y, z."""

Strip = Callable[[float, float], Integrals]
Triple = tuple[float, float, float]

# Between knots a spline is a low polynomial; anywhere else a quarter of the way round is smooth.
_BETWEEN_KNOTS, _ELSEWHERE = gauss(10), gauss(20)
_AGREES = 1e-9


def strip(face: Any, reference: Triple) -> Strip:
    """G of a face; positions are taken relative to ``reference``, which keeps their products small."""
    surface = topology.surface(face)
    first_u, last_u, first_v, last_v = face.ParameterRange
    if isinstance(surface, Part.Plane):
        return _plane(surface, first_u, reference)
    if isinstance(surface, Part.Cylinder | Part.Cone | Part.Sphere | Part.Toroid):
        closed = _Revolved(surface, first_u, reference)
        if closed.describes(surface, (first_u + last_u) / 2, (first_v + last_v) / 2, reference):
            return closed.strip
    return _generic(surface if surface is not None else face, first_u, last_u, reference)


def _triple(vector: Any) -> Triple:
    return (vector.x, vector.y, vector.z)


def _relative(point: Any, reference: Triple) -> Triple:
    return (point.x - reference[0], point.y - reference[1], point.z - reference[2])


def _dot(a: Triple, b: Triple) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Triple, b: Triple) -> Triple:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _plane(surface: Any, u0: float, reference: Triple) -> Strip:
    center = _relative(surface.value(0, 0), reference)
    x, y = _triple(surface.getDN(0, 0, 1, 0)), _triple(surface.getDN(0, 0, 0, 1))
    normal = _cross(x, y)
    size, away = math.sqrt(_dot(normal, normal)), _dot(center, normal)

    def integrals(u: float, v: float) -> Integrals:
        span, square = u - u0, (u * u - u0 * u0) / 2
        mx, my, mz = (
            away / 4 * ((center[axis] + v * y[axis]) * span + x[axis] * square) for axis in range(3)
        )
        return (size * span, away / 3 * span, mx, my, mz)

    return integrals


class _Revolved:
    """A meridian (r, h) as functions of v, turned by u: A + r (cos u X + sin u Y), where A = C + h Z."""

    def __init__(self, surface: Any, u0: float, reference: Triple) -> None:
        self._u0 = u0
        self._center = _relative(surface.Center, reference)
        self._meridian = _meridian(surface)
        # Where the radius is not 0, the derivative along u gives the frame, mirrored ones as well.
        v = 0.0 if abs(self._meridian(0.0)[0]) > 1e-9 else 1.0
        rho = self._meridian(v)[0]
        self._x = _scaled(_triple(surface.getDN(math.pi / 2, v, 1, 0)), -1 / rho)
        self._y = _scaled(_triple(surface.getDN(0, v, 1, 0)), 1 / rho)
        axis = _triple(surface.Axis)
        # Along the axis a step in v goes as the meridian's height does.
        climb = self._meridian(v)[3]
        along = _dot(_triple(surface.getDN(0, v, 0, 1)), axis)
        self._z = axis if along * climb >= 0 else _scaled(axis, -1.0)
        self._hand = math.copysign(1.0, _dot(_cross(self._x, self._y), self._z))

    def describes(self, surface: Any, u: float, v: float, reference: Triple) -> bool:
        """Whether the surface goes where this one goes, and as fast."""
        rho, height, slope, climb = self._meridian(v)
        c, s = math.cos(u), math.sin(u)
        outwards = [c * self._x[i] + s * self._y[i] for i in range(3)]
        point = [self._center[i] + height * self._z[i] + rho * outwards[i] for i in range(3)]
        step = [slope * outwards[i] + climb * self._z[i] for i in range(3)]
        size = abs(rho) + abs(height) + math.sqrt(_dot(self._center, self._center)) + 1e-6
        away = math.dist(point, _relative(surface.value(u, v), reference))
        pace = math.sqrt(slope**2 + climb**2)
        off = math.dist(step, _triple(surface.getDN(u, v, 0, 1)))
        rounding = 1e-14 * max(abs(one) for one in reference)
        return away <= _AGREES * size + rounding and off <= _AGREES * pace

    def strip(self, u: float, v: float) -> Integrals:
        rho, height, slope, climb = self._meridian(v)
        base = tuple(self._center[i] + height * self._z[i] for i in range(3))
        across, along, up = (sum(base[i] * axis[i] for i in range(3)) for axis in (self._x, self._y, self._z))
        s0, c0, s1, c1 = math.sin(self._u0), math.cos(self._u0), math.sin(u), math.cos(u)
        span = u - self._u0
        ic, is_, ics = s1 - s0, c0 - c1, (s1 * s1 - s0 * s0) / 2
        bent = (s1 * c1 - s0 * c0) / 2
        icc, iss = span / 2 + bent, span / 2 - bent
        # Position times normal is k0 + kc cos u + ks sin u.
        factor = rho * self._hand
        k0, kc, ks = factor * (climb * rho - slope * up), factor * climb * across, factor * climb * along
        whole = k0 * span + kc * ic + ks * is_
        cosine = rho * (k0 * ic + kc * icc + ks * ics)
        sine = rho * (k0 * is_ + kc * ics + ks * iss)
        mx, my, mz = ((base[i] * whole + self._x[i] * cosine + self._y[i] * sine) / 4 for i in range(3))
        return (abs(rho) * math.sqrt(climb * climb + slope * slope) * span, whole / 3, mx, my, mz)


def _scaled(vector: Triple, factor: float) -> Triple:
    return (vector[0] * factor, vector[1] * factor, vector[2] * factor)


def _meridian(surface: Any) -> Callable[[float], tuple[float, float, float, float]]:
    """v → (r, h, dr/dv, dh/dv)."""
    if isinstance(surface, Part.Cylinder):
        radius = surface.Radius
        return lambda v: (radius, v, 0.0, 1.0)
    if isinstance(surface, Part.Cone):
        radius, slope, climb = surface.Radius, math.sin(surface.SemiAngle), math.cos(surface.SemiAngle)
        return lambda v: (radius + v * slope, v * climb, slope, climb)
    if isinstance(surface, Part.Sphere):
        radius, ring = surface.Radius, 0.0
    else:
        radius, ring = surface.MinorRadius, surface.MajorRadius

    def round_one(v: float) -> tuple[float, float, float, float]:
        c, s = radius * math.cos(v), radius * math.sin(v)
        return (ring + c, s, -s, c)

    return round_one


def _generic(surface: Any, u0: float, u1: float, reference: Triple) -> Strip:
    stops = _stops(surface, u0, u1)
    inner = _BETWEEN_KNOTS if isinstance(surface, Part.BSplineSurface) else _ELSEWHERE
    point, slopes = _evaluators(surface)

    def integrals(u: float, v: float) -> Integrals:
        forward = u >= u0
        low, high = (u0, u) if forward else (u, u0)
        inside = stops[bisect.bisect_right(stops, low) : bisect.bisect_left(stops, high)]
        marks = [low, *inside, high]
        total = [0.0] * 5
        for start, end in itertools.pairwise(marks):
            half, middle = (end - start) / 2, (start + end) / 2
            for node, weight in zip(inner.nodes, inner.weights, strict=True):
                at = middle + half * node
                place = _relative(point(at, v), reference)
                normal = _cross(*slopes(at, v))
                flux = _dot(place, normal)
                share = weight * half
                total[0] += share * math.sqrt(_dot(normal, normal))
                total[1] += share * flux / 3
                for axis in range(3):
                    total[2 + axis] += share * flux * place[axis] / 4
        sign = 1.0 if forward else -1.0
        return (sign * total[0], sign * total[1], sign * total[2], sign * total[3], sign * total[4])

    return integrals


def _evaluators(surface: Any) -> tuple[Callable[[float, float], Any], Callable[[float, float], Any]]:
    """Position, and both first derivatives, of a surface or of a face whose surface has no class."""
    if hasattr(surface, "getDN"):
        return surface.value, lambda u, v: (
            _triple(surface.getDN(u, v, 1, 0)),
            _triple(surface.getDN(u, v, 0, 1)),
        )
    return surface.valueAt, lambda u, v: tuple(_triple(one) for one in surface.derivative1At(u, v))


def _stops(surface: Any, u0: float, u1: float) -> Sequence[float]:
    """Where the integrand along u may break, at knots; and some more, so that no piece is a long way round."""
    knots = list(surface.getUKnots()) if isinstance(surface, Part.BSplineSurface) else []
    pieces = 4
    return sorted({*knots, *(u0 + (u1 - u0) * index / pieces for index in range(1, pieces))})
