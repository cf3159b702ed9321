"""Items in responses of the API: rows of lists, steps, attempts, progress and errors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from forebay.api.models import Children, Id, Model, Next, Outcome, State, Status, parsed

if TYPE_CHECKING:
    import asyncpg

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_TIMED_TOKEN = 946_684_800_000 << 20  # of the year 2000; smaller tokens are plain numbers


class Progress(Model):
    """The last report of a running step."""

    step: str | None = None
    fraction: float | None = Field(default=None, description="from 0 to 1")
    note: str | None = None
    bytes_done: int | None = None
    bytes_total: int | None = None
    bytes_per_second: float | None = None
    ends_at: datetime | None = Field(default=None, description="estimated end of the step")


class ItemError(Model):
    """Why an item failed, or why it waits: the last failure of a step."""

    step: str | None = Field(default=None, description="null: no step of its own, as when the job was cancelled")
    error_class: str | None = Field(default=None, alias="class")
    reason: str | None = None
    attempt: int | None = None


ProgressFromJson = Annotated[Progress | None, BeforeValidator(parsed)]
ErrorFromJson = Annotated[ItemError | None, BeforeValidator(parsed)]


class InputSummary(Model):
    title: str | None
    brand: str | None
    sku: str | None


class ItemRow(Model):
    """An item in a list: a summary instead of the whole input."""

    id: Id
    job_id: Id
    pipeline: str
    owner: str
    status: Status
    attempts: int
    locked_by: str | None
    locked_at: datetime | None
    created_at: datetime
    updated_at: datetime
    key: str | None
    input_summary: InputSummary
    error: ErrorFromJson
    progress: ProgressFromJson
    job_state: State | None = Field(description="null: the job was deleted meanwhile")


def item_row(row: asyncpg.Record) -> ItemRow:
    values = dict(row)
    summary = InputSummary(title=values.pop("title"), brand=values.pop("brand"), sku=values.pop("sku"))
    return ItemRow(id=values.pop("n"), input_summary=summary, **values)


class ItemPage(Model):
    items: list[ItemRow]
    next: Next


class Attempt(Model):
    job_id: Id
    item_id: Id
    pipeline: str
    step: str
    attempt: int
    outcome: Outcome
    owner: str
    worker: str
    claimed_at: datetime | None = Field(description="when the worker claimed the task")
    started_at: datetime = Field(description="when the step began")
    ended_at: datetime
    error_class: str | None
    reason: str | None


def attempt_of(row: asyncpg.Record) -> Attempt:
    values = dict(row)
    return Attempt(item_id=values.pop("n"), claimed_at=_claimed_at(values.pop("token")), **values)


def _claimed_at(token: int) -> datetime | None:
    """A fencing token contains the time of the claim, in milliseconds."""
    return None if token < _FIRST_TIMED_TOKEN else _EPOCH + timedelta(milliseconds=token >> 20)


class AttemptPage(Model):
    attempts: list[Attempt]
    next: Next


StepState = Literal["WAITING", "SCHEDULED", "RUNNING", "HELD", "BLOCKED", "DONE", "SKIPPED", "NOT_FOUND", "FAILED"]


class ItemStep(Model):
    """A step of an item. The times, the worker and the reason are those of its current or last attempt."""

    name: str
    state: StepState = Field(
        description="WAITING: a worker can take it; SCHEDULED: it waits until `nextAt`, or for a signal; HELD: the "
        "item is paused; BLOCKED: steps in `after` have not ended; SKIPPED: it was skipped, or will not run because "
        "the item has ended. A failed optional step is FAILED as well: the item goes on."
    )
    optional: bool
    after: list[str] = Field(description="the steps that it waits for")
    attempts: int = Field(description="number of the current or last attempt; 0: none yet")
    next_at: datetime | None = Field(description="when a scheduled step runs; a signal may end a wait earlier")
    started_at: datetime | None = Field(description="of a running step: when it was claimed")
    ended_at: datetime | None
    worker: str | None
    lease_until: datetime | None
    error_class: str | None
    reason: str | None
    result: Any = None


class ItemChanged(Model):
    changed: bool = Field(description="false: the item was already as requested")
    status: Status


class SignalWait(Model):
    """A step that waits for a signal."""

    step: str
    signal: str
    key: str
    until: datetime | None = Field(description="null: without a limit")


class Item(Model):
    """An item with all its steps, results and attempts."""

    id: Id
    job_id: Id
    pipeline: str
    owner: str
    status: Status
    created_at: datetime
    updated_at: datetime
    key: str | None
    input: Any
    normalized: Any
    result: Any
    error: ErrorFromJson
    progress: ProgressFromJson
    steps: list[ItemStep] = Field(description="in the order of the graph: each after those that it waits for")
    waits: list[SignalWait]
    children: Children | None = Field(description="null: no step has mapped to any")
    attempts: list[Attempt] = Field(description="newest first")
    attempts_cut: bool = Field(description="there are older attempts: see `GET /api/attempts`")
