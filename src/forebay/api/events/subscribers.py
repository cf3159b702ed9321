"""Subscribers to events: what each may receive, and its bounded queue of events to send."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from pydantic_core import to_json

from forebay.api import paging
from forebay.api.models import FromJson, Id, Model, item_row, job_of

if TYPE_CHECKING:
    from datetime import timedelta

    import asyncpg

# Bounds of one subscriber's queue. Beyond them it catches up from the database.
MOST_WAITING = 1000
_MOST_BYTES = 512 << 10
_CHUNK = 16 << 10
_MOST_REMEMBERED = 5000
_RETRY_MS = 2000

Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Event:
    """The current state of a job, an item, or an item's progress, serialized."""

    kind: Literal["job", "item", "progress"]
    owner_id: int
    pipeline: str
    job_id: int
    n: int
    at: datetime  # of the change
    data: bytes
    is_over: bool = False

    @property
    def key(self) -> Key:
        return self.kind, self.job_id, self.n


def job_event(row: asyncpg.Record) -> Event:
    data = job_of(row).model_dump_json(by_alias=True).encode()
    is_over = row["finished_at"] is not None
    return Event("job", row["owner_id"], row["pipeline"], row["id"], 0, row["at"], data, is_over)


def item_event(row: asyncpg.Record, owner_id: int) -> Event:
    data = item_row(row).model_dump_json(by_alias=True).encode()
    return Event("item", owner_id, row["pipeline"], row["job_id"], row["n"], row["updated_at"], data)


class _Progress(Model):
    job_id: Id
    item_id: Id
    progress: FromJson


def progress_event(row: asyncpg.Record, at: datetime) -> Event:
    progress = _Progress(job_id=row["job_id"], item_id=row["n"], progress=row["progress"])
    data = progress.model_dump_json(by_alias=True).encode()
    return Event("progress", row["owner_id"], row["pipeline"], row["job_id"], row["n"], at, data)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a subscriber wants and may have. The owner comes from its credentials, never from the request."""

    owner_id: int | None  # None: all owners, for administrators
    pipeline: str | None = None
    job_id: int | None = None

    def covers(self, event: Event) -> bool:
        """The only place that decides who receives an event."""
        return (
            (self.owner_id is None or self.owner_id == event.owner_id)
            and (self.pipeline is None or self.pipeline == event.pipeline)
            and (self.job_id is None or self.job_id == event.job_id)
            and (event.kind == "job" or self.job_id is not None)
        )


class Subscriber:
    """The events for one connection.

    Every event carries a mark: a time such that every change visible by then has been sent. A change that becomes
    visible later is at most `overlap` older, so a reader that reconnects with a mark misses nothing.
    """

    def __init__(self, event_filter: EventFilter, after: datetime | None, overlap: timedelta) -> None:
        self.event_filter = event_filter
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.mark = self.sent_to = datetime.min.replace(tzinfo=UTC)
        self.behind_since: datetime | None = None
        self._after = after
        self._overlap = overlap
        self._woken = asyncio.Event()
        self._waiting: OrderedDict[Key, Event] = OrderedDict()
        self._bytes = 0
        self._told: dict[int, datetime] = {}  # jobs sent while catching up, which may be offered again …
        self._told_at = self.mark  # … for a while

    def offer(self, event: Event) -> None:
        """Add an event; it replaces an unsent one about the same job or item."""
        if not self.event_filter.covers(event):
            return
        if self.behind_since is not None:
            self.fall_behind(event.at)
            return
        if (old := self._waiting.pop(event.key, None)) is not None:
            self._bytes -= len(old.data)
        self._waiting[event.key] = event
        self._bytes += len(event.data)
        if len(self._waiting) > MOST_WAITING or self._bytes > _MOST_BYTES:
            self.fall_behind(event.at)

    def fall_behind(self, since: datetime) -> None:
        """Drop the queue; changes since `since` are read from the database."""
        self.behind_since = min([since, self.behind_since or since, *(event.at for event in self._waiting.values())])
        self._waiting.clear()
        self._bytes = 0

    def advance(self, mark: datetime) -> None:
        """Every change visible at `mark` has been offered."""
        if not self.begun.is_set():
            self.sent_to = mark if self._after is None else min(self._after, mark)
            if self._after is not None:
                self.fall_behind(self.sent_to - self._overlap)
            self.begun.set()
        self.mark = mark
        if self._told and mark - self._told_at > self._overlap:
            self._told = {}
        if self._waiting or self.behind_since is not None:
            self._woken.set()

    def begin_to_catch_up(self) -> tuple[datetime, datetime]:
        """Return the time to read from and the mark to set afterwards; events offered meanwhile are queued."""
        since = self.behind_since or self.sent_to
        self.behind_since = None
        return since, self.mark

    def is_to_send(self, event: Event) -> bool:
        """Whether an event found while catching up is to be sent; remembers it if so."""
        if not self.event_filter.covers(event) or self._is_known(event):
            return False
        if event.kind == "job" and len(self._told) < _MOST_REMEMBERED and event.at >= self.mark - self._overlap:
            self._told[event.job_id] = event.at
            self._told_at = self.mark
        return True

    def _is_known(self, event: Event) -> bool:
        return event.kind == "job" and self._told.get(event.job_id) == event.at

    def take(self) -> bytes:
        """The next frames, oldest first. Only the last queued event may carry the newest mark."""
        frames: list[bytes] = []
        size = 0
        while self._waiting and size < _CHUNK:
            _, event = self._waiting.popitem(last=False)
            self._bytes -= len(event.data)
            if not self._waiting:
                self.sent_to = self.mark
            if not self._is_known(event):
                frames.append(self.frame(event))
                size += len(frames[-1])
        return b"".join(frames)

    def frame(self, event: Event) -> bytes:
        return f"id: {self._id()}\nevent: {event.kind}\ndata: ".encode() + event.data + b"\n\n"

    def ready(self) -> bytes:
        data = to_json({"time": self.mark}).decode()
        return f"retry: {_RETRY_MS}\nid: {self._id()}\nevent: ready\ndata: {data}\n\n".encode()

    def still_here(self) -> bytes:
        """A keep-alive comment with the current mark, so that reconnecting after a quiet time is cheap."""
        if not self._waiting and self.behind_since is None:
            self.sent_to = self.mark
        return f": still here\nid: {self._id()}\n\n".encode()

    def _id(self) -> str:
        return paging.encode(self.sent_to)

    async def is_woken(self, seconds: float) -> bool:
        """Wait for something to send, or for the end."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True

    def end(self) -> None:
        self.ended.set()
        for waited_for in (self.begun, self._woken):
            waited_for.set()
