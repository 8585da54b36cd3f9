"""What is published holds what the result says, also for random and for awkward parts."""

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
from providers.hosts import Bench, Produced, failures, is_verified
from providers.random_documents import random_document

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
