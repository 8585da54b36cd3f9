"""What Open CASCADE builds measures what it should, and what it cannot build is refused where it lies."""

from __future__ import annotations

import math
from typing import Any

import pytest

from providers.drafting import box, document, node
from providers.hosts import Bench, Refused, failures, is_verified

_L_PROFILE = [[0, 0], [30, 0], [30, 6], [6, 6], [6, 20], [0, 20]]
_HALF_TORUS = {"profile": {"type": "circle", "radius": 2, "center": [10, 1]}, "angle": 180}
_PIN = node("pin", "cylinder", radius=2, height=5)

# Each with volume, area and bounding box, worked out by hand.
_KNOWN: dict[str, tuple[list[dict[str, Any]], float, float, list[float], list[float]]] = {
    "box": ([box("b", 20, 10, 5)], 1000, 700, [0, 0, 0], [20, 10, 5]),
    "cylinder": (
        [node("c", "cylinder", radius=3, height=7)],
        63 * math.pi,
        60 * math.pi,
        [-3, -3, 0],
        [3, 3, 7],
    ),
    "sphere": ([node("s", "sphere", radius=3)], 36 * math.pi, 36 * math.pi, [-3] * 3, [3] * 3),
    "cone to a tip": (
        [node("c", "cone", radius1=3, radius2=0, height=4)],
        12 * math.pi,
        24 * math.pi,
        [-3, -3, 0],
        [3, 3, 4],
    ),
    "cone with equal radii": (
        [node("c", "cone", radius1=3, radius2=3, height=7)],
        63 * math.pi,
        60 * math.pi,
        [-3, -3, 0],
        [3, 3, 7],
    ),
    "torus": (
        [node("t", "torus", radius1=10, radius2=2)],
        80 * math.pi**2,
        80 * math.pi**2,
        [-12, -12, -2],
        [12, 12, 2],
    ),
    "extrude": ([node("e", "extrude", profile=_L_PROFILE, height=12)], 3168, 1728, [0, 0, 0], [30, 20, 12]),
    "extrude clockwise": (
        [node("e", "extrude", profile=_L_PROFILE[::-1], height=12)],
        3168,
        1728,
        [0, 0, 0],
        [30, 20, 12],
    ),
    "extrude a rectangle": (
        [
            node(
                "e",
                "extrude",
                profile={"type": "rectangle", "width": 4, "height": 2, "center": [1, 1]},
                height=3,
            )
        ],
        24,
        52,
        [-1, 0, 0],
        [3, 2, 3],
    ),
    "revolve half a ring": (
        [node("r", "revolve", **_HALF_TORUS)],
        40 * math.pi**2,
        40 * math.pi**2 + 8 * math.pi,
        [-12, 0, -1],
        [12, 12, 3],
    ),
    "revolve on the axis": (
        [node("r", "revolve", profile=[[0, 0], [3, 0], [0, 4]])],
        12 * math.pi,
        24 * math.pi,
        [-3, -3, 0],
        [3, 3, 4],
    ),
    "rotate": (
        [box("b", 4, 2, 1), node("r", "rotate", "b", axis="z", angle=90)],
        8,
        28,
        [-2, 0, 0],
        [0, 4, 1],
    ),
    "mirror": (
        [box("b", 4, 2, 1), node("m", "mirror", "b", plane="yz", center=[5, 0, 0])],
        8,
        28,
        [6, 0, 0],
        [10, 2, 1],
    ),
    "scale": (
        [box("b", 4, 2, 1), node("s", "scale", "b", factor=2, center=[4, 0, 0])],
        64,
        112,
        [-4, 0, 0],
        [4, 4, 2],
    ),
    "fillet along z": (
        [box("b", 20, 10, 5), node("f", "fillet", "b", radius=2, edges={"parallelTo": "z"})],
        1000 - 5 * (16 - 4 * math.pi),
        2 * (200 - 16 + 4 * math.pi) + 5 * (60 - 16 + 4 * math.pi),
        [0, 0, 0],
        [20, 10, 5],
    ),
    "chamfer on one side": (
        [
            box("b", 20, 10, 5),
            node("c", "chamfer", "b", distance=1, edges={"onFace": "+x", "parallelTo": "y"}),
        ],
        1000 - 10,
        700 - 2 * (20 - 10 * math.sqrt(2)) - 2,
        [0, 0, 0],
        [20, 10, 5],
    ),
    "shell": (
        [box("b", 20, 10, 5), node("s", "shell", "b", thickness=1, openFaces=["+z"])],
        1000 - 18 * 8 * 4,
        700 + 2 * (18 + 8) * 4,
        [0, 0, 0],
        [20, 10, 5],
    ),
    "shell open at both ends": (
        [box("b", 20, 10, 5), node("s", "shell", "b", thickness=1, openFaces=["+z", "-z"])],
        1000 - 18 * 8 * 5,
        300 + 2 * (200 - 144) + 52 * 5,
        [0, 0, 0],
        [20, 10, 5],
    ),
    "linear pattern": (
        [box("b", 1, 1, 1), node("p", "linearPattern", "b", direction=[0, 3, 4], spacing=5, count=3)],
        3,
        18,
        [0, 0, 0],
        [1, 7, 9],
    ),
    "linear pattern that touches": (
        [box("b", 2, 1, 1), node("p", "linearPattern", "b", direction="x", spacing=2, count=3)],
        6,
        26,
        [0, 0, 0],
        [6, 1, 1],
    ),
    "polar pattern over part of a turn": (
        [
            box("b", 1, 1, 1),
            node("m", "translate", "b", offset=[5, 0, 0]),
            node("p", "polarPattern", "m", count=3, angle=180),
        ],
        3,
        18,
        [-6, -1, 0],
        [6, 6, 1],
    ),
    "union of separate solids": (
        [
            box("a", 1, 1, 1),
            box("b", 2, 1, 1),
            node("m", "translate", "b", offset=[5, 0, 0]),
            node("u", "union", "a", "m"),
        ],
        3,
        16,
        [0, 0, 0],
        [7, 1, 1],
    ),
    "cut": (
        [box("b", 20, 10, 5), _PIN, node("x", "cut", "b", "pin")],
        1000 - 5 * math.pi,
        0,
        [0, 0, 0],
        [20, 10, 5],
    ),
    "intersect": (
        [box("b", 20, 10, 5), _PIN, node("x", "intersect", "b", "pin")],
        5 * math.pi,
        0,
        [0, 0, 0],
        [2, 2, 5],
    ),
}


