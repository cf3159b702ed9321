"""A job that a pipeline submits on a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from datetime import timedelta

I = TypeVar("I")  # noqa: E741 - the input


@dataclass(frozen=True)
class Schedule(Generic[I]):
    """When a pipeline submits which job; the fields are the options of `put_schedule`."""

    name: str
    cron: str
    input: I
    owner: str
    timezone: str
    overlap: bool = True
    jitter: float | timedelta = 0.0
    backfill: bool = False
    due_field: str | None = None
