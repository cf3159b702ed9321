"""Save first, answer at once, process later, lose nothing, and show everything."""

from typing import TYPE_CHECKING, Any

from forebay.engine.context import Context
from forebay.engine.limited import limited
from forebay.engine.pipeline import Pipeline, Step
from forebay.engine.policy import Limit, Retry
from forebay.engine.resources import resource
from forebay.types import Cancel, Done, NotFound, Rows, Skip, Snooze, Statement

if TYPE_CHECKING:
    from forebay.engine.worker import Worker

__all__ = [
    "Cancel",
    "Context",
    "Done",
    "Limit",
    "NotFound",
    "Pipeline",
    "Retry",
    "Rows",
    "Skip",
    "Snooze",
    "Statement",
    "Step",
    "Worker",
    "limited",
    "resource",
]


def __getattr__(name: str) -> Any:
    """The worker is imported when it is asked for: a program that only submits starts twice as fast without it."""
    if name == "Worker":
        from forebay.engine.worker import Worker  # noqa: PLC0415

        return Worker
    raise AttributeError(f"module 'forebay' has no attribute {name!r}")
