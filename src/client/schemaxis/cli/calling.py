"""``schemaxis call``: any method of the bridge from the shell."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import AbstractContextManager, aclosing, nullcontext
from pathlib import Path

from schemaxis.bridge.decoding import decode
from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.methods import Method, find_method, load_methods
from schemaxis.bridge.reference import describe_methods
from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import print_fault, print_json, print_lines
from schemaxis.cli.service import Service, params_of, run_with
from schemaxis.cli.workspaces import creatable, existing, existing_or_passing
from schemaxis.v1 import options_pb2


def call(arguments: argparse.Namespace) -> int:
    """Call the method and print its result; a stream's events come one a line before it."""

    methods = load_methods()
    if arguments.method == "methods":
        print_json(describe_methods(methods), compact=arguments.json)
        return Exit.DONE
    params = _params(arguments.params)
    try:
        # What is wrong in itself needs no service to be refused.
        method = find_method(methods, arguments.method)
        decode(method.request, params_of(params))
    except BridgeFault as fault:
        print_fault(json.loads(fault.to_json()), as_json=arguments.json)
        return Exit.USAGE

    async def work(service: Service) -> int:
        if not service.is_streaming(arguments.method):
            print_json(await service.call_text(arguments.method, params), compact=arguments.json)
            return Exit.DONE
        stream = service.stream(arguments.method, params)
        async with aclosing(stream.events()) as events:
            async for event in events:
                print_lines(event)
                sys.stdout.flush()
        print_json(stream.result, compact=arguments.json)
        return Exit.DONE

    with _workspace(arguments, method) as workspace:
        return run_with(workspace, work, json_faults=arguments.json)


def _workspace(arguments: argparse.Namespace, method: Method) -> AbstractContextManager[Path]:
    if method.name.startswith("capabilities."):
        return existing_or_passing(arguments)
    return nullcontext(creatable(arguments) if _begins(method) else existing(arguments))


def _begins(method: Method) -> bool:
    """Whether the method creates something that builds on nothing which a workspace holds."""
    fields = method.request.fields_by_name
    builds_on = [
        name
        for name, field in fields.items()
        if name.endswith("_id") and field.GetOptions().Extensions[options_pb2.rule].required
    ]
    return "request_id" in fields and not builds_on


def _params(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{text[1:]} cannot be read: {error}") from None
    return text
