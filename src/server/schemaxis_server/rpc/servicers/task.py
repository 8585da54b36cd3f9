"""TaskService."""

from __future__ import annotations

from typing import Any

from schemaxis.v1 import task_pb2 as pb
from schemaxis.v1.task_pb2_grpc import TaskServiceServicer

from schemaxis_server.execution.core import ExecutionCore
from schemaxis_server.rpc.codecs import task as codec


class TaskServicer(TaskServiceServicer):
    def __init__(self, core: ExecutionCore) -> None:
        self._tasks = core.tasks

    async def CreateTask(self, request: pb.CreateTaskRequest, context: Any) -> pb.CreateTaskResponse:
        task = await self._tasks.create(
            request.objective,
            request.allowed_providers,
            codec.budget_of(request.budget),
            codec.criteria_of(request.criteria),
            request.request_id if request.HasField("request_id") else None,
        )
        return pb.CreateTaskResponse(task=codec.task_message(task))

    async def GetTask(self, request: pb.GetTaskRequest, context: Any) -> pb.GetTaskResponse:
        return pb.GetTaskResponse(task=codec.task_message(self._tasks.get(request.task_id)))

    async def ListTasks(self, request: pb.ListTasksRequest, context: Any) -> pb.ListTasksResponse:
        page = await self._tasks.list(request.page_token, request.page_size)
        return pb.ListTasksResponse(
            tasks=[codec.task_message(task) for task in page.records], next_page_token=page.next_token
        )
