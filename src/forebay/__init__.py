"""A work engine on PostgreSQL: submit work in your transaction, process it later, lose nothing, see everything."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay import errors, jobs, schedules, testing
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limit import Limit
    from forebay.engine.declare.limited import limited
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.resources import Resource, Resources, resource
    from forebay.engine.declare.retry import Retry
    from forebay.engine.declare.step import Step
    from forebay.engine.work.worker import Worker
    from forebay.errors import (
        ConfigError,
        DataError,
        ForebayError,
        PermanentError,
        RequestError,
        ResourceError,
        StepError,
        ThrottledError,
        TransientError,
    )
    from forebay.types import (
        Cancel,
        Done,
        ItemRecord,
        ItemStatus,
        JobState,
        JobSummary,
        NotFound,
        Rows,
        Skip,
        Snooze,
        Statement,
        Submitted,
    )

__all__ = [
    "Cancel",
    "ConfigError",
    "Context",
    "DataError",
    "Done",
    "ForebayError",
    "ItemRecord",
    "ItemStatus",
    "JobState",
    "JobSummary",
    "Limit",
    "NotFound",
    "PermanentError",
    "Pipeline",
    "RequestError",
    "Resource",
    "ResourceError",
    "Resources",
    "Retry",
    "Rows",
    "Skip",
    "Snooze",
    "Statement",
    "Step",
    "StepError",
    "Submitted",
    "ThrottledError",
    "TransientError",
    "Worker",
    "errors",
    "jobs",
    "limited",
    "resource",
    "schedules",
    "testing",
]

# Imported on first use: guards and children of the runner start in a few milliseconds without the engine, and a program
# that only submits does not need the worker.
_PLACES = {
    "engine.declare.context": ("Context",),
    "engine.declare.limited": ("limited",),
    "engine.declare.pipeline": ("Pipeline",),
    "engine.declare.limit": ("Limit",),
    "engine.declare.resources": ("Resource", "Resources", "resource"),
    "engine.declare.retry": ("Retry",),
    "engine.declare.step": ("Step",),
    "engine.work.worker": ("Worker",),
    "errors": (
        "ConfigError", "DataError", "ForebayError", "PermanentError", "RequestError", "ResourceError", "StepError",
        "ThrottledError", "TransientError",
    ),
    "types": (
        "Cancel", "Done", "ItemRecord", "ItemStatus", "JobState", "JobSummary", "NotFound", "Rows", "Skip", "Snooze",
        "Statement", "Submitted",
    ),
}  # fmt: skip
_MODULES = {name: f"forebay.{module}" for module, names in _PLACES.items() for name in names}
_PUBLIC_MODULES = ("errors", "jobs", "schedules", "testing")


def __getattr__(name: str) -> Any:
    if name in _PUBLIC_MODULES:
        return import_module(f"forebay.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'forebay' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
