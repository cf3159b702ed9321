"""Why an item, a job or a queue waits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from forebay.api.auth.authentication import Reader
from forebay.api.deps import ItemId, JobId, RolePoolsDep, SettingsDep
from forebay.api.models import Id, Model
from forebay.api.strict_query import StrictRoute
from forebay.engine.why import find
from forebay.engine.why.reason import Action, Code
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.db.pool import Connection
    from forebay.engine.why.reason import Answer, Reason
    from forebay.settings import Settings

_MOST_JOBS = 20

router = APIRouter(prefix="/api", tags=["why"], route_class=StrictRoute)


class Facts(Model):
    """What is known about a reason; a field that does not belong to it, or is unknown, is left out."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    ahead: int | None = Field(default=None, description="tasks that come before it")
    ahead_exact: bool | None = Field(default=None, description="false: there are more, which were not counted")
    attempt: int | None = None
    batch: int | None = Field(default=None, description="tasks in a full batch")
    by: str | None = Field(default=None, description="who did it")
    ends_at: datetime | None = Field(default=None, description="estimated from the progress of the step")
    error_class: str | None = Field(default=None, alias="class")
    fraction: float | None = None
    free_memory: float | None = Field(default=None, description="share of the machine's memory")
    held_seconds: float | None = Field(default=None, description="for how long the workers start nothing")
    higher: int | None = Field(default=None, description="tasks of a higher priority")
    higher_exact: bool | None = None
    in_use: int | None = Field(default=None, description="slots of the limit that are in use")
    item: str | None = Field(default=None, description="an item to which it applies")
    item_ms: float | None = Field(default=None, description="how long a task of the step usually takes")
    items: int | None = None
    key: str | None = Field(default=None, description="of the signal, or of the limit")
    lag_ms: float | None = Field(default=None, description="how late the worker's event loop is")
    leader: bool | None = Field(default=None, description="whether a worker runs the maintenance")
    left: int | None = Field(default=None, description="items that have not ended")
    limit: str | None = None
    linger_seconds: float | None = None
    load: float | None = Field(default=None, description="runnable processes per core")
    max_attempts: int | None = None
    needs: list[str] | None = Field(default=None, description="the steps that it waits for")
    note: str | None = None
    owners: int | None = Field(default=None, description="other owners who wait for the same")
    per_seconds: float | None = None
    priority: int | None = None
    queue: str | None = None
    queued: int | None = Field(default=None, description="claimed tasks that have not begun")
    rate: float | None = Field(default=None, description="starts per `perSeconds`")
    reason: str | None = None
    running: int | None = None
    sealed: bool | None = None
    seconds: float | None = Field(default=None, description="estimated time until it begins")
    share: float | None = Field(
        default=None, description="of the workers that the owner gets; of their usual claims, for `machine_busy`"
    )
    signal: str | None = None
    slots: int | None = Field(default=None, description="how many tasks can run at the same time")
    tasks: int | None = Field(default=None, description="tasks of the job that are in the same place")
    tasks_exact: bool | None = None
    version: int | None = None
    worker: str | None = None
    workers: int | None = None


class WhyReason(Model):
    """A reason for which work waits."""

    code: Code
    step: str | None
    since: datetime | None
    until: datetime | None = Field(description="when it ends at the latest, or is looked at again")
    facts: Facts
    actions: list[Action] = Field(description="what the caller may do about it")


class Why(Model):
    """Reasons in order: the first one is the headline. None: the work has ended."""

    at: datetime
    status: str | None = Field(description="of the item, or the state of the job")
    reasons: list[WhyReason]


class WhyJob(Model):
    job_id: Id
    at: datetime
    reason: WhyReason


class WhyJobs(Model):
    at: datetime
    jobs: list[WhyJob]


@router.get("/jobs/{job_id}/items/{item_id}/why", response_model_exclude_unset=True)
async def why_item(job_id: JobId, item_id: ItemId, who: Reader, pools: RolePoolsDep, settings: SettingsDep) -> Why:
    """Why an item waits: reasons as codes with facts, the most important one first."""
    async with pools.of(who) as conn:
        return _why(await find.of_item(conn, job_id, item_id), who, settings)


@router.get("/jobs/{job_id}/why", response_model_exclude_unset=True)
async def why_job(job_id: JobId, who: Reader, pools: RolePoolsDep, settings: SettingsDep) -> Why:
    """Why the open items of a job wait: reasons with the number of tasks to which they apply."""
    async with pools.of(who) as conn:
        return _why(await find.of_job(conn, job_id), who, settings)


@router.get("/why", response_model_exclude_unset=True)
async def why_jobs(
    who: Reader,
    pools: RolePoolsDep,
    settings: SettingsDep,
    job_ids: Annotated[
        str,
        Query(
            alias="jobIds",
            description=f"comma-separated, at most {_MOST_JOBS}",
            pattern=f"^[0-9]{{1,18}}(,[0-9]{{1,18}}){{0,{_MOST_JOBS - 1}}}$",
        ),
    ],
) -> WhyJobs:
    """The first reason of each of several jobs, for lists. Jobs that have ended, or are not there, are left out."""
    async with pools.of(who) as conn:
        answers = [(job_id, await _of_job(conn, job_id)) for job_id in dict.fromkeys(map(int, job_ids.split(",")))]
    return WhyJobs(
        at=datetime.now(UTC),
        jobs=[
            WhyJob(job_id=str(job_id), at=answer.at, reason=_reason(answer.reasons[0], who, settings))
            for job_id, answer in answers
            if answer is not None and answer.reasons
        ],
    )


async def _of_job(conn: Connection, job_id: int) -> Answer | None:
    try:
        return await find.of_job(conn, job_id)
    except NotFoundError:
        return None


@router.get("/queues/{name}/why", response_model_exclude_unset=True)
async def why_queue(
    name: Annotated[str, Path(max_length=200)], who: Reader, pools: RolePoolsDep, settings: SettingsDep
) -> Why:
    """Why the tasks of a queue wait, as far as that does not depend on the task."""
    async with pools.of(who) as conn:
        return _why(await find.of_queue(conn, name), who, settings)


def _why(answer: Answer, who: Principal, settings: Settings) -> Why:
    return Why(
        at=answer.at, status=answer.status, reasons=[_reason(reason, who, settings) for reason in answer.reasons]
    )


def _reason(reason: Reason, who: Principal, settings: Settings) -> WhyReason:
    return WhyReason(
        code=reason.code,
        step=reason.step,
        since=reason.since,
        until=reason.until,
        facts=Facts.model_validate(reason.facts),
        actions=[action for action in reason.actions if _may(action, who, settings)],
    )


def _may(action: Action, who: Principal, settings: Settings) -> bool:
    if action == "resume_queue":
        return who.is_admin
    return "write" in who.scopes and (action != "kickoff" or settings.kickoff_enabled)
