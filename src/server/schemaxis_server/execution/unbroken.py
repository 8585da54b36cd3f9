"""Work that goes on when the call that asked for it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_running: set[asyncio.Task[Any]] = set()


async def unbroken(work: Coroutine[Any, Any, T]) -> T:
    """Await ``work`` as a task of its own, so that cancelling the caller does not stop it half-way.

    For what spans a commit and what must follow it.
    """
    return await asyncio.shield(background(work))


def background(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start ``work`` and keep it alive; a failure that nobody awaits is dropped."""
    task = asyncio.ensure_future(work)
    # The loop keeps only weak references to tasks.
    _running.add(task)
    task.add_done_callback(_done)
    return task


def _done(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled():
        # Seen here, since the caller may be gone; a caller that is there gets it too.
        task.exception()
