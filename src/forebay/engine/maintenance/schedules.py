"""Schedules: jobs that are submitted at the times of a cron expression.

A run is submitted in the transaction that also stores the schedule's next time, with a key that contains the due time:
neither a crash nor two concurrent sweepers submit it twice. A single run replaces the missed ones, unless the schedule
back-fills.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from forebay.engine.clock import in_seconds
from forebay.engine.db.adapters import AsyncAdapter, adapter_for
from forebay.engine.db.sql import load
from forebay.engine.submit.inputs import encoder_of
from forebay.engine.submit.options import check_backfill, checked_priority, checked_text
from forebay.errors import InvalidField, NotFoundError, RequestError
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from forebay.engine.db.adapters import AsyncConn
    from forebay.engine.declare.pipeline import Pipeline

I = TypeVar("I")  # noqa: E741 - the input

log = get_logger("schedules")

_LONGEST_JITTER = 86400
_MOST_RUNS = 100


async def put_schedule(  # noqa: PLR0913
    conn: AsyncConn,
    name: str,
    pipeline: Pipeline[I],
    cron: str,
    input: I,  # noqa: A002
    *,
    owner: str = "default",
    timezone: str = "UTC",
    priority: int = 0,
    overlap: bool = True,
    jitter: float | timedelta = 0.0,
    backfill: bool = False,
    due_field: str | None = None,
    now: datetime | None = None,
) -> bool:
    """Create or change the schedule of that name; return whether it is new.

    An unchanged `cron` keeps its next time, so an application can call this at every start. Without `overlap`, a run is
    skipped while the previous job is open. Each run is delayed by a random time of up to `jitter` (seconds, or a
    timedelta). `backfill`: each missed run is submitted, instead of one for all of them; this needs `overlap`. The time
    at which a run was due is written to the field `due_field` of its input, and is `due_at` in the `meta` of its job.

    Raises:
        RequestError: an argument is invalid; names the field.
    """
    adapter = adapter_for(conn)
    checked_text("name", name, 200)
    checked_text("owner", owner, 200)
    data = encoder_of(pipeline).encode(input).decode()
    next_at = next_time(cron, timezone, now or await _clock(adapter))
    late = in_seconds(jitter)
    if not 0 <= late <= _LONGEST_JITTER:
        raise InvalidField("jitter", f"must be between 0 and {_LONGEST_JITTER} seconds")
    check_backfill(backfill=backfill, overlap=overlap)
    if due_field is not None:
        _check_due_field(pipeline, data, due_field, next_at)
    options = (overlap, late, backfill, due_field or "")
    args = (name, pipeline.name, owner, cron, timezone, data, checked_priority(priority), next_at, *options)
    row = await adapter.fetch_row(load("put_schedule"), args)
    return row is not None and bool(row[0])


def _check_due_field(pipeline: Pipeline[Any], data: str, field: str, due: datetime) -> None:
    """Raises: InvalidField unless the pipeline takes an input with the time in this field."""
    value = json.loads(data)
    if not isinstance(value, dict):
        raise InvalidField("due_field", "needs an input that is a JSON object")
    checked_text("due_field", field, 200)
    stored = json.loads(encoder_of(pipeline).encode(value | {field: due.isoformat()}))
    if field not in stored:
        raise InvalidField("due_field", f"the input of pipeline {pipeline.name!r} has no field {field!r}")


async def put_declared(conn: AsyncConn, pipelines: Sequence[Pipeline[Any]], now: datetime) -> None:
    """Create the schedules that pipelines declare, and change those whose declaration changed."""
    for pipeline in pipelines:
        for s in pipeline.schedules:
            await put_schedule(
                conn,
                s.name,
                pipeline,
                s.cron,
                s.input,
                owner=s.owner,
                timezone=s.timezone,
                overlap=s.overlap,
                jitter=s.jitter,
                backfill=s.backfill,
                due_field=s.due_field,
                now=now,
            )
    names = [s.name for pipeline in pipelines for s in pipeline.schedules]
    await adapter_for(conn).fetch_row(load("note_declared"), (names,))


async def remove_schedule(conn: AsyncConn, name: str) -> bool:
    """Remove a schedule; return whether it existed."""
    return await adapter_for(conn).fetch_row(load("remove_schedule"), (name,)) is not None


async def last_run(conn: AsyncConn, name: str) -> int | None:
    """The job of the last run of a schedule; None when there is no such schedule, or it has not run yet."""
    row = await adapter_for(conn).fetch_row(load("get_last_run"), (name,))
    return None if row is None else row[0]


async def pause_schedule(conn: AsyncConn, name: str, *, actor: str | None = None) -> None:
    """Pause a schedule; the audit records the actor, if one is given.

    Raises:
        NotFoundError: there is no such schedule.
    """
    async with adapter_for(conn).atomic() as adapter:
        row = await adapter.fetch_row(load("get_schedule"), (name,))
        if row is None:
            raise _no_schedule(name)
        if not row[2]:
            await adapter.fetch_row(load("pause_schedule"), (name, True, None))
            await _note(adapter, actor, "pause_schedule", name)


async def _note(adapter: AsyncAdapter, actor: str | None, action: str, name: str) -> None:
    if actor is not None:
        await adapter.fetch_row(load("note_schedule"), (actor, action, name))


async def resume_schedule(conn: AsyncConn, name: str, *, actor: str | None = None, now: datetime | None = None) -> None:
    """Resume a schedule at its next time; runs that were due during the pause are not submitted.

    Raises:
        NotFoundError: there is no such schedule.
    """
    async with adapter_for(conn).atomic() as adapter:
        row = await adapter.fetch_row(load("get_schedule"), (name,))
        if row is None:
            raise _no_schedule(name)
        cron, timezone, paused = row
        if paused:
            next_at = next_time(cron, timezone, now or await _clock(adapter))
            await adapter.fetch_row(load("pause_schedule"), (name, False, next_at))
            await _note(adapter, actor, "resume_schedule", name)


async def run_now(conn: AsyncConn, name: str, actor: str, *, now: datetime | None = None) -> tuple[int, bool]:
    """Submit a job of a schedule now, besides its runs; return it and whether it is new. Without `overlap`, the open
    job of the last run is returned instead.

    Raises:
        NotFoundError: there is no such schedule.
    """
    row = await adapter_for(conn).fetch_row(load("run_schedule_now"), (name, actor, now))
    if row is None or row[0] is None:
        raise _no_schedule(name)
    return row[0], row[1]


async def _clock(adapter: AsyncAdapter) -> datetime:
    """The database's time: cron is planned by its clock, as it is run by it."""
    row = await adapter.fetch_row("select clock_timestamp()", ())
    assert row is not None  # noqa: S101 - it always returns a row
    at: datetime = row[0]
    return at


