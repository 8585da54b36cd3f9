"""Rebuilds a document with manifold3d, a kernel that shares nothing with Open CASCADE.

Manifold knows flat faces only, in double precision: flat-faced documents come out exact. Round
ones are built at two resolutions. Their facets are scaled so that each primitive keeps its exact
volume, and what is left of the error falls with the square of the resolution, so that the two
give both a better value (Richardson's extrapolation) and a measure of what it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import manifold3d
import numpy as np
from manifold3d import Manifold, Mesh64, OpType

from schemaxis_server.providers.geometry import closed_form, mesh, vectors
from schemaxis_server.providers.geometry.bodies import Part, Prism, RoundedBox
from schemaxis_server.providers.geometry.profiles import polygon_points, signed_area
from schemaxis_server.providers.geometry.sections import Polygon, RoundedRectangle, Section
from schemaxis_server.providers.order import execution_order, needed

_NEVER = frozenset({"shell", "importSTEP"})
_EASED = frozenset({"fillet", "chamfer"})

_RESOLUTIONS = (96, 64, 48, 32, 24, 16)
_TRIANGLES = 150_000
_ON_AXIS = 1e-9

Point = tuple[float, float]


class CannotRebuildError(Exception):
    """The second kernel made no closed solid of a document that it should be able to build."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Plain quantities of one output and, for each, how far they may be off.

    ``uncertainty`` holds absolute values for volume (mm^3), area (mm^2), centerOfMass and boundingBox
    (mm); it is None for a flat-faced document, whose values are exact to rounding. ``resolution`` is
    the finer number of facets to a turn.
    """

    quantities: dict[str, Any]
    uncertainty: dict[str, float] | None
    resolution: int


def unsupported(document: Mapping[str, Any], output: str) -> dict[str, Mapping[str, Any]]:
    """The nodes of an output that :func:`rebuild` cannot make.

    The second kernel has no fillets and chamfers. It makes those that have a closed form from that.
    """
    nodes = ancestry(document, output)
    forms = _forms(document, nodes)
    return {
        name: node
        for name, node in nodes.items()
        if node["filter"] in _NEVER or (node["filter"] in _EASED and forms[name] is None)
    }


def _forms(
    document: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, closed_form.Form | None]:
    """Closed forms, if there is a node to be made from its own."""
    eased = any(node["filter"] in _EASED for node in nodes.values())
    return closed_form.forms(document) if eased else {}


def is_flat(nodes: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the second kernel holds what these nodes make exactly."""
    return not any(_is_round(node) for node in nodes.values())


def rebuild(document: Mapping[str, Any], output: str) -> Rebuilt:
    """Rebuild one output of a resolved document, none of whose nodes is :func:`unsupported`.

    Raises :class:`CannotRebuildError`.
    """
    nodes = ancestry(document, output)
    forms = _forms(document, nodes)
    if is_flat(nodes):
        return Rebuilt(_measured(_built(nodes, forms, output, 4)), None, 0)
    coarse_facets = _resolution(nodes, output)
    coarse = _measured(_built(nodes, forms, output, coarse_facets))
    fine = _measured(_built(nodes, forms, output, 2 * coarse_facets))
    return Rebuilt(_extrapolated(coarse, fine), _difference(coarse, fine), 2 * coarse_facets)


def ancestry(document: Mapping[str, Any], output: str) -> dict[str, Mapping[str, Any]]:
    """The nodes that an output is made of, in execution order."""
    nodes = {node["id"]: node for node in document["nodes"]}
    inputs = {name: node["inputs"] for name, node in nodes.items()}
    order, _ = execution_order(inputs)
    used = needed(inputs, [output])
    return {name: nodes[name] for name in order if name in used}


def _is_round(node: Mapping[str, Any]) -> bool:
    if node["filter"] == "extrude":
        return bool(node["options"]["profile"]["type"] == "circle")
    return node["filter"] in ("cylinder", "sphere", "cone", "torus", "revolve", "fillet")


def _resolution(nodes: Mapping[str, Mapping[str, Any]], output: str) -> int:
    """The finest of the coarse resolutions whose doubled mesh stays within the budget."""
    for facets in _RESOLUTIONS:
        weights: dict[str, float] = {}
        for name, node in nodes.items():
            copies = node["options"].get("count", 1)
            taken = 0.0 if node["filter"] in _EASED else sum(weights[one] for one in node["inputs"])
            weights[name] = copies * (taken or _weight(node, 2 * facets))
        if weights[output] <= _TRIANGLES:
            return facets
    return _RESOLUTIONS[-1]


def _weight(node: Mapping[str, Any], facets: int) -> float:
    operation, profile = node["filter"], node["options"].get("profile", {})
    if operation in ("sphere", "torus", "fillet") or (operation == "revolve" and profile["type"] == "circle"):
        return float(facets * facets)
    corners = len(profile.get("points", "four"))
    return 2.0 * corners * (facets if operation in ("revolve", "cone", "cylinder") else 2)


