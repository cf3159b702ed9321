"""What `Pipeline.new` makes: a job with a checked input and checked options."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # at run time, because the results of processes are validated by these types

from forebay.types import Submit


@dataclass(frozen=True, slots=True)
class CheckedSubmit(Submit):
    """A job that a step submits with its result; the input and `meta` are JSON."""

    pipeline: str
    input: str
    owner: str | None = None  # None: the owner of the task
    key: str | None = None
    priority: int = 0
    run_at: datetime | None = None
    delay: float | None = None  # seconds
    meta: str | None = None
    unique_states: tuple[str, ...] | None = None
    unique_period: float | None = None  # seconds