@pytest.mark.parametrize("name", _KNOWN)
def test_known_parts_measure_right(name: str, occt: Bench) -> None:
    nodes, volume, area, low, high = _KNOWN[name]
    produced = occt.produce(document(*nodes))
    assert produced.quantity("volume") == pytest.approx(volume, rel=1e-9)
    if area:
        assert produced.quantity("area") == pytest.approx(area, rel=1e-9)
    assert produced.quantity("boundingBox")["min"] == pytest.approx(low, abs=1e-9)
    assert produced.quantity("boundingBox")["max"] == pytest.approx(high, abs=1e-9)
    assert produced.quantity("valid") is True
    report = occt.verify(produced)
    assert is_verified(report), failures(report)


_TURNED = node("r", "rotate", "b", axis="z", angle=90)


@pytest.mark.parametrize(
    ("nodes", "at_zero"),
    [
        ([box("b", 20, 10, 5), _TURNED], {("max", 0)}),
        ([node("b", "sphere", radius=3), node("r", "rotate", "b", axis=[1, 2, 3], angle=77)], set()),
        ([node("b", "cylinder", radius=3, height=7), _TURNED], {("min", 2)}),
        ([box("b", 0.02, 0.01, 0.01), _TURNED], {("max", 0)}),
        ([node("b", "torus", radius1=9000, radius2=2), _TURNED], set()),
    ],
)
def test_rounding_is_no_coordinate(nodes: list[dict[str, Any]], at_zero: set[Any], occt: Bench) -> None:
    produced = occt.produce(document(*nodes))
    bounds, center = produced.quantity("boundingBox"), produced.quantity("centerOfMass")
    values = {(corner, axis): bounds[corner][axis] for corner in ("min", "max") for axis in range(3)}
    for place in at_zero:
        assert values[place] == 0
    reach = max(map(abs, values.values()))
    assert not [value for value in [*values.values(), *center] if 0 < abs(value) < 1e-11 * reach]
    assert bounds["size"] == [high - low for low, high in zip(bounds["min"], bounds["max"], strict=True)]
    report = occt.verify(produced)
    assert is_verified(report), failures(report)


def test_a_small_coordinate_that_was_meant_is_kept(occt: Bench) -> None:
    produced = occt.produce(document(box("b", 20, 10, 5), node("m", "translate", "b", offset=[1e-9, 0, 0])))
    assert produced.quantity("boundingBox")["min"][0] == pytest.approx(1e-9)


def test_separate_solids_are_counted(occt: Bench) -> None:
    nodes, *_ = _KNOWN["union of separate solids"]
    assert occt.produce(document(*nodes)).quantity("solids") == 2


