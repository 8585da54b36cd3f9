"""The same client for asyncio: the same names, awaited.

::

    async with schemaxis.aio.start("workspace") as client:
        task = await client.tasks.create("Produce a 1500 mm3 box", ["occt"])
        plan = await task.plan(document)
        job = await (await plan.execute()).wait()
        print((await job.result)["outputs"])

What is a property there and asks the server (``job.result``, ``job.resources``) is awaited without
parentheses here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemaxis.aio.client import Client, connect, start
    from schemaxis.aio.handles import Job, Plan, Task
    from schemaxis.aio.resources import Resource

_HOMES = {
    "Client": "schemaxis.aio.client",
    "Job": "schemaxis.aio.handles",
    "Plan": "schemaxis.aio.handles",
    "Resource": "schemaxis.aio.resources",
    "Task": "schemaxis.aio.handles",
    "connect": "schemaxis.aio.client",
    "start": "schemaxis.aio.client",
}

__all__ = ["Client", "Job", "Plan", "Resource", "Task", "connect", "start"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'schemaxis.aio' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
