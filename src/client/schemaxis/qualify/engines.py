"""Which providers take part, and whether they can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FAMILIES = {"geometry": "freecad", "numerics": "octave", "spreadsheet": "calc"}
"""The families of providers, each with the one that is qualified by default."""


class NotRun(Exception):
    """A step that could not be taken; the message says why."""


@dataclass(frozen=True)
class Engines:
    """The providers that were chosen, by family, and what the workspace says of all there are."""

    chosen: dict[str, str]
    found: dict[str, Any]

    @classmethod
    def of(cls, workspace: Any, chosen: dict[str, str]) -> Engines:
        """From the result of ``workspace``."""
        return cls(chosen, {one["provider"]: one for one in workspace["engines"]})

    def needed(self, family: str) -> Any:
        """The chosen provider's entry. Raises :class:`NotRun` where it or its engine is missing."""
        name = self.chosen[family]
        entry = self.found.get(name)
        if entry is None:
            there = ", ".join(sorted(self.found)) or "none"
            raise NotRun(f"the provider {name} is not registered in this installation; there are: {there}")
        if not entry["available"]:
            problem = entry.get("problem") or "it is not available"
            advice = f"; install {entry['install']}" if entry.get("install") else ""
            raise NotRun(f"the engine of {name} is missing: {problem}{advice}")
        return entry

    def any_needed(self) -> tuple[str, Any]:
        """The first family whose provider can work, with its entry. Raises :class:`NotRun` without one."""
        reasons = []
        for family in self.chosen:
            try:
                return family, self.needed(family)
            except NotRun as reason:
                reasons.append(str(reason))
        raise NotRun("; ".join(reasons))

    def other_than(self, name: str) -> Any:
        """The entry of another provider. Raises :class:`NotRun` without one."""
        for entry in self.found.values():
            if entry["provider"] != name:
                return entry
        raise NotRun("no second provider is registered")
