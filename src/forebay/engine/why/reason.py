"""The reasons for which work waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

# In the order of an answer: the first reason that holds is the headline.
Code = Literal[
    # a worker has the task
    "running",
    "settling",
    "batch_lingers",
    "claimed",
    "worker_lost",
    "cancelling",
    # somebody has stopped it, or something is missing
    "job_paused",
    "item_held",
    "queue_paused",
    "parked",
    "version_unserved",
    "no_worker",
    # it has a time, or waits for something outside
    "waits_for_signal",
    "retry",
    "throttled",
    "limit_reached",
    "snoozed",
    "later",
    "due",
    # it is ready
    "owner_limit",
    "slots_full",
    "rate_limited",
    "machine_busy",
    "outranked",
    "behind",
    "workers_full",
    "stuck",
    "unknown",
    # it is not its turn
    "blocked_by_step",
    "blocked_by_items",
    "filling",
]
Action = Literal[
    "resume_job", "start_item", "resume_item", "cancel_item", "cancel_job", "resume_queue", "send_signal", "kickoff"
]

CODES: tuple[Code, ...] = get_args(Code)
_RANKS = {code: rank for rank, code in enumerate(CODES)}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason. `since` and `until`: for how long it has held, and when it ends at the latest, if that is known."""

    code: Code
    step: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The reasons at one moment; none if the work has ended. `status`: of the item, or the state of the job."""

    at: datetime
    status: str | None
    reasons: list[Reason]


def in_order(reasons: Iterable[Reason]) -> list[Reason]:
    """Without repetitions."""
    found: dict[tuple[Code, str | None, Any], Reason] = {}
    for reason in reasons:
        found.setdefault((reason.code, reason.step, reason.facts.get("key")), reason)
    return sorted(found.values(), key=lambda reason: _RANKS[reason.code])
