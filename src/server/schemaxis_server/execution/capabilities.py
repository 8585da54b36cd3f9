"""Capabilities: what the providers' operations can do, browsed by scope or found by words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schemaxis_server.execution.engines import Engines
from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import Operation, Provider
from schemaxis_server.providers.problems import nearest as nearest_of
from schemaxis_server.providers.registry import Registry

DEFAULT_LIMIT = 12
_WORD = re.compile(r"[a-z0-9]+")
_WHOLE, _START, _TYPO = 1.0, 0.85, 0.7
_TYPO_SIMILARITY = 0.75


@dataclass(frozen=True, slots=True)
class Capability:
    """One operation of one provider, named ``<provider>.<operation>``."""

    name: str
    provider: Provider
    operation: Operation
    available: bool

    @property
    def scope(self) -> str:
        return self.operation.scope


@dataclass(frozen=True, slots=True)
class ScopeLevel:
    """One level of the tree: the scopes below with their counts, and the capabilities here."""

    scope: str
    scopes: tuple[tuple[str, int], ...]
    capabilities: tuple[Capability, ...]


@dataclass(frozen=True, slots=True)
class Match:
    capability: Capability
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Schema:
    version: str
    schema: Mapping[str, Any]


class Capabilities:
    """Finds capabilities over all providers of the registry."""

    def __init__(self, registry: Registry, engines: Engines) -> None:
        self._registry = registry
        self._engines = engines

    def browse(self, scope: str = "") -> ScopeLevel:
        """One level of the scope tree. Raises ``NOT_FOUND`` for a scope that is none."""
        scope = scope.strip("/")
        counts: dict[str, int] = {}
        here = []
        for capability in self._all():
            inside = _below(capability.scope, scope)
            if inside is None:
                continue
            if not inside:
                here.append(capability)
                continue
            child = f"{scope}/{inside[0]}" if scope else inside[0]
            counts[child] = counts.get(child, 0) + 1
        if scope and not counts and not here:
            raise self._no_scope(scope)
        return ScopeLevel(scope, tuple(sorted(counts.items())), tuple(here))

    def search(
        self, query: str, scope: str = "", limit: int = DEFAULT_LIMIT
    ) -> tuple[tuple[Match, ...], int]:
        """The best matches for the words of ``query`` and how many matched in all.

        Every word counts; a word matches whole, by its start, or with a typing error.
        """
        scope = scope.strip("/")
        words = _WORD.findall(query.lower())
        if not words:
            raise Fault("INVALID_REQUEST", "The query has no word; say what is wanted.", "/query")
        within = [c for c in self._all() if _below(c.scope, scope) is not None]
        if scope and not within:
            raise self._no_scope(scope)
        matches = [match for match in (_match(capability, words) for capability in within) if match]
        matches.sort(key=lambda match: (-match.score, match.capability.name))
        return tuple(matches[:limit]), len(matches)

    def get(self, name: str) -> Capability:
        """The capability of that name. Raises ``NOT_FOUND`` with the nearest one."""
        names: list[str] = []
        for capability in self._all():
            if capability.name == name:
                return capability
            names.append(capability.name)
        nearest = nearest_of(name, names)
        hint = f"the nearest is {nearest}" if nearest else "capabilities.search finds one by words"
        raise Fault(
            "NOT_FOUND", f"There is no capability {name[:80]!r}; {hint}.", "/capability", nearest=nearest
        )

    def schema(self, capability: str | None = None, version: str | None = None) -> Schema:
        """The JSON Schema of a capability's node or of a document version; give exactly one."""
        if (capability is None) == (version is None):
            raise Fault("INVALID_REQUEST", "Give exactly one of capability and version.", "/capability")
        if capability is not None:
            found = self.get(capability)
            return Schema(found.provider.manifest.version, found.provider.schema(found.operation.name))
        provider = self._registry.for_version(version or "")
        if provider is None:
            versions = tuple(one.manifest.version for one in self._registry.values())
            raise Fault(
                "NOT_FOUND",
                f"No provider reads the version {version!r}; there are {', '.join(versions)}.",
                "/version",
                nearest=nearest_of(version or "", versions),
            )
        return Schema(provider.manifest.version, provider.schema())

    def _all(self) -> Iterator[Capability]:
        for provider in self._registry.values():
            available = self._engines.of(provider).available
            for operation in provider.manifest.operations:
                yield Capability(f"{provider.manifest.name}.{operation.name}", provider, operation, available)

    def _no_scope(self, scope: str) -> Fault:
        scopes = sorted({prefix for c in self._all() for prefix in _prefixes(c.scope)})
        return Fault(
            "NOT_FOUND",
            f"There is no scope {scope[:80]!r}; browse from the root.",
            "/scope",
            nearest=nearest_of(scope, tuple(scopes)),
        )


def _prefixes(scope: str) -> list[str]:
    parts = scope.split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _below(scope: str, ancestor: str) -> list[str] | None:
    """The parts of ``scope`` below ``ancestor``; empty for the same, None if it lies elsewhere."""
    if not ancestor:
        return scope.split("/")
    if scope == ancestor:
        return []
    return scope[len(ancestor) + 1 :].split("/") if scope.startswith(ancestor + "/") else None


def _match(capability: Capability, words: list[str]) -> Match | None:
    operation = capability.operation
    fields = (
        ("its name", 1.0, operation.name),
        ("its synonyms", 0.95, " ".join(operation.keywords)),
        ("its title", 0.9, operation.title),
        ("its purpose", 0.55, operation.purpose),
        ("its options", 0.45, " ".join(operation.options.get("properties", {}))),
        ("its provider", 0.4, f"{capability.provider.manifest.name} {capability.provider.manifest.title}"),
        ("its scope", 0.35, operation.scope),
    )
    total = 0.0
    reasons: list[str] = []
    for word in words:
        best, reason = 0.0, ""
        for label, weight, text in fields:
            quality, seen = _quality(word, text)
            if quality * weight > best:
                how = {_WHOLE: "is in", _START: "begins a word of"}.get(quality, "is like")
                best, reason = quality * weight, f"{word!r} {how} {label} ({seen})"
        total += best
        if reason:
            reasons.append(reason)
    return Match(capability, round(total / len(words), 4), "; ".join(reasons)) if reasons else None


def _quality(word: str, text: str) -> tuple[float, str]:
    from rapidfuzz.distance import OSA

    best, seen = 0.0, ""
    for candidate in _split(text):
        if candidate == word:
            return _WHOLE, candidate
        if len(word) >= 3 and (
            candidate.startswith(word) or (len(candidate) >= 4 and word.startswith(candidate))
        ):
            quality = _START
        elif len(word) >= 4 and OSA.normalized_similarity(word, candidate) >= _TYPO_SIMILARITY:
            quality = _TYPO
        else:
            continue
        if quality > best:
            best, seen = quality, candidate
    return best, seen


def _split(text: str) -> list[str]:
    # linearPattern is two words, and also one.
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower()
    return _WORD.findall(parted) + (_WORD.findall(text.lower()) if parted != text.lower() else [])
