"""``schemaxis call``: any method of the bridge from the shell."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import aclosing
from pathlib import Path

from schemaxis.bridge.decoding import decode
from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.methods import find_method, load_methods
from schemaxis.bridge.reference import describe_methods
from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import print_fault, print_json, print_lines
from schemaxis.cli.service import Service, params_of, run_with


def call(arguments: argparse.Namespace) -> int:
    """Call the method and print its result; a stream's events come one a line before it."""

    methods = load_methods()
    if arguments.method == "methods":
        print_json(describe_methods(methods), compact=arguments.json)
        return Exit.DONE
    params = _params(arguments.params)
    try:
        # What is wrong in itself needs no service to be refused.
        decode(find_method(methods, arguments.method).request, params_of(params))
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

    return run_with(arguments.workspace, work, json_faults=arguments.json)


def _params(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{text[1:]} cannot be read: {error}") from None
    return text
