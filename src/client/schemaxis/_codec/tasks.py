"""Tasks between model and message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from schemaxis import _json
from schemaxis._codec.common import member, number, time
from schemaxis.models import Budget, Criterion, CriterionOperator, PlanRecord, TaskRecord, Usage
from schemaxis.v1 import task_pb2

_OPERATOR = task_pb2.CriterionOperator.DESCRIPTOR


def task_record(task: task_pb2.Task) -> TaskRecord:
    return TaskRecord(
        task_id=task.task_id,
        objective=task.objective,
        criteria=tuple(criterion(item) for item in task.criteria),
        allowed_providers=tuple(task.allowed_providers),
        budget=budget(task.budget),
        usage=Usage(task.usage.attempts, task.usage.repeated_failures, task.usage.elapsed_seconds),
        revision=task.revision,
        current_plan_id=task.current_plan_id if task.HasField("current_plan_id") else None,
        create_time=time(task.create_time),
    )


def budget(message: task_pb2.Budget) -> Budget:
    return Budget(
        max_attempts=message.max_attempts if message.HasField("max_attempts") else None,
        max_repeated_failures=message.max_repeated_failures
        if message.HasField("max_repeated_failures")
        else None,
        max_elapsed_seconds=message.max_elapsed_seconds if message.HasField("max_elapsed_seconds") else None,
        max_attempt_seconds=message.max_attempt_seconds if message.HasField("max_attempt_seconds") else None,
    )


def criterion(message: task_pb2.Criterion) -> Criterion:
    return Criterion(
        pointer=message.pointer,
        operator=member(CriterionOperator, _OPERATOR, message.operator),
        value=_json.parse(message.value_json) if message.HasField("value_json") else None,
        low=message.low if message.HasField("low") else None,
        high=message.high if message.HasField("high") else None,
        tolerance=message.tolerance if message.HasField("tolerance") else None,
        unit=message.unit if message.HasField("unit") else None,
    )


def criterion_message(model: Criterion) -> task_pb2.Criterion:
    operator = CriterionOperator(model.operator)
    # `equals` always compares with something, so None is JSON null there; elsewhere it is nothing.
    has_value = model.value is not None or operator is CriterionOperator.EQUALS
    return task_pb2.Criterion(
        pointer=model.pointer,
        operator=task_pb2.CriterionOperator.ValueType(number(operator, _OPERATOR)),
        value_json=_json.render(model.value) if has_value else None,
        low=model.low,
        high=model.high,
        tolerance=model.tolerance,
        unit=model.unit,
    )


def after_plan(task: TaskRecord, plan: PlanRecord) -> TaskRecord:
    """The record of a task whose current plan is now ``plan``. A retry may answer with an older plan."""
    if plan.revision <= task.revision:
        return task
    return replace(task, revision=plan.revision, current_plan_id=plan.plan_id)


def create_task_request(
    objective: str,
    allowed_providers: Iterable[str],
    budget: Budget | None,
    criteria: Iterable[Criterion],
    request_id: str,
) -> task_pb2.CreateTaskRequest:
    if isinstance(allowed_providers, str):
        raise TypeError(f"allowed_providers is a list of names: write [{allowed_providers!r}]")
    return task_pb2.CreateTaskRequest(
        objective=objective,
        allowed_providers=allowed_providers,
        budget=None
        if budget is None
        else task_pb2.Budget(
            max_attempts=budget.max_attempts,
            max_repeated_failures=budget.max_repeated_failures,
            max_elapsed_seconds=budget.max_elapsed_seconds,
            max_attempt_seconds=budget.max_attempt_seconds,
        ),
        criteria=[criterion_message(item) for item in criteria],
        request_id=request_id,
    )
