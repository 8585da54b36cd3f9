"""Bounded looks at evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schemaxis.models.base import OpenEnum


class ObservationMode(OpenEnum):
    """How an observed value comes: whole, or as members."""

    VALUE = "value"
    MEMBERS = "members"


@dataclass(frozen=True, slots=True)
class ObservationMember:
    """A child of an observed value. ``type`` is its JSON type; ``value`` is there when it is small.

    ``has_value`` tells a child that is JSON ``null`` from one that was left out.
    """

    pointer: str
    type: str
    size_bytes: int
    value: Any
    has_value: bool


@dataclass(frozen=True, slots=True)
class ObservationPage:
    """Which of the ``total`` children these are; ``next_offset`` is ``None`` at the end."""

    offset: int
    next_offset: int | None
    total: int


@dataclass(frozen=True, slots=True)
class Observation:
    """Evidence within the size that was asked for.

    In mode ``value``, ``value`` is the whole JSON value; in mode ``members``, ``type`` (object or
    array), ``members`` and ``page`` are set. ``revision`` is the evidence's digest: pass it on to
    notice a change.
    """

    mode: ObservationMode
    value: Any
    members: tuple[ObservationMember, ...]
    page: ObservationPage | None
    revision: str
    type: str | None = None
