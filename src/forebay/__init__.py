"""Save first, answer at once, process later, lose nothing, and show everything."""

from forebay.engine.context import Context
from forebay.engine.pipeline import Pipeline, Step
from forebay.engine.policy import Limit, Retry
from forebay.engine.worker import Worker
from forebay.types import Cancel, Done, NotFound, Rows, Skip, Snooze, Statement

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
]
