"""What is known about jobs and items while somebody listens, so that only news is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from forebay.api.events.subscribers import Subscriber

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import asyncpg

    from forebay.api.events.subscribers import News

K = TypeVar("K")


@dataclass(eq=False, slots=True)
class Watch:
    """What is known about the jobs of one owner, or about the items of one job, while somebody listens."""

    subscribers: set[Subscriber] = field(default_factory=set[Subscriber])
    seen: dict[int, datetime] = field(default_factory=dict[int, datetime])  # job id or item → its last change
    progress: dict[int, str] = field(default_factory=dict[int, str])
    forget_at: int = 1000
    begun: bool = False  # the first look only finds out what is there
    is_over: bool = False

    def is_news(self, key: int, at: datetime) -> bool:
        """Whether it is to be told; then it is noted by who has told it, so that nothing is lost when a look fails."""
        if self.begun:
            return self.seen.get(key) != at
        self.seen[key] = at
        return False

    def is_newer(self, key: int, at: datetime) -> bool:
        """The same for what leaves its past behind: attempts stay, while a job's row has only its last change."""
        return self.is_news(key, at) and (key not in self.seen or self.seen[key] < at)

    def concerns(self, job_id: int) -> bool:
        return any(subscriber.wish.job_id in (None, job_id) for subscriber in self.subscribers)

    def offer(self, news: News) -> None:
        for subscriber in self.subscribers:
            subscriber.offer(news)

    def forget(self, before: datetime) -> None:
        """Drops what no look goes back to any more, now and then."""
        if len(self.seen) >= self.forget_at:
            self.seen = {key: at for key, at in self.seen.items() if at >= before}
            self.forget_at = max(1000, 2 * len(self.seen))


def heard_of(keys: Iterable[asyncpg.Record], owners: Mapping[int | None, Watch]) -> dict[int, list[Watch]]:
    """The jobs that are news, and to whom."""
    heard: dict[int, list[Watch]] = {}
    for key in keys:
        for watch in (owners.get(key["owner_id"]), owners.get(None)):
            if watch is None or not watch.is_news(key["id"], key["at"]):
                continue
            if watch.concerns(key["id"]):
                heard.setdefault(key["id"], []).append(watch)
            else:
                watch.seen[key["id"]] = key["at"]
    return heard


def remove(watches: dict[K, Watch], key: K, subscriber: Subscriber) -> None:
    watches[key].subscribers.discard(subscriber)
    if not watches[key].subscribers:
        del watches[key]
