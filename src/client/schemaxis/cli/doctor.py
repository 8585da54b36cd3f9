"""``schemaxis doctor``: what this installation and this workspace are fit for."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from schemaxis.cli.main import Exit
from schemaxis.cli.output import coloured, print_lines, table, wrapped
from schemaxis.cli.serving import server_command
from schemaxis.cli.workspaces import named
from schemaxis.errors import SchemaxisError
from schemaxis.process import is_serving

_LIBRARIES = ("schemaxis", "grpcio", "grpcio-status", "protobuf")


def doctor(arguments: argparse.Namespace) -> int:
    """Check the client here and the server's side in its own program; 0 when nothing is wrong."""
    workspace = named(arguments)
    checks = [*_client_checks(workspace), *_server_checks(workspace, deep=arguments.deep)]
    if arguments.json:
        print_lines(json.dumps({"checks": checks}, ensure_ascii=False, separators=(",", ":")))
    else:
        print_lines(*_lines(checks))
    return Exit.DONE if all(check["ok"] for check in checks) else Exit.FAILED


def _check(name: str, ok: bool, detail: str, advice: str = "") -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "advice": advice}


def _client_checks(workspace: Path) -> Iterator[dict[str, Any]]:
    recent = sys.version_info >= (3, 11)
    advice = "" if recent else "Use Python 3.11 or later."
    yield _check("python", recent, f"{platform.python_version()} at {sys.executable}", advice)
    for library in _LIBRARIES:
        try:
            yield _check(library, True, version(library))
        except PackageNotFoundError:
            # The product itself may run from its source tree.
            own = library == "schemaxis"
            detail = "runs from its source tree" if own else "not installed"
            yield _check(library, own, detail, "" if own else f"pip install {library}")
    try:
        serving = is_serving(workspace)
    except SchemaxisError as error:
        yield _check("socket", False, error.message, "Look what lies at the socket's path.")
        return
    yield _check("service", True, "runs on this workspace" if serving else "does not run; commands start it")


def _server_checks(workspace: Path, *, deep: bool) -> Iterator[dict[str, Any]]:
    options = [
        "--workspace",
        os.fspath(workspace),
        "--doctor",
        *(["--deep"] if deep else []),
    ]
    command = server_command(*options)
    if command is None:
        yield _check("server", False, "not installed", "pip install 'schemaxis[server]'")
        return
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    try:
        checks: list[dict[str, Any]] = json.loads(done.stdout)["checks"]
    except (ValueError, KeyError, TypeError):
        said = done.stderr.strip().splitlines()
        detail = said[-1] if said else f"ended with status {done.returncode} and said nothing"
        yield _check("server", False, detail, f"Run it by hand: {' '.join(command)}")
        return
    # The server runs on the same Python; once is enough.
    yield from (check for check in checks if check["name"] != "python")


def _lines(checks: list[dict[str, Any]]) -> list[str]:
    rows = [("ok" if check["ok"] else "WRONG", check["name"], check["detail"]) for check in checks]
    lines = [coloured(line, "bad") if line.startswith("WRONG") else line for line in table(rows)]
    if advice := [f"{check['name']}: {check['advice']}" for check in checks if check["advice"]]:
        lines += ["", "What to do"]
        for sentence in advice:
            lines += wrapped(sentence, indent="  ", hanging="  ")
    return lines
