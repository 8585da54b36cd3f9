"""A part in three sizes, each brought to a volume that was asked for; and its reuse by another task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from schemaxis.qualify.engines import Engines
from schemaxis.qualify.work import Job, Work, near, require

_ATTEMPTS = 6
# Of the target, and of the volume that the formula gives.
_TOLERANCE = 1e-4
_EXACT = 1e-6


@dataclass(frozen=True)
class Variant:
    """A plate with rounded corners, a bore through its middle and a foot of fixed height below. In mm."""

    name: str
    length: float
    width: float
    height: float
    corner: float
    bore: float
    foot: float
    growth: float

    def volume(self, height: float) -> float:
        """The volume in mm^3 at a height, by hand: what the foot has does not grow with the height."""
        profile = self.length * self.width - (4 - math.pi) * self.corner**2 - math.pi * self.bore**2
        return profile * height + math.pi * self.foot**2 * _FOOT_HEIGHT

    @property
    def target(self) -> float:
        """The volume to reach in mm^3."""
        return round(self.growth * self.volume(self.height), 1)

    def document(self, version: str, height: float) -> Any:
        """The part at a height."""
        middle = [self.length / 2, self.width / 2, -1]
        foot = [self.length / 5, self.width / 2, -_FOOT_HEIGHT]
        drill = {"radius": self.bore, "height": height + 2}
        return {
            "version": version,
            "nodes": [
                _node("block", "box", {"length": self.length, "width": self.width, "height": height}),
                _node("plate", "fillet", {"radius": self.corner, "edges": {"parallelTo": "z"}}, "block"),
                _node("drill", "cylinder", drill),
                _node("bore", "translate", {"offset": middle}, "drill"),
                _node("bored", "cut", {}, "plate", "bore"),
                _node("post", "cylinder", {"radius": self.foot, "height": _FOOT_HEIGHT}),
                _node("foot", "translate", {"offset": foot}, "post"),
                _node("part", "union", {}, "bored", "foot"),
            ],
            "output": "part",
        }


_FOOT_HEIGHT = 6.0

VARIANTS = (
    Variant("small", 40, 24, 10, corner=3, bore=4, foot=3, growth=1.3),
    Variant("wide", 90, 50, 8, corner=8, bore=10, foot=6, growth=0.7),
    Variant("tall", 30, 30, 45, corner=5, bore=5, foot=2.5, growth=1.15),
)


def _node(name: str, kind: str, options: dict[str, Any], *inputs: str) -> dict[str, Any]:
    node = {"id": name, "filter": kind, "options": options}
    return {**node, "inputs": list(inputs)} if inputs else node


def refine(work: Work, engines: Engines, variant: Variant) -> tuple[Job, list[dict[str, Any]]]:
    """Bring a variant to its volume by the ratio of what is wanted to what was seen.

    The job that met the goal, and height and volume of each attempt.
    """
    entry = engines.needed("geometry")
    task = work.task(
        f"The {variant.name} plate at {variant.target} mm^3",
        [entry["provider"]],
        criteria=[
            {
                "pointer": "/outputs/part/volume",
                "operator": "equals",
                "value": variant.target,
                "tolerance": variant.target * _TOLERANCE,
                "unit": "mm^3",
            },
            {"pointer": "/outputs/part/valid", "operator": "is-true"},
        ],
        budget={"max_attempts": _ATTEMPTS, "max_attempt_seconds": 120, "max_elapsed_seconds": 600},
    )
    height = variant.height
    tried: list[dict[str, Any]] = []
    while True:
        document = variant.document(entry["documentVersion"], height)
        name = f"{variant.name} plate, attempt {len(tried) + 1}"
        job = work.perform(name, task, document).succeeded()
        volume = job.quantity("part", "volume")
        tried.append({"height": height, "volume": volume, "goal": job.status["goal"]})
        near(volume, variant.volume(height), _EXACT, f"the volume of the {variant.name} plate")
        met = abs(volume - variant.target) <= variant.target * _TOLERANCE
        goal = job.status["goal"]
        require(goal == ("met" if met else "not-met"), f"the goal is {goal} at {volume} mm^3")
        if met:
            require(len(tried) > 1, f"the {variant.name} plate needed no refinement and shows none")
            return job, tried
        require(len(tried) < _ATTEMPTS, f"{variant.target} mm^3 was not reached in {_ATTEMPTS} attempts")
        height *= variant.target / volume


def reuse(work: Work, engines: Engines, made: Job) -> dict[str, Any]:
    """Use what one task published in a document of another: the same solid, moved."""
    entry = engines.needed("geometry")
    step = made.published("geometry/step")
    volume = made.quantity("part", "volume")
    task = work.task(
        "The plate again, elsewhere",
        [entry["provider"]],
        criteria=[
            {
                "pointer": "/outputs/moved/volume",
                "operator": "equals",
                "value": volume,
                "tolerance": volume * _EXACT,
                "unit": "mm^3",
            }
        ],
    )
    document = {
        "version": entry["documentVersion"],
        "nodes": [
            _node("given", "importSTEP", {"file": None}),
            _node("moved", "translate", {"offset": [0, 0, 100]}, "given"),
        ],
        "output": "moved",
    }
    bindings = {"/nodes/0/options/file": step["resourceId"]}
    job = work.perform("reuse of the plate", task, document, bindings).succeeded()
    (bound,) = job.plan["bindings"]
    require(bound["sha256"] == step["sha256"], "the plan is bound to other bytes than those published")
    require(job.status["taskId"] != made.status["taskId"], "the second task is the first")
    require(job.status["goal"] == "met", f"the goal is {job.status['goal']}")
    work.save_pictures(job)
    return {"bound": step["resourceId"], "volume": job.quantity("moved", "volume")}
