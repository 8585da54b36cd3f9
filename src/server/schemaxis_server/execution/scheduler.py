"""The one scheduler: runs a graph of operations, each when those before it have ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from schemaxis_server.execution.records import PlanOperation

T = TypeVar("T")


async def run_graph(
    operations: Sequence[PlanOperation], run: Callable[[PlanOperation], Awaitable[T]], parallel: int = 1
) -> dict[str, T]:
    """Run every operation once and return the outcomes by operation id.

    At most ``parallel`` run at once. The first failure cancels those that run, waits for them
    and is raised.
    """
    slots = asyncio.Semaphore(parallel)
    ended = {operation.operation_id: asyncio.Event() for operation in operations}
    outcomes: dict[str, T] = {}

    async def one(operation: PlanOperation) -> None:
        for earlier in operation.after:
            await ended[earlier].wait()
        async with slots:
            outcomes[operation.operation_id] = await run(operation)
        ended[operation.operation_id].set()

    try:
        async with asyncio.TaskGroup() as group:
            for operation in operations:
                group.create_task(one(operation))
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return outcomes
