"""Dead letters in groups, and a reprocess of all that match a filter or of chosen items."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from forebay.api import idempotency
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import RolePoolsDep
from forebay.api.models import Id, Model, Strict
from forebay.api.number_ranges import PATTERN, read_ranges, write_ranges
from forebay.api.problems import Problem
from forebay.api.routes.items import UserId
from forebay.api.routes.jobs import find_job, whose
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control, dead_letters
from forebay.engine.db.dead_letters import MOST_READ, LetterFilter
from forebay.errors import RequestError
from forebay.log import get_logger
from forebay.packages import job_hooks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.api.auth.authentication import Principal
    from forebay.db.pool import Connection
    from forebay.engine.db.dead_letters import ChosenItems, Span
    from forebay.settings import Settings

router = APIRouter(prefix="/api/dead-letters", tags=["items"], route_class=StrictRoute)

log = get_logger("api")

_BY = ("step", "errorClass", "reason")
_MOST_GROUPS = 200
_MOST_JOBS = 1000
JobNumber = Annotated[str, Field(pattern="^[0-9]{1,18}$")]


class DeadLetterGroup(Model):
    pipeline: str
    step: str | None
    error_class: str | None
    reason: str | None = Field(
        description="addresses, names, ids and numbers are replaced: `<url>`, `<name>`, `<id>`, `#`"
    )
    count: int
    first_at: datetime
    last_at: datetime
    per_hour: list[int] = Field(description="the last 24 hours, the oldest first")


class DeadLetterSummary(Model):
    """Groups of the newest dead letters, the largest first."""

    groups: list[DeadLetterGroup] = Field(description=f"at most {_MOST_GROUPS}")
    group_count: int
    searched: int = Field(description=f"dead letters that were read: the newest {MOST_READ:,}, or those of the job")
    searched_to: datetime | None = Field(description="the time of the oldest one that was read")
    complete: bool = Field(description="all dead letters were read")


class LetterChoice(Strict):
    """Which dead letters; a field that is absent matches all."""

    pipeline: Annotated[str, Field(max_length=63)] | None = None
    step: Annotated[str, Field(max_length=63)] | None = None
    job_id: JobNumber | None = None
    error_class: Annotated[str, Field(max_length=40)] | None = Field(
        default=None, description="empty: letters without one"
    )
    reason: Annotated[str, Field(max_length=1000)] | None = Field(default=None, description="that of a group")


class NamedItems(Strict):
    """Items of a job."""

    job_id: JobNumber
    numbers: Annotated[str, Field(max_length=200_000, pattern=PATTERN, description="as `3,7-9`")]


class ReprocessLetters(Strict):
    """Either `filter` or `items`."""

    filter: LetterChoice | None = None
    items: Annotated[list[NamedItems], Field(min_length=1, max_length=_MOST_JOBS)] | None = Field(
        default=None, description=f"these items, as far as they have dead letters; at most {MOST_READ:,}"
    )
    user_id: Literal["me", "all"] = Field(default="me", description="`all`: for administrators")
    statuses: list[Literal["DONE", "SKIPPED", "NOT_FOUND", "ERROR"]] = Field(
        default=["ERROR", "NOT_FOUND"],
        min_length=1,
        max_length=4,
        description="items with another status are left out; DONE items, of which an optional step failed, would start "
        "from the beginning",
    )
    reset_attempts: bool = True
    dry_run: bool = Field(default=False, description="only count")


class JobItems(Model):
    job_id: Id
    items: int
    numbers: str = Field(description="the numbers of the items, as `3,7-9`")


class RetriedItems(Strict):
    """Items that ran again: `byJob` of a reprocess."""

    jobs: list[NamedItems] = Field(min_length=1, max_length=_MOST_JOBS)


class RetryResults(Model):
    """What has become of items that ran again."""

    done: int
    skipped: int
    failed: int = Field(description="ERROR or NOT_FOUND again")
    open: int


class RefusedJob(Model):
    job_id: Id
    reason: str


class ReprocessedLetters(Model):
    jobs: int
    items: int = Field(description="items that run again, or would")
    left_out: int = Field(description="items with another status than the chosen ones")
    by_job: list[JobItems]
    refused: list[RefusedJob] = Field(description="jobs that cannot be reprocessed now")
    searched: int
    complete: bool = Field(
        description=f"false: only the newest {MOST_READ:,} dead letters or {_MOST_JOBS:,} jobs were taken; repeat it"
    )


@router.get("/summary")
async def summarize(
    who: Reader,
    pools: RolePoolsDep,
    user_id: UserId = "me",
    by: Annotated[str, Query(description="comma-separated: step, errorClass, reason", max_length=60)] = ",".join(_BY),
    pipeline: Annotated[str | None, Query(max_length=63)] = None,
    step: Annotated[str | None, Query(max_length=63)] = None,
    job_id: Annotated[str | None, Query(alias="jobId", pattern="^[0-9]{1,18}$")] = None,
    error_class: Annotated[
        str | None, Query(alias="errorClass", max_length=40, description="empty: letters without one")
    ] = None,
    reason: Annotated[str | None, Query(max_length=1000, description="that of a group")] = None,
) -> DeadLetterSummary:
    """Tasks that failed permanently, in groups. Reads a bounded number of the newest and says how far it looked."""
    chosen = [name.strip() for name in by.split(",") if name.strip()]
    if wrong := [name for name in chosen if name not in _BY]:
        raise Problem(422, f"there is no group by {wrong[0][:40]!r}; there are {', '.join(_BY)}", field="query.by")
    job = None if job_id is None else int(job_id)
    where = LetterFilter(whose(who, user_id), job, pipeline, step, error_class, reason)
    async with pools.of(who) as conn:
        found = await dead_letters.groups(conn, where, chosen, datetime.now(UTC))
    groups = [
        DeadLetterGroup(
            pipeline=group.pipeline,
            step=group.step,
            error_class=group.error_class,
            reason=group.reason,
            count=group.letters,
            first_at=group.first_at,
            last_at=group.last_at,
            per_hour=group.hours,
        )
        for group in found.groups[:_MOST_GROUPS]
    ]
    return DeadLetterSummary(
        groups=groups,
        group_count=len(found.groups),
        searched=found.read,
        searched_to=found.read_to,
        complete=found.is_complete,
    )


@router.post("/reprocess", openapi_extra=idempotency.TAKES_KEY)
async def reprocess(body: ReprocessLetters, who: Writer, pools: RolePoolsDep, request: Request) -> ReprocessedLetters:
    """Run the items again whose dead letters match the filter, or those that are named. With `dryRun`, count them."""
    owner_id = whose(who, body.user_id)
    idempotent = await idempotency.of(request)
    async with pools.of(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return ReprocessedLetters.model_validate(known.body)
        chosen = await _choose(conn, body, owner_id)
        if body.dry_run:
            done = _answer(chosen, {job: len(ns) for job, ns in chosen.by_job.items()}, [])
        else:
            done = await _run_again(conn, request.app.state.settings, chosen, body, who)
        await idempotent.keep(conn, who, 200, done.model_dump(by_alias=True, mode="json"))
    if not body.dry_run:
        log.info("dead_letters_reprocessed", jobs=done.jobs, items=done.items, by=who.actor)
    return done


async def _choose(conn: Connection, body: ReprocessLetters, owner_id: int | None) -> ChosenItems:
    given = body.filter
    if given is not None and body.items is None:
        job_id = None if given.job_id is None else int(given.job_id)
        where = LetterFilter(owner_id, job_id, given.pipeline, given.step, given.error_class, given.reason)
        return await dead_letters.choose(conn, where, body.statuses, _MOST_JOBS)
    if given is None and body.items is not None:
        return await dead_letters.choose_items(conn, _spans(body.items, "items"), owner_id, body.statuses)
    raise Problem(422, "send either `filter` or `items`", field="filter")


def _spans(items: Sequence[NamedItems], field: str) -> list[Span]:
    spans = [(int(each.job_id), *span) for each in items for span in read_ranges(each.numbers, field)]
    if sum(last - first + 1 for _, first, last in spans) > MOST_READ:
        raise Problem(422, f"must not name more than {MOST_READ} items", field=field)
    return spans


async def _run_again(
    conn: Connection, settings: Settings, chosen: ChosenItems, body: ReprocessLetters, who: Principal
) -> ReprocessedLetters:
    """In the order of their ids, so that two callers never wait for each other's jobs in a circle."""
    counts: dict[int, int] = {}
    refused: list[RefusedJob] = []
    for job_id in sorted(chosen.by_job):
        try:
            async with conn.transaction():
                await _prepare(conn, settings, job_id)
                counts[job_id] = await control.reprocess(
                    conn,
                    job_id,
                    body.statuses,
                    chosen.by_job[job_id],
                    who.actor,
                    reset_attempts=body.reset_attempts,
                )
        except (RequestError, Problem) as error:
            refused.append(RefusedJob(job_id=str(job_id), reason=str(error)))
    return _answer(chosen, counts, refused)


