"""What was hardly meant is built as it was written, and the result's warnings say so."""

from __future__ import annotations

from typing import Any

import pytest

from providers.drafting import box, document, node
from providers.hosts import Bench, Refused, failures, is_verified

Nodes = list[dict[str, Any]]

_BLOCK = box("block", 20, 10, 5)
_DRILL = node("drill", "cylinder", radius=2, height=20)
_RING = node("ring", "revolve", profile=[[5, 0], [9, 0], [9, 4], [5, 4]])


def moved(name: str, source: str, x: float, y: float, z: float) -> dict[str, Any]:
    return node(name, "translate", source, offset=[x, y, z])


# Each with the pointer of the doubtful node and words of its warning.
_DOUBTFUL: dict[str, tuple[Nodes, str, tuple[str, ...]]] = {
    "a tool beside the part": (
        [_BLOCK, _DRILL, moved("far", "drill", 30, 5, -5), node("hole", "cut", "block", "far")],
        "/nodes/3: hole (cut)",
        ("its tool far (inputs/1) removes nothing from block", "8 mm beyond it towards +x", "x 28 to 32"),
    ),
    "a tool that stands on the part": (
        [_BLOCK, _DRILL, moved("on", "drill", 10, 5, 5), node("hole", "cut", "block", "on")],
        "/nodes/3: hole (cut)",
        ("its tool on (inputs/1) removes nothing", "only touches it on its +z side"),
    ),
    "a turned tool that stands on the part": (
        [
            _BLOCK,
            node("on", "translate", "block", offset=[0, 0, 5]),
            node("a", "rotate", "block", axis=[1, 2, 3], angle=30),
            node("b", "rotate", "on", axis=[1, 2, 3], angle=30),
            node("hole", "cut", "a", "b"),
        ],
        "/nodes/4: hole (cut)",
        ("its tool b (inputs/1) removes nothing from a",),
    ),
    "a tool in the hole of a ring": (
        [_RING, _DRILL, node("hole", "cut", "ring", "drill")],
        "/nodes/2: hole (cut)",
        ("its tool drill (inputs/1) removes nothing from ring", "beside it"),
    ),
    "one of several tools misses": (
        [
            _BLOCK,
            _DRILL,
            moved("in", "drill", 5, 5, -5),
            moved("out", "drill", 5, -3, -5),
            moved("also", "drill", 15, 5, -5),
            node("holes", "cut", "block", "in", "out", "also"),
        ],
        "/nodes/5: holes (cut)",
        ("its tool out (inputs/2) removes nothing", "1 mm beyond it towards -y"),
    ),
    "a part of a pattern misses": (
        [
            _BLOCK,
            _DRILL,
            moved("first", "drill", 6, 5, -5),
            node("row", "linearPattern", "first", direction="x", spacing=6, count=4),
            node("holes", "cut", "block", "row"),
        ],
        "/nodes/4: holes (cut)",
        ("1 of the 4 solids of its tool row (inputs/1) removes nothing", "2 mm beyond it towards +x"),
    ),
    "an input within another": (
        [
            _BLOCK,
            box("small", 1, 1, 1),
            moved("inner", "small", 2, 2, 2),
            node("u", "union", "block", "inner"),
        ],
        "/nodes/3: u (union)",
        ("its input inner (inputs/1) adds nothing",),
    ),
    "an input within two others together": (
        [
            box("low", 4, 4, 2),
            moved("high", "low", 0, 0, 2),
            box("tall", 1, 1, 3),
            moved("across", "tall", 1, 1, 0.5),
            node("u", "union", "low", "across", "high"),
        ],
        "/nodes/4: u (union)",
        ("its input across (inputs/1) adds nothing",),
    ),
    "the same twice": (
        [_BLOCK, box("again", 20, 10, 5), node("u", "union", "block", "again")],
        "/nodes/2: u (union)",
        ("its input again (inputs/1) adds nothing",),
    ),
    "an intersection with something around it": (
        [_BLOCK, box("big", 50, 50, 50), node("i", "intersect", "block", "big")],
        "/nodes/2: i (intersect)",
        ("its input big (inputs/1) takes nothing away",),
    ),
    "an intersection of three, one of which is around the others": (
        [
            _BLOCK,
            box("big", 50, 50, 50),
            moved("beside", "block", 10, 0, 0),
            node("i", "intersect", "big", "block", "beside"),
        ],
        "/nodes/3: i (intersect)",
        ("its input big (inputs/0) takes nothing away",),
    ),
    "copies at the same place": (
        [_DRILL, node("p", "polarPattern", "drill", count=6)],
        "/nodes/1: p (polarPattern)",
        ("all 6 copies coincide with drill",),
    ),
    "a point far from any edge": (
        [_BLOCK, node("f", "fillet", "block", radius=1, edges={"nearTo": [40, 5, 5]})],
        "/nodes/1: f (fillet)",
        ("nearTo [40, 5, 5] of its options/edges", "the edge at [20, 5, 5], 20 mm away"),
    ),
    "one of several points far from any edge": (
        [
            _BLOCK,
            node("f", "chamfer", "block", distance=1, edges=[{"onFace": "-x"}, {"nearTo": [20, 5, 8]}]),
        ],
        "/nodes/1: f (chamfer)",
        ("nearTo [20, 5, 8] of its options/edges/1", "3 mm away"),
    ),
    "a point on a corner": (
        [_BLOCK, node("f", "fillet", "block", radius=1, edges={"nearTo": [0, 0, 0]})],
        "/nodes/1: f (fillet)",
        ("equally near to 3 edges",),
    ),
    "a point far from any face": (
        [_BLOCK, node("s", "shell", "block", thickness=1, openFaces=[{"nearTo": [10, 5, 9]}])],
        "/nodes/1: s (shell)",
        ("options/openFaces/0", "the face at [10, 5, 5], 4 mm away"),
    ),
}


