"""How a notebook shows the handles: one small table each."""

from __future__ import annotations

from html import escape

from schemaxis.models import JobRecord, PlanRecord, ResourceRecord, TaskRecord


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


def job(record: JobRecord) -> str:
    rows = [
        ("state", str(record.state)),
        ("verified", "yes" if record.verified else "no"),
        ("goal", str(record.goal)),
        ("progress", f"{record.progress.fraction:.0%} {record.progress.operation}".strip()),
        ("resources", str(len(record.resource_ids))),
    ]
    if record.fault:
        rows.append(("fault", f"{record.fault.code}: {record.fault.message}"))
    return _table(f"Job {record.job_id}", *rows)


def resource(record: ResourceRecord) -> str:
    return _table(
        f"Resource {record.name}",
        ("id", record.resource_id),
        ("kind", record.kind),
        ("size", f"{record.size_bytes:,} bytes"),
        ("SHA-256", record.sha256),
        ("state", str(record.state)),
    )


def _table(title: str, *rows: tuple[str, str]) -> str:
    left = "style='text-align:left'"
    lines = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(text)}</td></tr>" for name, text in rows
    )
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"
