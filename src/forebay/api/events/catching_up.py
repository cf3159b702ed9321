"""What a subscriber reads by itself: the present state when it comes, and what it has missed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.api.events.event import (
    LARGE_JOB,
    digest_event,
    gone_event,
    item_event,
    job_events,
    progress_event,
)
from forebay.api.events.publishing import ITEMS_WITH_PROGRESS, ROWS, slices
from forebay.engine.db import changes

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable
    from datetime import datetime

    import asyncpg

    from forebay.api.events.event import Event
    from forebay.api.events.subscribers import Subscriber
    from forebay.api.events.topic_reads import Connect
    from forebay.engine.db.changes import Position

_LOOKED_AT = 5000  # items per query that looks for changes


class CatchUp:
    """Subscribers that catch up read the database themselves, page by page, few at a time."""

    def __init__(self) -> None:
        self._few = asyncio.Semaphore(2)

    async def introduction(self, subscriber: Subscriber, connect: Connect) -> bytes:
        """The current state of the followed jobs, so that a subscriber does not wait for a change that has already
        happened."""
        _, frames = await self._state(subscriber, connect)
        return frames

    async def _state(self, subscriber: Subscriber, connect: Connect) -> tuple[list[asyncpg.Record], bytes]:
        wanted = subscriber.event_filter
        if not (wanted.job_ids or wanted.missing):
            return [], b""
        async with self._few, connect() as conn:
            rows = await changes.jobs(conn, sorted(wanted.job_ids))
            events = await job_events(conn, rows)
            small = [row["id"] for row in rows if row["total"] <= LARGE_JOB]
            running = await changes.progress(conn, small, ITEMS_WITH_PROGRESS) if small else []
        mark = subscriber.mark
        events += [digest_event(row, mark) for row in rows if row["total"] > LARGE_JOB]
        events += [progress_event(row, mark) for row in running]
        frames = [subscriber.frame(event) for event in events if subscriber.is_to_send(event)]
        missing = wanted.missing | (wanted.job_ids - {row["id"] for row in rows})
        frames += [subscriber.frame(gone_event(job_id, None, mark)) for job_id in sorted(missing)]
        return rows, b"".join(frames)

    async def missed(self, subscriber: Subscriber, connect: Connect) -> AsyncGenerator[bytes]:
        """Everything that has changed since the subscriber fell behind, or left."""
        since, mark = subscriber.begin_to_catch_up()
        rows, frames = await self._state(subscriber, connect)
        if frames:
            yield frames
        for row in rows:
            if row["total"] <= LARGE_JOB:
                async for chunk in self._items_since(subscriber, row, since, connect):
                    yield chunk
        if subscriber.event_filter.has_jobs:
            yield await self._deleted_since(subscriber, since, connect)
            # The last: while it is read, the marks move, from which a disconnected reader continues.
            async for chunk in self._jobs_since(subscriber, since, mark, connect):
                yield chunk
        subscriber.sent_to = max(subscriber.sent_to, mark)

    async def _jobs_since(
        self, subscriber: Subscriber, since: datetime, mark: datetime, connect: Connect
    ) -> AsyncGenerator[bytes]:
        """In the order of their changes, so that a disconnected reader can continue."""
        owner_ids = _owner_ids(subscriber)
        after: Position | None = (since - timedelta(microseconds=1), 0)
        while after is not None:
            async with self._few, connect() as conn:
                keys, after = await changes.changed(conn, owner_ids, after, ROWS)
                rows = await changes.jobs(conn, [key["id"] for key in keys])
                events = {event.job_id: event for event in await job_events(conn, rows)}
            frames: list[bytes] = []
            for key in keys:
                if (event := events.get(key["id"])) is not None and subscriber.is_to_send(event):
                    frames.append(subscriber.frame(event))
                subscriber.sent_to = max(subscriber.sent_to, min(key["at"], mark))
            yield b"".join(frames)
            if after is not None:
                subscriber.sent_to = max(subscriber.sent_to, min(after[0], mark))

    async def _deleted_since(self, subscriber: Subscriber, since: datetime, connect: Connect) -> bytes:
        async with self._few, connect() as conn:
            keys = changes.deleted(conn, _owner_ids(subscriber), since - timedelta(microseconds=1))
            return _frames(subscriber, [gone_event(key["id"], key["owner_id"], key["at"]) async for key in keys])

    async def _items_since(
        self, subscriber: Subscriber, job: asyncpg.Record, since: datetime, connect: Connect
    ) -> AsyncGenerator[bytes]:
        """The changed items of a job, by number: one pass over the job."""
        after: int | None = 0
        while after is not None:
            async with self._few, connect() as conn:
                ns, after = await changes.touched_items(
                    conn, job["id"], after, since - timedelta(microseconds=1), _LOOKED_AT
                )
            for some in slices(ns):
                async with self._few, connect() as conn:
                    rows = await changes.items(conn, [job["id"]] * len(some), some)
                yield _frames(subscriber, (item_event(row, job["owner_id"]) for row in rows))


def _owner_ids(subscriber: Subscriber) -> list[int] | None:
    owner_id = subscriber.event_filter.owner_id
    return None if owner_id is None else [owner_id]


def _frames(subscriber: Subscriber, events: Iterable[Event]) -> bytes:
    return b"".join(subscriber.frame(event) for event in events if subscriber.is_to_send(event))
