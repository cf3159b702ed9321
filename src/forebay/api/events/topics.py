"""Topics: what a reader of events can choose, and how other parts of the API add topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from forebay.api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Collection

    from forebay.api.events.event import Event
    from forebay.api.models import Model
    from forebay.db.pool import Connection

MOST_JOBS = 50
"""How many jobs one stream can follow with their items."""

_OF_JOBS = frozenset({"job", "item", "progress", "digest", "gone"})


class Topic(Protocol):
    """A value that is read at intervals while somebody listens: once for all readers with the same owner.

    Its events have its name; one is sent first, then one whenever the value has changed. Register it in
    `create_app`, as an argument of `Hub`.
    """

    @property
    def name(self) -> str: ...

    @property
    def interval_s(self) -> float: ...

    async def read(self, conn: Connection, owner_id: int | None, /) -> Model:
        """The value for an owner; None: for an administrator who asked for all owners. `conn` has the rights of one of
        the readers."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """The topics of a request."""

    has_jobs: bool = False
    job_ids: frozenset[int] = frozenset()
    named: frozenset[str] = frozenset()


def parse(topics: str, registered: Collection[str]) -> Wanted:
    """Parse a list such as `jobs,items:12,overview`.

    Raises: Problem 422.
    """
    names = {name.strip() for name in topics.split(",")}
    job_ids = frozenset(_job_id(name) for name in names if name.startswith("items:"))
    if len(job_ids) > MOST_JOBS:
        raise Problem(422, f"one stream follows the items of at most {MOST_JOBS} jobs", field="query.topics")
    others = {name for name in names if not name.startswith("items:")} - {"jobs"}
    if unknown := sorted(others - set(registered)):
        known = ", ".join(["jobs", "items:JOB", *sorted(registered)])
        raise Problem(422, f"unknown topic {unknown[0][:40]!r}; the topics are {known}", field="query.topics")
    return Wanted("jobs" in names, job_ids, frozenset(others))


def _job_id(topic: str) -> int:
    number = topic.removeprefix("items:")
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise Problem(422, f"{topic[:40]!r} must name a job, as in items:12", field="query.topics")
    return int(number)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a subscriber wants and may have. The owner comes from its credentials, never from the request."""

    owner_id: int | None  # None: all owners, for administrators
    pipeline: str | None = None
    job_ids: frozenset[int] = frozenset()  # with their items
    has_jobs: bool = True  # all jobs
    named: frozenset[str] = frozenset()
    missing: frozenset[int] = field(default=frozenset())  # jobs of the request that the caller cannot see

    def covers(self, event: Event) -> bool:
        """The only place that decides who receives an event."""
        if event.kind not in _OF_JOBS:
            return event.kind in self.named and event.owner_id == self.owner_id
        return (
            (self.owner_id is None or self.owner_id == event.owner_id)
            and (event.pipeline is None or self.pipeline is None or self.pipeline == event.pipeline)
            and (event.job_id in self.job_ids or (self.has_jobs and event.kind in {"job", "gone"}))
        )

    def wants_job(self, job_id: int) -> bool:
        return self.has_jobs or job_id in self.job_ids
