"""Plans as Protobuf."""

from __future__ import annotations

from schemaxis.v1 import plan_pb2

from schemaxis_server.execution.records import Plan
from schemaxis_server.rpc.codecs.common import timestamp


def plan_message(plan: Plan) -> plan_pb2.Plan:
    return plan_pb2.Plan(
        plan_id=plan.plan_id,
        task_id=plan.task_id,
        revision=plan.revision,
        digest=plan.digest,
        providers=[
            plan_pb2.PlanProvider(
                provider=entry.provider,
                document_version=entry.document_version,
                engine=entry.engine,
                engine_version=entry.engine_version,
            )
            for entry in plan.providers
        ],
        operations=[
            plan_pb2.PlanOperation(
                operation_id=entry.operation_id,
                provider=entry.provider,
                nodes=entry.nodes,
                outputs=entry.outputs,
            )
            for entry in plan.operations
        ],
        bindings=[
            plan_pb2.Binding(
                pointer=entry.pointer, resource_id=entry.resource_id, kind=entry.kind, sha256=entry.sha256
            )
            for entry in plan.bindings
        ],
        create_time=timestamp(plan.create_time),
    )
