"""Subscribers to events: the bounded queue of events to send to each."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forebay.api import paging
from forebay.api.events.event import Tick

if TYPE_CHECKING:
    from datetime import timedelta

    from forebay.api.events.event import Event, Key
    from forebay.api.events.topics import EventFilter

# Bounds of one subscriber's queue. Beyond them it catches up from the database.
MOST_WAITING = 1000
_MOST_BYTES = 512 << 10
_CHUNK = 16 << 10
_MOST_REMEMBERED = 5000
_RETRY_MS = 2000


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
        self._topics: dict[str, Event] = {}  # unsent; they cannot be read again by catching up
        self._told: dict[int, tuple[datetime, int]] = {}  # jobs sent while catching up, which may be offered again …
        self._told_at = self.mark  # … for a while

    def offer(self, event: Event) -> None:
        """Add an event; it replaces an unsent one about the same job or item."""
        if not self.event_filter.covers(event):
            return
        if event.kind in self.event_filter.named:
            self._topics[event.kind] = event
            return
        if self.behind_since is not None:
            self.fall_behind(event.at)
            return
        if (old := self._waiting.pop(event.key, None)) is not None:
            self._bytes -= len(old.data)
            event = event.merged_into(old)
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
            self.wake()

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
            self._told[event.job_id] = _content(event)
            self._told_at = self.mark
        return True

    def _is_known(self, event: Event) -> bool:
        return event.kind == "job" and self._told.get(event.job_id) == _content(event)

    def take(self) -> bytes:
        """The next frames, oldest first. Only the last queued event may carry the newest mark."""
        frames = [self.frame(event) for event in self._topics.values()]
        self._topics.clear()
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
        data = Tick(time=self.mark).model_dump_json()
        return f"retry: {_RETRY_MS}\nid: {self._id()}\nevent: ready\ndata: {data}\n\n".encode()

    def tick(self) -> bytes:
        """A sign of life, with the current mark, so that reconnecting after a quiet time is cheap."""
        if not self._waiting and self.behind_since is None:
            self.sent_to = self.mark
        data = Tick(time=self.mark).model_dump_json()
        return f"id: {self._id()}\nevent: tick\ndata: {data}\n\n".encode()

    def _id(self) -> str:
        return paging.encode(self.sent_to)

    def wake(self) -> None:
        """There is something to send."""
        self._woken.set()

    async def woken(self, until: float) -> None:
        """Wait for something to send, or for the end; at most until this time of the event loop."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._woken.wait()
        self._woken.clear()

    def end(self) -> None:
        self.ended.set()
        for waited_for in (self.begun, self._woken):
            waited_for.set()


def _content(event: Event) -> tuple[datetime, int]:
    """Identifies what an event says: two changes of a job may have the same time."""
    return event.at, hash(event.data)
