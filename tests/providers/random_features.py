"""Random documents whose last step works on selected edges or faces of a part that booleans have shaped."""

from __future__ import annotations

from typing import Any

from providers.random_documents import _Draft


def random_feature(version: str, seed: int) -> dict[str, Any]:
    """A document that mostly builds; the same seed gives the same one."""
    draft = _Draft(seed)
    body = draft.dice.choice([_stepped, _drilled, _round])(draft)
    body = draft.dice.choice([_eased, _eased, _hollow])(draft, body)
    if draft.chance(0.3):
        body = draft.add("scale", {"factor": draft.between(0.5, 2), "center": [1, 2, 3]}, body)
    return {"version": version, "nodes": draft.nodes, "output": body}


def _stepped(draft: _Draft) -> str:
    """Blocks flush with each other, whose faces and edges are to be made one."""
    length, width, height = draft.between(14, 24), draft.between(10, 16), draft.between(5, 9)
    sizes = {"length": length, "width": width, "height": height}
    low = draft.add("box", sizes)
    high = draft.add("box", {**sizes, "length": draft.between(5, length - 5)})
    high = draft.add("translate", {"offset": [0, 0, height * draft.dice.choice([0.5, 1.0])]}, high)
    body = draft.add("union", {}, low, high)
    if draft.chance(0.5):
        beside = draft.add("translate", {"offset": [length * draft.dice.choice([0.5, 1.0]), 0, 0]}, body)
        body = draft.add("union", {}, body, beside)
    return body


def _drilled(draft: _Draft) -> str:
    length, width, height = draft.between(20, 30), draft.between(14, 20), draft.between(6, 10)
    body = draft.add("box", {"length": length, "width": width, "height": height})
    drill = draft.add("cylinder", {"radius": draft.between(1.5, 2.5), "height": 3 * height})
    first = draft.add("translate", {"offset": [6, width / 2, -height]}, drill)
    second = draft.add("translate", {"offset": [14, width / 2, height * draft.dice.choice([-1, 0.5])]}, drill)
    body = draft.add("cut", {}, body, first, second)
    if draft.chance(0.4):
        corner = draft.add("box", {"length": 6, "width": 5, "height": 2 * height})
        corner = draft.add("translate", {"offset": [length - 4, width - 3, -1]}, corner)
        body = draft.add("cut", {}, body, corner)
    return body


def _round(draft: _Draft) -> str:
    """Parts with few straight edges."""
    radius, height = draft.between(6, 10), draft.between(6, 12)
    kind = draft.dice.choice(["cylinder", "cone", "extrude", "half"])
    if kind == "cylinder":
        return draft.add("cylinder", {"radius": radius, "height": height})
    if kind == "cone":
        return draft.add("cone", {"radius1": radius, "radius2": radius - 3, "height": height})
    if kind == "extrude":
        return draft.add(
            "extrude", {"profile": {"type": "circle", "radius": radius, "center": [1, 2]}, "height": height}
        )
    ball = draft.add("sphere", {"radius": radius})
    block = draft.add("box", {"length": 40, "width": 40, "height": 40})
    block = draft.add("translate", {"offset": [-20, -20, 0]}, block)
    return draft.add("intersect", {}, ball, block)


def _eased(draft: _Draft, body: str) -> str:
    operation, size = draft.dice.choice([("fillet", "radius"), ("chamfer", "distance")])
    return draft.add(operation, {size: draft.between(0.2, 0.9), "edges": _edges(draft)}, body)


def _edges(draft: _Draft) -> Any:
    near = [draft.between(-2, 26), draft.between(-2, 16), draft.between(-1, 12)]
    return draft.dice.choice(
        [
            "all",
            {"parallelTo": draft.dice.choice("xyz")},
            {"onFace": draft.dice.choice(["+z", "-z", "+x", "-y"])},
            {"curve": "circle"},
            {"curve": "line", "onFace": "+z"},
            {"nearTo": near},
            {"parallelTo": "z", "nearTo": near},
            [{"onFace": "+z", "curve": "circle"}, {"onFace": "-z"}],
            [{"nearTo": near}, {"onFace": "-z"}],
        ]
    )


def _hollow(draft: _Draft, body: str) -> str:
    near = [draft.between(0, 20), draft.between(0, 12), draft.between(0, 8)]
    faces = draft.dice.choice([["+z"], ["-z"], ["+z", "-z"], [{"nearTo": near}], ["-x", "+z"]])
    return draft.add("shell", {"thickness": draft.between(0.4, 1.0), "openFaces": faces}, body)
