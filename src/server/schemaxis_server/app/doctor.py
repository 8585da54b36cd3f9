"""The server's side of ``schemaxis doctor``: what this machine and this workspace are fit for."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from schemaxis_server.app import configuration
from schemaxis_server.app.directory import foreign_names
from schemaxis_server.execution.engines import Engines
from schemaxis_server.execution.records import Resource
from schemaxis_server.execution.resources import receipt_of
from schemaxis_server.faults import Fault
from schemaxis_server.native.containment import HARDENING
from schemaxis_server.native.pool import HostPool
from schemaxis_server.providers.registry import load
from schemaxis_server.store.deep_check import deep_check
from schemaxis_server.store.objects import Receipt
from schemaxis_server.store.opening import DATABASE, inspect_database

MAX_FINDINGS = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. ``advice`` is empty when nothing is to be done."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


async def report(workspace: Path, *, deep: bool) -> dict[str, Any]:
    """Check Python, engines, containment and the workspace; ``deep`` reads everything stored.

    Leaves nothing behind in the workspace and needs no running service.
    """
    findings = [_python(), *_engines(workspace), await _containment(), *_workspace(workspace)]
    if deep:
        findings += await asyncio.to_thread(lambda: list(_deep(workspace)))
    return {
        "checks": [
            {"name": one.name, "ok": one.ok, "detail": one.detail, "advice": one.advice} for one in findings
        ]
    }


def _python() -> Finding:
    return Finding("python", sys.version_info >= (3, 11), platform.python_version(), "")


def _engines(workspace: Path) -> Iterator[Finding]:
    try:
        # Where there is no directory there is no configuration; that is reported once, as the workspace's.
        locations = configuration.load(workspace).locations if os.path.isdir(workspace) else {}
    except Fault as fault:
        yield Finding("configuration", False, fault.record.message, "Mend schemaxis.toml.")
        locations = {}
    registry = load()
    engines = Engines(registry, locations)
    for provider in registry.values():
        engine = engines.look(provider)
        name = f"engine of {provider.manifest.name}"
        if engine.available:
            yield Finding(name, True, f"{engine.name} {engine.version} at {engine.path}")
        else:
            yield Finding(name, False, f"{engine.name}: {engine.problem}", f"Install {engine.install}.")
    for broken in registry.broken:
        yield Finding(f"provider {broken.name}", False, broken.problem, "Mend or remove its package.")


async def _containment() -> Finding:
    with tempfile.TemporaryDirectory(prefix="schemaxis-doctor-") as directory:
        pool = HostPool(Path(directory), "doctor")
        try:
            reached = await pool.containment()
        except Fault as fault:
            return Finding(
                "containment", False, fault.record.message, "Read the message; hosts cannot start."
            )
        finally:
            await pool.close()
    missing = [one for one in HARDENING if one not in reached.hardening]
    detail = f"{reached.level}; reached {', '.join(reached.hardening) or 'nothing more'}"
    if missing:
        detail += f"; not reached {', '.join(missing)}"
    advice = "" if reached.level == "pid-namespace" else "Allow PID namespaces for the strongest containment."
    return Finding("containment", True, detail, advice)


def _workspace(workspace: Path) -> Iterator[Finding]:
    place = workspace.absolute()
    in_use = False
    try:
        problem = _problem_of(place)
        if not problem and place.exists():
            in_use = (place / DATABASE).exists()
            if foreign_names(place):
                problem = "is no workspace and holds other files"
    except OSError as error:
        problem = f"cannot be looked at ({error.strerror})"
    if problem:
        yield Finding(
            "workspace",
            False,
            f"{place} {problem}",
            "Name a directory that you own and can write, a new or an empty one.",
        )
    elif not in_use:
        state = "is not in use yet" if place.exists() else "is not created yet, and can be"
        yield Finding("workspace", True, f"{place} {state}")
    else:
        try:
            inspect_database(place / DATABASE)
        except (Fault, OSError) as error:
            message = error.record.message if isinstance(error, Fault) else str(error)
            yield Finding("workspace", False, f"{place}: {message}", "Restore the workspace from a copy.")
            return
        yield Finding("workspace", True, f"{place}: its database is sound at a first look")


def _problem_of(place: Path) -> str:
    """Why a workspace cannot be kept at ``place``; empty when it can. Raises :class:`OSError`."""
    found = place
    while not os.path.lexists(found):
        found = found.parent
    if not found.is_dir():
        return f"cannot be a directory: {found} is none" if found != place else "is not a directory"
    if found == place and place.stat().st_uid != os.geteuid():
        return "belongs to another user"
    try:
        # Only trying tells: permissions, read-only and special file systems all have their say.
        os.rmdir(tempfile.mkdtemp(prefix=".schemaxis-doctor-", dir=found))
    except OSError as error:
        where = "" if found == place else f", since {found} takes no directory"
        return f"cannot be {'written' if found == place else 'created'}{where} ({error.strerror})"
    return ""


def _deep(workspace: Path) -> Iterator[Finding]:
    if not os.path.exists(workspace / DATABASE):
        return
    count = 0
    for found in deep_check(workspace, _receipt_of):
        count += 1
        if count <= MAX_FINDINGS:
            yield Finding(
                f"{found.area} {found.subject}",
                False,
                found.problem,
                "What it belongs to was or will be set aside; execute its plan again.",
            )
    yield Finding(
        "everything stored", count == 0, f"{count} findings" if count else "every byte was read and matches"
    )


def _receipt_of(body: bytes) -> Receipt:
    return receipt_of(msgspec.json.decode(body, type=Resource))
