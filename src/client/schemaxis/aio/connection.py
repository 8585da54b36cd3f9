"""An asynchronous connection: one channel, the stubs on it, and the repetition of broken calls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TypeVar

import grpc
import grpc.aio

from schemaxis import _channel
from schemaxis._openness import Openness
from schemaxis._retry import is_passing
from schemaxis._status import error_of
from schemaxis.v1.capability_pb2_grpc import CapabilityServiceStub
from schemaxis.v1.inspection_pb2_grpc import InspectionServiceStub
from schemaxis.v1.job_pb2_grpc import JobServiceStub
from schemaxis.v1.observation_pb2_grpc import ObservationServiceStub
from schemaxis.v1.plan_pb2_grpc import PlanServiceStub
from schemaxis.v1.resource_pb2_grpc import ResourceServiceStub
from schemaxis.v1.task_pb2_grpc import TaskServiceStub
from schemaxis.v1.workspace_pb2_grpc import WorkspaceServiceStub

Q = TypeVar("Q")
R = TypeVar("R")


class Connection(Openness):
    """The channel to one server and a stub for each service. It belongs to the loop that made it."""

    def __init__(self, socket: Path, settings: _channel.Settings) -> None:
        super().__init__(settings)
        self._channel = grpc.aio.insecure_channel(_channel.target(socket), options=_channel.options())
        self.workspace = WorkspaceServiceStub(self._channel)
        self.capabilities = CapabilityServiceStub(self._channel)
        self.tasks = TaskServiceStub(self._channel)
        self.plans = PlanServiceStub(self._channel)
        self.jobs = JobServiceStub(self._channel)
        self.observation = ObservationServiceStub(self._channel)
        self.resources = ResourceServiceStub(self._channel)
        self.inspection = InspectionServiceStub(self._channel)

    async def call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[Q, R],
        request: Q,
        *,
        repeatable: bool = True,
        bounded: bool = True,
    ) -> R:
        """The answer of one call.

        ``repeatable`` says that a broken call may be sent again: it only reads, or carries a
        request id. Without ``bounded`` it may take as long as it takes.
        """
        patience = self.patience()
        timeout = self.settings.call_seconds if bounded else None
        while True:
            self.check_open()
            try:
                return await method(request, timeout=timeout)
            except grpc.aio.AioRpcError as broken:
                self.check_open()
                error = error_of(broken)
                if not repeatable or not is_passing(error):
                    raise error from None
                await asyncio.sleep(patience.pause(error))
            except asyncio.CancelledError:
                self.check_not_closed_meanwhile()
                raise

    def check_not_closed_meanwhile(self) -> None:
        """Tell a call that ended because the client was closed from a task that was cancelled: raise
        ``ClientClosed`` for the first."""
        task = asyncio.current_task()
        if task is None or not task.cancelling():
            self.check_open()

    async def close(self) -> None:
        """Close the channel; calls in flight end. Calling it again does nothing."""
        self.closed = True
        await self._channel.close()
