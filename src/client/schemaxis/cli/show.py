"""``schemaxis show``: the pictures of a job, or those that show a resource."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from schemaxis.aio.resources import Resource
from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import clean, complain, note, print_lines, size
from schemaxis.cli.pictures import PICTURE, pictures_of, show_inline
from schemaxis.cli.resources import check_directory, refuse_taken, save_all
from schemaxis.cli.service import Service, run_with
from schemaxis.cli.workspaces import command, existing

_WAY = "Name another place with -o, or overwrite with --force."


def show(arguments: argparse.Namespace) -> int:
    """Show pictures in a terminal that can, and save them where it cannot or -o says; nothing is opened."""

    async def work(service: Service) -> int:
        pictures = await _pictures(service, arguments.resource)
        if not pictures:
            way = command(arguments, f"read {arguments.resource}")
            complain(f"No picture shows {arguments.resource}; {way} saves what there is.")
            return Exit.FAILED
        if arguments.json:
            saved = await _saved(pictures, arguments)
            records = [await service.call("get_resource", resource_id=one.resource_id) for one in pictures]
            print_lines(json.dumps({"paths": [str(path.absolute()) for path in saved], "resources": records}))
            return Exit.DONE
        shown = await show_inline(pictures)
        left = pictures if arguments.output else [one for one in pictures if one not in shown]
        for path, picture in zip(await _saved(left, arguments), left, strict=True):
            note(f"{path} ({size(picture.size_bytes)}, {clean(picture.kind)})")
        return Exit.DONE

    return run_with(existing(arguments), work, json_faults=arguments.json)


async def _pictures(service: Service, name: str) -> list[Resource]:
    if name.startswith("job_"):
        job = await service.client.jobs.get(name)
        return pictures_of([one async for one in service.client.resources.list(job.job_id)][::-1])
    resource = await service.client.resources.get(name)
    if resource.media_type.startswith(PICTURE):
        return [resource]
    if resource.producer.job_id is None:
        return []
    beside = [one async for one in service.client.resources.list(resource.producer.job_id)][::-1]
    drawn = pictures_of(beside)
    # A picture is drawn from one publication of an output and shows the others as well.
    return [one for one in drawn if one.derived_from == resource.resource_id] or [
        one for one in drawn if one.output and one.output == resource.output
    ]


async def _saved(pictures: list[Resource], arguments: argparse.Namespace) -> list[Path]:
    if not pictures:
        return []
    place = Path(arguments.output or ".")
    if len(pictures) > 1 or place.is_dir():  # noqa: ASYNC240  # one call, local
        check_directory(place)
        return await save_all(pictures, place, force=arguments.force, way=_WAY)
    if arguments.output.endswith("/"):
        raise UsageError(f"{place} is no directory that is there; make it, or name a file.")
    refuse_taken([place], force=arguments.force, way=_WAY)
    await pictures[0].save(place)
    return [place]
