"""How a task has ended, as JSON: what a step returned or raised at a runner becomes the same at the dispatcher."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from forebay.engine.clock import in_seconds
from forebay.engine.submit.checked_submit import CheckedSubmit
from forebay.errors import (
    ConfigError,
    DataError,
    PermanentError,
    ResourceError,
    StepError,
    ThrottledError,
    TransientError,
)
from forebay.fleet.values import decode_value, encode_value
from forebay.types import Cancel, Done, ErrorClass, NotFound, Rows, Skip, Snooze, Statement, Wait

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.types import Write

RELEASED = "released"  # the runner stops, or has lost the task: it has not ended
RESULTS = frozenset(("done", "skip", "not_found"))  # of tasks whose time says how long a task of the step takes


class Released(Exception):
    """The runner hands the task back."""


class RemoteNotFound(StepError):
    """A step raised an error of the class not_found."""

    error_class = ErrorClass.NOT_FOUND


_ERRORS: dict[ErrorClass, type[StepError]] = {
    kind.error_class: kind
    for kind in (TransientError, RemoteNotFound, PermanentError, DataError, ConfigError, ResourceError)
}
_RETURNED = (None, "NOT_FOUND", "SKIPPED", "SNOOZED", "CANCELLED")


# At the runner.


def encode_outcome(attempt: Attempt, step: Step[Any, Any], returned: object) -> dict[str, Any]:
    """How an attempt has ended. `returned`: the outcome object that the step returned; None: another value, or none."""
    if attempt.outcome is None and not isinstance(returned, Done):
        return {"kind": "done", "result": _value_text(attempt, step), "writes": []}
    if attempt.stop is not None or (attempt.outcome == "RELEASED" and attempt.error_class is None):
        return _encode_stopped(attempt)
    if returned is None or attempt.outcome not in _RETURNED:
        return _encode_error(attempt)
    try:
        return _encode_returned(attempt, step, cast("Any", returned))
    except DataError as error:
        return encode_refused(error)


def _value_text(attempt: Attempt, step: Step[Any, Any]) -> str:
    """The value alone, of the result {name: value}."""
    assert attempt.result is not None  # noqa: S101 - the attempt has succeeded
    names = attempt.lease.names
    key = step.result_key if names is None else names.get(step.result_key, step.result_key)
    return attempt.result[len(key) + 4 : -1]


def _encode_returned(attempt: Attempt, step: Step[Any, Any], returned: Any) -> dict[str, Any]:
    done: Any = returned
    match returned:
        case Done():
            return _encode_done(attempt, step, done)
        case NotFound(reason, writes, final):
            return {"kind": "not_found", "reason": reason, "final": final, "writes": encode_writes(writes)}
        case Skip(reason, item, writes):
            return {"kind": "skip", "reason": reason, "item": item, "writes": encode_writes(writes)}
        case Snooze(seconds, reason):
            return {"kind": "snooze", "seconds": in_seconds(seconds), "reason": reason}
        case Cancel(reason):
            return {"kind": "cancel", "reason": reason}
        case Wait(name, key, timeout):
            wait_s = None if timeout is None else in_seconds(timeout)
            return {"kind": "wait", "name": name, "key": key, "timeout": wait_s}
        case _:
            raise AssertionError(returned)


def _encode_done(attempt: Attempt, step: Step[Any, Any], done: Done[Any]) -> dict[str, Any]:
    submits = [asdict(cast("CheckedSubmit", each)) for each in done.submits]
    text = _value_text(attempt, step)
    return {"kind": "done", "result": text, "writes": encode_writes(done.writes), "submits": submits}


def _encode_stopped(attempt: Attempt) -> dict[str, Any]:
    if attempt.stop == "timeout":
        return _encode_error(attempt)
    return {"kind": RELEASED, "reason": attempt.stop or attempt.reason or "the runner stops"}


def _encode_error(attempt: Attempt) -> dict[str, Any]:
    ours = attempt.error_class is None  # a limit that the step has used by itself
    return {
        "kind": "error",
        "class": ErrorClass.THROTTLED.value if attempt.error_class is None else attempt.error_class.value,
        "ours": ours,
        "reason": attempt.throttled_by or attempt.reason or "",
        "retry_after": attempt.retry_in,
        "writes": encode_writes(attempt.writes),
    }


def encode_refused(error: DataError) -> dict[str, Any]:
    """What is reported instead of an outcome that cannot be."""
    return {"kind": "error", "class": error.error_class.value, "reason": str(error), "writes": []}


def encode_writes(writes: Sequence[Write]) -> list[dict[str, Any]]:
    """Raises: DataError for a statement, and for a value that has no form in JSON."""
    encoded: list[dict[str, Any]] = []
    for write in writes:
        if isinstance(write, Statement):
            raise DataError("a step that runs in a fleet cannot return a Statement: return Rows, or let workers run it")
        rows = [{name: encode_value(value) for name, value in row.items()} for row in write.rows]
        conflict = write.on_conflict if isinstance(write.on_conflict, str) else list(write.on_conflict)
        encoded.append({"table": write.table, "rows": rows, "on_conflict": conflict})
    return encoded


# At the dispatcher.

_SUBMITS = TypeAdapter(list[CheckedSubmit])


def decode_outcome(outcome: Mapping[str, Any], step: Step[Any, Any], pipelines: Mapping[str, Pipeline[Any]]) -> Any:
    """What the step returned.

    Raises: StepError: what it raised, or why the report of the runner is refused; Released.
    """
    try:
        return _decode(outcome, step, pipelines)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise PermanentError(f"the runner's report of step {step.label} is invalid: {type(error).__name__}") from error


def _decode(outcome: Mapping[str, Any], step: Step[Any, Any], pipelines: Mapping[str, Pipeline[Any]]) -> Any:
    writes = decode_writes(outcome.get("writes") or (), step.pipeline)
    reason = str(outcome.get("reason") or "")
    match outcome["kind"]:
        case "done":
            submits = _decode_submits(outcome.get("submits") or (), pipelines)
            result = from_json(outcome["result"])
            return Done(result, writes, submits) if writes or submits else result
        case "not_found":
            return NotFound(reason, writes, bool(outcome["final"]))
        case "skip":
            return Skip(reason, bool(outcome["item"]), writes)
        case "snooze":
            return Snooze(float(outcome["seconds"]), reason)
        case "cancel":
            return Cancel(reason)
        case "wait":
            timeout = outcome["timeout"]
            return Wait(outcome["name"], outcome["key"], None if timeout is None else float(timeout))
        case "error":
            raise _decode_error(outcome, reason).writing(*writes)
        case "released":
            raise Released(reason)
        case kind:
            raise PermanentError(f"the runner's report of step {step.label} has the unknown kind {kind!r}")


def _decode_error(outcome: Mapping[str, Any], reason: str) -> StepError:
    kind = ErrorClass(outcome["class"])
    if kind is ErrorClass.THROTTLED:
        return ThrottledError(reason, retry_after=float(outcome["retry_after"] or 0), ours=bool(outcome["ours"]))
    return _ERRORS[kind](reason)


def decode_writes(writes: Sequence[Mapping[str, Any]], pipeline: Pipeline[Any]) -> tuple[Rows, ...]:
    """Raises: PermanentError for a table that the pipeline does not declare."""
    decoded: list[Rows] = []
    for write in writes:
        table = str(write["table"])
        if table not in pipeline.tables:
            raise PermanentError(
                f"a runner may not write into {table}: the pipeline {pipeline.name} does not declare this table "
                "(Pipeline(…, tables=[…]))"
            )
        rows = [{str(name): decode_value(value) for name, value in row.items()} for row in write["rows"]]
        conflict = write["on_conflict"]
        decoded.append(Rows(table, rows, conflict if isinstance(conflict, str) else tuple(map(str, conflict))))
    return tuple(decoded)


def _decode_submits(submits: Sequence[Any], pipelines: Mapping[str, Pipeline[Any]]) -> list[CheckedSubmit]:
    """Jobs that a runner submits belong to the owner of its task, and have a valid input.

    Raises: PermanentError.
    """
    if not submits:
        return []
    checked = _SUBMITS.validate_python(submits)
    for job in checked:
        pipeline = pipelines.get(job.pipeline)
        if pipeline is None or job.owner is not None:
            why = "for another owner" if job.owner is not None else f"of the unknown pipeline {job.pipeline}"
            raise PermanentError(f"a runner may not submit a job {why}")
        try:
            pipeline.input.validate_json(job.input)
        except ValidationError:
            raise PermanentError(f"the input of a job that a runner submits to {job.pipeline} is invalid") from None
    return checked