def test_several_outputs_are_published_each(occt: Bench) -> None:
    produced = occt.produce(document(box("a", 1, 2, 3), node("b", "scale", "a", factor=2), output=["b", "a"]))
    assert list(produced.result["outputs"]) == ["b", "a"]
    assert {one["name"] for one in produced.result["publications"]} == {
        f"{name}.{suffix}" for name in "ab" for suffix in ("step", "stl", "brep")
    }
    report = occt.verify(produced, pictures=True)
    assert is_verified(report), failures(report)
    assert [one["name"] for one in report["pictures"]] == ["b.png", "a.png"]


def test_nodes_may_come_in_any_order(occt: Bench) -> None:
    produced = occt.produce(
        document(node("u", "translate", "b", offset=[1, 0, 0]), box("b", 1, 1, 1), output="u")
    )
    assert produced.quantity("boundingBox")["max"] == pytest.approx([2, 1, 1])


def test_imported_step_is_the_part_it_was(occt: Bench) -> None:
    first = occt.produce(document(box("b", 20, 10, 5)))
    binding = {"/nodes/0/options/file": str(first.path("geometry/step"))}
    produced = occt.produce(
        document(node("part", "importSTEP"), node("s", "scale", "part", factor=2)), binding
    )
    assert produced.quantity("volume") == pytest.approx(8000, rel=1e-9)
    report = occt.verify(produced)
    assert is_verified(report), failures(report)
    assert (
        any(
            "importSTEP" in check["scope"] or "importSTEP" in said
            for check in report["checks"]
            for said in report["notCovered"]
        )
        or report["notCovered"]
    )


_REFUSED: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "a cut that leaves nothing": (
        [box("a", 1, 1, 1), box("b", 2, 2, 2), node("x", "cut", "a", "b")],
        "/nodes/2",
        "leaves nothing",
    ),
    "solids without a common part": (
        [box("a", 1, 1, 1), node("b", "translate", "a", offset=[5, 0, 0]), node("x", "intersect", "a", "b")],
        "/nodes/2",
        "no common part",
    ),
    "a fillet larger than the edge": (
        [box("a", 5, 5, 5), node("f", "fillet", "a", radius=6)],
        "/nodes/1",
        "does not fit",
    ),
    "a chamfer larger than the face": (
        [box("a", 5, 5, 5), node("f", "chamfer", "a", distance=7)],
        "/nodes/1",
        "does not fit",
    ),
    "walls thicker than the part": (
        [box("a", 5, 5, 5), node("f", "shell", "a", thickness=4)],
        "/nodes/1",
        "do not fit",
    ),
    "walls thicker than the radius": (
        [node("a", "cylinder", radius=10, height=20), node("f", "shell", "a", thickness=10.5)],
        "/nodes/1",
        "smaller thickness, or leave other faces open.",
    ),
    "walls that turn a cone's tip inside out": (
        [
            node("a", "cone", radius1=10, radius2=2, height=20),
            node("f", "shell", "a", thickness=3, openFaces=["-z"]),
        ],
        "/nodes/1",
        "do not fit",
    ),
    "edges that are not there": (
        [node("a", "sphere", radius=5), node("f", "fillet", "a", radius=1, edges={"parallelTo": "z"})],
        "/nodes/1",
        "finds no edge",
    ),
    "a side without a flat face": (
        [node("a", "sphere", radius=5), node("f", "shell", "a", thickness=1)],
        "/nodes/1",
        "No flat face",
    ),
    "a file that nobody bound": ([node("a", "importSTEP")], "/nodes/0", "bind"),
    "a part beyond what a double holds": (
        [box("a", 1e6, 1, 1), node("f", "scale", "a", factor=100)],
        "/nodes/1",
        "1e7",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_what_cannot_be_built_is_refused_where_it_lies(name: str, occt: Bench) -> None:
    nodes, pointer, words = _REFUSED[name]
    with pytest.raises(Refused) as refused:
        occt.produce(document(*nodes))
    assert refused.value.pointer == pointer
    assert words in refused.value.message


def test_a_bound_file_that_is_no_step_is_refused(occt: Bench, tmp_path: Any) -> None:
    (tmp_path / "x.step").write_text("ISO-10303-21; nothing of the kind")
    with pytest.raises(Refused) as refused:
        occt.produce(document(node("a", "importSTEP")), {"/nodes/0/options/file": str(tmp_path / "x.step")})
    assert refused.value.pointer == "/nodes/0"