@pytest.mark.parametrize("name", _DOUBTFUL)
def test_what_was_hardly_meant_is_told_with_its_place(name: str, occt: Bench) -> None:
    nodes, place, words = _DOUBTFUL[name]
    produced = occt.produce(document(*nodes))
    (warning,) = produced.result["warnings"]
    assert warning.startswith(place + ": ")
    for word in words:
        assert word in warning
    assert len(warning) < 500
    report = occt.verify(produced)
    assert is_verified(report), failures(report)


_ORDINARY: dict[str, Nodes] = {
    "a hole through": [
        _BLOCK,
        _DRILL,
        moved("p", "drill", 10, 5, -5),
        node("hole", "cut", "block", "p"),
    ],
    "a hole off the middle, and a pocket": [
        _BLOCK,
        _DRILL,
        moved("p", "drill", 3, 3, -1),
        moved("q", "drill", 14, 6, 3),
        node("hole", "cut", "block", "p", "q"),
    ],
    "a hollow inside": [_BLOCK, box("a", 1, 1, 1), moved("m", "a", 3, 3, 3), node("c", "cut", "block", "m")],
    "a large tool that shaves a little off": [
        _BLOCK,
        box("big", 1000, 1000, 1000),
        moved("p", "big", -500, -500, 4.999),
        node("c", "cut", "block", "p"),
    ],
    "a small notch in a large part": [
        box("big", 1000, 1000, 1000),
        box("small", 0.2, 0.2, 0.2),
        moved("p", "small", 999.9, 500, 999.9),
        node("c", "cut", "big", "p"),
    ],
    "a ring of holes": [
        node("plate", "cylinder", radius=20, height=4),
        _DRILL,
        moved("p", "drill", 14, 0, -5),
        node("holes", "polarPattern", "p", count=6),
        node("c", "cut", "plate", "holes"),
    ],
    "a union of touching parts": [_BLOCK, moved("m", "block", 20, 0, 0), node("u", "union", "block", "m")],
    "a union of crossing parts": [
        _BLOCK,
        box("bar", 4, 30, 2),
        moved("m", "bar", 8, -10, 1),
        node("u", "union", "block", "m"),
    ],
    "a union of round parts": [
        node("s", "sphere", radius=3),
        node("t", "torus", radius1=3, radius2=1),
        node("u", "union", "s", "t"),
    ],
    "an intersection": [
        _BLOCK,
        moved("a", "block", 3, 0, 0),
        moved("b", "block", 2, 3, 0),
        node("i", "intersect", "block", "a", "b"),
    ],
    "points on edges": [
        _BLOCK,
        node("f", "fillet", "block", radius=1, edges=[{"nearTo": [20, 0, 2.5]}, {"nearTo": [0.1, 10, 2.6]}]),
    ],
    "the middle of a rim": [
        _BLOCK,
        _DRILL,
        moved("p", "drill", 10, 5, -5),
        node("hole", "cut", "block", "p"),
        node("c", "chamfer", "hole", distance=0.3, edges={"nearTo": [10, 5, 5]}),
    ],
    "a point on a face": [
        _BLOCK,
        node("s", "shell", "block", thickness=1, openFaces=[{"nearTo": [10, 5, 5]}]),
    ],
}


@pytest.mark.parametrize("name", _ORDINARY)
def test_ordinary_documents_carry_no_warning(name: str, occt: Bench) -> None:
    produced = occt.produce(document(*_ORDINARY[name]))
    assert produced.result["warnings"] == []
    report = occt.verify(produced)
    assert is_verified(report), failures(report)


def test_each_tool_that_misses_is_named(occt: Bench) -> None:
    nodes = [_BLOCK, _DRILL, moved("p", "drill", 50, 0, 0), moved("q", "drill", 0, 0, 50)]
    warnings = occt.produce(document(*nodes, node("c", "cut", "block", "p", "q"))).result["warnings"]
    assert [warning.split(" removes")[0] for warning in warnings] == [
        "/nodes/4: c (cut): its tool p (inputs/1)",
        "/nodes/4: c (cut): its tool q (inputs/2)",
    ]


def test_nodes_without_use_are_told_and_left_out(occt: Bench) -> None:
    nodes = [
        _BLOCK,
        _DRILL,
        moved("far", "drill", 30, 5, -5),
        node("hole", "cut", "block", "far"),
        node("file", "importSTEP"),
    ]
    produced = occt.produce(document(*nodes, output="block"))
    warnings = produced.result["warnings"]
    # Nothing is said of what a node did that was not built, nor is it refused.
    assert [warning.split(" was left out")[0] for warning in warnings] == [
        "/nodes/1: drill (cylinder)",
        "/nodes/2: far (translate)",
        "/nodes/3: hole (cut)",
        "/nodes/4: file (importSTEP)",
    ]
    report = occt.verify(produced)
    assert is_verified(report), failures(report)


def test_a_seam_is_no_edge_to_select(occt: Bench) -> None:
    rod = node("rod", "cylinder", radius=3, height=7)
    rounded = node("f", "fillet", "rod", radius=1, edges={"nearTo": [3, 0, 0]})
    produced = occt.produce(document(rod, rounded))
    assert produced.result["warnings"] == []
    assert produced.quantity("boundingBox")["size"] == pytest.approx([6, 6, 7])
    with pytest.raises(Refused, match="finds no edge; the shape has 2 edges"):
        occt.produce(document(rod, node("f", "fillet", "rod", radius=1, edges={"parallelTo": "z"})))
    with pytest.raises(Refused, match="no edge"):
        occt.produce(document(node("ball", "sphere", radius=3), node("f", "fillet", "ball", radius=1)))
