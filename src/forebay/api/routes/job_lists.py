"""Lists of jobs: searched, folded, counted."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, get_args

from fastapi import APIRouter, Depends, Query

from forebay.api import paging
from forebay.api.auth.authentication import Reader
from forebay.api.deps import After, PageSize, RolePoolsDep
from forebay.api.models import (
    FoldedJobPage,
    Job,
    JobCounts,
    JobEntry,
    JobGroup,
    JobPage,
    State,
    StateCounts,
    counters_of,
)
from forebay.api.problems import Problem
from forebay.api.routes.jobs import aware, whose
from forebay.api.strict_query import StrictRoute
from forebay.api.subjects import jobs_of
from forebay.engine.db import lists
from forebay.engine.db.lists import JobFilter

if TYPE_CHECKING:
    from collections.abc import Mapping

    import asyncpg

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=StrictRoute)

_STATES = get_args(State)
_MOST_COUNTED = 20_000
UserId = Annotated[str, Query(alias="userId", description="`me`; administrators: `all`", max_length=200)]


async def _job_filter(
    who: Reader,
    pipeline: Annotated[str | None, Query(max_length=2000, description="comma-separated names of pipelines")] = None,
    state: Annotated[
        str | None, Query(max_length=200, description="comma-separated: QUEUED,RUNNING,PAUSED,DONE,FAILED,CANCELLED")
    ] = None,
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    q: Annotated[str | None, Query(max_length=200, description="a part of the file name or of the key")] = None,
    min_items: Annotated[int | None, Query(alias="minItems", ge=0, le=2**31 - 1)] = None,
    max_items: Annotated[int | None, Query(alias="maxItems", ge=0, le=2**31 - 1)] = None,
    user_id: UserId = "me",
) -> JobFilter:
    return JobFilter(
        whose(who, user_id),
        None if pipeline is None else [name.strip() for name in pipeline.split(",")],
        _states(state),
        aware(since, "from"),
        aware(until, "to"),
        q or None,
        min_items,
        max_items,
    )


def _states(given: str | None) -> list[str] | None:
    if given is None:
        return None
    states = [state.strip() for state in given.split(",")]
    if wrong := [state for state in states if state not in _STATES]:
        raise Problem(422, f"unknown state {wrong[0][:40]!r}; the states are {', '.join(_STATES)}", field="query.state")
    return states


JobFilterDep = Annotated[JobFilter, Depends(_job_filter)]


@router.get("")
async def list_jobs(
    who: Reader, pools: RolePoolsDep, size: PageSize, where: JobFilterDep, after: After = None
) -> JobPage:
    """Jobs, newest first. A search reads at most 20,000 jobs for a page; `searchedTo` says how far it came."""
    before = None if after is None else paging.decode(after, paging.integer)[0]
    async with pools.of(who) as conn:
        rows, more, searched = await lists.jobs(conn, where, before, size)
        found = await jobs_of(conn, rows)
    paging.tell("jobs", [row["id"] for row in rows], more)
    return JobPage(
        jobs=found,
        next=None if more is None else paging.encode(more),
        searched=searched.rows,
        searched_to=searched.to,
    )


@router.get("/folded")
async def fold_jobs(
    who: Reader, pools: RolePoolsDep, size: PageSize, where: JobFilterDep, after: After = None
) -> FoldedJobPage:
    """Jobs, newest first; those of one item are counted together by pipeline and hour. At most 5,000 are read for a
    page."""
    before = None if after is None else paging.decode(after, paging.integer)[0]
    async with pools.of(who) as conn:
        rows, more, searched = await lists.folded_jobs(conn, where, before, size)
        own = await lists.jobs_by_id(conn, [row["job_id"] for row in rows if row["job_id"] is not None])
        jobs = {job.id: job for job in await jobs_of(conn, own)}
    paging.tell("folded jobs", [row["last_id"] for row in rows], more)
    return FoldedJobPage(
        entries=[_entry(row, jobs) for row in rows if row["job_id"] is None or str(row["job_id"]) in jobs],
        next=None if more is None else paging.encode(more),
        searched=searched.rows,
        searched_to=searched.to,
    )


def _entry(row: asyncpg.Record, jobs: Mapping[str, Job]) -> JobEntry:
    if row["job_id"] is not None:
        return JobEntry(job=jobs[str(row["job_id"])], group=None)
    states = StateCounts(
        **{name: row[name] for name in ("queued", "running", "paused", "failed", "cancelled")}, done=row["state_done"]
    )
    group = JobGroup(
        **{name: row[name] for name in ("pipeline", "hour", "jobs", "first_id", "last_id")},
        states=states,
        counters=counters_of(row),
    )
    return JobEntry(job=None, group=group)


@router.get("/counts")
async def count_jobs(
    who: Reader,
    pools: RolePoolsDep,
    user_id: UserId = "me",
) -> JobCounts:
    """The number of jobs by state: of the open ones and of the newest, up to 20,000 each."""
    async with pools.of(who) as conn:
        counted = await lists.count_jobs(conn, whose(who, user_id), _MOST_COUNTED)
    return JobCounts(
        states=StateCounts(**{state.lower(): count for state, count in counted.by_state.items()}),
        exact=counted.is_exact,
        searched=counted.searched.rows,
        searched_to=counted.searched.to,
        last_id=None if counted.last_id is None else str(counted.last_id),
    )
