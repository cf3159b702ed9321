"""Reasons made from facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.engine.declare.limit import RESERVED_PREFIX
from forebay.engine.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from forebay.engine.db.why import AttemptFacts, Paused, StepFacts, TaskFacts, WaitFacts
    from forebay.engine.why.reason import Action, Code

_FAILURES = ("ERROR", "NOT_FOUND", "EXPIRED")
_EARLY: tuple[Code, ...] = ("retry", "snoozed", "later")  # may start before their time; a limit would stop the others


def paused(
    code: Code,
    by: Paused | None,
    step: StepFacts | None = None,
    since: datetime | None = None,
    *,
    facts: dict[str, Any],
    actions: tuple[Action, ...],
) -> Reason:
    """Somebody has paused it; `since`: if it is not known who."""
    if by is not None:
        facts, since = facts | {"by": by.actor}, by.at
    return Reason(code, None if step is None else step.name, since=since, facts=facts, actions=actions)


def signalled(step: StepFacts, wait: WaitFacts) -> Reason:
    """A task waits for a signal."""
    facts = {"signal": wait.signal, "key": wait.key}
    return Reason("waits_for_signal", step.name, until=wait.until, facts=facts, actions=("send_signal", "cancel_item"))


def scheduled(step: StepFacts, task: TaskFacts, last: AttemptFacts | None) -> Reason:
    """Why a task has a time, from its last attempt."""
    facts: dict[str, Any] = {"attempt": (task.attempt or 0) + 1, "max_attempts": step.max_attempts}
    code: Code = "later"
    if last is not None:
        facts |= {"reason": last.reason, "class": last.error_class}
        if last.outcome in _FAILURES:
            code = "retry"
        elif last.outcome == "THROTTLED":
            code = "limit_reached" if last.error_class is None else "throttled"
        elif last.outcome == "SNOOZED":
            code = "snoozed"
    since = None if last is None else last.ended_at
    actions: tuple[Action, ...] = ("start_item", "cancel_item") if code in _EARLY else ("cancel_item",)
    return Reason(code, step.name, since=since, until=task.at, facts=known(facts), actions=actions)


def limited(
    code: Code, step: StepFacts, limit: Mapping[str, Any], *, until: datetime | None = None, **given: Any
) -> Reason:
    """A limit, as a worker has declared it, does not admit a task."""
    facts: dict[str, Any] = {
        "limit": limit["name"].removeprefix(RESERVED_PREFIX),
        "slots": limit.get("concurrency"),
        "rate": limit.get("rate"),
        "per_seconds": limit.get("per") if limit.get("rate") is not None else None,
    }
    return Reason(code, step.name, until=until, facts=known(facts | given))


def known(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the facts that are known."""
    return {name: fact for name, fact in facts.items() if fact is not None}
