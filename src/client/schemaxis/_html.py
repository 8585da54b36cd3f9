"""How a notebook shows the handles: one small table each, and the pictures below it.

A notebook that is given HTML and a picture shows the HTML alone, so pictures are part of it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from schemaxis.models import JobRecord, PlanRecord, ResourceRecord, TaskRecord

PICTURES = frozenset({"image/png", "image/svg+xml"})
"""The media types that are shown."""

MOST_PICTURE_BYTES = 4 * 1024 * 1024
"""A larger picture is left out: it would be stored in the notebook."""

MOST_PICTURES = 8
"""Of a job; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture with its name; without ``data``, ``problem`` says why it is not shown."""

    name: str
    media_type: str
    data: bytes | None
    problem: str = ""


def task(record: TaskRecord) -> str:
    budget, usage = record.budget, record.usage
    return _table(
        f"Task {record.task_id}",
        ("objective", record.objective),
        ("providers", ", ".join(record.allowed_providers)),
        ("attempts", f"{usage.attempts} of {budget.max_attempts}"),
        ("execution", f"{usage.elapsed_seconds:.3g} s of {budget.max_elapsed_seconds:g} s")
        if budget.max_elapsed_seconds
        else ("execution", f"{usage.elapsed_seconds:.3g} s"),
        ("revision", str(record.revision)),
        ("criteria", "; ".join(f"{item.pointer} {item.operator}" for item in record.criteria) or "none"),
    )


def plan(record: PlanRecord) -> str:
    return _table(
        f"Plan {record.plan_id}",
        ("task", record.task_id),
        ("revision", str(record.revision)),
        ("digest", record.digest),
        ("engines", ", ".join(f"{item.engine} {item.engine_version}" for item in record.providers)),
        ("operations", ", ".join(node for item in record.operations for node in item.nodes)),
    )


def job(record: JobRecord, pictures: Iterable[Picture] = (), left_out: int = 0) -> str:
    rows = [
        ("state", str(record.state)),
        ("verified", "yes" if record.verified else "no"),
        ("goal", str(record.goal)),
        ("progress", f"{record.progress.fraction:.0%} {record.progress.operation}".strip()),
        ("resources", str(len(record.resource_ids))),
    ]
    if record.fault:
        rows.append(("fault", f"{record.fault.code}: {record.fault.message}"))
    if left_out:
        rows.append(("pictures", f"{left_out} more in its resources"))
    return _table(f"Job {record.job_id}", *rows) + "".join(map(_figure, pictures))


def resource(record: ResourceRecord, picture: Picture | None = None) -> str:
    shown = _table(
        f"Resource {record.name}",
        ("id", record.resource_id),
        ("kind", record.kind),
        ("size", f"{record.size_bytes:,} bytes"),
        ("SHA-256", record.sha256),
        ("state", str(record.state)),
    )
    return shown + (_figure(picture) if picture else "")


def _figure(picture: Picture) -> str:
    if picture.data is None:
        return f"<p>{escape(picture.name)}: {escape(picture.problem)}</p>"
    # As the source of an image an SVG cannot run scripts.
    source = f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"
    return f"<img alt='{escape(picture.name)}' title='{escape(picture.name)}' src='{source}'>"


def _table(title: str, *rows: tuple[str, str]) -> str:
    left = "style='text-align:left'"
    lines = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(text)}</td></tr>" for name, text in rows
    )
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"
