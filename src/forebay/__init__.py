"""A work engine on PostgreSQL: submit work in your transaction, process it later, lose nothing, see everything."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay import errors, jobs, schedules, testing
    from forebay.engine.declare.attempt_hook import AttemptEnd, AttemptHook
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limit import Limit, TaskInfo
    from forebay.engine.declare.limited import limited
    from forebay.engine.declare.map import Map
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.resources import Resource, Resources, resource
    from forebay.engine.declare.retry import Retry
    from forebay.engine.declare.step import Step
    from forebay.engine.submit.client import Client
    from forebay.engine.submit.sync_client import SyncClient
    from forebay.engine.work.worker import Worker
    from forebay.errors import (
        ConfigError,
        ConflictError,
        DatabaseUnavailable,
        DataError,
        DefinitionError,
        ForebayError,
        InputTooLarge,
        InvalidField,
        NotFoundError,
        PermanentError,
        RequestError,
        ResourceError,
        SchemaError,
        StepError,
        ThrottledError,
        TransientError,
        UnknownPipeline,
    )
    from forebay.types import (
        Cancel,
        Done,
        ErrorClass,
        ItemRecord,
        ItemStatus,
        JobState,
        JobSummary,
        Json,
        Mapped,
        NotFound,
        Outcome,
        Rows,
        Signal,
        Skip,
        Snooze,
        Statement,
        Submit,
        Submitted,
        Unique,
        Wait,
        Write,
    )

__all__ = [
    "AttemptEnd",
    "AttemptHook",
    "Cancel",
    "Client",
    "ConfigError",
    "ConflictError",
    "Context",
    "DataError",
    "DatabaseUnavailable",
    "DefinitionError",
    "Done",
    "ErrorClass",
    "ForebayError",
    "InputTooLarge",
    "InvalidField",
    "ItemRecord",
    "ItemStatus",
    "JobState",
    "JobSummary",
    "Json",
    "Limit",
    "Map",
    "Mapped",
    "NotFound",
    "NotFoundError",
    "Outcome",
    "PermanentError",
    "Pipeline",
    "RequestError",
    "Resource",
    "ResourceError",
    "Resources",
    "Retry",
    "Rows",
    "SchemaError",
    "Signal",
    "Skip",
    "Snooze",
    "Statement",
    "Step",
    "StepError",
    "Submit",
    "Submitted",
    "SyncClient",
    "TaskInfo",
    "ThrottledError",
    "TransientError",
    "Unique",
    "UnknownPipeline",
    "Wait",
    "Worker",
    "Write",
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
    "engine.declare.attempt_hook": ("AttemptEnd", "AttemptHook"),
    "engine.declare.context": ("Context",),
    "engine.declare.limited": ("limited",),
    "engine.declare.map": ("Map",),
    "engine.declare.pipeline": ("Pipeline",),
    "engine.declare.limit": ("Limit", "TaskInfo"),
    "engine.declare.resources": ("Resource", "Resources", "resource"),
    "engine.declare.retry": ("Retry",),
    "engine.declare.step": ("Step",),
    "engine.work.worker": ("Worker",),
    "engine.submit.client": ("Client",),
    "engine.submit.sync_client": ("SyncClient",),
    "errors": (
        "ConfigError", "ConflictError", "DatabaseUnavailable", "DataError", "DefinitionError", "ForebayError",
        "InputTooLarge", "InvalidField", "NotFoundError", "PermanentError", "RequestError", "ResourceError",
        "SchemaError", "StepError", "ThrottledError", "TransientError", "UnknownPipeline",
    ),
    "types": (
        "Cancel", "Done", "ErrorClass", "ItemRecord", "ItemStatus", "JobState", "JobSummary", "Json", "Mapped",
        "NotFound", "Outcome", "Rows", "Signal", "Skip", "Snooze", "Statement", "Submit", "Submitted", "Unique", "Wait",
        "Write",
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
