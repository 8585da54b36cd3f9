"""Capabilities between model and message."""

from __future__ import annotations

from schemaxis import _json
from schemaxis.models import (
    CapabilityArtifact,
    CapabilityDescription,
    CapabilityInputs,
    CapabilityMatch,
    CapabilityMatches,
    CapabilityOption,
    CapabilityQuantity,
    CapabilitySchema,
    CapabilitySummary,
    Scope,
    ScopeLevel,
)
from schemaxis.v1 import capability_pb2


def summary(message: capability_pb2.CapabilitySummary) -> CapabilitySummary:
    return CapabilitySummary(
        capability=message.capability,
        title=message.title,
        purpose=message.purpose,
        scope=message.scope,
        provider=message.provider,
        document_version=message.document_version,
        filter=message.filter,
        available=message.available,
    )


def scope_level(message: capability_pb2.BrowseCapabilitiesResponse) -> ScopeLevel:
    return ScopeLevel(
        scope=message.scope,
        scopes=tuple(Scope(item.scope, item.capability_count) for item in message.scopes),
        capabilities=tuple(summary(item) for item in message.capabilities),
    )


def matches(message: capability_pb2.SearchCapabilitiesResponse) -> CapabilityMatches:
    return CapabilityMatches(
        matches=tuple(
            CapabilityMatch(summary(item.capability), item.score, item.why) for item in message.matches
        ),
        total=message.total,
    )


def description(message: capability_pb2.CapabilityDescription) -> CapabilityDescription:
    inputs = message.inputs
    return CapabilityDescription(
        summary=summary(message.summary),
        inputs=CapabilityInputs(
            inputs.minimum, inputs.maximum if inputs.HasField("maximum") else None, inputs.purpose
        ),
        options=tuple(_option(item) for item in message.options),
        quantities=tuple(
            CapabilityQuantity(item.name, item.unit, item.purpose, item.pointer)
            for item in message.quantities
        ),
        artifacts=tuple(
            CapabilityArtifact(item.kind, item.media_type, item.purpose) for item in message.artifacts
        ),
        verification=message.verification,
        example=_json.parse(message.example_json) if message.example_json else {},
        engine=message.engine,
        install=message.install if message.HasField("install") else None,
    )


def schema(message: capability_pb2.GetCapabilitySchemaResponse) -> CapabilitySchema:
    return CapabilitySchema(message.version, _json.parse(message.schema_json))


def _option(message: capability_pb2.CapabilityOption) -> CapabilityOption:
    has_default = message.HasField("default_json")
    return CapabilityOption(
        name=message.name,
        purpose=message.purpose,
        unit=message.unit,
        required=message.required,
        default=_json.parse(message.default_json) if has_default else None,
        has_default=has_default,
        schema=_json.parse(message.schema_json) if message.schema_json else {},
        accepts=tuple(message.accepts),
    )
