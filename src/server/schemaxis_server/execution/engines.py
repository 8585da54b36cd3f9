"""Which engines were found, and what to do about those that were not."""

from __future__ import annotations

from collections.abc import Mapping

from schemaxis_server.faults import Fault
from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import Engine, Provider
from schemaxis_server.providers.registry import Registry


class Engines:
    """Finds each provider's engine. ``locations`` are trusted paths by provider name.

    A found engine is looked up again each time a plan is made or executed, so an upgrade makes
    older plans stale; listing uses what was last seen.
    """

    def __init__(self, registry: Registry, locations: Mapping[str, str] | None = None) -> None:
        self._registry = registry
        self._locations = dict(locations or {})
        self._seen: dict[str, Engine] = {}

    def of(self, provider: Provider) -> Engine:
        """The engine as last seen."""
        name = provider.manifest.name
        return self._seen[name] if name in self._seen else self.look(provider)

    def look(self, provider: Provider) -> Engine:
        """The engine as it is now."""
        name = provider.manifest.name
        engine = self._seen[name] = provider.engine(self._locations.get(name))
        return engine

    def producer(self, provider: Provider) -> HostProgram:
        """The program that works in the provider's engine."""
        return provider.producer(self.of(provider))

    def verifier(self, provider: Provider) -> HostProgram:
        """The program that checks what the provider published."""
        return provider.verifier({name: self.of(one) for name, one in self._registry.items()})

    def require(self, provider: Provider) -> Engine:
        """The engine as it is now. Raises ``MISSING_RUNTIME`` with what to install."""
        self.look(provider)
        return self.require_seen(provider)

    def require_seen(self, provider: Provider) -> Engine:
        """The engine as last seen. Raises ``MISSING_RUNTIME`` with what to install."""
        engine = self.of(provider)
        if not engine.available:
            raise Fault(
                "MISSING_RUNTIME",
                f"{engine.name} of provider {provider.manifest.name} cannot be used: {engine.problem}. "
                f"Install it ({engine.install}) or use another provider.",
                provider=provider.manifest.name,
                install=engine.install,
            )
        return engine
