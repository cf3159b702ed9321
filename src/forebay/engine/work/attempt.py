"""One attempt from start to report: converts what a step returned or raised into what is settled."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from forebay.engine.clock import in_seconds
from forebay.engine.declare.context import Context
from forebay.engine.declare.map import Map
from forebay.engine.work.children import submitting
from forebay.errors import DataError, PermanentError, StepError, ThrottledError, classify_error, message_without_values
from forebay.types import Cancel, Done, ErrorClass, NotFound, Skip, Snooze, Statement, Wait

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.context import StepServices
    from forebay.engine.declare.step import Step
    from forebay.engine.limits.limiters import LimitReached
    from forebay.engine.work.transactions import StepTransaction
    from forebay.types import Write

_MAX_REASON = 2000
LONGEST_PAUSE = 10 * 365 * 86400.0
_OUTCOMES = frozenset((Done, NotFound, Skip, Snooze, Cancel, Wait, Map))


HELD_BACK = "HELD_BACK"  # not an outcome of an attempt: a limit did not admit the task
_BEGIN_WAIT = "select forebay.await_signal($1, $2, $3, $4, $5, $6, $7)"
_CANCEL_CHILDREN = "select forebay.cancel_children($1, $2)"
_END_WAIT = "select forebay.end_wait($1, $2, $3, $4)"


class Attempt(Context):
    """One execution of a task: the context that its step sees, and its outcome.

    `outcome` None means DONE; `retry_in` None means that the step has ended.
    """

    __slots__ = (
        "batch",
        "counts_as_attempt",
        "deadline",
        "ends_item",
        "error_class",
        "held_back_by",
        "lease",
        "outcome",
        "own_transaction",
        "reason",
        "result",
        "retry_in",
        "seconds",
        "slot",
        "started",
        "stop",
        "throttled_by",
        "throttled_for",
        "write_bytes",
        "writes",
    )  # fmt: skip

    def __init__(self, lease: Lease, n: int, started: float) -> None:
        # Properties look these values up in the lease: there are many attempts, and few of them need the values.
        self._items = None
        self.lease = lease
        self.n = n
        self.started = started  # a mark of the worker's clock
        self.cancelled = False
        self.signal = None
        self.outcome: str | None = None
        self.result: str | None = None
        self.writes: Sequence[Write] = ()
        self.stop: str | None = None
        self.own_transaction: StepTransaction | None = None  # that the step has opened
        self.write_bytes: int
        self.held_back_by: tuple[str, str]  # the limit and key in whose lane it has to wait; empty: its own lane
        self.batch: Sequence[Attempt]  # of a call on a thread: all attempts of the call
        # The other slots are set only when needed: most attempts succeed.

    def runs(self, step: str, slot: asyncio.Task[Any], deadline: float, services: StepServices) -> None:
        """Start in this slot."""
        self.step = step
        self.slot = slot
        self.deadline = deadline
        self._services = services

    def begin_on_thread(self, timeout: float) -> None:
        """Start the deadline of this call, which was waiting for a thread."""
        deadline = time.monotonic() + timeout
        for attempt in self.batch:
            attempt.deadline = deadline

    @property
    def job_id(self) -> int:  # type: ignore[override]
        return self.lease.job_id

    @property
    def owner_id(self) -> int:  # type: ignore[override]
        return self.lease.owner_id

    @property
    def attempt(self) -> int:  # type: ignore[override]
        return self.lease.attempt

    @property
    def token(self) -> int:  # type: ignore[override]
        return self.lease.token

    def end(self, why: str) -> None:
        """Stop the attempt from outside: timeout, cancelled, lost, shutdown."""
        if self.stop is not None and why != "shutdown":
            return  # already stopping; a second cancellation would interrupt its cleanup
        self.stop = self.stop or why
        self.cancelled = True
        self.slot.cancel()

    def fail(
        self,
        outcome: str,
        *,
        reason: str | None = None,
        error_class: ErrorClass | None = None,
        retry_in: float | None = None,
        counts_as_attempt: bool = True,
        ends_item: bool = False,
    ) -> None:
        """Record that the attempt failed, or did not finish."""
        self.outcome = outcome
        self.reason = None if reason is None else clean(reason) or None
        self.error_class = error_class
        # The pause is bounded; min() and max() in this order turn NaN into 0.
        self.retry_in = None if retry_in is None else max(0.0, min(retry_in, LONGEST_PAUSE))
        self.counts_as_attempt = counts_as_attempt
        self.ends_item = ends_item
        self.throttled_for: float | None = None
        self.throttled_by: str | None = None  # the reason, without the time of the next try
        self.seconds = 0.0  # run time, if known

    def hold_back(self, reached: LimitReached) -> None:
        """Record that a limit of the step does not admit the task: it has not begun, and returns to the queue."""
        self.fail(HELD_BACK, retry_in=0.0, counts_as_attempt=False)
        self.held_back_by = (reached.limit, reached.key) if reached.is_keyed else ("", "")

    @property
    def failure(self) -> ErrorClass | None:
        return None if self.outcome is None else self.error_class


def report_outcome(attempt: Attempt, step: Step[Any, Any], value: Any) -> None:
    """Record what a step returned."""
    if value.__class__ not in _OUTCOMES:
        attempt.result = result_json(step, value, attempt.lease.names)
        return
    match value:
        case Done():
            stored = result_json(step, cast("Any", value).result, attempt.lease.names)
            attempt.result, attempt.writes = stored, value.writes
            if value.submits:
                attempt.writes = (*value.writes, *submitting(value.submits, attempt.owner_id))
        case NotFound(reason, writes, final):
            attempt.writes = writes
            again = None if final else step.retry.delay_after(ErrorClass.NOT_FOUND, attempt.lease.attempt)
            attempt.fail("NOT_FOUND", reason=reason, error_class=ErrorClass.NOT_FOUND, retry_in=again)
        case Skip(reason, item, writes):
            attempt.writes = (*writes, *_ending_children(attempt, step)) if item else writes
            attempt.fail("SKIPPED", reason=reason, ends_item=item)
        case Snooze(seconds, reason):
            attempt.fail("SNOOZED", reason=reason, retry_in=max(0.0, in_seconds(seconds)), counts_as_attempt=False)
        case Cancel(reason):
            attempt.writes = _ending_children(attempt, step)
            attempt.fail("CANCELLED", reason=reason, ends_item=True)
        case Wait():
            _report_wait(attempt, step, value)
        case Map():
            raise PermanentError(f"step {step.name} returned Map: batch steps and process steps cannot return Map")
        case _:
            raise AssertionError(value)


def _ending_children(attempt: Attempt, step: Step[Any, Any]) -> tuple[Statement, ...]:
    """The item ends with this step: the children that another of its steps waits for end, too."""
    if not any(other.maps for other in step.pipeline.steps.values()):
        return ()
    return (Statement(_CANCEL_CHILDREN, (attempt.job_id, attempt.n)),)


def _report_wait(attempt: Attempt, step: Step[Any, Any], wait: Wait) -> None:
    """Snooze until the timeout, and record what would end it earlier."""
    if not step.can_wait:
        raise PermanentError(f"step {step.name} returned Wait: batch steps and process steps cannot wait for signals")
    if not step.waits:
        raise PermanentError(f"step {step.name} returned Wait: its return type must contain Wait")
    for field, text, most in (("name", wait.name, 200), ("key", wait.key, 500)):
        if not _is_text(text, most):
            raise PermanentError(f"the {field} of a Wait must be text of 1 to {most} characters, without U+0000")
    if wait.name.startswith("forebay."):
        raise PermanentError('the name of a Wait must not begin with "forebay.", which is reserved')
    timeout = cast("object", wait.timeout)
    if timeout is not None and not isinstance(timeout, int | float | timedelta):
        raise PermanentError("the timeout of a Wait must be seconds or a timedelta")
    seconds = LONGEST_PAUSE if timeout is None else min(in_seconds(timeout), LONGEST_PAUSE)
    if not seconds > 0:
        raise PermanentError("the timeout of a Wait must be positive")
    attempt.fail(
        "SNOOZED", reason=f"waits for the signal {wait.name} {wait.key}", retry_in=seconds, counts_as_attempt=False
    )


def _is_text(value: object, most: int) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= most and clean(value) == value


def begin_wait(attempt: Attempt, wait: Wait, now: datetime | None) -> None:
    """Record what the task waits for, in the transaction that settles it."""
    task = (attempt.job_id, attempt.n, attempt.lease.step_id)
    attempt.writes = (Statement(_BEGIN_WAIT, (*task, wait.name, wait.key, attempt.retry_in, now)),)


def end_wait(attempt: Attempt) -> None:
    """If the step has ended, delete what it has waited for, in the transaction that settles it. A step that has failed
    keeps its signal: when the item is reprocessed, nobody sends it again."""
    if attempt.outcome is None or attempt.retry_in is None:
        has_failed = attempt.outcome is not None and (attempt.outcome != "SKIPPED" or attempt.ends_item)
        task = (attempt.job_id, attempt.n, attempt.lease.step_id)
        attempt.writes = (*attempt.writes, Statement(_END_WAIT, (*task, has_failed)))


def report_error(attempt: Attempt, step: Step[Any, Any], error: BaseException) -> None:
    """Record what a step raised, and when it runs again."""
    kind, reason = classify_error(error), reason_of(error)
    if isinstance(error, StepError):
        attempt.writes = error.writes
    if kind is ErrorClass.THROTTLED:
        wait = error.retry_after if isinstance(error, ThrottledError) else 30.0
        # Our own limit is neither an error of the item nor a sign of overload at the other side.
        ours = isinstance(error, ThrottledError) and error.ours
        attempt.fail(
            "THROTTLED", reason=reason, error_class=None if ours else kind, retry_in=wait, counts_as_attempt=False
        )
        attempt.throttled_for = step.retry.throttled_for
        attempt.throttled_by = clean(str(error.reason) if isinstance(error, ThrottledError) else reason)
    elif kind in (ErrorClass.CONFIG, ErrorClass.RESOURCE):
        attempt.fail("RELEASED", reason=reason, error_class=kind, retry_in=0.0, counts_as_attempt=False)
    else:
        again = step.retry.delay_after(kind, attempt.lease.attempt)
        attempt.fail("ERROR", reason=reason, error_class=kind, retry_in=again)


def result_json(step: Step[Any, Any], value: Any, names: Mapping[str, str] | None = None) -> str:
    """The JSON that is stored as a step's result: {step name: value}, with the name in the job's version.

    Raises: DataError if the value cannot be stored as JSON; StepError if it is one.
    """
    key = step.result_key if names is None else names.get(step.result_key, step.result_key)
    if value is None:
        return f'{{"{key}":null}}'
    if isinstance(value, StepError):  # of one item of a batch
        raise value
    try:
        text = to_json(value, inf_nan_mode="null").decode()
    except (PydanticSerializationError, UnicodeError, ValueError, RecursionError) as error:
        raise DataError(f"the result of step {step.name} cannot be stored as JSON: {error}") from error
    if "\\u0000" in text:
        raise DataError(f"the result of step {step.name} contains a NUL character, which PostgreSQL cannot store")
    return f'{{"{key}":{text}}}'


def reason_of(error: BaseException) -> str:
    """The reason for an error, in one line."""
    if isinstance(error, ValidationError):  # its text would contain the invalid values
        return f"{type(error).__name__}: {first_invalid(error, error.title)}"
    if isinstance(error, TimeoutError) and not str(error):
        return "timed out"
    try:
        text = message_without_values(error)
    except Exception:  # the error's __str__ failed
        text = ""
    if text and type(error).__module__.startswith("forebay."):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def first_invalid(error: ValidationError, *place: str) -> str:
    """The first field that is invalid, below `place`, and why."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in (*place, *first['loc']))}: {first['msg']}"


def clean(text: str) -> str:
    """Text that PostgreSQL can store, truncated to the maximum length of a reason."""
    return text[:_MAX_REASON].replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
