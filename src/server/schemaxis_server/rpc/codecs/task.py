"""Tasks as Protobuf."""

from __future__ import annotations

from collections.abc import Iterable

from schemaxis.v1 import task_pb2

from schemaxis_server.documents import parse_value
from schemaxis_server.execution.records import Budget, Criterion, CriterionOperator, Task
from schemaxis_server.faults import Fault
from schemaxis_server.rpc.codecs.common import json_text, numbers_of, timestamp

_OPERATORS = numbers_of(task_pb2.CriterionOperator, "CRITERION_OPERATOR_", CriterionOperator)
_OPERATOR_NAMES = {number: name for name, number in _OPERATORS.items()}


def task_message(task: Task) -> task_pb2.Task:
    budget, usage = task.budget, task.usage
    return task_pb2.Task(
        task_id=task.task_id,
        objective=task.objective,
        criteria=[criterion_message(criterion) for criterion in task.criteria],
        allowed_providers=task.allowed_providers,
        budget=task_pb2.Budget(
            max_attempts=budget.max_attempts,
            max_repeated_failures=budget.max_repeated_failures,
            max_elapsed_seconds=budget.max_elapsed_seconds,
            max_attempt_seconds=budget.max_attempt_seconds,
        ),
        usage=task_pb2.Usage(
            attempts=usage.attempts,
            repeated_failures=usage.repeated_failures,
            elapsed_seconds=usage.elapsed_seconds,
        ),
        revision=task.revision,
        current_plan_id=task.current_plan_id,
        create_time=timestamp(task.create_time),
    )


def criterion_message(criterion: Criterion) -> task_pb2.Criterion:
    return task_pb2.Criterion(
        pointer=criterion.pointer,
        operator=_OPERATORS[criterion.operator],
        value_json=None if criterion.value is None else json_text(criterion.value),
        low=criterion.low,
        high=criterion.high,
        tolerance=criterion.tolerance,
        unit=criterion.unit,
    )


def budget_of(message: task_pb2.Budget) -> Budget:
    """The budget of a request; unset fields take the defaults of the record."""
    return Budget(**{field.name: value for field, value in message.ListFields()})


def criteria_of(messages: Iterable[task_pb2.Criterion]) -> tuple[Criterion, ...]:
    return tuple(_criterion(message, f"/criteria/{index}") for index, message in enumerate(messages))


def _criterion(message: task_pb2.Criterion, at: str) -> Criterion:
    value = None
    if message.HasField("value_json"):
        try:
            value = parse_value(message.value_json)
        except ValueError as error:
            raise Fault("INVALID_REQUEST", f"value_json is not JSON: {error}.", f"{at}/value_json") from None
    return Criterion(
        pointer=message.pointer,
        operator=_OPERATOR_NAMES[message.operator],
        value=value,
        low=message.low if message.HasField("low") else None,
        high=message.high if message.HasField("high") else None,
        tolerance=message.tolerance if message.HasField("tolerance") else None,
        unit=message.unit if message.HasField("unit") else None,
    )
