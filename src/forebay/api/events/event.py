"""Events: the state of a job, an item or a topic, serialized when it has changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from forebay.api.item_models import ItemRow, ProgressFromJson, item_row
from forebay.api.models import Counters, Id, Job, Model, counters_of
from forebay.api.subjects import jobs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from forebay.db.pool import Connection

LARGE_JOB = 5000
"""Of jobs with more items, events tell where items have changed, instead of the items."""

Key = tuple[str, int, int]


class Digest(Model):
    """Where the items of a large job have changed."""

    job_id: Id
    first: int = Field(serialization_alias="from", description="items before this one have not changed …")
    last: int = Field(serialization_alias="to", description="… since the last digest, nor those after this one")
    counts: Counters


class Gone(Model):
    """Something that was deleted."""

    kind: Literal["job"]
    id: Id


class ItemProgress(Model):
    """The progress of a running item."""

    job_id: Id
    item_id: Id
    progress: ProgressFromJson


class Tick(Model):
    """The data of `ready` and `tick`."""

    time: datetime = Field(description="every change that was visible then has been sent")


EventData = Job | ItemRow | ItemProgress | Digest | Gone | Tick
"""The data of the events `job`, `item`, `progress`, `digest`, `gone`, and of `ready` and `tick`."""


@dataclass(frozen=True, slots=True)
class Event:
    """The current state of a job, an item, an item's progress, or a topic, serialized."""

    kind: str  # job, item, progress, digest, gone, or the name of a topic
    owner_id: int | None  # None: a topic for administrators, about all owners
    pipeline: str | None  # None: of any
    job_id: int
    n: int
    at: datetime  # of the change
    data: bytes
    is_over: bool = False
    digest: Digest | None = None

    @property
    def key(self) -> Key:
        return self.kind, self.job_id, self.n

    def merged_into(self, older: Event) -> Event:
        """This event, if it takes the place of an older one that has not been sent."""
        if self.digest is None or older.digest is None:
            return self
        both = self.digest.model_copy(
            update={
                "first": min(older.digest.first, self.digest.first),
                "last": max(older.digest.last, self.digest.last),
            }
        )
        return _digest_event(both, self.owner_id, self.pipeline, self.at)


async def job_events(conn: Connection, rows: Sequence[asyncpg.Record]) -> list[Event]:
    """One event for each job, in the same order."""
    return [_job_event(row, job) for row, job in zip(rows, await jobs_of(conn, rows), strict=True)]


def _job_event(row: asyncpg.Record, job: Job) -> Event:
    is_over = row["finished_at"] is not None
    return Event("job", row["owner_id"], row["pipeline"], row["id"], 0, row["at"], _json(job), is_over)


def item_event(row: asyncpg.Record, owner_id: int) -> Event:
    return Event("item", owner_id, row["pipeline"], row["job_id"], row["n"], row["updated_at"], _json(item_row(row)))


def progress_event(row: asyncpg.Record, at: datetime) -> Event:
    progress = ItemProgress(job_id=row["job_id"], item_id=row["n"], progress=row["progress"])
    return Event("progress", row["owner_id"], row["pipeline"], row["job_id"], row["n"], at, _json(progress))


def digest_event(row: asyncpg.Record, at: datetime, span: tuple[int, int] | None = None) -> Event:
    """For a row with the counters of a job; without a span, any item may have changed."""
    first, last = span or (1, row["total"])
    digest = Digest(job_id=row["id"], first=first, last=last, counts=counters_of(row))
    return _digest_event(digest, row["owner_id"], None, at)


def _digest_event(digest: Digest, owner_id: int | None, pipeline: str | None, at: datetime) -> Event:
    return Event("digest", owner_id, pipeline, int(digest.job_id), 0, at, _json(digest), digest=digest)


def gone_event(job_id: int, owner_id: int | None, at: datetime) -> Event:
    return Event("gone", owner_id, None, job_id, 0, at, _json(Gone(kind="job", id=str(job_id))))


def topic_event(name: str, owner_id: int | None, at: datetime, value: Model) -> Event:
    return Event(name, owner_id, None, 0, 0, at, _json(value))


def _json(value: Model) -> bytes:
    return value.model_dump_json(by_alias=True).encode()
