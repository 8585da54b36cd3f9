"""The named systems of ordinary differential equations: states, parameters, and rates as formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from schemaxis_server.providers.numerics.expression import Tree, parse

TIME = "t"


@dataclass(frozen=True, slots=True)
class System:
    """``rates`` are the derivatives of the states by t, written in states, parameters and t.

    ``parameters`` maps each to its schema; ``purpose`` says what the system models.
    """

    name: str
    purpose: str
    states: tuple[str, ...]
    rates: tuple[str, ...]
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        """The order in which a right-hand side takes its values: t, the states, the parameters."""
        return (TIME, *self.states, *self.parameters)

    def trees(self) -> tuple[Tree, ...]:
        """The rates, parsed."""
        return _trees(self.name)

    def words(self) -> str:
        """The equations in one line."""
        equations = ", ".join(f"d{s}/dt = {r}" for s, r in zip(self.states, self.rates, strict=True))
        return f"{self.name}: {self.purpose}; {equations}"


@cache
def _trees(name: str) -> tuple[Tree, ...]:
    system = SYSTEMS[name]
    return tuple(parse(rate, system.variables) for rate in system.rates)


def _number(description: str, least: float, most: float, default: float | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "number", "minimum": least, "maximum": most, "description": description}
    return schema if default is None else {**schema, "default": default}


SYSTEMS: dict[str, System] = {
    one.name: one
    for one in (
        System(
            "decay",
            "exponential decay, or growth with a negative rate",
            ("value",),
            ("-rate*value",),
            {"rate": _number("Decay rate in 1 per unit of t.", -1e3, 1e3)},
        ),
        System(
            "logistic",
            "growth towards a capacity",
            ("value",),
            ("rate*value*(1 - value/capacity)",),
            {
                "rate": _number("Growth rate in 1 per unit of t.", -1e3, 1e3),
                "capacity": _number("The value at which growth ends.", 1e-12, 1e12),
            },
        ),
        System(
            "oscillator",
            "a damped, driven mass on a spring",
            ("position", "velocity"),
            (
                "velocity",
                "forceAmplitude*cos(forceFrequency*t) - 2*dampingRatio*angularFrequency*velocity"
                " - angularFrequency^2*position",
            ),
            {
                "angularFrequency": _number("Undamped, in rad per unit of t.", 1e-6, 1e4),
                "dampingRatio": _number("1 is critical.", 0, 20, 0),
                "forceAmplitude": _number("Force per mass.", -1e6, 1e6, 0),
                "forceFrequency": _number("Of the force, in rad per unit of t.", 0, 1e4, 0),
            },
        ),
        System(
            "pendulum",
            "a pendulum of any swing; the angle is in radians",
            ("angle", "angularVelocity"),
            ("angularVelocity", "-(gravity/length)*sin(angle) - damping*angularVelocity"),
            {
                "length": _number("From pivot to mass.", 1e-6, 1e6),
                "gravity": _number("In units of length and t; m/s² by default.", 0, 1e6, 9.80665),
                "damping": _number("In 1 per unit of t.", 0, 1e3, 0),
            },
        ),
        System(
            "vanDerPol",
            "the oscillator that settles on a limit cycle",
            ("position", "velocity"),
            ("velocity", "mu*(1 - position^2)*velocity - position"),
            {"mu": _number("How strongly it is driven and damped.", 0, 20)},
        ),
        System(
            "lotkaVolterra",
            "predators and prey",
            ("prey", "predators"),
            ("growth*prey - predation*prey*predators", "conversion*prey*predators - death*predators"),
            {
                "growth": _number("Of the prey.", 0, 1e3),
                "predation": _number("Prey lost per predator.", 0, 1e3),
                "conversion": _number("Predators won per prey.", 0, 1e3),
                "death": _number("Of the predators.", 0, 1e3),
            },
        ),
        System(
            "epidemic",
            "susceptible, infected and recovered parts of a population (SIR)",
            ("susceptible", "infected", "recovered"),
            (
                "-transmission*susceptible*infected",
                "transmission*susceptible*infected - recovery*infected",
                "recovery*infected",
            ),
            {
                "transmission": _number("Infections per contact and unit of t.", 0, 1e3),
                "recovery": _number("Recoveries per infected and unit of t.", 0, 1e3),
            },
        ),
    )
}
