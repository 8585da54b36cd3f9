"""The typed client of schemaxis.

    import schemaxis

    with schemaxis.start("workspace") as client:
        task = client.tasks.create("Produce a 1500 mm3 box", ["occt"])
        job = task.plan(document).execute().wait()
        print(job.result["outputs"])

``connect`` attaches to a running server, ``start`` starts one if none runs; ``schemaxis.aio`` has
the same for asyncio. Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemaxis import aio, errors, models
    from schemaxis.client import Client, connect, start
    from schemaxis.errors import FaultError, JobFailed, SchemaxisError
    from schemaxis.handles import Job, Plan, Task
    from schemaxis.models import Budget, Criterion, Goal, JobState
    from schemaxis.resources import Resource

_HOMES = {
    "Budget": "schemaxis.models",
    "Client": "schemaxis.client",
    "Criterion": "schemaxis.models",
    "FaultError": "schemaxis.errors",
    "Goal": "schemaxis.models",
    "Job": "schemaxis.handles",
    "JobFailed": "schemaxis.errors",
    "JobState": "schemaxis.models",
    "Plan": "schemaxis.handles",
    "Resource": "schemaxis.resources",
    "SchemaxisError": "schemaxis.errors",
    "Task": "schemaxis.handles",
    "connect": "schemaxis.client",
    "start": "schemaxis.client",
}
_MODULES = frozenset({"aio", "errors", "models"})

__all__ = [
    "Budget",
    "Client",
    "Criterion",
    "FaultError",
    "Goal",
    "Job",
    "JobFailed",
    "JobState",
    "Plan",
    "Resource",
    "SchemaxisError",
    "Task",
    "aio",
    "connect",
    "errors",
    "models",
    "start",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"schemaxis.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'schemaxis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
