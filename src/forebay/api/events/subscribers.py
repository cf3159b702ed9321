"""Who listens to events: what each may hear, and what it has not been told yet, never more than fits."""

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

# What waits for one reader. With more it is told to read the database again, from where it was.
MOST_WAITING = 1000
_MOST_BYTES = 512 << 10
_CHUNK = 16 << 10
_MOST_REMEMBERED = 5000
_RETRY_MS = 2000

Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class News:
    """The current state of a job, of an item, or of an item's progress, ready to be sent."""

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


def news_of_job(row: asyncpg.Record) -> News:
    data = job_of(row).model_dump_json(by_alias=True).encode()
    is_over = row["finished_at"] is not None
    return News("job", row["owner_id"], row["pipeline"], row["id"], 0, row["at"], data, is_over)


def news_of_item(row: asyncpg.Record, owner_id: int) -> News:
    data = item_row(row).model_dump_json(by_alias=True).encode()
    return News("item", owner_id, row["pipeline"], row["job_id"], row["n"], row["updated_at"], data)


class _Progress(Model):
    job_id: Id
    item_id: Id
    progress: FromJson


def news_of_progress(row: asyncpg.Record, at: datetime) -> News:
    told = _Progress(job_id=row["job_id"], item_id=row["n"], progress=row["progress"])
    data = told.model_dump_json(by_alias=True).encode()
    return News("progress", row["owner_id"], row["pipeline"], row["job_id"], row["n"], at, data)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a subscriber wants to hear, and may: its owner comes from its credentials, never from what it asks for."""

    owner_id: int | None  # None: of all owners, for administrators
    pipeline: str | None = None
    job_id: int | None = None

    def covers(self, news: News) -> bool:
        """The one place that decides who hears what."""
        return (
            (self.owner_id is None or self.owner_id == news.owner_id)
            and (self.pipeline is None or self.pipeline == news.pipeline)
            and (self.job_id is None or self.job_id == news.job_id)
            and (news.kind == "job" or self.job_id is not None)
        )


class Subscriber:
    """One connection's share of the news.

    Every event carries a mark: a time such that whatever the database showed by then has been sent. What it shows later
    is no older than that by more than the overlap, so a reader that comes back with a mark misses nothing.
    """

    def __init__(self, wish: Wish, after: datetime | None, overlap: timedelta) -> None:
        self.wish = wish
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.mark = self.sent_to = datetime.min.replace(tzinfo=UTC)
        self.behind_since: datetime | None = None
        self._after = after
        self._overlap = overlap
        self._woken = asyncio.Event()
        self._waiting: OrderedDict[Key, News] = OrderedDict()
        self._bytes = 0
        self._told: dict[int, datetime] = {}  # jobs as read by catching up, which may be offered once more …
        self._told_at = self.mark  # … for a while

    def offer(self, news: News) -> None:
        """Newer news of the same replaces what was not sent yet."""
        if not self.wish.covers(news):
            return
        if self.behind_since is not None:
            self.fall_behind(news.at)
            return
        if (old := self._waiting.pop(news.key, None)) is not None:
            self._bytes -= len(old.data)
        self._waiting[news.key] = news
        self._bytes += len(news.data)
        if len(self._waiting) > MOST_WAITING or self._bytes > _MOST_BYTES:
            self.fall_behind(news.at)

    def fall_behind(self, since: datetime) -> None:
        """Forgets what waits; it has to be read again, with all that changed since."""
        self.behind_since = min([since, self.behind_since or since, *(news.at for news in self._waiting.values())])
        self._waiting.clear()
        self._bytes = 0

    def advance(self, mark: datetime) -> None:
        """All that the database showed at that time has been offered."""
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
        """From where to read, and the mark when that is done; what is offered from now on waits."""
        since = self.behind_since or self.sent_to
        self.behind_since = None
        return since, self.mark

    def told(self, news: News) -> bool:
        """Notes news found by catching up; whether they are to be sent."""
        if not self.wish.covers(news) or self._is_known(news):
            return False
        if news.kind == "job" and len(self._told) < _MOST_REMEMBERED and news.at >= self.mark - self._overlap:
            self._told[news.job_id] = news.at
            self._told_at = self.mark
        return True

    def _is_known(self, news: News) -> bool:
        return news.kind == "job" and self._told.get(news.job_id) == news.at

    def take(self) -> bytes:
        """The next few that wait, oldest first. Only the last of all may carry the newest mark."""
        frames: list[bytes] = []
        size = 0
        while self._waiting and size < _CHUNK:
            _, news = self._waiting.popitem(last=False)
            self._bytes -= len(news.data)
            if not self._waiting:
                self.sent_to = self.mark
            if not self._is_known(news):
                frames.append(self.frame(news))
                size += len(frames[-1])
        return b"".join(frames)

    def frame(self, news: News) -> bytes:
        return f"id: {self._id()}\nevent: {news.kind}\ndata: ".encode() + news.data + b"\n\n"

    def ready(self) -> bytes:
        data = to_json({"time": self.mark}).decode()
        return f"retry: {_RETRY_MS}\nid: {self._id()}\nevent: ready\ndata: {data}\n\n".encode()

    def still_here(self) -> bytes:
        """A comment, which no client sees, and the mark, so that coming back after a quiet day costs nothing."""
        if not self._waiting and self.behind_since is None:
            self.sent_to = self.mark
        return f": still here\nid: {self._id()}\n\n".encode()

    def _id(self) -> str:
        return paging.encode(self.sent_to)

    async def is_woken(self, seconds: float) -> bool:
        """Waits for something to send, or for the end."""
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
