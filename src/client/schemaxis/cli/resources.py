"""``schemaxis resources`` and ``schemaxis read``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from schemaxis.aio.resources import Resource
from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import note, print_lines, size
from schemaxis.cli.report import resource_lines
from schemaxis.cli.service import Service, run_with
from schemaxis.cli.workspaces import existing

_WAY = "Name another place with -o, or overwrite with --force."


def resources(arguments: argparse.Namespace) -> int:
    """List resources, newest first."""

    async def work(service: Service) -> int:
        of_job = {"job_id": arguments.job} if arguments.job else {}
        found = await service.listed("list_resources", "resources", arguments.limit, **of_job)
        if arguments.json:
            print_lines(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
        elif found:
            print_lines(*resource_lines(found))
        else:
            whose = (
                "This job has no resources; a job that succeeded"
                if arguments.job
                else "No resources yet; a job"
            )
            print_lines(f"{whose} publishes them.")
        return Exit.DONE

    return run_with(existing(arguments), work, json_faults=arguments.json)


def read(arguments: argparse.Namespace) -> int:
    """Save a resource, or write its bytes to standard output; only verified bytes are written."""

    async def work(service: Service) -> int:
        if arguments.resource.startswith("job_"):
            return await _read_job(service, arguments)
        resource = await service.client.resources.get(arguments.resource)
        if arguments.output == "-":
            async with resource.chunks() as chunks:
                async for chunk in chunks:
                    sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            return Exit.DONE
        target = _target(arguments.output, resource)
        refuse_taken([target], force=arguments.force, way=_WAY)
        await resource.save(target)
        if arguments.json:
            record = await service.call("get_resource", resource_id=arguments.resource)
            print_lines(json.dumps({"path": str(target.absolute()), "resource": record}, ensure_ascii=False))
            return Exit.DONE
        note(_saved_line(target, resource))
        return Exit.DONE

    return run_with(existing(arguments), work, json_faults=arguments.json)


async def _read_job(service: Service, arguments: argparse.Namespace) -> int:
    if arguments.output == "-":
        raise UsageError("A job's resources are several files; read one of them to standard output.")
    directory = Path(arguments.output or ".")
    check_directory(directory)
    handle = await service.client.jobs.get(arguments.resource)
    found = [one async for one in service.client.resources.list(handle.job_id)][::-1]
    saved = await save_all(found, directory, force=arguments.force, way=_WAY)
    if arguments.json:
        records = await service.listed("list_resources", "resources", len(found), job_id=handle.job_id)
        print_lines(
            json.dumps({"paths": [str(path.absolute()) for path in saved], "resources": records[::-1]})
        )
    elif found:
        for path, resource in zip(saved, found, strict=True):
            note(_saved_line(path, resource))
    else:
        note(f"{handle.job_id} is {handle.state} and published nothing.")
    return Exit.DONE


def _target(output: str, resource: Resource) -> Path:
    target = Path(output or own_name(resource))
    return target / own_name(resource) if target.is_dir() else target


def _saved_line(path: Path, resource: Resource) -> str:
    return f"{path} ({size(resource.size_bytes)}, SHA-256 {resource.sha256})"


def own_name(resource: Resource) -> str:
    """The resource's name as the name of a file in some directory, whatever it holds."""
    name = Path(resource.name).name
    return name if name not in ("", ".", "..") else resource.resource_id


def check_directory(directory: Path) -> None:
    """Refuse what cannot hold files. Raises :class:`UsageError`."""
    if os.path.lexists(directory) and not directory.is_dir():
        raise UsageError(f"{directory} is not a directory, so nothing can be saved in it.")


async def save_all(found: Sequence[Resource], directory: Path, *, force: bool, way: str) -> list[Path]:
    """Save every resource into ``directory``; one whose name is taken by another gets its id in front.

    Files that were there are overwritten only by ``force``: otherwise nothing is saved at all, and
    :class:`UsageError` is raised, ending in the ``way`` on.
    """
    names: list[str] = []
    for resource in found:
        name = own_name(resource)
        names.append(f"{resource.resource_id}-{name}" if name in names else name)
    targets = [directory / name for name in names]
    refuse_taken(targets, force=force, way=way)
    directory.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240  # one call, local
    for resource, target in zip(found, targets, strict=True):
        await resource.save(target)
    return targets


def refuse_taken(targets: Sequence[Path], *, force: bool, way: str) -> None:
    """Refuse to replace what is there, but for regular files by ``force``. Raises :class:`UsageError`."""
    taken = [target for target in targets if os.path.lexists(target)]
    if odd := [target for target in taken if not target.is_file() or target.is_symlink()]:
        raise UsageError(f"{odd[0]} is no regular file and is not replaced; nothing was saved.")
    if taken and not force:
        which = ", ".join(map(str, taken[:3])) + (f" and {len(taken) - 3} more" if len(taken) > 3 else "")
        verb = "exists" if len(taken) == 1 else "exist"
        raise UsageError(f"{which} {verb}; nothing was saved. {way}")
