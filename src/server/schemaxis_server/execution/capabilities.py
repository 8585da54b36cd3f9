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
_FILLER_LINE = (
    "a an and are as at be build by can create do for from get give has have how i if in into is it its let "
    "like make me must my need of on one onto or our please produce should so some something that the their "
    "them then there these this to us use using want was we what when where which will with would you"
)
_FILLERS = frozenset(_FILLER_LINE.split())
"""Words that say nothing about what is wanted. They count only in a query that has no other."""

_ADVISED_SCOPES = 12


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

        Every word but the fillers counts; a word matches whole, by its start, or with a typing error.
        """
        scope = scope.strip("/")
        words = _words(query)
        if not words:
            raise Fault("INVALID_REQUEST", "The query has no word; say what is wanted.", "/query")
        within = [c for c in self._all() if _below(c.scope, scope) is not None]
        if scope and not within:
            raise self._no_scope(scope)
        matches = [match for match in (_match(capability, words) for capability in within) if match]
        matches.sort(key=lambda match: (-match.score, match.capability.name))
        return tuple(matches[:limit]), len(matches)

    def advice(self, query: str, scope: str = "") -> str:
        """What to try when a search found nothing: words that are near, other scopes, browsing."""
        everything = list(self._all())
        known: dict[str, str] = {}
        for capability in everything:
            operation = capability.operation
            for word in (*_split(operation.name), *_split(operation.title), *operation.keywords):
                known.setdefault(word, capability.name)
        near = {word: nearest_of(word, known) for word in _words(query)}
        said = [f"{word!r} is near {meant} ({known[meant]})" for word, meant in near.items() if meant]
        if scope and (found := self.search(query)[1]):
            said.append(f"without the scope {scope.strip('/')} the search finds {found}")
        scopes = sorted({capability.scope for capability in everything})
        shown = ", ".join(scopes[:_ADVISED_SCOPES]) + (" …" if len(scopes) > _ADVISED_SCOPES else "")
        said.append(
            "search for what the operation does in one or two other words, or browse the scopes"
            + (f" {shown}" if shown else "")
        )
        return f"Nothing matched: {'; '.join(said)}."

    def get(self, name: str) -> Capability:
        """The capability of that name, or the only one with that filter name.

        Raises ``NOT_FOUND`` with the nearest one.
        """
        everything = {capability.name: capability for capability in self._all()}
        if name in everything:
            return everything[name]
        bare: dict[str, list[str]] = {}
        for capability in everything.values():
            bare.setdefault(capability.operation.name, []).append(capability.name)
        meant = bare.get(name, [])
        if len(meant) == 1:
            return everything[meant[0]]
        if meant:
            raise Fault(
                "NOT_FOUND",
                f"Several providers have a {name}; name one of {', '.join(meant)}.",
                "/capability",
                nearest=meant[0],
                choices=meant,
            )
        raise self._no_capability(name, everything, bare)

    def _no_capability(
        self, name: str, everything: Mapping[str, Capability], bare: Mapping[str, list[str]]
    ) -> Fault:
        near = nearest_of(name, (*everything, *bare))
        near = bare[near][0] if near in bare else near
        if not near:
            words = {word: one.name for one in everything.values() for word in one.operation.keywords}
            near = words.get(nearest_of(name, words), "")
        if near:
            hint = f"the nearest is {near}"
        elif any(_below(one.scope, name.strip("/")) is not None for one in everything.values()):
            hint = "it is a scope, so browse it"
        else:
            hint = "search for one by words, or browse from the root"
        details: dict[str, Any] = {"nearest": near} if near else {}
        return Fault("NOT_FOUND", f"There is no capability {name[:80]!r}; {hint}.", "/capability", **details)

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
        everything = list(self._all())
        scopes = sorted({prefix for capability in everything for prefix in _prefixes(capability.scope)})
        named = next((one for one in everything if scope in (one.name, one.operation.name)), None)
        near = named.scope if named else nearest_of(scope, scopes)
        if named:
            hint = f"{named.name} is a capability in {near}, so describe it"
        elif near:
            hint = f"the nearest is {near}"
        else:
            shown = ", ".join(scopes[:_ADVISED_SCOPES]) + (" …" if len(scopes) > _ADVISED_SCOPES else "")
            hint = f"there are {shown}"
        details: dict[str, Any] = {"nearest": near} if near else {}
        return Fault("NOT_FOUND", f"There is no scope {scope[:80]!r}; {hint}.", "/scope", **details)


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
        ("its provider", 0.4, capability.provider.manifest.name),
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


def _words(query: str) -> list[str]:
    words = _WORD.findall(query.lower())
    return [word for word in words if word not in _FILLERS] or words


def _quality(word: str, text: str) -> tuple[float, str]:
    from rapidfuzz.distance import OSA

    best, seen = 0.0, ""
    for candidate in _split(text):
        if candidate == word:
            return _WHOLE, candidate
        if candidate in _FILLERS:
            continue
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
