"""Imported by a warm verifier before a job arrives: lets both engines calculate and draws a chart once."""

from __future__ import annotations

from schemaxis_server.providers.sheet import warm, warm_verifier

__all__ = ["warm", "warm_verifier"]
