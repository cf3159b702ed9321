"""The requests and responses of the API: camelCase fields, ids as strings, times in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

from forebay.engine.submit.options import TEN_YEARS
from forebay.packages import all_job_hooks

if TYPE_CHECKING:
    import asyncpg

    from forebay.hooks import Subject

Id = Annotated[str, BeforeValidator(str)]
Status = Literal["PENDING", "PROCESSING", "DONE", "ERROR", "NOT_FOUND", "SKIPPED"]
State = Literal["QUEUED", "RUNNING", "PAUSED", "DONE", "FAILED", "CANCELLED"]
Outcome = Literal["DONE", "SKIPPED", "NOT_FOUND", "ERROR", "CANCELLED", "SNOOZED", "THROTTLED", "RELEASED", "EXPIRED"]


def parsed(value: Any) -> Any:
    """Parse JSON from the database. A value that cannot be sent again, such as a thousand nested lists, is replaced
    by a note, so that the rest can be shown."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        return "(nested too deeply, or with too long a number, to be shown here)"


def sent(value: Any) -> Any:
    """Parse JSON in a form field."""
    try:
        return from_json(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError("must be JSON, and not nested too deeply") from error


FromJson = Annotated[Any, BeforeValidator(parsed)]


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Strict(Model):
    """A request body: unknown fields are rejected."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Reference(Model):
    """The id of a row, for callers that may write but not read it."""

    id: Id


class JobRef(Model):
    """The response to a submit: the rows are committed."""

    job_id: Id
    created: bool = Field(description="false: a job with this key already existed")
    items: int


class Counters(Model):
    total: int
    pending: int
    done: int
    skipped: int
    not_found: int
    error: int


_COUNTED = ("total", "done", "skipped", "not_found", "error")


def counters_of(row: asyncpg.Record) -> Counters:
    """The counters in the row of a job."""
    counted = {name: row[name] for name in _COUNTED}
    return Counters(pending=2 * counted["total"] - sum(counted.values()), **counted)


class LastError(Model):
    """Why an attempt failed. The task may be retried, or have been retried."""

    item: Id
    step: str
    error_class: str | None = Field(alias="class")
    reason: str | None
    attempt: int
    at: datetime


class JobSubject(Model):
    """What a job is about."""

    kind: str = Field(description="what kind of thing it is, as its pipeline names it")
    id: Id
    title: str | None


class Children(Model):
    """The items that steps have mapped to, of all jobs of children together."""

    total: int
    done: int
    failed: int
    job_ids: list[Id] = Field(description="the jobs that they are items of: at most 100")
    is_cut: bool = Field(description="there are more than 1,000 jobs of children: the others are not counted")


class Job(Model):
    id: Id
    parent_id: Id | None = Field(
        description="the job that this one belongs to, as an export to the job that it exports"
    )
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
        description="time of the last change, or of the last heartbeat of a worker that holds its tasks"
    )
    eta_seconds: float | None = Field(description="at the rate of the last minute; null when unknown")
    last_error: LastError | None = Field(description="of the latest failed attempt; null when its item succeeded later")
    subject: JobSubject | None = Field(description="null for pipelines that name none")
    children: Children | None = Field(description="null: no step has mapped to any")


def job_of(row: asyncpg.Record, subject: Subject | None = None) -> Job:
    values = {name: value for name, value in row.items() if name not in _COUNTED}
    eta, failure, children = values.pop("eta_seconds"), values.pop("last_error"), values.pop("children")
    mapped_by = values.pop("parent_id")
    parent = mapped_by if subject is None or subject.parent_id is None else subject.parent_id
    return Job(
        **values,
        counters=counters_of(row),
        eta_seconds=None if eta is None else round(eta, 1),
        last_error=None if failure is None else LastError.model_validate_json(failure),
        subject=None if subject is None else JobSubject(kind=subject.kind, id=subject.id, title=subject.title),
        parent_id=None if parent is None else str(parent),
        children=children_of(children),
    )


def children_of(text: str | None) -> Children | None:
    """What the SQL function children_of has returned."""
    return None if text is None else Children.model_validate_json(text)


Next = Annotated[
    str | None,
    Field(description="pass it as `after`; a page may be short or empty while this is not null"),
]


class SearchedPage(Model):
    next: Next
    searched: int = Field(description="rows that were read for this page: the search is bounded")
    searched_to: datetime | None = Field(description="time of the last row that was read")


class JobPage(SearchedPage):
    jobs: list[Job]


class StateCounts(Model):
    queued: int = 0
    running: int = 0
    paused: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0


class JobGroup(Model):
    """Jobs of one item, of one pipeline, submitted within one hour."""

    pipeline: str
    hour: datetime = Field(description="its beginning; `from`, `to`, `pipeline` and `maxItems=1` list the jobs")
    jobs: int
    states: StateCounts
    counters: Counters
    first_id: Id
    last_id: Id


class JobEntry(Model):
    """A job, or a group of jobs."""

    job: Job | None
    group: JobGroup | None


class FoldedJobPage(SearchedPage):
    entries: list[JobEntry] = Field(
        description="newest first; a group that continues on the next page is there again, with its other jobs"
    )


class JobCounts(Model):
    states: StateCounts
    exact: bool = Field(description="false: only the newest `searched` jobs, and as many open ones, were counted")
    searched: int
    searched_to: datetime | None
    last_id: Id | None = Field(description="the newest job that was counted; null: there are no jobs")


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


def dead_letter_of(row: asyncpg.Record) -> DeadLetter:
    return DeadLetter(item_id=row["n"], **{name: row[name] for name in DeadLetter.model_fields if name != "item_id"})


class DeadLetterPage(Model):
    dead_letters: list[DeadLetter]
    next: Next
    searched_to: datetime | None = Field(description="how far back was searched; null: all were")


class Changed(Model):
    changed: bool = Field(description="false: the state was already as requested")
    state: State


class NewSignal(Strict):
    name: Annotated[str, Field(min_length=1, max_length=200)]
    key: Annotated[str, Field(min_length=1, max_length=500)]
    payload: Any = None
    keep_seconds: Annotated[float, Field(ge=0, le=TEN_YEARS.total_seconds())] = Field(
        default=7 * 86400, description="how long it is kept if no task waits for it"
    )


class Signalled(Model):
    tasks: int = Field(description="how many tasks it reached; if none, it is kept for `keepSeconds`")


class Reprocessed(Model):
    items: int = Field(description="how many run again")
    left_out: dict[str, int] = Field(
        default={},
        description="number of named items that do not run again, by reason: their status, if it is not one of "
        "`statuses` (PENDING: not ended yet); MISSING: the job has no such item; or NOTHING_TO_RUN",
    )


class Dismissed(Model):
    dead_letters: int = Field(description="how many were removed from the list")


class Chosen(Strict):
    """All items of a job, or some of them."""

    scope: Literal["job", "items"] = "job"
    item_ids: list[Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]] | None = Field(default=None, max_length=10_000)

    @property
    def ns(self) -> list[int] | None:
        return None if self.item_ids is None else [int(item) for item in self.item_ids]


class Dismiss(Chosen):
    """The dead letters to remove from the list."""


def _with_options_of_pipelines(schema: dict[str, Any]) -> None:
    """Add the fields of all `JobHooks.reprocess_options`; the job's pipeline decides which are allowed."""
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
    restart: bool = Field(default=False, description="run all steps again, also those that are done")


class KeyUnique(Strict):
    """How long a job keeps its key: in these states, and until this time after its submit."""

    states: Annotated[list[State], Field(min_length=1, max_length=6)] | None = None
    period_seconds: Annotated[float, Field(ge=0, le=TEN_YEARS.total_seconds())] | None = None


class Submission(Strict):
    """The fields of every submit."""

    pipeline: Annotated[str, Field(min_length=1, max_length=63)]
    key: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    priority: Annotated[int, Field(ge=-100, le=100)] = 0
    run_at: datetime | None = None
    meta: Annotated[dict[str, Any] | None, BeforeValidator(sent)] = None
    unique: Annotated[KeyUnique | None, BeforeValidator(sent)] = Field(
        default=None, description="how long a job keeps its key: a submit with this key returns it until then"
    )


class NewJob(Submission):
    """One item (`input`) or many (`items`) for one pipeline."""

    input: Any = None
    items: list[Any] | None = None
    coalesce: bool = Field(default=False, description="replace the input of a job with this key that has not started")
    max_wait_seconds: Annotated[float, Field(ge=0, le=TEN_YEARS.total_seconds())] | None = Field(
        default=None, description="how long after its first submit `coalesce` may postpone a job"
    )
    file: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None, description="for pipelines that take files: a file of a source, such as drop:2026/march.csv"
    )
    options: Any = Field(default=None, description="options for reading that file")


class UploadedJob(Submission):
    """A file of items for one pipeline."""

    file: Annotated[str, Field(description="JSON Lines, or CSV with a header", json_schema_extra={"format": "binary"})]


class Kickoff(Model):
    settled: int = Field(description="attempts that ended in this slice")
    job: Job | Reference


class AuditRow(Model):
    """An action of a user on a job, an item, a queue, an account or a token."""

    id: Id
    at: datetime
    actor: str
    action: str
    owner: str | None
    job_id: Id | None
    item_id: Id | None
    detail: FromJson | None


_AUDIT = ("id", "at", "actor", "action", "owner", "job_id", "detail")


def audit_of(row: asyncpg.Record) -> AuditRow:
    return AuditRow(item_id=row["n"], **{name: row[name] for name in _AUDIT})


class AuditPage(SearchedPage):
    audit: list[AuditRow]
