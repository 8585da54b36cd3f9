"""Plans between model and message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis import _json
from schemaxis._codec.common import time
from schemaxis.models import Binding, PlanOperation, PlanProvider, PlanRecord
from schemaxis.v1 import plan_pb2


def plan_record(plan: plan_pb2.Plan) -> PlanRecord:
    return PlanRecord(
        plan_id=plan.plan_id,
        task_id=plan.task_id,
        revision=plan.revision,
        digest=plan.digest,
        providers=tuple(
            PlanProvider(item.provider, item.document_version, item.engine, item.engine_version)
            for item in plan.providers
        ),
        operations=tuple(
            PlanOperation(item.operation_id, item.provider, tuple(item.nodes), tuple(item.outputs))
            for item in plan.operations
        ),
        bindings=tuple(
            Binding(item.pointer, item.resource_id, item.kind, item.sha256) for item in plan.bindings
        ),
        create_time=time(plan.create_time),
    )


def create_plan_request(
    task_id: str,
    document: Mapping[str, Any] | str,
    expected_revision: int,
    bindings: Mapping[str, str] | None,
    request_id: str,
) -> plan_pb2.CreatePlanRequest:
    return plan_pb2.CreatePlanRequest(
        task_id=task_id,
        document_json=_json.document_text(document),
        expected_revision=expected_revision,
        bindings=bindings,
        request_id=request_id,
    )
