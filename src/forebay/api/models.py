"""What the API takes and gives: camelCase, ids as strings, times in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

from forebay.packages import all_job_hooks

if TYPE_CHECKING:
    import asyncpg

Id = Annotated[str, BeforeValidator(str)]
Status = Literal["PENDING", "PROCESSING", "DONE", "ERROR", "NOT_FOUND", "SKIPPED"]
State = Literal["QUEUED", "RUNNING", "PAUSED", "DONE", "FAILED", "CANCELLED"]
Outcome = Literal["DONE", "SKIPPED", "NOT_FOUND", "ERROR", "CANCELLED", "SNOOZED", "THROTTLED", "RELEASED", "EXPIRED"]


def parsed(value: Any) -> Any:
    """What the database keeps as JSON. It may hold what nobody here could send on, such as a thousand lists in each
    other, and that must not hide all the rest."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        return "(nested too deeply, or with too long a number, to be shown here)"


def sent(value: Any) -> Any:
    """The same of what callers send as a field of a form."""
    try:
        return from_json(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError("must be JSON, and not nested too deeply") from error


FromJson = Annotated[Any, BeforeValidator(parsed)]


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Strict(Model):
    """What callers send: a field that we do not know is a mistake of theirs."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Reference(Model):
    """What may be changed, for tokens that may not read it."""

    id: Id


class JobRef(Model):
    """The answer to a submit: the rows are safe."""

    job_id: Id
    created: bool = Field(description="false: a job with this key was there already")
    items: int


class Counters(Model):
    total: int
    pending: int
    done: int
    skipped: int
    not_found: int
    error: int


class LastError(Model):
    """Why an attempt failed. It may be tried again, or may have been."""

    item: Id
    step: str
    error_class: str | None = Field(alias="class")
    reason: str | None
    attempt: int
    at: datetime


class Job(Model):
    id: Id
    pipeline: str
    owner: str
    state: State
    priority: int
    key: str | None
    meta: FromJson
    sealed: bool = Field(description="false while a stream still adds items")
    counters: Counters
    ip: str | None
    file: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime
    heartbeat_at: datetime = Field(
        description="when something last happened in it, or a worker that has some of it was last heard of"
    )
    eta_seconds: float | None = Field(description="at the pace of the last minute; null when that is not known")
    last_error: LastError | None = Field(
        description="of the latest attempt that failed; null when all went well at last"
    )


def job_of(row: asyncpg.Record) -> Job:
    values = dict(row)
    ended = values["done"] + values["skipped"] + values["not_found"] + values["error"]
    counters = Counters(
        pending=values["total"] - ended,
        **{name: values.pop(name) for name in ("total", "done", "skipped", "not_found", "error")},
    )
    eta, failure = values.pop("eta_seconds"), values.pop("last_error")
    return Job(
        **values,
        counters=counters,
        eta_seconds=None if eta is None else round(eta, 1),
        last_error=None if failure is None else LastError.model_validate_json(failure),
    )


Next = Annotated[
    str | None,
    Field(description="pass it as `after`; a page may be short, or empty, while this is not null"),
]


class JobPage(Model):
    jobs: list[Job]
    next: Next


class InputSummary(Model):
    title: str | None
    brand: str | None
    sku: str | None


class ItemRow(Model):
    """An item as lists show it: never the whole input."""

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
    error: FromJson
    progress: FromJson


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
    started_at: datetime
    ended_at: datetime
    error_class: str | None
    reason: str | None


def attempt_of(row: asyncpg.Record) -> Attempt:
    values = dict(row)
    values.pop("token")
    return Attempt(item_id=values.pop("n"), **values)


class AttemptPage(Model):
    attempts: list[Attempt]
    next: Next


class StepState(Model):
    name: str
    state: Literal["DONE", "FAILED", "OPEN"]
    result: Any = None


class Item(Model):
    """An item, whole: every step, its result, every attempt."""

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
    error: Any
    progress: Any
    steps: list[StepState]
    attempts: list[Attempt]


class DeadLetter(Model):
    at: datetime
    job_id: Id
    item_id: Id
    pipeline: str
    step: str
    owner: str
    outcome: Outcome
    error_class: str | None
    reason: str | None
    attempt: int


class DeadLetterPage(Model):
    dead_letters: list[DeadLetter]
    next: Next


class Changed(Model):
    changed: bool = Field(description="false: it was so already")
    state: State


class Reprocessed(Model):
    items: int = Field(description="how many run again")
    left_out: dict[str, int] = Field(
        default={},
        description="of the items named, how many do not run again, by the reason: their status, which is none of "
        "those asked for (PENDING: not ended yet), MISSING: the job has no such item, or NOTHING_TO_RUN",
    )


class Dismissed(Model):
    dead_letters: int = Field(description="how many are off the list now")


class Chosen(Strict):
    """All items of a job, or some."""

    scope: Literal["job", "items"] = "job"
    item_ids: list[Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]] | None = Field(default=None, max_length=10_000)

    @property
    def ns(self) -> list[int] | None:
        return None if self.item_ids is None else [int(item) for item in self.item_ids]


class Dismiss(Chosen):
    """Which dead letters are to leave the list."""


def _with_options_of_pipelines(schema: dict[str, Any]) -> None:
    """Add what `JobHooks.reprocess_options` of the pipelines take: the job decides which of it is known."""
    schema["additionalProperties"] = False
    for hooks in all_job_hooks():
        if hooks.reprocess_options is not None:
            schema["properties"] |= hooks.reprocess_options.model_json_schema(by_alias=True)["properties"]


class Reprocess(Chosen):
    model_config = ConfigDict(extra="allow", json_schema_extra=_with_options_of_pipelines)

    statuses: list[Literal["DONE", "SKIPPED", "NOT_FOUND", "ERROR"]] = Field(
        default=["ERROR", "NOT_FOUND"], min_length=1, max_length=4
    )
    reset_attempts: bool = True
    restart: bool = Field(default=False, description="all steps run again, also those that were done")


class Submission(Strict):
    """What every submit says about its job."""

    pipeline: Annotated[str, Field(min_length=1, max_length=63)]
    key: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    priority: Annotated[int, Field(ge=-100, le=100)] = 0
    run_at: datetime | None = None
    meta: Annotated[dict[str, Any] | None, BeforeValidator(sent)] = None


class NewJob(Submission):
    """One item (`input`) or many (`items`) for one pipeline."""

    input: Any = None
    items: list[Any] | None = None
    coalesce: bool = False
    file: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None, description="for a pipeline that takes files: one of a declared source, as drop:2026/march.csv"
    )
    options: Any = Field(default=None, description="of such a file: what is known about it")


class UploadedJob(Submission):
    """A file of items for one pipeline."""

    file: Annotated[str, Field(description="JSON Lines, or CSV with a header", json_schema_extra={"format": "binary"})]


class Kickoff(Model):
    settled: int = Field(description="attempts that ended in this slice")
    job: Job | Reference


class Queue(Model):
    pipeline: str
    step: str
    queue: str
    pending: int = Field(description="ready or scheduled")
    processing: int
    on_hold: int = Field(description="of paused jobs, items and queues")
    next_at: datetime | None
    paused: bool
    parked: str | None


class Totals(Model):
    """The items of a pipeline, of all jobs that are kept."""

    pipeline: str
    total: int
    pending: int
    processing: int
    done: int
    skipped: int
    not_found: int
    error: int


class QueueChanged(Model):
    changed: bool


class AuditRow(Model):
    """Something that somebody did to a job, an item, a queue, an account or a token."""

    id: Id
    at: datetime
    actor: str
    action: str
    owner: str | None
    job_id: Id | None
    item_id: Id | None
    detail: FromJson | None


class AuditPage(Model):
    audit: list[AuditRow]
    next: Next


class WorkerStatus(Model):
    """A worker process, with every field that operators have asked for."""

    name: str
    is_running: bool
    is_healthy: bool
    stuck: bool = Field(description="nothing has ended for 5 minutes while work is pending")
    last_seen: datetime
    last_processed: datetime | None
    last_error: str | None = Field(description="for administrators: it may tell of anybody's work")
    processed_count: int
    succeeded_count: int
    failed_count: int
    in_flight: int
    stale_reports: int
    up_since: datetime
    up_seconds: float
    average_ms: float | None
    steps: dict[str, Any]
    machine: dict[str, Any]


class WorkerList(Model):
    is_running: bool = Field(description="at least one worker is alive")
    is_healthy: bool = Field(description="and none of them is stuck")
    workers: list[WorkerStatus] = Field(description="empty for who is no administrator")
    pending_count: int = Field(description="tasks that wait: the caller's own, for administrators all")