def _no_schedule(name: str) -> NotFoundError:
    return NotFoundError("name", f"there is no schedule {name!r}")


async def run_due(conn: AsyncConn, now: datetime | None = None) -> int:
    """Submit the jobs of due schedules, each in a separate transaction; return how many.

    At most 100 runs: the caller must be able to do other things during a long back-fill. `now` defaults to the
    database's clock.
    """
    adapter, submitted = adapter_for(conn), 0
    for _ in range(_MOST_RUNS):
        ran = await _run_one(adapter, now)
        if ran is None:
            break
        submitted += ran
    return submitted


async def _run_one(adapter: AsyncAdapter, now: datetime | None) -> bool | None:
    """Submit the run of one due schedule; return whether it was submitted, or None if no schedule is due."""
    async with adapter.atomic() as inside:
        row = await inside.fetch_row(load("take_due_schedule"), (now,))
        if row is None:
            return None
        name, cron, timezone, at, due_at = row
        next_at: datetime | None = None
        try:
            next_at = next_time(cron, timezone, due_at or at)
            async with inside.atomic() as attempt:
                ran = await attempt.fetch_row(load("run_schedule"), (name, next_at, at))
        except RequestError as error:
            # A schedule that cannot run must not stop the others, and must not be retried every second.
            log.warning("schedule_skipped", schedule=name, reason=str(error), next_at=next_at)
            await inside.fetch_row(load("skip_schedule"), (name, next_at))
            return False
        if ran is None or ran[0] is None:
            log.info("schedule_overlaps", schedule=name, next_at=next_at)
            return False
        return True


def next_time(cron: str, timezone: str, after: datetime) -> datetime:
    """The first time of a cron expression after `after`, in UTC; changes of local time are handled as cron does.

    Raises:
        InvalidField: the expression or the time zone is invalid, or the expression never matches.
    """
    try:
        zone = ZoneInfo(checked_text("timezone", timezone, 100))
    except (ValueError, OSError, LookupError) as error:
        raise InvalidField("timezone", f"there is no time zone {timezone!r}") from error
    try:
        return next(CronSim(checked_text("cron", cron, 200), after.astimezone(zone))).astimezone(UTC)
    except CronSimError as error:
        raise InvalidField("cron", f"{cron!r} is not a cron expression: {error}") from error
    except StopIteration as error:
        raise InvalidField("cron", f"{cron!r} names a time that never comes") from error
