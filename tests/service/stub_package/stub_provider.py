"""A third-party provider whose hosts do on request what hosts must not do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers import document as documents
from schemaxis_server.providers import schema as schemas
from schemaxis_server.providers.contract import (
    ArtifactKind,
    Engine,
    JsonObject,
    Manifest,
    Operation,
    Quantity,
    ResolvedDocument,
)

VERSION = "schemaxis.stub/1"
ENGINE_FILE = "STUB_ENGINE_FILE"
"""The environment names a file that holds the engine's version; empty: the engine is missing."""

MANIFEST = Manifest(
    name="stub",
    version=VERSION,
    title="A stub",
    summary="Does what its options say, for tests.",
    scope="domain/testing",
    operations=(
        Operation(
            name="act",
            title="Act",
            purpose="Behaves as its mode says.",
            scope="domain/testing",
            min_inputs=0,
            max_inputs=0,
            options={
                "type": "object",
                "properties": {
                    "mode": {"type": "string", "default": "ok", "description": "What to do."},
                    "value": {"type": "number", "default": 1, "description": "The result."},
                    "count": {"type": "integer", "default": 0, "description": "How many lines or bytes."},
                    "place": {
                        "type": "string",
                        "default": "",
                        "description": "A directory to leave traces in.",
                    },
                    "text": {"type": "string", "default": "", "description": "What to write, as it is."},
                    "file": {"type": "null", "default": None, "description": "Not used."},
                },
                "required": [],
                "additionalProperties": False,
            },
            example={
                "version": VERSION,
                "nodes": [{"id": "n", "filter": "act", "options": {"value": 2}}],
                "output": "n",
            },
        ),
        Operation(
            name="read",
            title="Read",
            purpose="Takes a JSON resource and passes its value on.",
            scope="domain/testing",
            min_inputs=0,
            max_inputs=0,
            options={
                "type": "object",
                "properties": {
                    "file": {"type": "null", "default": None, "description": "A bound JSON file."}
                },
                "required": [],
                "additionalProperties": False,
            },
            file_options={"file": ("data/json",)},
        ),
    ),
    quantities=(Quantity("value", "mm", "The value."),),
    publishes=(
        ArtifactKind("data/json", "application/json", "The value."),
        ArtifactKind("series/csv", "text/csv", "A table."),
        ArtifactKind("data/binary", "application/octet-stream", "Bytes."),
    ),
    verification="The published value is compared with the document's.",
)


PRODUCER = HostProgram(name="stub", entry="stub_hosts:produce")
VERIFIER = HostProgram(name="stub-verifier", entry="stub_hosts:verify")


@dataclass(frozen=True)
class StubProvider:
    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        return PRODUCER

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        return VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        path = os.environ.get(ENGINE_FILE)
        version = Path(path).read_text() if path else "1"
        return Engine("Stub", version, "/stub", bool(version), "it was taken away", "nothing")

    def plan(self, document: JsonObject) -> ResolvedDocument:
        return documents.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        if operation is None:
            return schemas.document_schema(self.manifest)
        return schemas.operation_schema(self.manifest, operation)


PROVIDER = StubProvider()
