"""PlanService."""

from __future__ import annotations

from typing import Any

from schemaxis.v1 import plan_pb2 as pb
from schemaxis.v1.plan_pb2_grpc import PlanServiceServicer

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.rpc.codecs import plan as codec


class PlanServicer(PlanServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._plans = core.plans

    async def CreatePlan(self, request: pb.CreatePlanRequest, context: Any) -> pb.CreatePlanResponse:
        plan = await self._plans.create(
            request.task_id,
            request.document_json,
            request.expected_revision,
            request.bindings,
            request.request_id if request.HasField("request_id") else None,
        )
        return pb.CreatePlanResponse(plan=codec.plan_message(plan))

    async def GetPlan(self, request: pb.GetPlanRequest, context: Any) -> pb.GetPlanResponse:
        return pb.GetPlanResponse(plan=codec.plan_message(self._plans.get(request.plan_id)))

    async def ListPlans(self, request: pb.ListPlansRequest, context: Any) -> pb.ListPlansResponse:
        task_id = request.task_id if request.HasField("task_id") else None
        page = await self._plans.list(task_id, request.page_token, request.page_size)
        return pb.ListPlansResponse(
            plans=[codec.plan_message(plan) for plan in page.records], next_page_token=page.next_token
        )
