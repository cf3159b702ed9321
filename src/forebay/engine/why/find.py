"""Finds the reasons for which an item, a job or a queue waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engine.db import why as db
from forebay.engine.why.reason import Answer, Reason, in_order
from forebay.engine.why.search import Search
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.db.pool import Connection

_MOST_SAMPLES = 12  # steps and places of a job for which items are looked at
_PLACES = {"leased": 0, "held": 1, "scheduled": 2, "ready": 3}


async def of_item(conn: Connection, job_id: int, n: int, *, now: datetime | None = None) -> Answer:
    """Why an item waits. `now`: the time of a test, else that of the database.

    Raises: NotFoundError.
    """
    job = await db.job(conn, job_id)
    found = await db.item(conn, job_id, n)
    search = await Search.begin(conn, job, now)
    if found is None:
        if n != 0 or not search.job_steps or job.is_over:
            raise NotFoundError("item", f"there is no item {n} in job {job_id}")
        return Answer(search.at, "PENDING", in_order(search.before_job_steps()))
    status, progress = found
    if status != "PENDING":
        return Answer(search.at, status, [])
    tasks = await db.tasks(conn, job_id, n)
    reasons = [reason async for reason in search.of_tasks(n, tasks, progress)]
    if any(task.place == "leased" for task in tasks):
        status = "PROCESSING"
    return Answer(search.at, status, in_order([*await search.of_state(), *reasons]))


async def of_job(conn: Connection, job_id: int, *, now: datetime | None = None) -> Answer:
    """Why the open items of a job wait: the reasons of some of them, each with the number of tasks that are in the same
    place.

    Raises: NotFoundError.
    """
    job = await db.job(conn, job_id)
    search = await Search.begin(conn, job, now)
    if job.is_over:
        return Answer(search.at, job.state, [])
    reasons = await search.of_state()
    groups = sorted(await db.groups(conn, job_id), key=lambda group: _PLACES[group.place])
    for group in groups[:_MOST_SAMPLES]:
        reasons += [reason async for reason in search.of_group(group)]
    reasons += search.before_job_steps()
    if not job.sealed:
        reasons.append(Reason("filling", facts={"items": job.total}))
    return Answer(search.at, job.state, in_order(reasons))


async def of_queue(conn: Connection, queue: str, *, now: datetime | None = None) -> Answer:
    """Why the tasks of a queue wait, as far as that does not depend on the task.

    Raises: NotFoundError.
    """
    steps = await db.steps_of_queue(conn, queue)
    search = await Search.over(conn, None, steps, now)
    reasons: list[Reason] = []
    for step in steps:
        reasons += [reason async for reason in search.of_step(step)]
        reasons += [reason async for reason in search.of_common_limits(step)]
    return Answer(search.at, None, in_order(reasons))
