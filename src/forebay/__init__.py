"""A durable job queue and pipeline engine on PostgreSQL."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.engine.context import Context
    from forebay.engine.limited import limited
    from forebay.engine.pipeline import Pipeline, Step
    from forebay.engine.policy import Limit, Retry
    from forebay.engine.resources import resource
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
    "limited",
    "resource",
]

_MODULES = {
    "Context": "engine.context",
    "Limit": "engine.policy",
    "Pipeline": "engine.pipeline",
    "Retry": "engine.policy",
    "Step": "engine.pipeline",
    "Worker": "engine.worker",
    "limited": "engine.limited",
    "resource": "engine.resources",
}


def __getattr__(name: str) -> Any:
    """Imported when asked for: `forebay --help` needs none of it, and a program that only submits no worker."""
    if name in __all__:
        value = getattr(import_module(f"forebay.{_MODULES.get(name, 'types')}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'forebay' has no attribute {name!r}")
