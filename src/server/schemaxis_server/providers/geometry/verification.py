"""Checks of a geometry result that need no CAD kernel of the producer's kind.

Closed forms and the second kernel hold the result against the document; the integral of the STL as
a mesh holds that file against the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from schemaxis_server.providers.geometry import closed_form, mesh, second_kernel
from schemaxis_server.providers.geometry.checks import INDEPENDENT, Tolerances, check, failed, reach

EXACT = 1e-9
_SINGLE = 2.0**-22
# Over 200 random round documents the extrapolated volume lay at most 4.1 times the difference between 96
# and 192 facets off, and at most 6e-6 of itself. Four times the difference and a floor, which falls with
# the square of the facets as the error does, leave room. Area and bounds converge less evenly: a thin
# sliver between a ball and a cone was off by 3.1e-5 of its area.
_OF_DIFFERENCE = 4.0
_VOLUME_FLOOR = 2e-6
_FLOOR = 1e-4
_FACETS_OF_FLOORS = 192

Check = dict[str, Any]
Floats = Sequence[float]


def closed_form_check(form: closed_form.Form, claims: Mapping[str, Any], output: str) -> Check:
    """The result against formulas."""
    expected = closed_form.quantities(form)
    scope = (
        f"{INDEPENDENT}: formulas for the whole document give the result's volume, area, bounds, centre and "
        "number of solids."
    )
    return check(
        f"closed form of {output}",
        scope,
        "schemaxis formulas",
        expected=expected,
        observed=claims,
        quantities=tuple(expected),
        tolerances=Tolerances.relative(expected, EXACT),
    )


def second_kernel_check(document: Mapping[str, Any], claims: Mapping[str, Any], output: str) -> Check:
    """The result against the same document rebuilt by manifold3d."""
    name = f"second kernel of {output}"
    engine = f"manifold3d {version('manifold3d')}"
    try:
        rebuilt = second_kernel.rebuild(document, output)
    except second_kernel.CannotRebuildError as reason:
        scope = f"{INDEPENDENT}: the document rebuilt by another kernel."
        return failed(name, scope, engine, "a closed solid", str(reason))
    expected = rebuilt.quantities
    if rebuilt.uncertainty is None:
        how, tolerances = "which holds its flat faces exactly", Tolerances.relative(expected, EXACT)
    else:
        how = f"with {rebuilt.resolution // 2} and {rebuilt.resolution} facets to a turn and extrapolated"
        tolerances = _facet_tolerances(rebuilt)
    return check(
        name,
        f"{INDEPENDENT}: the document rebuilt by another kernel, {how}.",
        engine,
        expected=expected,
        observed=claims,
        quantities=tuple(expected),
        tolerances=tolerances,
    )


def _facet_tolerances(rebuilt: second_kernel.Rebuilt) -> Tolerances:
    expected, spread = rebuilt.quantities, rebuilt.uncertainty or {}
    coarseness = (_FACETS_OF_FLOORS / rebuilt.resolution) ** 2
    volume = _OF_DIFFERENCE * spread["volume"] + _VOLUME_FLOOR * coarseness * expected["volume"]
    if spread["volume"] < 1e-12 * expected["volume"]:
        # The facets keep this body's volume whatever their number: nothing was extrapolated.
        volume = EXACT * expected["volume"]
    floor, size = _FLOOR * coarseness, reach(expected)
    return Tolerances(
        volume=volume,
        area=_OF_DIFFERENCE * spread["area"] + floor * expected["area"],
        boundingBox=_OF_DIFFERENCE * spread["boundingBox"] + floor * size,
        centerOfMass=_OF_DIFFERENCE * spread["centerOfMass"] + floor * size,
        words=f"volume {volume / expected['volume']:.1e} of itself; the others {_OF_DIFFERENCE:g} times the "
        f"difference between the two resolutions plus {floor:.1g} of the area or the largest coordinate",
    )


def stl_check(
    path: Path,
    claims: Mapping[str, Any],
    output: str,
    *,
    flat: bool,
    deflection_of: Callable[[Floats, Floats], float],
) -> tuple[Check, mesh.Mesh | None]:
    """The published mesh, integrated, against the result; and the mesh when it can be drawn.

    ``deflection_of`` gives the producer's deflection in mm from the corners of the bounding box.
    A flat-faced body's mesh is exact but for single precision. A round one's lies within the
    deflection of the surface, so that its volume is off by less than area times deflection.
    """
    name = f"STL of {output}"
    engine = f"schemaxis mesh integration, numpy {version('numpy')}"
    scope = (
        f"{INDEPENDENT}: the published triangles are closed and consistently oriented, and integrate to the "
        "result's volume and bounds."
    )
    try:
        surface = mesh.read_stl(path)
    except (OSError, ValueError) as reason:
        return failed(name, scope, engine, "a binary STL", str(reason)[:200]), None
    if not mesh.is_closed(surface):
        return failed(name, scope, engine, "a closed surface", "edges without a partner"), surface
    found = mesh.integrate(surface)
    low, high = found["boundingBox"]["min"], found["boundingBox"]["max"]
    size = reach(found)
    rounding = size * _SINGLE
    deflection = rounding if flat else deflection_of(low, high) + rounding
    tolerances = Tolerances(
        volume=found["area"] * deflection,
        area=0.0,
        boundingBox=2 * deflection,
        centerOfMass=0.0,
        words=f"bounds within {2 * deflection:.2g} mm, volume within area times half of that",
    )
    row = check(
        name,
        scope,
        engine,
        expected=claims,
        observed=found,
        quantities=("volume", "boundingBox"),
        tolerances=tolerances,
    )
    return row, surface
