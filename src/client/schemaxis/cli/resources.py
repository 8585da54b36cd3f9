"""``schemaxis resources`` and ``schemaxis read``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from schemaxis.aio.resources import Resource
from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import note, print_lines, size
from schemaxis.cli.report import resource_lines
from schemaxis.cli.service import Service, run_with


def resources(arguments: argparse.Namespace) -> int:
    """List resources, newest first."""

    async def work(service: Service) -> int:
        of_job = {"job_id": arguments.job} if arguments.job else {}
        found = await service.listed("list_resources", "resources", arguments.limit, **of_job)
        if arguments.json:
            print_lines(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
        else:
            print_lines(*(resource_lines(found) if found else ["No resources yet."]))
        return Exit.DONE

    return run_with(arguments.workspace, work, json_faults=arguments.json)


def read(arguments: argparse.Namespace) -> int:
    """Save a resource, or write its bytes to standard output; only verified bytes are written."""

    async def work(service: Service) -> int:
        resource = await service.client.resources.get(arguments.resource)
        if arguments.output == "-":
            async with resource.chunks() as chunks:
                async for chunk in chunks:
                    sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            return Exit.DONE
        path = await resource.save(arguments.output or _free_name(resource))
        if arguments.json:
            record = await service.call("get_resource", resource_id=arguments.resource)
            print_lines(json.dumps({"path": str(path), "resource": record}, ensure_ascii=False))
            return Exit.DONE
        note(f"{path} ({size(resource.size_bytes)}, SHA-256 {resource.sha256})")
        return Exit.DONE

    return run_with(arguments.workspace, work, json_faults=arguments.json)


def _free_name(resource: Resource) -> str:
    name = own_name(resource)
    if Path(name).exists():
        raise UsageError(f"{name} exists here; say where to save with -o.")
    return name


def own_name(resource: Resource) -> str:
    """The resource's name as the name of a file in some directory, whatever it holds."""
    name = Path(resource.name).name
    return name if name not in ("", ".", "..") else resource.resource_id


async def save_all(found: Iterable[Resource], directory: Path) -> list[Path]:
    """Save every resource into ``directory``; one whose name is taken gets its id in front."""
    directory.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240  # one call, local
    saved: list[Path] = []
    names: set[str] = set()
    for resource in found:
        name = own_name(resource)
        if name in names:
            name = f"{resource.resource_id}-{name}"
        names.add(name)
        saved.append(await resource.save(directory / name))
    return saved
