"""The types of forebay's vocabulary: states, outcomes, and the result of a submit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Generic, TypeAlias, TypeVar

R = TypeVar("R", covariant=True)

Json: TypeAlias = Any  # a JSON value; the one place where Any is intended


class JobState(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_final(self) -> bool:
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class ItemStatus(StrEnum):
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    DONE = "DONE"
    SKIPPED = "SKIPPED"
    NOT_FOUND = "NOT_FOUND"
    ERROR = "ERROR"


class ErrorClass(StrEnum):
    """Why an attempt failed; determines what happens next."""

    TRANSIENT = "transient"
    THROTTLED = "throttled"
    NOT_FOUND = "not_found"
    PERMANENT = "permanent"
    DATA = "data"
    CONFIG = "config"
    RESOURCE = "resource"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that a step writes: they are inserted in the transaction that settles it.

    `on_conflict` is "error", "ignore", or the columns of a unique key; in the last case the other columns are updated.
    """

    table: str
    rows: Sequence[Mapping[str, object]]
    on_conflict: str | Sequence[str] = "error"


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement with $1-style parameters, executed in the transaction that settles the step."""

    sql: str
    args: Sequence[object] = ()


Write: TypeAlias = Rows | Statement


@dataclass(frozen=True, slots=True)
class Unique:
    """How long a job keeps its key: while it is in one of `states`, and until `period` after its submit.

    A submit with the same key returns the job while it keeps the key, and opens a new job afterwards. None: in any
    state, or for ever. `period` is in seconds, or a timedelta. A job is RUNNING when a worker has one of its tasks.
    """

    states: Collection[JobState | str] | None = None
    period: float | timedelta | None = None


@dataclass(frozen=True, slots=True)
class Submit:
    """A job that a step submits with its result. Only `Pipeline.new` makes it, and checks the input and the options; it
    has no public fields."""


class Returned(Generic[R]):
    """What a step may return instead of a value of type R, and has R as its result: Done and Map."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Done(Returned[R]):
    """The step succeeded; `writes` are committed, and the jobs in `submits` submitted, in the same transaction."""

    result: R
    writes: Sequence[Write] = ()
    submits: Sequence[Submit] = ()


@dataclass(frozen=True, slots=True)
class NotFound:
    """The step did not find what it looked for; retried up to `Retry.not_found` times, unless this is `final`."""

    reason: str = "not found"
    writes: Sequence[Write] = ()
    final: bool = False


@dataclass(frozen=True, slots=True)
class Skip:
    """There is nothing to do for this step, or with `item=True` for the whole item."""

    reason: str = ""
    item: bool = False
    writes: Sequence[Write] = ()


@dataclass(frozen=True, slots=True)
class Snooze:
    """Run this step again after `seconds` (or a timedelta); does not count as an attempt."""

    seconds: float | timedelta
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel the whole item, without an error."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Run this step again when the signal `name` with this `key` comes, at the latest after `timeout`.

    `timeout` is in seconds, or a timedelta.
    Until then the task uses no worker and no attempt. The step finds the signal in `ctx.signal`. A step that returns
    Wait says so in its return type.
    """

    name: str
    key: str
    timeout: float | timedelta | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """The signal that a step has waited for; `timed_out`: none came in time."""

    name: str
    key: str
    payload: Json = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Mapped:
    """The result of a step that returned Map: how its items have ended. `ctx.children(mapped)` reads them."""

    job_id: int | None = None  # the job of the items; None if there were none
    total: int = 0
    done: int = 0
    skipped: int = 0
    not_found: int = 0
    error: int = 0

    @property
    def failed(self) -> int:
        return self.not_found + self.error


Outcome: TypeAlias = NotFound | Skip | Snooze | Cancel | Wait


@dataclass(frozen=True, slots=True)
class Submitted:
    """The result of a submit: the job is durable once the caller's transaction commits."""

    job_id: int
    created: bool
    items: int = 1


@dataclass(frozen=True, slots=True)
class JobSummary:
    """The counters of a job, for `after_all` steps and waiting callers."""

    job_id: int
    owner: str
    pipeline: str
    state: JobState
    total: int
    done: int
    skipped: int
    not_found: int
    error: int

    @property
    def open(self) -> int:
        return self.total - self.done - self.skipped - self.not_found - self.error


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One item with the results of its steps."""

    job_id: int
    n: int
    status: ItemStatus
    input: Json
    result: Mapping[str, Json]
    error: Mapping[str, Json] | None