async def _prepare(conn: Connection, settings: Settings, job_id: int) -> None:
    hooks = job_hooks((await find_job(conn, job_id)).pipeline)
    options = None if hooks.reprocess_options is None else hooks.reprocess_options()
    await hooks.before_reprocess(conn, settings, job_id, options)


def _answer(chosen: ChosenItems, counts: dict[int, int], refused: Sequence[RefusedJob]) -> ReprocessedLetters:
    return ReprocessedLetters(
        jobs=sum(1 for items in counts.values() if items),
        items=sum(counts.values()),
        left_out=chosen.left_out,
        by_job=[
            JobItems(job_id=str(job), items=items, numbers=write_ranges(chosen.by_job[job]))
            for job, items in counts.items()
            if items
        ],
        refused=list(refused),
        searched=chosen.read,
        complete=chosen.is_complete,
    )


@router.post("/results")
async def count_results(body: RetriedItems, who: Reader, pools: RolePoolsDep) -> RetryResults:
    """What has become of the items of a reprocess: how many are done, failed again, or are still open."""
    spans = _spans(body.jobs, "jobs")
    async with pools.of(who) as conn:
        found = await dead_letters.results(conn, spans)
    failed = found["ERROR"] + found["NOT_FOUND"]
    return RetryResults(done=found["DONE"], skipped=found["SKIPPED"], failed=failed, open=found["PENDING"])
