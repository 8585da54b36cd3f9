"""Finds the providers that are installed: the entry points of group ``schemaxis.providers``."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from schemaxis_server.providers.contract import Manifest, Provider

GROUP = "schemaxis.providers"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BrokenProvider:
    """An entry point that could not be used, and why."""

    name: str
    target: str
    problem: str


class Registry(Mapping[str, Provider]):
    """Provider name → provider, in the order of their names.

    ``broken`` lists the entry points that failed; they never stop the others.
    """

    def __init__(self, providers: Iterable[Provider], broken: Iterable[BrokenProvider] = ()) -> None:
        self._providers = {
            one.manifest.name: one for one in sorted(providers, key=lambda one: one.manifest.name)
        }
        self.broken = tuple(broken)

    def __getitem__(self, name: str) -> Provider:
        return self._providers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._providers)

    def __len__(self) -> int:
        return len(self._providers)

    def for_version(self, version: str) -> Provider | None:
        """The provider whose documents say ``version``."""
        return next((one for one in self.values() if one.manifest.version == version), None)


def load(found: Iterable[EntryPoint] | None = None) -> Registry:
    """Load every provider; ``found`` defaults to the installed entry points."""
    providers: dict[str, Provider] = {}
    versions: set[str] = set()
    broken = []
    for point in sorted(entry_points(group=GROUP) if found is None else found, key=lambda one: one.name):
        try:
            provider = _checked(point)
            if provider.manifest.name in providers or provider.manifest.version in versions:
                raise ValueError(f"the name {provider.manifest.name} or its document version is taken")
        except Exception as reason:
            problem = f"{type(reason).__name__}: {reason}"[:500]
            _log.warning("provider %s (%s) cannot be used: %s", point.name, point.value, problem)
            broken.append(BrokenProvider(point.name, point.value, problem))
            continue
        providers[provider.manifest.name] = provider
        versions.add(provider.manifest.version)
    return Registry(providers.values(), broken)


def _checked(point: EntryPoint) -> Provider:
    provider = point.load()
    missing = [
        name
        for name in ("manifest", "producer", "verifier", "engine", "plan", "schema")
        if not hasattr(provider, name)
    ]
    if missing:
        raise TypeError(f"it lacks {', '.join(missing)}")
    if not isinstance(provider.manifest, Manifest):
        raise TypeError("its manifest is not a Manifest")
    if provider.manifest.name != point.name:
        raise ValueError(f"its manifest says {provider.manifest.name}")
    return cast("Provider", provider)
