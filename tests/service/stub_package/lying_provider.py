"""The geometry provider with a host that lies as the output's id says; the verifier is the real one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers import schema as schemas
from schemaxis_server.providers.contract import Engine, JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.geometry import rules, vocabulary
from schemaxis_server.providers.occt.provider import MANIFEST as HONEST
from schemaxis_server.providers.occt.provider import VERIFIER

VERSION = "schemaxis.liar/1"
MANIFEST = replace(HONEST, name="liar", version=VERSION, operations=vocabulary.operations(VERSION))
PRODUCER = HostProgram(
    name="liar", entry="lying_provider:produce", preload=("schemaxis_server.providers.occt.host",)
)


@dataclass(frozen=True)
class LyingProvider:
    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        return PRODUCER

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        return VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        return Engine("Liar", "1", "/liar", True)

    def plan(self, document: JsonObject) -> ResolvedDocument:
        return rules.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        return schemas.document_schema(self.manifest)


PROVIDER = LyingProvider()


def produce(request: dict[str, Any], kit: Kit) -> dict[str, Any]:
    from schemaxis_server.providers.occt.host import run

    document = request["document"]
    (name,) = document["outputs"]
    if name == "throughout":
        document["nodes"][0]["options"]["height"] += 0.00001
    result: dict[str, Any] = run(request, kit)
    if name == "result":
        result["outputs"][name]["volume"]["value"] *= 1 + 1e-6
    if name == "other_step":
        other = Kit(kit.directory / "other")
        other.directory.mkdir()
        document["nodes"][0]["options"]["height"] += 1
        run(request, other)
        stolen = Path(other.publications / f"{name}.step").read_bytes()
        (kit.publications / f"{name}.step").write_bytes(stolen)
    return result