def _built(
    nodes: Mapping[str, Mapping[str, Any]],
    forms: Mapping[str, closed_form.Form | None],
    output: str,
    facets: int,
) -> Manifold:
    made: dict[str, Manifold] = {}
    for name, node in nodes.items():
        form = forms[name] if node["filter"] in _EASED else None
        if form is not None:
            made[name] = _together([_from_form(part, facets) for part in form])
        else:
            inputs = [made[source] for source in node["inputs"]]
            made[name] = _node(node["filter"], node["options"], inputs, facets)
        if made[name].status() != manifold3d.Error.NoError or made[name].is_empty():
            raise CannotRebuildError(f"the second kernel makes no solid of {name} ({node['filter']})")
    return made[output]


def _node(operation: str, options: Mapping[str, Any], inputs: Sequence[Manifold], facets: int) -> Manifold:
    if not inputs:
        return _solid(operation, options, facets)
    first = inputs[0]
    if operation == "translate":
        return first.translate(options["offset"])
    if operation == "rotate":
        turn = vectors.rotation(vectors.direction(options["axis"]), math.radians(options["angle"]))
        return _about(first, turn, options["center"])
    if operation == "mirror":
        return _about(first, vectors.reflection(options["plane"]), options["center"])
    if operation == "scale":
        return _about(first, np.eye(3) * options["factor"], options["center"])
    if operation == "linearPattern":
        step = np.array(vectors.direction(options["direction"])) * options["spacing"]
        return _together([first.translate((step * index).tolist()) for index in range(options["count"])])
    if operation == "polarPattern":
        axis = vectors.direction(options["axis"])
        angles = closed_form.polar_angles(options)
        return _together(
            [_about(first, vectors.rotation(axis, angle), options["center"]) for angle in angles]
        )
    kinds = {"union": OpType.Add, "cut": OpType.Subtract, "intersect": OpType.Intersect}
    return Manifold.batch_boolean(list(inputs), kinds[operation])


def _together(copies: list[Manifold]) -> Manifold:
    return Manifold.batch_boolean(copies, OpType.Add)


def _about(solid: Manifold, linear: Any, center: Sequence[float]) -> Manifold:
    matrix = np.asarray(linear, dtype=np.float64)
    fixed = np.asarray(center, dtype=np.float64)
    return solid.transform(np.column_stack([matrix, fixed - matrix @ fixed]))


def _solid(operation: str, options: Mapping[str, Any], facets: int) -> Manifold:
    if operation == "box":
        x, y = float(options["length"]), float(options["width"])
        return _prism([(0.0, 0.0), (x, 0.0), (x, y), (0.0, y)], options["height"])
    if operation == "cylinder":
        return _prism(_circle((0.0, 0.0), options["radius"], facets), options["height"])
    if operation == "extrude":
        return _prism(_outline(options["profile"], facets), options["height"])
    if operation == "revolve":
        return _revolved(_outline(options["profile"], facets), math.radians(options["angle"]), facets)
    if operation == "torus":
        return _revolved(_circle((options["radius1"], 0.0), options["radius2"], facets), 2 * math.pi, facets)
    if operation == "sphere":
        return _revolved(_half_disc(options["radius"], facets), 2 * math.pi, facets)
    section = closed_form.cone_section(options)
    return _revolved(list(section.points), 2 * math.pi, facets)


def _from_form(part: Part, facets: int) -> Manifold:
    """A prism or a box with eased edges."""
    body = part.body
    if isinstance(body, RoundedBox):
        ball = _revolved(_half_disc(body.radius, facets), 2 * math.pi, facets)
        corners = product(*((body.radius, extent - body.radius) for extent in body.size))
        solid = Manifold.batch_hull([ball.translate(corner) for corner in corners])
    elif isinstance(body, Prism) and isinstance(body.section, Polygon):
        solid = _prism(list(body.section.points), body.height)
    elif isinstance(body, Prism) and isinstance(body.section, RoundedRectangle):
        solid = _prism(_rounded_outline(body.section, facets), body.height)
    else:
        raise CannotRebuildError(f"the second kernel has no {type(body).__name__}")
    return solid.transform(np.column_stack([np.array(part.linear), np.array(part.offset)]))


def _rounded_outline(section: RoundedRectangle, facets: int) -> list[Point]:
    """Corners on the arcs; their number is a multiple of four, so that the arcs end where they should."""
    radius, quarter = section.radius, facets // 4
    points = []
    for turn, (x, y) in enumerate(((1, 1), (0, 1), (0, 0), (1, 0))):
        center = (radius + x * (section.width - 2 * radius), radius + y * (section.height - 2 * radius))
        for step in range(quarter + 1):
            angle = math.pi / 2 * (turn + step / quarter)
            points.append((center[0] + radius * math.cos(angle), center[1] + radius * math.sin(angle)))
    return points


def _outline(profile: Mapping[str, Any], facets: int) -> list[Point]:
    points = polygon_points(profile)
    if points is None:
        x, y = profile["center"]
        return _circle((x, y), profile["radius"], facets)
    return points if signed_area(points) > 0 else points[::-1]


