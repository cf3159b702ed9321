"""Streams with several topics: jobs, items of some jobs, digests of large jobs, what is gone, registered topics."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from forebay.api.events.event import LARGE_JOB, Event, digest_event
from forebay.api.events.hub import Hub
from forebay.api.events.subscribers import Subscriber
from forebay.api.events.topics import MOST_JOBS, EventFilter
from forebay.api.models import Model
from forebay.db.pool import Connection
from tests.api._service import Service
from tests.api._streams import Live, Reader, socketed
from tests.api.test_events import NOW, QUICK

_OPEN = ("PENDING", "PROCESSING")
PACE = replace(QUICK, digest=0.1)


@pytest.fixture
async def live(service: Service) -> AsyncIterator[Live]:
    service.app.state.hub.pace = PACE
    async with socketed(service) as running:
        yield running


async def items_of(reader: Reader, count: int) -> set[tuple[str, str, str]]:
    """The next ended items: job, number and status."""
    found: set[tuple[str, str, str]] = set()
    while len(found) < count:
        event = await reader.until(lambda event: event.kind == "item" and event.data["status"] not in _OPEN)
        found.add((event.data["jobId"], event.data["id"], event.data["status"]))
    return found


def ended_jobs(reader: Reader) -> set[str]:
    return {event.data["id"] for event in reader.jobs() if event.data["finishedAt"] is not None}


async def test_one_stream_carries_all_jobs_and_the_items_of_some(live: Live) -> None:
    first, second, third = [await live.submit("a", "broken") for _ in range(3)]
    async with live.reading("ann", f"?topics=jobs,items:{first},items:{second}") as reader:
        told = [(await reader.expect()).data["id"] for _ in range(2)]
        assert told == [first, second]  # as they are now; the third has not changed
        await live.work()
        assert await items_of(reader, 4) == {
            (job_id, n, status) for job_id in (first, second) for n, status in (("1", "DONE"), ("2", "ERROR"))
        }
        while ended_jobs(reader) != {first, second, third}:
            await reader.until(lambda event: event.kind == "job")
        assert {event.data["jobId"] for event in reader.seen if event.kind == "item"} == {first, second}


async def test_without_the_topic_jobs_only_the_followed_jobs_are_told(live: Live) -> None:
    followed = await live.submit("a")
    async with live.reading("ann", f"?topics=items:{followed}") as reader:
        await live.submit("b")
        await live.work()
        await reader.until_done(followed)
        assert {event.data["id"] for event in reader.jobs()} == {followed}


async def test_a_returning_reader_gets_jobs_and_items(live: Live) -> None:
    followed, other = await live.submit("a"), await live.submit("b")
    async with live.reading("ann", f"?topics=jobs,items:{followed}") as reader:
        mark = reader.last_id
    await live.work()
    async with live.reading("ann", f"?topics=jobs,items:{followed}", after=mark) as reader:
        assert await items_of(reader, 1) == {(followed, "1", "DONE")}
        while ended_jobs(reader) != {followed, other}:
            await reader.until(lambda event: event.kind == "job")


async def test_jobs_of_others_are_gone_like_those_that_never_were(live: Live) -> None:
    mine, theirs = await live.submit("a"), await live.submit("b", who="bob")
    async with live.reading("ann", f"?topics=items:{mine},items:{theirs},items:999") as reader:
        assert (await reader.expect()).data["id"] == mine
        gone = [await reader.expect() for _ in range(2)]
        assert [(event.kind, event.data) for event in gone] == [
            ("gone", {"kind": "job", "id": theirs}),
            ("gone", {"kind": "job", "id": "999"}),
        ]
        await live.work()
        await reader.until_done(mine)
        assert {event.data.get("jobId", event.data.get("id")) for event in reader.seen[4:]} == {mine}
    async with live.reading("root", f"?userId=all&topics=items:{mine},items:{theirs}") as reader:
        assert {(await reader.expect()).data["owner"] for _ in range(2)} == {"ann", "bob"}


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ("topics=", "query.topics", "unknown topic ''; the topics are jobs, items:JOB, overview"),
        ("topics=jobs,weather", "query.topics", "unknown topic 'weather'; the topics are jobs, items:JOB, overview"),
        ("topics=items:x", "query.topics", "'items:x' must name a job, as in items:12"),
        ("topics=items:", "query.topics", "'items:' must name a job, as in items:12"),
        (
            "topics=" + ",".join(f"items:{n}" for n in range(MOST_JOBS + 1)),
            "query.topics",
            "one stream follows the items of at most 50 jobs",
        ),
        ("topics=jobs&jobId=3", "query.jobId", "cannot be combined with `topics`: add items:3 to them"),
    ],
)
async def test_topics_that_there_are_not(service: Service, query: str, field: str, reason: str) -> None:
    async with service.client("ann") as client:
        answer = await client.get(f"/api/events?{query}")
    assert (answer.status_code, answer.json()["errors"]) == (422, [{"field": field, "reason": reason}])


# -- what was deleted -----------------------------------------------------------------------------------------------


async def delete_all(live: Live) -> None:
    await live.service.admin.execute("select forebay.delete_finished(clock_timestamp() + interval '90 days')")


async def test_deleted_jobs_are_gone_for_their_owner(live: Live) -> None:
    mine, theirs = await live.submit("a"), await live.submit("b", who="bob")
    await live.work()
    async with (
        live.reading("ann") as reader,
        live.reading("bob") as other,
        live.reading("ann", f"?topics=items:{mine}") as follower,
        live.reading("root", "?userId=all") as everything,
    ):
        mark = reader.last_id
        await delete_all(live)
        for heard, jobs in ((reader, {mine}), (other, {theirs}), (follower, {mine}), (everything, {mine, theirs})):
            gone: set[str] = set()
            while gone != jobs:
                gone.add((await heard.until(lambda event: event.kind == "gone")).data["id"])
    async with live.reading("ann", after=mark) as returned:
        assert (await returned.until(lambda event: event.kind == "gone")).data == {"kind": "job", "id": mine}


# -- large jobs -----------------------------------------------------------------------------------------------------

_LARGE = """
with j as (
    select s.job_id from forebay.submit_many('pages', array(
        select jsonb_build_object('title', 'page ' || g) from generate_series(1, $1::int) g), owner => 'ann') s
)
select job_id::text from j
"""


async def large_job(live: Live) -> str:
    job_id: str = await live.service.admin.fetchval(_LARGE, LARGE_JOB + 1)
    return job_id


async def end_attempts(live: Live, job_id: str, *ns: int) -> None:
    """As a settle does: attempts of these items have ended, and the job has changed."""
    await live.service.admin.execute(
        """with a as (
               insert into forebay.attempt (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token,
                                            started_at, ended_at)
               select j.id, n, 1, 1, 'DONE', j.owner_id, 1, 0, clock_timestamp(), clock_timestamp()
               from forebay.job j, unnest($2::int[]) n where j.id = $1::bigint)
           update forebay.job set done = done + cardinality($2::int[]), updated_at = clock_timestamp()
           where id = $1::bigint""",
        int(job_id),
        list(ns),
    )


async def test_a_large_job_sends_digests_instead_of_items(live: Live) -> None:
    job_id = await large_job(live)
    whole = {"jobId": job_id, "from": 1, "to": LARGE_JOB + 1}
    counts = {"total": LARGE_JOB + 1, "pending": LARGE_JOB + 1, "done": 0, "skipped": 0, "notFound": 0, "error": 0}
    async with live.reading("ann", f"?topics=items:{job_id}") as reader:
        assert (await reader.expect()).kind == "job"
        first = await reader.expect()
        assert (first.kind, first.data) == ("digest", whole | {"counts": counts})
        mark = reader.last_id
        await end_attempts(live, job_id, 17, 23, 400)
        told = await reader.until(lambda event: event.kind == "digest")
        assert (told.data["from"], told.data["to"]) == (17, 400)
        assert told.data["counts"] == counts | {"pending": LARGE_JOB - 2, "done": 3}
        await live.service.admin.execute("select forebay.pause_item($1, 4000)", int(job_id))
        while told.data["to"] != LARGE_JOB + 1:  # changed by other means than an attempt: it may be any item
            told = await reader.until(lambda event: event.kind == "digest")
        assert told.data["from"] == 1
        assert not [event for event in reader.seen if event.kind in {"item", "progress"}]
    async with live.reading("ann", f"?topics=items:{job_id}", after=mark) as returned:
        told = await returned.until(lambda event: event.kind == "digest")
        assert (told.data["from"], told.data["to"], told.data["counts"]["done"]) == (1, LARGE_JOB + 1, 3)


def test_an_unsent_digest_is_extended_by_the_next() -> None:
    subscriber = Subscriber(EventFilter(1, None, frozenset({7})), None, timedelta(seconds=60))
    subscriber.advance(NOW)
    row: Any = {"id": 7, "owner_id": 1, "total": 9000, "done": 5, "skipped": 0, "not_found": 0, "error": 0}
    subscriber.offer(digest_event(row, NOW, (40, 90)))
    subscriber.offer(digest_event(row | {"done": 6}, NOW, (60, 70)))
    subscriber.offer(digest_event(row | {"done": 9}, NOW, (10, 50)))
    (data,) = [line[6:] for line in subscriber.take().decode().splitlines() if line.startswith("data: ")]
    told = json.loads(data)
    assert (told["from"], told["to"], told["counts"]["done"], told["counts"]["pending"]) == (10, 90, 9, 8991)


# -- registered topics ----------------------------------------------------------------------------------------------


class Level(Model):
    owner: str
    jobs: int


@dataclass(frozen=True)
class Levels:
    """How many jobs there are: a topic as another part of the API registers it."""

    name: str = "levels"
    interval_s: float = 0.05

    async def read(self, conn: Connection, owner_id: int | None, /) -> Level:
        return Level(owner=str(owner_id), jobs=await conn.fetchval("select count(*) from forebay.job"))


@pytest.fixture
async def with_levels(service: Service) -> AsyncIterator[Live]:
    async with Hub(service.app.state.pools.watch, PACE, [Levels()]).running() as hub:
        service.app.state.hub = hub
        async with socketed(service) as running:
            yield running


async def test_a_registered_topic_is_read_for_its_readers_with_their_rights(with_levels: Live) -> None:
    live = with_levels
    await live.submit("b", who="bob")
    owner_id = await live.service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    async with (
        live.reading("ann", "?topics=levels") as first,
        live.reading("ann", "?topics=jobs,levels") as second,
        live.reading("root", "?userId=all&topics=levels") as everything,
    ):
        for reader, jobs in ((first, 0), (second, 0)):
            told = await reader.expect()
            assert (told.kind, told.data) == ("levels", {"owner": str(owner_id), "jobs": jobs})
        assert (await everything.expect()).data == {"owner": "None", "jobs": 1}
        await live.submit("a")
        assert (await first.expect()).data["jobs"] == 1
        assert (await everything.expect()).data["jobs"] == 2


async def test_the_overview_is_a_topic_of_the_service(live: Live) -> None:
    await live.submit("b", who="bob")
    async with (
        live.reading("ann", "?topics=overview") as own,
        live.reading("root", "?userId=all&topics=overview") as everything,
    ):
        told = await own.until(lambda event: event.kind == "overview")
        assert told.data["jobs"] == []
        told = await everything.until(lambda event: event.kind == "overview")
        assert [job["owner"] for job in told.data["jobs"]] == ["bob"]


def test_a_topic_survives_falling_behind() -> None:
    subscriber = Subscriber(EventFilter(1, named=frozenset({"levels"})), None, timedelta(seconds=60))
    subscriber.advance(NOW)
    subscriber.offer(Event("levels", 1, None, 0, 0, NOW, b"1"))
    subscriber.fall_behind(NOW)
    subscriber.offer(Event("levels", 1, None, 0, 0, NOW, b"2"))
    assert b"data: 2" in subscriber.take()
    assert subscriber.take() == b""
