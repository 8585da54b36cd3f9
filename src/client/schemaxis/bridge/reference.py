"""The answer to ``methods``: what an agent that has read nothing else needs to use the bridge.

Every byte of it is paid for by whoever reads it, so a type is described once, at the end, and
what does not apply to a parameter is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from schemaxis.bridge import fields, prose
from schemaxis.bridge.envelope import MAX_ID_CHARACTERS
from schemaxis.bridge.fields import Kind
from schemaxis.bridge.lines import MAX_LINE_BYTES
from schemaxis.bridge.methods import PROTOCOL, Method, faults_of_any_method, find_method
from schemaxis.bridge.text import MAX_NESTING
from schemaxis.v1 import fault_pb2

_STREAMS = 'A streaming method first writes lines {"id":…,"event":…}, then its answer.'
_CONVENTIONS = (
    'A request is one line {"id":…,"method":…,"params":{…}}; its answer has the same id and either "ok":true '
    'with a result or "ok":false with a fault {code, message, retryable, pointer, details}.',
    "Answers may come in any order. Requests start in the order of their lines.",
    _STREAMS,
    "Parameters may be written in snake_case or lowerCamelCase; results are in lowerCamelCase.",
    "A method may be refused with its own faults and with those of any method; work that was accepted and "
    "failed is no refusal, its job carries the fault.",
    "Keep standard input open until your jobs have ended: its end cancels the jobs that this session "
    "started and that still work.",
    "Wherever revision matters, send the one you saw as expected_revision; a wrong one changes nothing.",
    'A number that JSON lacks is {"$number":"NaN"}, "Infinity" or "-Infinity".',
    "The usual way: capabilities.search, capabilities.describe, create_task, plan, execute, job or "
    "watch_job, observe (section result, then verification), verify.",
)
_LOCAL: tuple[dict[str, Any], ...] = (
    {
        "name": "methods",
        "purpose": "This list, or one method of it with prose for its faults and every field of its result.",
        "parameters": [{"name": "method", "type": "string", "purpose": "Name of the one method."}],
        "result": "this object",
        "faults": ["UNKNOWN_METHOD"],
    },
    {
        "name": "stop",
        "purpose": "Ends a stream of this session; the stream's own answer is then the fault CANCELLED.",
        "parameters": [
            {
                "name": "request",
                "type": "string or integer",
                "required": True,
                "purpose": "The id of the request that opened the stream.",
            }
        ],
        "result": '{"stopped":boolean}, false when the stream had already ended',
    },
)
_TYPE_NAMES = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "integer",
    Kind.INTEGER64: "integer",
    Kind.NUMBER: "number",
    Kind.STRING: "string",
    Kind.JSON: "any JSON",
    Kind.BYTES: "base64",
    Kind.TIMESTAMP: "RFC 3339 time",
    Kind.ENUM: "string",
}


def describe_methods(methods: Mapping[str, Method]) -> str:
    """The result of ``methods`` as JSON text."""
    return _text(
        {
            "protocol": PROTOCOL,
            "limits": {
                "lineBytes": MAX_LINE_BYTES,
                "idCharacters": MAX_ID_CHARACTERS,
                "nesting": MAX_NESTING,
            },
            "conventions": _CONVENTIONS,
            "faultsOfAnyMethod": faults_of_any_method(),
            "methods": [*(_describe(method) for method in methods.values()), *_LOCAL],
            "types": _types(methods.values(), _signature),
        }
    )


def describe_method(methods: Mapping[str, Method], name: str) -> str:
    """The result of ``methods`` for one method, with prose for its faults and result, as JSON text.

    What holds for all methods is left out. Raises ``UNKNOWN_METHOD``.
    """
    local = next((entry for entry in _LOCAL if entry["name"] == name), None)
    if local is not None:
        return _text({"protocol": PROTOCOL, "methods": [local]})
    method = find_method(methods, name)
    document: dict[str, Any] = {"protocol": PROTOCOL}
    if method.streaming:
        document["conventions"] = (_STREAMS,)
    document["methods"] = [_describe(method)]
    document["faults"] = {
        code: prose.comment(f"{fault_pb2.FaultCode.DESCRIPTOR.full_name}.FAULT_CODE_{code}")
        for code in (*method.faults, *faults_of_any_method())
    }
    document["types"] = _types([method], _prose)
    return _text(document)


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _describe(method: Method) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": method.name,
        "purpose": prose.comment(method.full_name),
        "parameters": [_parameter(field) for field in method.request.fields],
        "result": _result(method),
    }
    if method.faults:
        described["faults"] = method.faults
    if method.streaming:
        described["streaming"] = True
        described["event"] = _type_name(method.response.fields_by_name[method.event_field], one=True)
    if not method.agent_tool:
        described["agentTool"] = False
    return described


def _result(method: Method) -> str:
    if method.result_field:
        return _type_name(method.response.fields_by_name[method.result_field])
    return _signature(method.response)


def _parameter(field: FieldDescriptor) -> dict[str, Any]:
    """A parameter with its rule; what does not apply is left out."""
    rule = fields.rule_of(field)
    described: dict[str, Any] = {"name": fields.snake_name(field), "type": _type_name(field)}
    if rule.required:
        described["required"] = True
    if rule.HasField("default_json"):
        described["default"] = json.loads(rule.default_json)
    if rule.HasField("minimum"):
        described["minimum"] = _plain(rule.minimum)
    if rule.HasField("exclusive_minimum"):
        described["exclusiveMinimum"] = _plain(rule.exclusive_minimum)
    if rule.HasField("maximum"):
        described["maximum"] = _plain(rule.maximum)
    if rule.HasField("min_length"):
        described["minLength"] = rule.min_length
    if rule.HasField("max_length"):
        described["maxLength"] = rule.max_length
    if rule.clamp:
        described["clamped"] = True
    if choices := _choices(field) or list(rule.choices):
        described["choices"] = choices
    described["purpose"] = prose.comment(field.full_name)
    return described


def _plain(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _choices(field: FieldDescriptor) -> list[str]:
    if fields.kind_of(field) is not Kind.ENUM:
        return []
    return [name for number, name in fields.enum_names(field.enum_type).items() if number != 0]


def _type_name(field: FieldDescriptor, *, one: bool = False) -> str:
    if fields.is_map(field):
        value = fields.message_type(field).fields_by_name["value"]
        return f"object of string to {_type_name(value)}"
    kind = fields.kind_of(field)
    name = fields.message_type(field).name if kind is Kind.MESSAGE else _TYPE_NAMES[kind]
    return f"array of {name}" if field.is_repeated and not one else name


def _types(methods: Iterable[Method], describe_result: Callable[[Descriptor], Any]) -> dict[str, Any]:
    """The message types that parameters and results name, each described once."""
    parameters: dict[str, Descriptor] = {}
    results: dict[str, Descriptor] = {}
    for method in methods:
        _collect_fields(method.request.fields, parameters)
        named = {method.result_field, method.event_field} - {""}
        _collect_fields(
            [field for field in method.response.fields if not named or field.name in named], results
        )
    described: dict[str, Any] = {
        name: {"fields": [_parameter(field) for field in descriptor.fields]}
        for name, descriptor in parameters.items()
    }
    for name, descriptor in results.items():
        described.setdefault(name, describe_result(descriptor))
    return described


def _signature(descriptor: Descriptor) -> str:
    return "{" + ", ".join(f"{_reply_key(field)}: {_reply_type(field)}" for field in descriptor.fields) + "}"


def _prose(descriptor: Descriptor) -> dict[str, str]:
    return {
        _reply_key(field): f"{_reply_type(field)}. {prose.comment(field.full_name)}"
        for field in descriptor.fields
    }


def _reply_key(field: FieldDescriptor) -> str:
    return fields.camel_name(field) + ("?" if fields.is_proto3_optional(field) else "")


def _reply_type(field: FieldDescriptor) -> str:
    return " | ".join(_choices(field)) or _type_name(field)


def _collect_fields(of: Iterable[FieldDescriptor], found: dict[str, Descriptor]) -> None:
    for field in of:
        single = fields.message_type(field).fields_by_name["value"] if fields.is_map(field) else field
        if fields.kind_of(single) is not Kind.MESSAGE:
            continue
        descriptor = fields.message_type(single)
        if descriptor.name not in found:
            found[descriptor.name] = descriptor
            _collect_fields(descriptor.fields, found)
