"""The execution service. ``ExecutionService`` is its in-process form, loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemaxis_server.app.in_process import ExecutionService

__all__ = ["ExecutionService"]


def __getattr__(name: str) -> Any:
    # Host programs import this package too, and must stay free of the daemon.
    if name == "ExecutionService":
        from schemaxis_server.app.in_process import ExecutionService

        return ExecutionService
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
