"""The last known state of watched jobs and items, so that only changes are published."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from forebay.api.events.subscribers import Subscriber

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import asyncpg

    from forebay.api.events.event import Event

K = TypeVar("K")


@dataclass(slots=True)
class Digests:
    """What the last digest of a large job said, and when the next one may be made."""

    due: datetime | None = None
    read_to: datetime | None = None
    job_at: datetime | None = None
    audit_id: int | None = None


@dataclass(eq=False, slots=True)
class Watch:
    """The last known state of an owner's jobs, or of a job's items, while there are subscribers."""

    subscribers: set[Subscriber] = field(default_factory=set[Subscriber])
    seen: dict[Hashable, datetime] = field(default_factory=dict[Hashable, datetime])  # job id, or attempt → its time
    progress: dict[int, str] = field(default_factory=dict[int, str])
    forget_at: int = 1000
    begun: bool = False  # the first poll only records the present state
    is_over: bool = False
    is_large: bool = False
    digests: Digests = field(default_factory=Digests)

    def is_changed(self, key: Hashable, at: datetime) -> bool:
        """Whether it is to be published. The publisher sets `seen`, so that nothing is lost when a poll fails."""
        if self.begun:
            return self.seen.get(key) != at
        self.seen[key] = at
        return False

    def concerns(self, job_id: int) -> bool:
        return any(subscriber.event_filter.wants_job(job_id) for subscriber in self.subscribers)

    def offer(self, event: Event) -> None:
        for subscriber in self.subscribers:
            subscriber.offer(event)

    def forget(self, before: datetime) -> None:
        """Drop entries that no poll reads back to, once there are many."""
        if len(self.seen) >= self.forget_at:
            self.seen = {key: at for key, at in self.seen.items() if at >= before}
            self.forget_at = max(1000, 2 * len(self.seen))


def changed_jobs(keys: Iterable[asyncpg.Record], owners: Mapping[int | None, Watch]) -> dict[int, list[Watch]]:
    """The changed jobs, with the watches to publish each to."""
    changed: dict[int, list[Watch]] = {}
    for key in keys:
        for watch in (owners.get(key["owner_id"]), owners.get(None)):
            if watch is None or not watch.is_changed(key["id"], key["at"]):
                continue
            if watch.concerns(key["id"]):
                changed.setdefault(key["id"], []).append(watch)
            else:
                watch.seen[key["id"]] = key["at"]
    return changed


def remove(watches: dict[K, Watch], key: K, subscriber: Subscriber) -> None:
    watches[key].subscribers.discard(subscriber)
    if not watches[key].subscribers:
        del watches[key]
