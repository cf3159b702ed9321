"""Jobs: submit, show, pause, resume, cancel, reprocess."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from forebay.api import idempotency
from forebay.api.auth.authentication import Reader, Writer, authorized
from forebay.api.deps import JobId, RolePoolsDep
from forebay.api.middleware.direct import DirectRoute
from forebay.api.models import (
    Changed,
    Chosen,
    Dismiss,
    Dismissed,
    Job,
    JobRef,
    Kickoff,
    NewJob,
    Reference,
    Reprocess,
    Reprocessed,
    Submission,
    UploadedJob,
    job_of,
)
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.api.subjects import jobs_of
from forebay.api.submit import bodies
from forebay.api.submit.kickoff import run_slice
from forebay.engine.db import control, lists
from forebay.engine.submit.options import CheckedOptions, Coalescing
from forebay.engine.submit.producer import item_arguments, submit, submit_many
from forebay.errors import NotFoundError, RequestError
from forebay.identity import session_context
from forebay.log import get_logger
from forebay.packages import job_hooks
from forebay.telemetry.tracing import submitting
from forebay.types import Unique

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    import asyncpg
    from starlette.datastructures import State as AppState

    from forebay.api.auth.authentication import Principal
    from forebay.api.idempotency import Idempotency
    from forebay.api.quota import Quota, Quotas
    from forebay.api.role_pools import RolePools
    from forebay.api.submit.batches import SubmitBatches
    from forebay.db.pool import Connection
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.hooks import Answer, JobHooks
    from forebay.settings import Settings

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=StrictRoute)

log = get_logger("api")


_SUBMITS: dict[str, Any] = {
    "parameters": [idempotency.ANSWERED_AGAIN],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": NewJob.model_json_schema(by_alias=True)},
            "multipart/form-data": {"schema": UploadedJob.model_json_schema(by_alias=True)},
        },
    },
}


async def submit_job(request: Request) -> Response:
    """Submit one item, many, or a file of items (JSON Lines, or CSV with a header); responds once they are committed.

    Some pipelines take whole files instead: the file is stored first and read in the background.
    """
    try:
        who = await authorized(request, "write", makes_owner=True)
        idempotent = await idempotency.of(request)
        if (taken := await _submit_upload(request, who, idempotent)) is not None:
            status, answer = taken
            return JSONResponse(answer, status)
        settings: Settings = request.app.state.settings
        body, inputs = await bodies.read(request, settings.api_max_items)
        pipeline = _pipeline(request.app.state.pipelines, body.pipeline)
        if isinstance(body, NewJob) and body.file is not None:
            status, answer = await _submit_reference(request, body, who, idempotent)
            return JSONResponse(answer, status)
        try:
            status, answer = await _save(request.app.state, who, idempotent, pipeline, body, inputs)
        except RequestError as error:
            raise bodies.in_callers_words(error, body) from error
        if status == 201:
            log.info(
                "job_submitted",
                job=int(answer["jobId"]),
                pipeline=pipeline.name,
                owner=who.owner,
                items=answer["items"],
            )
        return JSONResponse(answer, status)
    finally:
        await request.close()  # the uploaded files


router.add_api_route(
    "",
    submit_job,
    methods=["POST"],
    status_code=201,
    response_model=JobRef,
    openapi_extra=_SUBMITS,
    route_class_override=DirectRoute,
)


async def _submit_upload(request: Request, who: Principal, idempotent: Idempotency) -> Answer | None:
    if not bodies.is_upload(request):
        return None
    form = await bodies.form(request)
    pipeline = form.get("pipeline")
    return (
        await job_hooks(pipeline).submit_upload(request, form, who, idempotent) if isinstance(pipeline, str) else None
    )


async def _submit_reference(request: Request, body: NewJob, who: Principal, idempotent: Idempotency) -> Answer:
    taken = await job_hooks(body.pipeline).submit_reference(request, body, who, idempotent)
    if taken is None:
        raise Problem(
            422, f"pipeline {body.pipeline!r} takes no files of sources: send `input` or `items`", field="file"
        )
    return taken


async def _save(
    state: AppState,
    who: Principal,
    idempotent: Idempotency,
    pipeline: Pipeline[Any],
    body: NewJob | UploadedJob,
    inputs: Iterable[Any] | None,
) -> tuple[int, dict[str, Any]]:
    pools: RolePools = state.pools
    quotas: Quotas = state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    if isinstance(body, NewJob) and inputs is None and idempotent.key is None:
        done = await _submit_one(state.submits, quota, pipeline, body, who)
        return 201 if done.created else 200, done.model_dump(by_alias=True)
    slot = pools.write_slots.taken(who.owner_id) if isinstance(body, UploadedJob) else nullcontext()
    async with slot:
        return await _submit_once(pools, quota, idempotent, pipeline, body, inputs, who)


async def _submit_once(
    pools: RolePools,
    quota: Quota,
    idempotent: Idempotency,
    pipeline: Pipeline[Any],
    body: NewJob | UploadedJob,
    inputs: Iterable[Any] | None,
    who: Principal,
) -> tuple[int, dict[str, Any]]:
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return known.status, known.body
        quota.admit(len(inputs) if isinstance(inputs, list) else 1)
        done = await _submit(conn, pipeline, body, inputs, who)
        if isinstance(body, UploadedJob):  # the number of items in a file is known only now
            quota.admit_more(done.items - 1)
        status, answer = 201 if done.created else 200, done.model_dump(by_alias=True)
        await idempotent.keep(conn, who, status, answer)
    return status, answer


async def _submit_one(
    submits: SubmitBatches, quota: Quota, pipeline: Pipeline[Any], body: NewJob, who: Principal
) -> JobRef:
    """The usual case, in one statement that is its own transaction."""
    with submitting(pipeline.name) as now:
        options = CheckedOptions.checked(**_options(body, who))
        merging = Coalescing.checked(options, coalesce=body.coalesce, max_wait=body.max_wait_seconds)
        args = item_arguments(pipeline, body.input, merging, options, now.trace)
        quota.admit()
        job_id, created = await submits.submit(who, args)
        now.made(job_id)
    return JobRef(job_id=str(job_id), created=created, items=1)


def _options(body: Submission, who: Principal) -> dict[str, Any]:
    return {
        "owner": who.owner,
        "key": body.key,
        "priority": body.priority,
        "run_at": body.run_at,
        "meta": body.meta,
        "unique": None if body.unique is None else Unique(body.unique.states, body.unique.period_seconds),
    }


def _pipeline(pipelines: dict[str, Pipeline[Any]], name: str) -> Pipeline[Any]:
    found = pipelines.get(name)
    if found is None or found.internal:
        open_ones = sorted(each.name for each in pipelines.values() if not each.internal)
        raise Problem(422, f"there is no pipeline {name!r}; there are {', '.join(open_ones)}", field="pipeline")
    return found


async def _submit(
    conn: Connection, pipeline: Pipeline[Any], body: Submission, inputs: Iterable[Any] | None, who: Principal
) -> JobRef:
    options = _options(body, who)
    if isinstance(body, NewJob) and body.items is None:
        one = await submit(
            conn, pipeline, body.input, coalesce=body.coalesce, max_wait=body.max_wait_seconds, **options
        )
        return JobRef(job_id=str(one.job_id), created=one.created, items=1)
    if isinstance(body, UploadedJob):
        await session_context.begin_upload(conn, body.file)
    many = await submit_many(conn, pipeline, inputs or (), **options)
    return JobRef(job_id=str(many.job_id), created=many.created, items=many.items)


def whose(who: Principal, user_id: str) -> int | None:
    """The requested owner; None for all."""
    if user_id == "me":
        return who.owner_id
    if user_id != "all":
        raise Problem(422, "must be `me` or `all`", field="query.userId")
    if not who.is_admin:
        raise Problem(403, "only administrators may see the rows of others", field="query.userId")
    return None


def aware(when: datetime | None, field: str) -> datetime | None:
    """A time with a time zone.

    Raises: Problem.
    """
    if when is None:
        return None
    if when.tzinfo is None:
        raise Problem(422, "needs a time zone, for example Z", field=f"query.{field}")
    try:
        return when.astimezone(UTC)
    except OverflowError as error:
        raise Problem(422, "is out of range", field=f"query.{field}") from error


@router.get("/{job_id}")
async def get_job(job_id: JobId, who: Reader, pools: RolePoolsDep) -> Job:
    """A job with its counters and its estimated end."""
    async with pools.of(who) as conn:
        return await _job_with_subject(conn, job_id)


async def _job_with_subject(conn: Connection, job_id: int) -> Job:
    (job,) = await jobs_of(conn, [await _row(conn, job_id)])
    return job


async def find_job(conn: Connection, job_id: int) -> Job:
    """A job without its subject.

    Raises: NotFoundError when the caller may see no such job.
    """
    return job_of(await _row(conn, job_id))


async def _row(conn: Connection, job_id: int) -> asyncpg.Record:
    row = await lists.job(conn, job_id)
    if row is None:
        raise NotFoundError("job", f"there is no job {job_id}")
    return row


@router.post("/{job_id}/pause")
async def pause_job(job_id: JobId, who: Writer, pools: RolePoolsDep) -> Changed:
    """Pause a job: no task of it starts. Running tasks finish."""
    return await _control(job_id, who, pools, control.pause, "job_paused")


@router.post("/{job_id}/resume")
async def resume_job(job_id: JobId, who: Writer, pools: RolePoolsDep) -> Changed:
    """Resume a paused job."""
    return await _control(job_id, who, pools, control.resume, "job_resumed")


@router.post("/{job_id}/cancel")
async def cancel_job(job_id: JobId, who: Writer, pools: RolePoolsDep) -> Changed:
    """Cancel a job: running tasks are told to stop, the others are skipped."""
    return await _control(job_id, who, pools, control.cancel, "job_cancelled")


async def _control(
    job_id: int,
    who: Principal,
    pools: RolePools,
    change: Callable[[Connection, int, str], Awaitable[bool]],
    event: str,
) -> Changed:
    async with pools.of(who) as conn:
        changed = await change(conn, job_id, who.actor)
        state = (await find_job(conn, job_id)).state
    if changed:
        log.info(event, job=job_id, by=who.actor)
    return Changed(changed=changed, state=state)


@router.post("/{job_id}/reprocess", openapi_extra={"parameters": [idempotency.ANSWERED_AGAIN]})
async def reprocess_job(
    job_id: JobId, body: Reprocess, who: Writer, pools: RolePoolsDep, request: Request
) -> Reprocessed:
    """Run ended items again: all with one of the statuses, or only the named ones."""
    _check_scope(body)
    idempotent = await idempotency.of(request)
    async with pools.of(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return Reprocessed.model_validate(known.body)
        hooks = job_hooks((await find_job(conn, job_id)).pipeline)
        await hooks.before_reprocess(conn, request.app.state.settings, job_id, _own_options(body, hooks))
        found = {} if body.ns is None else await control.statuses_of(conn, job_id, body.ns)
        count = await control.reprocess(
            conn, job_id, body.statuses, body.ns, who.actor, reset_attempts=body.reset_attempts, restart=body.restart
        )
        done = Reprocessed(items=count, left_out=_left_out(body, found, count))
        await idempotent.keep(conn, who, 200, done.model_dump(by_alias=True))
    log.info("job_reprocessed", job=job_id, by=who.actor, items=count)
    return done


def _own_options(body: Reprocess, hooks: JobHooks) -> Any:
    """Validate the options of the job's pipeline."""
    given = body.model_extra or {}
    if hooks.reprocess_options is not None:
        return bodies.checked(hooks.reprocess_options, given)
    if given:
        raise Problem(422, "unknown option for the pipeline of this job", field=next(iter(given)))
    return None


