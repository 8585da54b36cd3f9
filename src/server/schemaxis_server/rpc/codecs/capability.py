"""Capabilities as Protobuf."""

from __future__ import annotations

from schemaxis.v1 import capability_pb2

from schemaxis_server.execution.capabilities import Capability, Match, ScopeLevel
from schemaxis_server.execution.pointers import join
from schemaxis_server.providers.contract import Engine, Operation, Quantity
from schemaxis_server.rpc.codecs.common import json_text


def level_message(level: ScopeLevel) -> capability_pb2.BrowseCapabilitiesResponse:
    return capability_pb2.BrowseCapabilitiesResponse(
        scope=level.scope,
        scopes=[capability_pb2.Scope(scope=scope, capability_count=count) for scope, count in level.scopes],
        capabilities=[summary_message(capability) for capability in level.capabilities],
    )


def match_message(match: Match) -> capability_pb2.CapabilityMatch:
    return capability_pb2.CapabilityMatch(
        capability=summary_message(match.capability), score=match.score, why=match.why
    )


def summary_message(capability: Capability) -> capability_pb2.CapabilitySummary:
    manifest, operation = capability.provider.manifest, capability.operation
    return capability_pb2.CapabilitySummary(
        capability=capability.name,
        title=operation.title,
        purpose=operation.purpose,
        scope=operation.scope,
        provider=manifest.name,
        document_version=manifest.version,
        filter=operation.name,
        available=capability.available,
    )


def description_message(capability: Capability, engine: Engine) -> capability_pb2.CapabilityDescription:
    manifest, operation = capability.provider.manifest, capability.operation
    return capability_pb2.CapabilityDescription(
        summary=summary_message(capability),
        inputs=capability_pb2.CapabilityInputs(
            minimum=operation.min_inputs, maximum=operation.max_inputs, purpose=operation.input_purpose
        ),
        options=_options(capability),
        quantities=[
            capability_pb2.CapabilityQuantity(
                name=one.name, unit=one.unit, purpose=one.purpose, pointer=_pointer(operation, one)
            )
            for one in manifest.quantities
        ],
        artifacts=[
            capability_pb2.CapabilityArtifact(kind=one.kind, media_type=one.media_type, purpose=one.purpose)
            for one in manifest.publishes
        ],
        verification=operation.verification or manifest.verification,
        example_json=json_text(operation.example),
        engine=f"{engine.name} {engine.version}" if engine.available else f"{engine.name}: {engine.problem}",
        install=None if engine.available else engine.install,
    )


def _pointer(operation: Operation, quantity: Quantity) -> str:
    """Where the result of the operation's own example has the quantity."""
    example = operation.example
    output = example.get("output", next(iter(example.get("outputs", ())), "<id>"))
    return join(join("/outputs", output), quantity.name)


def _options(capability: Capability) -> list[capability_pb2.CapabilityOption]:
    operation = capability.operation
    required = operation.options.get("required", ())
    return [
        capability_pb2.CapabilityOption(
            name=name,
            purpose=schema.get("description", ""),
            unit=schema.get("unit", ""),
            required=name in required,
            default_json=json_text(schema["default"]) if "default" in schema else None,
            schema_json=json_text(schema),
            accepts=operation.file_options.get(name, ()),
        )
        for name, schema in operation.options.get("properties", {}).items()
    ]