def _circle(center: Point, radius: float, facets: int) -> list[Point]:
    """A regular polygon with the circle's area."""
    step = 2 * math.pi / facets
    reach = radius * math.sqrt(step / math.sin(step))
    angles = (step * index for index in range(facets))
    return [(center[0] + reach * math.cos(angle), center[1] + reach * math.sin(angle)) for angle in angles]


def _half_disc(radius: float, facets: int) -> list[Point]:
    """Half of a regular polygon, which turned about x = 0 has the ball's volume."""
    count = facets // 2
    angles = [-math.pi / 2 + math.pi * index / count for index in range(count + 1)]
    points = [(max(0.0, math.cos(angle)), math.sin(angle)) for angle in angles]
    points[0], points[-1] = (0.0, -1.0), (0.0, 1.0)
    section: Section = Polygon(tuple(points))
    reach = radius * ((2 / 3) / section.first_moment) ** (1 / 3)
    return [(reach * x, reach * y) for x, y in points]


def _prism(outline: list[Point], height: float) -> Manifold:
    count = len(outline)
    flat = np.array(outline, dtype=np.float64)
    low = np.column_stack([flat, np.zeros(count)])
    high = np.column_stack([flat, np.full(count, float(height))])
    cap = manifold3d.triangulate([flat]).astype(np.int64)
    here = np.arange(count)
    there = (here + 1) % count
    sides = np.concatenate(
        [np.column_stack([here, there, there + count]), np.column_stack([here, there + count, here + count])]
    )
    return _manifold(np.concatenate([low, high]), np.concatenate([cap[:, ::-1], cap + count, sides]))


def _revolved(outline: list[Point], angle: float, facets: int) -> Manifold:
    """Turn a counter-clockwise outline in the xz plane about z, keeping its volume."""
    whole = angle >= 2 * math.pi
    steps = facets if whole else max(3, math.ceil(facets * angle / (2 * math.pi)))
    step = angle / steps
    reach = math.sqrt(step / math.sin(step))
    flat = np.array(outline, dtype=np.float64)
    on_axis = np.abs(flat[:, 0]) <= _ON_AXIS
    flat[on_axis, 0] = 0.0
    rings = steps if whole else steps + 1
    turns = step * np.arange(rings)
    x = reach * flat[None, :, 0] * np.cos(turns)[:, None]
    y = reach * flat[None, :, 0] * np.sin(turns)[:, None]
    z = np.broadcast_to(flat[None, :, 1], x.shape)
    count = len(outline)
    index = np.arange(rings)[:, None] * count + np.arange(count)[None, :]
    # All turns of a point on the axis are the same vertex.
    index[:, on_axis] = np.arange(count)[None, on_axis]
    here = index[:steps]
    there = index[(np.arange(steps) + 1) % rings]
    after = np.roll(np.arange(count), -1)
    quads = [
        np.stack([here, there, there[:, after]], axis=-1).reshape(-1, 3),
        np.stack([here, there[:, after], here[:, after]], axis=-1).reshape(-1, 3),
    ]
    triangles = np.concatenate(quads)
    if not whole:
        cap = manifold3d.triangulate([flat]).astype(np.int64)
        triangles = np.concatenate([triangles, index[0][cap], index[-1][cap[:, ::-1]]])
    a, b, c = triangles.T
    kept = triangles[(a != b) & (b != c) & (c != a)]
    used, renamed = np.unique(kept, return_inverse=True)
    vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)[used]
    return _manifold(vertices, renamed.reshape(-1, 3))


def _manifold(vertices: Any, triangles: Any) -> Manifold:
    return Manifold(Mesh64(np.ascontiguousarray(vertices), np.ascontiguousarray(triangles.astype(np.uint64))))


def _measured(solid: Manifold) -> dict[str, Any]:
    made = solid.to_mesh64()
    vertices = np.asarray(made.vert_properties, dtype=np.float64)[:, :3]
    return mesh.integrate(mesh.Mesh(vertices, np.asarray(made.tri_verts).astype(np.int64)))


def _extrapolated(coarse: Any, fine: Any) -> Any:
    """The limit of a series whose error falls with the square of the resolution."""
    if isinstance(fine, dict):
        return {name: _extrapolated(coarse[name], fine[name]) for name in fine}
    if isinstance(fine, list):
        return [_extrapolated(one, other) for one, other in zip(coarse, fine, strict=True)]
    return fine + (fine - coarse) / 3


def _difference(coarse: dict[str, Any], fine: dict[str, Any]) -> dict[str, float]:
    """The largest difference between the two resolutions, quantity by quantity."""
    return {name: max(abs(a - b) for a, b in _pairs(coarse[name], fine[name])) for name in fine}


def _pairs(one: Any, other: Any) -> list[tuple[float, float]]:
    if isinstance(one, dict):
        return [pair for name in one for pair in _pairs(one[name], other[name])]
    if isinstance(one, list):
        return [pair for a, b in zip(one, other, strict=True) for pair in _pairs(a, b)]
    return [(one, other)]