def _left_out(body: Reprocess, found: dict[str, int], count: int) -> dict[str, int]:
    """Why named items do not run again; empty when none were named."""
    if body.ns is None:
        return {}
    left = {status: number for status, number in found.items() if status not in body.statuses}
    left["MISSING"] = len(set(body.ns)) - sum(found.values())
    left["NOTHING_TO_RUN"] = sum(found.get(status, 0) for status in body.statuses) - count
    return {reason: number for reason, number in left.items() if number > 0}


def _check_scope(body: Chosen) -> None:
    if (body.scope == "items") != (body.item_ids is not None):
        raise Problem(422, "is required with scope `items`, and only allowed with it", field="itemIds")


@router.post("/{job_id}/dismiss")
async def dismiss_dead_letters(job_id: JobId, body: Dismiss, who: Writer, pools: RolePoolsDep) -> Dismissed:
    """Remove dead letters from the list: those of the job, or of the named items. The items keep their status and
    error, and can still be reprocessed."""
    _check_scope(body)
    async with pools.of(who) as conn:
        count = await control.dismiss(conn, job_id, body.ns, who.actor)
    log.info("dead_letters_dismissed", job=job_id, by=who.actor, dead_letters=count)
    return Dismissed(dead_letters=count)


@router.post("/{job_id}/kickoff")
async def kick_off(
    job_id: JobId,
    who: Writer,
    pools: RolePoolsDep,
    request: Request,
    duration_ms: Annotated[int, Query(alias="durationMs", ge=1, le=60_000)] = 5000,
) -> Kickoff:
    """Process the job in this request for one time slice, or until nothing is left; may be repeated."""
    settings: Settings = request.app.state.settings
    if not settings.kickoff_enabled:
        raise Problem(404, "is disabled here: see FOREBAY_KICKOFF_ENABLED")
    async with pools.of(who) as conn:
        await find_job(conn, job_id)
    async with asyncio.timeout(duration_ms / 1000 + 60):
        settled = await run_slice(request.app.state, who.owner_id, [job_id], duration_ms / 1000)
    async with pools.of(who) as conn:
        job = await _job_with_subject(conn, job_id)
    return Kickoff(settled=settled, job=job if who.can_read else Reference(id=job.id))
