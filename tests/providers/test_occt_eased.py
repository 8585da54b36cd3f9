"""Fillets and chamfers that a formula or another kernel can make are held against those."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from providers.drafting import box, document, node
from providers.hosts import Bench, failures, is_verified

_L = [[0, 0], [30, 0], [30, 6], [6, 6], [6, 20], [0, 20]]
_HEXAGON = [[10 * math.cos(math.pi * k / 3), 10 * math.sin(math.pi * k / 3)] for k in range(6)]
_BLOCK = box("b", 20, 10, 5)
_PRISM = node("b", "extrude", profile=_L, height=12)

# Each with its exact volume.
_EASED: dict[str, tuple[list[dict[str, Any]], float]] = {
    "chamfers along x": (
        [_BLOCK, node("c", "chamfer", "b", distance=1, edges={"parallelTo": "x"})],
        1000 - 4 * 0.5 * 20,
    ),
    "chamfers along y": (
        [_BLOCK, node("c", "chamfer", "b", distance=2, edges={"parallelTo": "y"})],
        1000 - 4 * 2 * 10,
    ),
    "chamfers along z": (
        [_BLOCK, node("c", "chamfer", "b", distance=2, edges=[{"parallelTo": "z"}])],
        1000 - 4 * 2 * 5,
    ),
    "chamfers in and out of corners": (
        [_PRISM, node("c", "chamfer", "b", distance=1, edges={"parallelTo": "z"})],
        3168 - 4 * 0.5 * 12,
    ),
    "chamfers of a hexagon": (
        [
            node("b", "extrude", profile=_HEXAGON, height=4),
            node("c", "chamfer", "b", distance=2, edges={"parallelTo": "z"}),
        ],
        4 * (150 * math.sqrt(3) - 6 * math.sqrt(3)),
    ),
    "fillets along x": (
        [_BLOCK, node("c", "fillet", "b", radius=2, edges={"parallelTo": "x"})],
        1000 - 20 * (16 - 4 * math.pi),
    ),
    "fillets along y": (
        [_BLOCK, node("c", "fillet", "b", radius=1, edges={"parallelTo": "y"})],
        1000 - 10 * (4 - math.pi),
    ),
    "chamfers of a scaled prism, turned": (
        [
            _PRISM,
            node("s", "scale", "b", factor=2, center=[1, 2, 3]),
            node("c", "chamfer", "s", distance=1, edges={"parallelTo": "z"}),
            node("t", "rotate", "c", axis=[1, 2, 3], angle=40),
        ],
        8 * 3168 - 4 * 0.5 * 24,
    ),
}


@pytest.mark.parametrize("name", _EASED)
def test_eased_prisms_are_held_against_formulas(name: str, occt: Bench) -> None:
    nodes, volume = _EASED[name]
    produced = occt.produce(document(*nodes))
    assert produced.quantity("volume") == pytest.approx(volume, rel=1e-9)
    report = occt.verify(produced)
    assert is_verified(report), failures(report)
    names = [one["name"] for one in report["checks"]]
    output = nodes[-1]["id"]
    assert {f"closed form of {output}", f"second kernel of {output}"} <= set(names)
    assert not any(one.startswith("same kernel") for one in names)


def _drilled(first: dict[str, Any], eased: dict[str, Any]) -> dict[str, Any]:
    return document(
        first,
        eased,
        node("d", "cylinder", radius=1, height=40),
        node("p", "translate", "d", offset=[4, 4, -10]),
        node("h", "cut", "c", "p"),
    )


@pytest.mark.parametrize(
    ("eased", "lie"),
    [
        (node("c", "chamfer", "b", distance=1, edges={"parallelTo": "x"}), {"distance": 1.02}),
        (node("c", "chamfer", "b", distance=1, edges={"parallelTo": "z"}), {"distance": 1.02}),
        (node("c", "fillet", "b", radius=1, edges={"parallelTo": "y"}), {"radius": 1.02}),
        (node("c", "fillet", "b", radius=1), {"radius": 1.02}),
    ],
)
def test_a_wrong_size_of_eased_edges_is_caught_by_another_kernel(
    eased: dict[str, Any], lie: dict[str, Any], occt: Bench
) -> None:
    honest = occt.produce(_drilled(_BLOCK, eased))
    report = occt.verify(honest)
    assert is_verified(report), failures(report)
    assert not any(" of c by an independent kernel" in one for one in report["notCovered"])
    wrong = occt.produce(_drilled(_BLOCK, {**eased, "options": {**eased["options"], **lie}}))
    caught = failures(occt.verify(wrong, document=honest.document))
    assert any(one.startswith("second kernel of h") for one in caught), caught


@pytest.mark.parametrize(
    "edges",
    [
        {"onFace": "+z"},
        {"parallelTo": "z", "onFace": "+x"},
        {"nearTo": [20, 0, 2]},
        [{"parallelTo": "z"}, {"parallelTo": "x"}],
    ],
)
@pytest.mark.parametrize(("operation", "size"), [("fillet", "radius"), ("chamfer", "distance")])
def test_other_choices_of_edges_are_called_weak(edges: Any, operation: str, size: str, occt: Bench) -> None:
    options = {size: 0.5, "edges": edges}
    report = occt.verify(occt.produce(document(_BLOCK, node("c", operation, "b", **options))))
    assert is_verified(report), failures(report)
    assert any(f"{operation} of c by an independent kernel" in one for one in report["notCovered"])


def _random_part(dice: random.Random) -> dict[str, Any]:
    """A box, a regular or an L-shaped prism, moved or enlarged, its edges eased, perhaps drilled."""
    kind = dice.choice(["box", "regular", "angle"])
    size = [dice.uniform(8, 40) for _ in range(3)]
    axis = "z"
    if kind == "box":
        first, shortest, axis = box("b", *size), min(size), dice.choice("xyz")
    elif kind == "regular":
        count, turn = dice.randint(3, 9), dice.uniform(0, 6)
        angles = [turn + 2 * math.pi * k / count for k in range(count)]
        points = [[size[0] * math.cos(a), size[0] * math.sin(a)] for a in angles]
        first, shortest = (
            node("b", "extrude", profile=points, height=size[2]),
            2 * size[0] * math.sin(math.pi / count),
        )
    else:
        thick = dice.uniform(2, 6)
        profile = [[0, 0], [size[0], 0], [size[0], thick], [thick, thick], [thick, size[1]], [0, size[1]]]
        first, shortest = (
            node("b", "extrude", profile=profile, height=size[2]),
            min(thick, size[0] - thick, size[1] - thick),
        )
    nodes = [first]
    if dice.random() < 0.5:
        nodes.append(node("m", "translate", "b", offset=[dice.uniform(-9, 9) for _ in range(3)]))
    if dice.random() < 0.3:
        factor = dice.uniform(0.5, 2)
        shortest *= factor
        nodes.append(node("s", "scale", nodes[-1]["id"], factor=factor))
    operation = dice.choice(["fillet", "chamfer"]) if kind == "box" else "chamfer"
    option = {"fillet": "radius", "chamfer": "distance"}[operation]
    everywhere = operation == "fillet" and dice.random() < 0.3
    edges = "all" if everywhere else {"parallelTo": axis}
    nodes.append(
        node("c", operation, nodes[-1]["id"], edges=edges, **{option: shortest * dice.uniform(0.02, 0.48)})
    )
    if dice.random() < 0.3:
        nodes.append(node("t", "rotate", "c", axis=[1, 2, 3], angle=dice.uniform(-90, 90)))
    if dice.random() < 0.5:
        nodes += [
            node("d", "cylinder", radius=1.5, height=200),
            node("p", "translate", "d", offset=[3, 3, -100]),
            node("h", "cut", nodes[-1]["id"], "p"),
        ]
    return document(*nodes)


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 400), marks=pytest.mark.campaign)])
def test_random_eased_prisms_agree_with_another_kernel(seeds: range, occt: Bench) -> None:
    for seed in seeds:
        produced = occt.produce(_random_part(random.Random(seed)))
        report = occt.verify(produced)
        assert is_verified(report), (seed, failures(report))
        assert any(one["name"].startswith("second kernel") for one in report["checks"]), seed
