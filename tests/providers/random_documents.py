"""Random geometry documents from a seed: plates, turned parts and brackets with holes, bosses, fillets."""

from __future__ import annotations

import random
from typing import Any

Node = dict[str, Any]


class _Draft:
    """Collects nodes; every method returns the id of the node that it adds."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.nodes: list[Node] = []

    def add(self, operation: str, options: dict[str, Any], *inputs: str) -> str:
        name = f"{operation}{len(self.nodes)}"
        self.nodes.append({"id": name, "filter": operation, "options": options, "inputs": list(inputs)})
        return name

    def between(self, low: float, high: float) -> float:
        return round(self.dice.uniform(low, high), 3)

    def chance(self, part: float) -> bool:
        return self.dice.random() < part


def random_document(version: str, seed: int) -> dict[str, Any]:
    """A document that mostly builds; the same seed gives the same one."""
    draft = _Draft(seed)
    body = draft.dice.choice([_plate, _turned, _bracket, _cluster])(draft)
    if draft.chance(0.4):
        offset = [draft.between(-20, 20) for _ in range(3)]
        body = draft.add("translate", {"offset": offset}, body)
    if draft.chance(0.4):
        axis = [draft.between(-1, 1), draft.between(-1, 1), draft.between(0.2, 1)]
        body = draft.add("rotate", {"axis": axis, "angle": draft.between(-170, 170)}, body)
    if draft.chance(0.2):
        body = draft.add("mirror", {"plane": draft.dice.choice(["xy", "yz", "xz"])}, body)
    if draft.chance(0.2):
        body = draft.add("scale", {"factor": draft.between(0.3, 3)}, body)
    return {"version": version, "nodes": draft.nodes, "output": body}


def _plate(draft: _Draft) -> str:
    length, width, height = draft.between(30, 60), draft.between(20, 40), draft.between(4, 10)
    body = draft.add("box", {"length": length, "width": width, "height": height})
    if draft.chance(0.5):
        edges = draft.dice.choice(["all", {"parallelTo": "z"}, {"onFace": "+z"}])
        operation, size = draft.dice.choice([("fillet", "radius"), ("chamfer", "distance")])
        body = draft.add(operation, {size: draft.between(0.3, 1.5), "edges": edges}, body)
    drill = draft.add("cylinder", {"radius": draft.between(1, 2), "height": 3 * height})
    drill = draft.add("translate", {"offset": [6, 6, -height]}, drill)
    if draft.chance(0.6):
        options = {"direction": "x", "spacing": draft.between(5, 8), "count": draft.dice.randint(2, 4)}
        drill = draft.add("linearPattern", options, drill)
    body = draft.add("cut", {}, body, drill)
    if draft.chance(0.5):
        boss = draft.add("cylinder", {"radius": draft.between(3, 6), "height": draft.between(10, 20)})
        boss = draft.add("translate", {"offset": [length / 2, width / 2, 1]}, boss)
        body = draft.add("union", {}, body, boss)
    return body


def _turned(draft: _Draft) -> str:
    inner = draft.dice.choice([0.0, draft.between(2, 4)])
    radius, height = draft.between(10, 18), draft.between(8, 16)
    waist = draft.between(inner + 2, radius - 1)
    profile = [
        [inner, 0],
        [radius, 0],
        [radius, 3],
        [waist, height / 2],
        [radius - 1, height],
        [inner, height],
    ]
    body = draft.add(
        "revolve", {"profile": profile, "angle": draft.dice.choice([360, draft.between(60, 300)])}
    )
    if draft.chance(0.7):
        drill = draft.add("cylinder", {"radius": draft.between(0.5, 1.2), "height": 40})
        drill = draft.add("translate", {"offset": [radius * 0.75, 0, -10]}, drill)
        ring = draft.add("polarPattern", {"count": draft.dice.randint(3, 6)}, drill)
        body = draft.add("cut", {}, body, ring)
    if draft.chance(0.4):
        cross = draft.add("cylinder", {"radius": draft.between(0.8, 1.5), "height": 60})
        cross = draft.add("rotate", {"axis": "y", "angle": 90}, cross)
        cross = draft.add("translate", {"offset": [-30, 0, height / 2]}, cross)
        body = draft.add("cut", {}, body, cross)
    return body


def _bracket(draft: _Draft) -> str:
    long, tall, thick = draft.between(20, 40), draft.between(15, 30), draft.between(3, 6)
    profile = [[0, 0], [long, 0], [long, thick], [thick, thick], [thick, tall], [0, tall]]
    body = draft.add("extrude", {"profile": profile, "height": draft.between(8, 20)})
    if draft.chance(0.5):
        point = [thick, thick, 4]
        body = draft.add("fillet", {"radius": draft.between(0.5, 2.5), "edges": {"nearTo": point}}, body)
    if draft.chance(0.5):
        rib = draft.add("extrude", {"profile": [[0, 0], [long * 0.7, 0], [0, tall * 0.7]], "height": 2})
        body = draft.add("union", {}, body, rib)
    if draft.chance(0.5):
        other = draft.add("mirror", {"plane": "yz", "center": [long / 2, 0, 0]}, body)
        body = draft.add("union", {}, body, other)
    return body


def _cluster(draft: _Draft) -> str:
    """Overlapping round bodies, or the common part of two."""
    solids = []
    for place in range(draft.dice.randint(2, 3)):
        options: dict[str, Any]
        kind = draft.dice.choice(["sphere", "cone", "torus", "cylinder", "box"])
        if kind == "sphere":
            options = {"radius": draft.between(4, 8)}
        elif kind == "cone":
            options = {
                "radius1": draft.between(5, 8),
                "radius2": draft.between(1, 4),
                "height": draft.between(8, 12),
            }
        elif kind == "torus":
            options = {"radius1": draft.between(7, 9), "radius2": draft.between(1.5, 3)}
        elif kind == "cylinder":
            options = {"radius": draft.between(3, 6), "height": draft.between(8, 15)}
        else:
            options = {
                "length": draft.between(6, 12),
                "width": draft.between(6, 12),
                "height": draft.between(6, 12),
            }
        solid = draft.add(kind, options)
        offset = [place * draft.between(2, 6), draft.between(-2, 2), draft.between(-2, 2)]
        solids.append(draft.add("translate", {"offset": offset}, solid))
    operation = draft.dice.choice(["union", "union", "cut", "intersect"])
    return draft.add(operation, {}, *solids[: 2 if operation == "intersect" else 3])
