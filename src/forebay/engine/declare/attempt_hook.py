"""Hooks around attempts: what a program does before and after each call of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.step import Step


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """How an attempt ended, before it is settled."""

    outcome: Literal[
        "DONE", "SKIPPED", "NOT_FOUND", "ERROR", "CANCELLED", "SNOOZED", "WAITING", "THROTTLED", "RELEASED"
    ]  # WAITING: the step returned Wait; the record of the attempt has SNOOZED
    error: BaseException | None  # what the step raised; CancelledError if it was stopped
    reason: str | None  # of an outcome that is not DONE
    retry_in: float | None  # seconds until the next attempt; None: the step has ended
    seconds: float  # of the call


class AttemptHook:
    """Runs code before and after each attempt: for tracing, metrics and context variables.

    Both methods run on the event loop of the worker, so they must not block. Context variables that `before_attempt`
    sets are visible to async steps and to steps on threads. A process step runs elsewhere: only its call is observed.
    An exception of a hook is logged and changes nothing for the step. The methods cannot be `async def`.
    """

    def before_attempt(self, step: Step[Any, Any], ctx: Context) -> None:
        """Called before the step runs, for each item of a batch."""

    def after_attempt(self, step: Step[Any, Any], ctx: Context, end: AttemptEnd) -> None:
        """Called when the outcome is known, before it is settled. The hooks are called in reverse order."""
