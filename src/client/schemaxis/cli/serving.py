"""``schemaxis serve`` and ``schemaxis agent``."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import NoReturn

from schemaxis.cli.main import Exit
from schemaxis.cli.workspaces import creatable

SERVER_MODULE = "schemaxis_server"
_NOT_INSTALLED = "The server is not installed; install it with: pip install 'schemaxis[server]'\n"


def server_command(*arguments: str) -> list[str] | None:
    """The command line of the server program; None when it is not installed."""
    if importlib.util.find_spec(SERVER_MODULE) is None:
        return None
    return [sys.executable, "-P", "-m", SERVER_MODULE, *arguments]


def serve(arguments: argparse.Namespace) -> int:
    """Become the server program."""
    command = server_command("--workspace", os.fspath(creatable(arguments)))
    if command is None:
        sys.stderr.write(_NOT_INSTALLED)
        return Exit.NO_SERVER
    if arguments.socket is not None:
        command += ["--socket", os.fspath(arguments.socket)]
    return _become(command)


def _become(command: list[str]) -> NoReturn:
    sys.stdout.flush()
    os.execv(command[0], command)


def agent(arguments: argparse.Namespace) -> int:
    """Serve the JSON-lines protocol on standard input and output."""
    from schemaxis.bridge.agent import run_agent

    return run_agent(creatable(arguments))
