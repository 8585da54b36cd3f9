"""What Open CASCADE builds measures what it should, and its files hold what the result says."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.providers.occt.provider import PROVIDER, VERSION

from providers.drafting import box, document, node
from providers.foreign_readers import (
    Quantities,
    flat_step_quantities,
    step_by_other_path,
    stl_quantities,
)
from providers.hosts import Bench, Produced, Refused, failures, is_verified
from providers.random_documents import random_document

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


_TURNED = node("a", "cylinder", radius=5, height=20)

# Where kernels are known to stumble.
_AWKWARD: dict[str, list[dict[str, Any]]] = {
    "the smallest box": [box("a", 1e-4, 1e-4, 1e-4)],
    "the largest box": [box("a", 1e6, 1e6, 1e6)],
    "a box of both": [box("a", 1e6, 1e-4, 1)],
    "far from the origin": [box("a", 1, 1, 1), node("t", "translate", "a", offset=[1e6, 1e6, 1e6])],
    "a profile that touches the axis in a point": [
        node("r", "revolve", profile=[[0, 5], [5, 0], [5, 10]], angle=90)
    ],
    "cylinders that touch in a line": [
        _TURNED,
        node("b", "translate", "a", offset=[10, 0, 0]),
        node("u", "union", "a", "b"),
    ],
    "a hole that touches the walls": [
        box("b", 10, 10, 20),
        _TURNED,
        node("c", "translate", "a", offset=[5, 5, 0]),
        node("x", "cut", "b", "c"),
    ],
    "cylinders with one face in common": [
        _TURNED,
        node("b", "rotate", "a", axis="z", angle=33),
        node("c", "translate", "b", offset=[0, 0, 5]),
        node("u", "union", "a", "c"),
    ],
    "two crossing cylinders": [
        node("b", "translate", "a", offset=[0, 0, -10]),
        _TURNED,
        node("c", "rotate", "b", axis="x", angle=90),
        node("i", "intersect", "b", "c"),
    ],
    "boxes that touch in an edge": [
        box("a", 1, 1, 1),
        node("b", "translate", "a", offset=[1, 1, 0]),
        node("u", "union", "a", "b"),
    ],
    "boxes that touch in a corner": [
        box("a", 1, 1, 1),
        node("b", "translate", "a", offset=[1, 1, 1]),
        node("u", "union", "a", "b"),
    ],
    "a hollow": [
        box("a", 5, 5, 5),
        box("b", 1, 1, 1),
        node("c", "translate", "b", offset=[2, 2, 2]),
        node("x", "cut", "a", "c"),
    ],
    "a cut in two": [
        box("a", 9, 5, 5),
        box("b", 1, 5, 5),
        node("c", "translate", "b", offset=[4, 0, 0]),
        node("x", "cut", "a", "c"),
    ],
    "an eighth of a ball": [
        node("a", "sphere", radius=10),
        box("b", 40, 40, 40),
        node("i", "intersect", "a", "b"),
    ],
    "a cut that a STEP reader mistakes": [
        node("a", "sphere", radius=6.145),
        node("b", "translate", "a", offset=[0.0, 1.315, -1.1]),
        box("c", 11.777, 7.932, 11.72),
        node("d", "translate", "c", offset=[4.048, -0.808, 0.506]),
        box("e", 7.089, 7.181, 10.996),
        node("f", "translate", "e", offset=[2.507, 0.509, 1.822]),
        node("g", "cut", "b", "f", "d"),
        node("h", "rotate", "g", axis=[-0.836, -0.415, 0.378], angle=-162.838),
    ],
}


@pytest.mark.parametrize("name", _AWKWARD)
def test_awkward_parts_are_built_and_verified(name: str, occt: Bench) -> None:
    report = occt.verify(occt.produce(document(*_AWKWARD[name])))
    assert is_verified(report), failures(report)


def test_the_same_document_gives_the_same_files_but_for_the_date(occt: Bench) -> None:
    part = document(box("plate", 20, 10, 5), node("f", "fillet", "plate", radius=1))
    one, other = occt.produce(part), occt.produce(part)
    assert one.result == other.result
    for kind in ("geometry/stl", "geometry/brep"):
        assert one.path(kind).read_bytes() == other.path(kind).read_bytes()
    first, second = (made.path("geometry/step").read_text().split("ENDSEC;", 1) for made in (one, other))
    assert first[1] == second[1]
    assert "PRODUCT('f','f'" in first[1]
    assert str(one.directory) not in first[0]


def test_progress_is_reported_node_by_node(tmp_path: Path) -> None:
    part = PROVIDER.plan(document(box("a", 1, 1, 1), node("b", "scale", "a", factor=2))).document
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from schemaxis_server.native.hostkit import Kit\n"
        "from schemaxis_server.providers.occt import host\n"
        "request = json.loads(sys.stdin.read())\n"
        "host.run(request, Kit(Path(sys.argv[1]), int(sys.argv[2])))\n"
    )
    reading, writing = os.pipe()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(writing)],
        input=json.dumps({"document": part, "bindings": {}}),
        pass_fds=(writing,),
        env=environment,
        text=True,
        check=True,
        timeout=60,
    )
    os.close(writing)
    with open(reading) as lines:
        reported = [json.loads(line) for line in lines]
    assert [one["operation"] for one in reported] == ["box a", "scale b", "publish b", "done"]
    fractions = [one["fraction"] for one in reported]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1


def _close(found: Quantities, produced: Produced, volume: float, length: float) -> None:
    """Within ``volume`` of the volume and ``length`` (mm) at each side of the box."""
    assert found[0] == pytest.approx(produced.quantity("volume"), rel=volume)
    box = produced.quantity("boundingBox")
    assert list(found[1]) == pytest.approx(box["min"], abs=length)
    assert list(found[2]) == pytest.approx(box["max"], abs=length)


_FLAT = {"box", "extrude", "translate", "rotate", "mirror", "scale", "union", "cut", "intersect", "chamfer"}


@pytest.mark.parametrize("seed", range(30))
def test_files_of_random_parts_measure_what_the_result_says(seed: int, occt: Bench, tmp_path: Path) -> None:
    authored = random_document(VERSION, seed)
    produced = occt.produce(authored)
    report = occt.verify(produced)
    assert is_verified(report), failures(report)
    box = produced.quantity("boundingBox")
    reach = max(abs(value) for value in [*box["min"], *box["max"]])
    flat = {one["filter"] for one in authored["nodes"]} <= _FLAT
    stl, step = stl_quantities(produced.path("geometry/stl")), produced.path("geometry/step")
    if flat:
        _close(stl, produced, 1e-5, 1e-6 * reach)
        _close(flat_step_quantities(step), produced, 1e-9, 1e-9 * reach)
    else:
        deflection = 5e-4 * math.dist(box["min"], box["max"])
        _close(stl, produced, 1.2e-2, 2 * deflection)
        _close(step_by_other_path(step, tmp_path), produced, 6e-3, 3e-2)


def test_random_parts_use_the_vocabulary() -> None:
    used = {one["filter"] for seed in range(30) for one in random_document(VERSION, seed)["nodes"]}
    assert used >= {
        "cut",
        "union",
        "fillet",
        "chamfer",
        "revolve",
        "linearPattern",
        "polarPattern",
        "extrude",
    }
