"""What one poll publishes to the watches: changed and deleted jobs, changed items, digests of large jobs, progress."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from forebay.api.events.event import LARGE_JOB, digest_event, gone_event, item_event, job_events, progress_event
from forebay.api.events.subscribers import MOST_WAITING
from forebay.api.events.watches import changed_jobs
from forebay.engine.db import changes

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from datetime import datetime

    import asyncpg

    from forebay.api.events.watches import Digests, Watch
    from forebay.db.pool import Connection
    from forebay.engine.db.changes import Position

T = TypeVar("T")

ROWS = 200  # rows per query
ITEMS_WITH_PROGRESS = 500  # of a job
_KEYS = 5000  # changes per query
_ATTEMPTS = 20_000  # that a digest reads; if more have ended, any item may have changed


async def publish_jobs(
    conn: Connection, owners: Mapping[int | None, Watch], jobs: Mapping[int, Watch], since: datetime
) -> None:
    after: Position | None = (since, 0)
    while after is not None:
        keys, after = await changes.changed(conn, _owner_ids(owners), after, _KEYS)
        changed = changed_jobs(keys, owners)
        for ids in slices(list(changed)):
            rows = await changes.jobs(conn, ids)
            for row, event in zip(rows, await job_events(conn, rows), strict=True):
                note_job(jobs, row)
                for watch in changed[event.job_id]:
                    watch.seen[event.job_id] = event.at  # may be newer than the key
                    watch.offer(event)


def note_job(jobs: Mapping[int, Watch], row: asyncpg.Record) -> None:
    """Whether the items of a job are polled, and how."""
    if (watch := jobs.get(row["id"])) is not None:
        watch.is_over = row["finished_at"] is not None
        watch.is_large = row["total"] > LARGE_JOB


async def publish_deleted(
    conn: Connection, owners: Mapping[int | None, Watch], jobs: Mapping[int, Watch], since: datetime
) -> None:
    async for key in changes.deleted(conn, _owner_ids(owners), since):
        for watch in changed_jobs([key], owners).get(key["id"], ()):
            watch.seen[key["id"]] = key["at"]
            watch.offer(gone_event(key["id"], key["owner_id"], key["at"]))
        if key["id"] in jobs:
            jobs[key["id"]].is_over = True


async def publish_items(conn: Connection, jobs: Mapping[int, Watch], since: datetime, near: datetime) -> None:
    found: dict[int, list[asyncpg.Record]] = {job_id: [] for job_id in jobs}
    for key in await changes.attempted_items(conn, list(jobs), since, _KEYS):
        found[key["job_id"]].append(key)
    for job_id, keys in found.items():
        watch = jobs[job_id]
        fresh = [key for key in keys if watch.is_changed(_attempt(key), key["at"])]
        owners = {key["n"]: key["owner_id"] for key in fresh}
        is_cut = len(keys) >= _KEYS and keys[-1]["at"] > near
        if watch.begun and (is_cut or len(owners) > MOST_WAITING):
            for subscriber in watch.subscribers:
                subscriber.fall_behind(min([near, *(key["at"] for key in fresh)]))
        else:
            await _publish_rows(conn, watch, job_id, owners)
        watch.seen.update((_attempt(key), key["at"]) for key in fresh)


def _attempt(key: asyncpg.Record) -> tuple[int, int, datetime]:
    """Which attempt it is. The newest time of an item is not enough: of two steps that end together, the one that
    ended first may be committed last."""
    return key["n"], key["token"], key["at"]


async def _publish_rows(conn: Connection, watch: Watch, job_id: int, owners: Mapping[int, int]) -> None:
    for ns in slices(list(owners)):
        for row in await changes.items(conn, [job_id] * len(ns), ns):
            watch.offer(item_event(row, owners[row["n"]]))


async def publish_digests(
    conn: Connection, jobs: Mapping[int, Watch], mark: datetime, overlap: timedelta, pause: timedelta
) -> None:
    """For each large job that has changed: between which items, and its counters. No items are read, and at most
    `_ATTEMPTS` attempts. Attempts that became visible later than they ended are found within `overlap`."""
    due = {
        job_id: watch
        for job_id, watch in jobs.items()
        if watch.digests.due is None or watch.digests.due <= mark or watch.is_over
    }
    if not due:
        return
    since = min(watch.digests.read_to or mark for watch in due.values()) - overlap
    for row in await changes.attempted_spans(conn, list(due), since, _ATTEMPTS):
        watch = due[row["id"]]
        if watch.digests.read_to is not None and _is_changed(watch.digests, row):
            watch.offer(digest_event(row, mark, _span(watch.digests, row)))
        watch.digests.due, watch.digests.read_to = mark + pause, mark
        watch.digests.job_at, watch.digests.audit_id = row["updated_at"], row["audit_id"]


def _is_changed(last: Digests, row: asyncpg.Record) -> bool:
    return row["first_n"] is not None or (last.job_at, last.audit_id) != (row["updated_at"], row["audit_id"])


def _span(last: Digests, row: asyncpg.Record) -> tuple[int, int] | None:
    """None if items may have changed without an attempt: by a reprocess, for example, or by the end of a cancelled
    job."""
    if row["is_cut"] or row["first_n"] is None or row["audit_id"] != last.audit_id or row["state"] == "CANCELLED":
        return None
    return row["first_n"], row["last_n"]


async def publish_progress(conn: Connection, jobs: Mapping[int, Watch], mark: datetime) -> None:
    said: dict[int, dict[int, str]] = {job_id: {} for job_id in jobs}
    for row in await changes.progress(conn, list(jobs), ITEMS_WITH_PROGRESS):
        said[row["job_id"]][row["n"]] = row["progress"]
        watch = jobs[row["job_id"]]
        if watch.begun and watch.progress.get(row["n"]) != row["progress"]:
            watch.offer(progress_event(row, mark))
    for job_id, watch in jobs.items():
        watch.progress = said[job_id]


def _owner_ids(owners: Mapping[int | None, Watch]) -> list[int] | None:
    return None if None in owners else [owner_id for owner_id in owners if owner_id is not None]


def slices(rows: Sequence[T]) -> Generator[Sequence[T]]:
    for start in range(0, len(rows), ROWS):
        yield rows[start : start + ROWS]
