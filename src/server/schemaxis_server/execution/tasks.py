"""Tasks: authorised objectives with fixed budgets and criteria."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from schemaxis_server.execution.criteria import check_criteria
from schemaxis_server.execution.idempotency import digest_of, once
from schemaxis_server.execution.ledger import TASK_SHELF, Page
from schemaxis_server.execution.reachable import check_reachable
from schemaxis_server.execution.records import Budget, Criterion, Task, Usage, now
from schemaxis_server.faults import Fault
from schemaxis_server.ids import new_id
from schemaxis_server.providers.problems import nearest
from schemaxis_server.providers.registry import Registry
from schemaxis_server.store.database import Database, Transaction

MAX_CRITERIA = 32
MAX_OBJECTIVE_CHARACTERS = 4096
MAX_SECONDS = 86_400.0
MAX_COUNT = 100


class Tasks:
    """Creates and finds tasks."""

    def __init__(self, database: Database, registry: Registry) -> None:
        self._database = database
        self._registry = registry

    async def create(
        self,
        objective: str,
        allowed_providers: Iterable[str],
        budget: Budget | None = None,
        criteria: Iterable[Criterion] = (),
        request_id: str | None = None,
    ) -> Task:
        """Record a task at revision 0.

        Raises ``REQUEST_ID_REUSED``, and ``INVALID_REQUEST`` for what is out of its range and for
        a criterion that no result of the allowed providers can answer.
        """
        providers = tuple(dict.fromkeys(allowed_providers))
        budget = budget or Budget()
        criteria = tuple(criteria)
        if not 0 < len(objective) <= MAX_OBJECTIVE_CHARACTERS:
            raise Fault(
                "INVALID_REQUEST",
                f"objective has {len(objective)} characters; give 1 to {MAX_OBJECTIVE_CHARACTERS}.",
                "/objective",
            )
        self._check_providers(providers)
        check_budget(budget)
        if len(criteria) > MAX_CRITERIA:
            raise Fault("INVALID_REQUEST", f"Give at most {MAX_CRITERIA} criteria.", "/criteria")
        check_criteria(criteria)
        check_reachable(criteria, [self._registry[name].manifest for name in providers])

        def make(tx: Transaction) -> tuple[str, Task]:
            task = Task(
                task_id=new_id("task"),
                objective=objective,
                criteria=criteria,
                allowed_providers=providers,
                budget=budget,
                usage=Usage(),
                revision=0,
                create_time=now(),
            )
            TASK_SHELF.put(tx, task.task_id, task)
            tx.count("tasks", 1)
            return task.task_id, task

        def request() -> str:
            return digest_of(
                {
                    "objective": objective,
                    "providers": list(providers),
                    "budget": msgspec.to_builtins(budget),
                    "criteria": msgspec.to_builtins(criteria),
                }
            )

        return await self._database.write(
            lambda tx: once(
                tx,
                "create_task",
                request_id,
                request,
                lambda id: TASK_SHELF.get(tx.connection, id),
                lambda: make(tx),
            )
        )

    def get(self, task_id: str) -> Task:
        """The task as it is now. Raises ``NOT_FOUND``."""
        return TASK_SHELF.get(self._database.reader, task_id)

    async def list(self, page_token: str = "", page_size: int = 50) -> Page[Task]:
        """A page of tasks, newest first."""
        return await self._database.scan(
            lambda connection: TASK_SHELF.page(connection, page_token, page_size)
        )

    def _check_providers(self, providers: tuple[str, ...]) -> None:
        if not providers:
            raise Fault("INVALID_REQUEST", "Name at least one allowed provider.", "/allowed_providers")
        known = tuple(self._registry)
        for index, name in enumerate(providers):
            if name not in known:
                raise Fault(
                    "INVALID_REQUEST",
                    f"No provider is called {name[:80]!r}; there are {', '.join(known)}.",
                    f"/allowed_providers/{index}",
                    nearest=nearest(name, known),
                )


def check_revision(task: Task, expected: int) -> None:
    """Raise ``STALE_REVISION`` unless the caller saw the task as it is."""
    if task.revision != expected:
        raise Fault(
            "STALE_REVISION",
            f"The task is at revision {task.revision}, not {expected}; look at what changed and "
            f"send {task.revision}.",
            "/expected_revision",
            revision=task.revision,
        )


def check_budget(budget: Budget) -> None:
    """Raise ``INVALID_REQUEST`` for a budget outside its ranges, which also hold in-process."""
    for name, count in (
        ("max_attempts", budget.max_attempts),
        ("max_repeated_failures", budget.max_repeated_failures),
    ):
        if type(count) is not int or not 1 <= count <= MAX_COUNT:
            raise Fault(
                "INVALID_REQUEST", f"{name} is {count!r}; give an integer from 1 to 100.", f"/budget/{name}"
            )
    for name, seconds in (
        ("max_elapsed_seconds", budget.max_elapsed_seconds),
        ("max_attempt_seconds", budget.max_attempt_seconds),
    ):
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not _allowed_span(seconds):
            raise Fault(
                "INVALID_REQUEST",
                f"{name} is {seconds!r}; give a finite number above 0 and at most 86400.",
                f"/budget/{name}",
            )


def _allowed_span(seconds: float) -> bool:
    return math.isfinite(seconds) and 0 < seconds <= MAX_SECONDS
