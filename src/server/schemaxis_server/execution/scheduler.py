"""The one scheduler: runs a graph of operations, each when those before it have ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from schemaxis_server.execution.records import PlanOperation


async def run_graph(
    operations: Sequence[PlanOperation], run: Callable[[PlanOperation], Awaitable[None]]
) -> None:
    """Run every operation once, one at a time; when it returns, all have.

    The first failure cancels the rest and is raised.
    """
    turn = asyncio.Lock()
    ended = {operation.operation_id: asyncio.Event() for operation in operations}

    async def one(operation: PlanOperation) -> None:
        for earlier in operation.after:
            await ended[earlier].wait()
        async with turn:
            try:
                await run(operation)
            except asyncio.CancelledError as stray:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                # A task group takes this for an end like any other.
                raise RuntimeError(f"{operation.operation_id} was cancelled from inside") from stray
        ended[operation.operation_id].set()

    try:
        async with asyncio.TaskGroup() as group:
            for operation in operations:
                group.create_task(one(operation))
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
