"""Save first, answer at once, process later, lose nothing, and show everything."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limited import limited
    from forebay.engine.declare.pipeline import Pipeline, Step
    from forebay.engine.declare.policy import Limit, Retry
    from forebay.engine.declare.resources import resource
    from forebay.engine.work.worker import Worker
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

# Imported when they are asked for: guards and children of the runner start in a few milliseconds without the engine,
# and a program that only submits needs no worker.
_PLACES = {
    "engine.declare.context": ("Context",),
    "engine.declare.limited": ("limited",),
    "engine.declare.pipeline": ("Pipeline", "Step"),
    "engine.declare.policy": ("Limit", "Retry"),
    "engine.declare.resources": ("resource",),
    "engine.work.worker": ("Worker",),
    "types": ("Cancel", "Done", "NotFound", "Rows", "Skip", "Snooze", "Statement"),
}
_MODULES = {name: f"forebay.{module}" for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'forebay' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
