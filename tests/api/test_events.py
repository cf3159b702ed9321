"""Events: each owner's own, none missed, cheap for many, and over when they should be."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import psutil
import pytest

from forebay import Context, Pipeline
from forebay.api import paging
from forebay.api.auth.cookies import COOKIE
from forebay.api.events.event import Event
from forebay.api.events.hub import Pace
from forebay.api.events.subscribers import MOST_WAITING, Subscriber
from forebay.api.events.topics import EventFilter
from forebay.engine.db import registry
from forebay.engine.work.worker import Worker
from forebay.identity import db as identity
from forebay.settings import Settings
from tests.api._service import PASSWORD, Service
from tests.api._streams import PATIENCE, Live, Reader, socketed
from tests.sql._db import Db, step

QUICK = Pace(poll=0.05, far_every=0.2)
NOW = datetime(2030, 1, 1, tzinfo=UTC)
FIRST = frozenset({1})


@pytest.fixture
async def live(service: Service) -> AsyncIterator[Live]:
    service.app.state.hub.pace = QUICK
    async with socketed(service) as running:
        yield running


# -- what comes -----------------------------------------------------------------------------------------------------


async def test_a_job_is_told_from_its_submit_to_its_end(live: Live) -> None:
    async with live.reading("ann") as reader:
        ready = reader.seen[0]
        assert abs(datetime.fromisoformat(ready.data["time"]) - datetime.now(UTC)) < timedelta(seconds=60)
        job_id = await live.submit("a", "b")
        first = await reader.expect()
        assert (first.kind, first.data["id"], first.data["state"]) == ("job", job_id, "QUEUED")
        await live.work()
        await reader.until_done(job_id)
        async with live.client("ann") as client:
            job = (await client.get(f"/api/jobs/{job_id}")).json()
        assert reader.seen[-1].data == job
        assert job["counters"]["done"] == 2


async def test_one_owner_has_so_many_streams_at_a_time(live: Live, service: Service) -> None:
    service.app.state.settings = service.app.state.settings.model_copy(update={"api_max_streams": 2})
    async with live.client("ann") as client, live.reading("ann"), live.reading("ann"):
        refused = await client.get("/api/events")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert refused.json()["detail"] == "2 event streams are already open: close one first"
        async with live.reading("bob"):
            pass
    hub = service.app.state.hub
    while hub.listeners:  # noqa: ASYNC110 - the streams end when their sockets do
        await asyncio.sleep(0.01)
    async with live.reading("ann"):
        assert hub.listeners == 1


async def test_only_jobs_of_the_pipeline(live: Live) -> None:
    other: Pipeline[dict[str, Any]] = Pipeline("other", dict)
    other.step()(nothing)
    async with live.reading("ann", "?pipeline=other") as reader:
        await live.submit("a")
        await registry.register(live.service.admin, other.definition())
        submitted = await other.submit(live.service.admin, {}, owner="ann")
        assert (await reader.expect()).data["id"] == str(submitted.job_id)


async def nothing(ctx: Context, value: dict[str, Any]) -> None:
    pass


async def test_one_job_comes_as_it_is_then_with_its_items(live: Live) -> None:
    other = await live.submit("x")
    job_id = await live.submit("a", "broken", "missing")
    async with live.reading("ann", f"?jobId={job_id}") as reader:
        assert (await reader.expect()).data["state"] == "QUEUED"
        await live.work()
        statuses: dict[str, str] = {}
        while set(statuses.values()) != {"DONE", "ERROR", "NOT_FOUND"} or len(statuses) < 3:
            event = await reader.until(lambda event: event.kind == "item")
            statuses[event.data["id"]] = event.data["status"]
        assert statuses == {"1": "DONE", "2": "ERROR", "3": "NOT_FOUND"}
        assert {event.data.get("jobId", event.data.get("id")) for event in reader.seen[1:]} == {job_id}
    async with live.reading("ann", f"?jobId={other}") as reader:  # nothing will change any more
        assert (await reader.expect()).data["state"] == "DONE"


async def test_progress_comes_while_a_step_runs(live: Live) -> None:
    steps: Pipeline[dict[str, Any]] = Pipeline("steps", dict)
    may_go_on, may_end = asyncio.Event(), asyncio.Event()

    @steps.step()
    async def slow(ctx: Context, value: dict[str, Any]) -> None:
        ctx.progress(0.25, "a quarter")
        await may_go_on.wait()
        ctx.progress(0.75, "most of it")
        await may_end.wait()

    worker = Worker(live.service.dsn, [steps], settings=Settings(listen=False, poll_s=0.05))
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    job = await steps.submit(live.service.admin, {}, owner="ann")
    try:
        async with live.reading("ann", f"?jobId={job.job_id}") as reader:
            told = await reader.until(lambda event: event.kind == "progress")
            assert told.data == {
                "jobId": str(job.job_id),
                "itemId": "1",
                "progress": {
                    "step": "slow",
                    "fraction": 0.25,
                    "note": "a quarter",
                    "bytesDone": None,
                    "bytesTotal": None,
                    "bytesPerSecond": None,
                    "endsAt": None,
                },
            }
            async with live.reading("ann", f"?jobId={job.job_id}") as late:  # one who comes later is told, too
                assert (await late.until(lambda event: event.kind == "progress")).data == told.data
            may_go_on.set()
            told = await reader.until(lambda event: event.kind == "progress")
            assert told.data["progress"]["fraction"] == 0.75
            may_end.set()
            await reader.until_done(str(job.job_id))
    finally:
        may_go_on.set()
        may_end.set()
        worker.stop()
        await running


async def test_quiet_streams_show_that_they_live_and_move_their_mark(live: Live) -> None:
    live.hub.pace = replace(QUICK, tick=0.1)
    async with live.reading("ann") as reader:
        greeted_with = reader.last_id
        while reader.last_id == greeted_with:
            tick = await reader.expect()
            assert tick.kind == "tick"
            assert abs(datetime.fromisoformat(tick.data["time"]) - datetime.now(UTC)) < timedelta(seconds=60)


# -- whose ----------------------------------------------------------------------------------------------------------


async def test_everyone_hears_of_their_own_only(live: Live) -> None:
    async with AsyncExitStack() as readers:
        everyone = {
            name: await readers.enter_async_context(live.reading(who, query))
            for name, who, query in (
                ("ann", "ann", ""),
                ("bob", "bob", ""),
                ("root", "root", ""),
                ("all", "root", "?userId=all"),
                ("service", "service", ""),
            )
        }
        theirs = [await live.submit("a", who="ann") for _ in range(3)]
        his = await live.submit("b", who="bob")
        hers = await live.submit("c", who="root")
        await live.work()
        await everyone["ann"].until_done(*theirs)
        await everyone["service"].until_done(*theirs)
        await everyone["bob"].until_done(his)
        await everyone["root"].until_done(hers)
        await everyone["all"].until_done(*theirs, his, hers)
        owners = {name: {event.data["owner"] for event in reader.jobs()} for name, reader in everyone.items()}
    assert owners == {
        "ann": {"ann"},
        "service": {"ann"},
        "bob": {"bob"},
        "root": {"root"},
        "all": {"ann", "bob", "root"},
    }


async def test_what_was_missed_is_one_s_own_too(live: Live) -> None:
    async with live.reading("bob") as reader:
        mark = reader.last_id
    theirs = await live.submit("a", who="ann")
    his = await live.submit("b", who="bob")
    async with live.reading("bob", after=mark) as reader:
        assert (await reader.expect()).data["id"] == his
    async with live.reading("root", "?userId=all", after=mark) as reader:
        assert [(await reader.expect()).data["id"] for _ in range(2)] == [theirs, his]


async def test_who_may_ask_for_what(live: Live) -> None:
    job_id = await live.submit("a", who="ann")
    for who, query, status, field, reason in (
        ("ann", "?userId=all", 403, "query.userId", "only administrators may see the rows of others"),
        ("ann", "?userId=bob", 422, "query.userId", "must be `me` or `all`"),
        ("bob", f"?jobId={job_id}", 404, "job", f"there is no job {job_id}"),
        ("root", f"?jobId={job_id}", 404, "job", f"there is no job {job_id}"),
        ("ann", "?jobId=999", 404, "job", "there is no job 999"),
    ):
        async with live.client(who) as client:
            answer = await client.get(f"/api/events{query}")
        assert answer.status_code == status, (who, query)
        assert answer.json()["errors"] == [{"field": field, "reason": reason}]
    async with live.client(None) as nobody:
        assert (await nobody.get("/api/events")).status_code == 401
    async with live.reading("root", f"?userId=all&jobId={job_id}") as reader:
        assert (await reader.expect()).data["owner"] == "ann"


def event(job_id: int = 1, *, at: datetime = NOW, size: int = 2, owner_id: int | None = 1, **changes: Any) -> Event:
    return replace(Event("job", owner_id, "pages", job_id, 0, at, b"x" * size), **changes)


@pytest.mark.parametrize(
    ("event_filter", "told", "is_heard"),
    [
        (EventFilter(1), event(), True),
        (EventFilter(2), event(), False),
        (EventFilter(None), event(), True),
        (EventFilter(1, "pages", FIRST, has_jobs=False), event(), True),
        (EventFilter(2, "pages", FIRST, has_jobs=False), event(), False),
        (EventFilter(1, "other"), event(), False),
        (EventFilter(1, None, frozenset({2}), has_jobs=False), event(), False),
        (EventFilter(1, None, frozenset({2})), event(), True),
        (EventFilter(1), event(kind="item"), False),
        (EventFilter(None), event(kind="progress"), False),
        (EventFilter(1, None, FIRST), event(kind="item", n=3), True),
        (EventFilter(2, None, FIRST), event(kind="item", n=3), False),
        (EventFilter(2, None, FIRST), event(kind="progress", n=3), False),
        (EventFilter(2, None, FIRST), event(kind="digest"), False),
        (EventFilter(1), event(kind="gone", pipeline=None), True),
        (EventFilter(2), event(kind="gone", pipeline=None), False),
        (EventFilter(1, named=frozenset({"overview"})), event(kind="overview", owner_id=1), True),
        (EventFilter(1, named=frozenset({"overview"})), event(kind="overview", owner_id=2), False),
        (EventFilter(1, named=frozenset({"overview"})), event(kind="overview", owner_id=None), False),
        (EventFilter(None, named=frozenset({"overview"})), event(kind="overview", owner_id=1), False),
        (EventFilter(1), event(kind="overview", owner_id=1), False),
    ],
)
def test_who_hears_what(event_filter: EventFilter, told: Event, is_heard: bool) -> None:
    subscriber = Subscriber(event_filter, None, timedelta(seconds=60))
    subscriber.offer(told)
    subscriber.advance(NOW)
    assert bool(subscriber.take()) is is_heard


# -- coming back ----------------------------------------------------------------------------------------------------


async def test_nothing_is_missed_by_who_comes_and_goes_while_jobs_end(live: Live) -> None:
    async with live.reading("ann") as reader:
        mark = reader.last_id
    job_ids = {await live.submit("a", "b") for _ in range(20)}
    working = asyncio.create_task(live.work())
    latest: dict[str, str] = {}
    while set(latest.values()) != {"DONE"} or set(latest) != job_ids:
        async with live.reading("ann", after=mark) as reader:
            for _ in range(25):  # all that changed lately comes again, then at least five more
                event = await reader.expect()
                latest[event.data["id"]] = event.data["state"]
                if set(latest.values()) == {"DONE"}:
                    break
            assert len({event.state for event in reader.jobs()}) == len(reader.jobs())  # none comes twice
            mark = reader.last_id
    await working


async def test_who_was_away_gets_the_items_that_ended_meanwhile(live: Live) -> None:
    job_id = await live.submit(*"abcde")
    async with live.reading("ann", f"?jobId={job_id}") as reader:
        mark = reader.last_id
    await live.work()
    for query, header in ((f"?jobId={job_id}", mark), (f"?jobId={job_id}&after={mark}", None)):
        async with live.reading("ann", query, after=header) as reader:
            while len([event for event in reader.seen if event.kind == "item"]) < 5:
                await reader.expect()
            assert {e.data["id"]: e.data["status"] for e in reader.seen if e.kind == "item"} == dict.fromkeys(
                "12345", "DONE"
            )
            assert reader.jobs()[-1].data["state"] == "DONE"


async def test_more_than_a_page_was_missed(live: Live) -> None:
    async with live.reading("ann") as reader:
        mark = reader.last_id
    job_ids = await submit_at_once(live, 450)
    async with live.reading("ann", after=mark) as reader:
        while len(reader.jobs()) < 450:
            await reader.expect()
        assert [int(event.data["id"]) for event in reader.jobs()] == job_ids
        marks = [paging.decode(event.id, paging.moment)[0] for event in reader.jobs()]
        assert marks == sorted(marks)


async def submit_at_once(live: Live, count: int) -> list[int]:
    found = await live.service.admin.fetch(
        """select s.job_id from generate_series(1, $1::int) g
           cross join lateral forebay.submit('pages', jsonb_build_object('title', g::text), owner => 'ann') s""",
        count,
    )
    return sorted(row["job_id"] for row in found)


@asynccontextmanager
async def late_submit(live: Live, seconds: float) -> AsyncIterator[int]:
    """A job whose submit took so long; it commits in the end."""
    await live.submit("the first: others need not wait for the lane that it makes")
    conn = await asyncpg.connect(live.service.dsn)
    try:
        async with conn.transaction():
            yield await conn.fetchval(
                """select job_id from forebay.submit('pages', '{"title": "late"}', owner => 'ann',
                                                     now => clock_timestamp() - make_interval(secs => $1))""",
                seconds,
            )
    finally:
        await conn.close()


async def test_a_late_commit_is_heard_of(live: Live) -> None:
    async with live.reading("ann") as reader:
        async with late_submit(live, 40) as late:
            on_time = await live.submit("a")
            await reader.until_told(on_time)
        assert (await reader.expect()).data["id"] == str(late)


async def test_a_commit_while_away_is_heard_of_however_late(live: Live) -> None:
    async with late_submit(live, 40) as late, live.reading("ann") as reader:
        on_time = await live.submit("a")
        await reader.until_told(on_time)
        mark = reader.last_id
    async with live.reading("ann", after=mark) as reader:
        await reader.until_told(on_time)
        assert str(late) in {event.data["id"] for event in reader.jobs()}


async def test_of_two_steps_that_end_together_both_are_told_in_whatever_order_they_commit(live: Live) -> None:
    db = Db(live.service.admin, live.service.dsn)
    await db.register(step("left"), step("right"), step("last", "left", "right"))
    db.now = datetime.now(UTC)
    job_id = await db.submit(owner="ann")
    left, right = await db.claim("left"), await db.claim("right")
    async with live.reading("ann", f"?topics=items:{job_id}") as reader:
        await db.settle(right)
        first = await reader.until(lambda event: event.kind == "item")
        db.after(seconds=-0.5)  # it has ended earlier, and has waited for a lock
        await db.settle(left)
        second = await reader.until(lambda event: event.kind == "item")
    assert second.data["updatedAt"] > first.data["updatedAt"]


def marked(*parts: Any) -> str:
    return paging.encode(*parts)


@pytest.mark.parametrize(
    "event_id",
    [
        "",
        "x",
        "!!!",
        "W10",
        "é",
        marked(1),
        marked("yesterday"),
        marked("2030-01-01T00:00:00"),
        marked("0001-01-01T00:00:00+00:00"),
        marked("9999-12-31T23:59:59-12:00"),
        marked(NOW, 1),
        "a" * 401,
    ],
)
async def test_an_id_that_is_none_of_ours(service: Service, event_id: str) -> None:
    async with service.client("ann") as client:
        header = await client.get("/api/events", headers={b"last-event-id": event_id.encode()})
        query = await client.get("/api/events", params={"after": event_id})
    for answer, field in ((header, "header.Last-Event-ID"), (query, "query.after")):
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["errors"][0]["field"] == field
        if len(event_id) <= 400:
            assert answer.json()["errors"][0]["reason"] == "is not the id of an event"


async def test_an_id_of_tomorrow_is_as_good_as_now(live: Live) -> None:
    async with live.reading("ann", after=marked(datetime.now(UTC) + timedelta(days=1))) as reader:
        job_id = await live.submit("a")
        assert (await reader.until(lambda event: event.kind == "job")).data["id"] == job_id


# -- slow readers ---------------------------------------------------------------------------------------------------


def kinds(frames: bytes) -> list[str]:
    return [frame.decode().split("data: ")[1] for frame in frames.split(b"\n\n") if frame]


def test_what_waits_is_the_newest_of_each() -> None:
    subscriber = Subscriber(EventFilter(1), None, timedelta(seconds=60))
    subscriber.advance(NOW)
    for second in range(100):
        for job_id in (1, 2):
            subscriber.offer(event(job_id, at=NOW + timedelta(seconds=second), data=f"{job_id}/{second}".encode()))
    assert kinds(subscriber.take()) == ["1/99", "2/99"]
    assert subscriber.take() == b""


def test_only_the_last_that_waits_carries_the_new_mark() -> None:
    subscriber = Subscriber(EventFilter(1), None, timedelta(seconds=60))
    subscriber.advance(NOW)
    later = NOW + timedelta(seconds=1)
    for job_id in (1, 2, 3):
        subscriber.offer(event(job_id))
    subscriber.advance(later)
    ids = [line.removeprefix("id: ") for line in subscriber.take().decode().split("\n") if line.startswith("id: ")]
    assert ids == [marked(NOW), marked(NOW), marked(later)]


def test_what_was_read_by_catching_up_does_not_come_twice() -> None:
    subscriber = Subscriber(EventFilter(1), NOW, timedelta(seconds=60))
    subscriber.advance(NOW)
    subscriber.begin_to_catch_up()
    assert [
        subscriber.is_to_send(event(1)),
        subscriber.is_to_send(event(1)),
        subscriber.is_to_send(event(2, owner_id=2)),
    ] == [
        True,
        False,
        False,
    ]
    subscriber.offer(event(1))
    assert subscriber.take() == b""
    subscriber.offer(event(1, at=NOW + timedelta(microseconds=1)))
    assert subscriber.take()
    subscriber.offer(event(1, data=b"another change at the same time"))
    assert subscriber.take()


@pytest.mark.parametrize(("count", "size"), [(MOST_WAITING + 1, 2), (20, 100_000)])
def test_who_is_too_slow_reads_again_from_the_oldest_it_missed(count: int, size: int) -> None:
    subscriber = Subscriber(EventFilter(1), None, timedelta(seconds=60))
    subscriber.advance(NOW)
    for job_id in range(count):
        subscriber.offer(event(job_id, at=NOW + timedelta(seconds=job_id), size=size))
    subscriber.offer(event(0, at=NOW - timedelta(seconds=5)))
    assert subscriber.take() == b""
    assert subscriber.begin_to_catch_up()[0] == NOW - timedelta(seconds=5)


async def test_a_flood_reaches_who_reads_it(live: Live) -> None:
    async with live.reading("ann") as reader:
        job_ids = await submit_at_once(live, MOST_WAITING + 500)
        heard: set[int] = set()
        while heard != set(job_ids):
            heard.add(int((await reader.expect()).data["id"]))


async def test_a_flood_of_items_reaches_who_reads_it(live: Live) -> None:
    live.hub.pace = replace(QUICK, poll=2.0, catch_up=0.1)
    job_id = await live.submit(*(str(n) for n in range(MOST_WAITING + 500)))
    async with live.reading("ann", f"?jobId={job_id}") as reader:
        working = asyncio.create_task(live.work())
        done: set[str] = set()
        while len(done) < MOST_WAITING + 500:
            event = await reader.until(lambda event: event.kind == "item")
            if event.data["status"] == "DONE":
                done.add(event.data["id"])
        await working


async def test_a_slow_reader_gets_the_newest_of_each_job(live: Live) -> None:
    """Nobody reads from the socket while 15 jobs of 20 kB change 80 times: 24 MB, of which the socket holds a part."""
    for _ in range(15):
        await live.submit("a", meta={"padding": "x" * 20_000})
    rounds = 80
    async with live.reading("ann") as quick, unread(live, "ann") as slow:
        for priority in range(1, rounds + 1):
            await live.service.admin.execute(
                "update forebay.job set priority = $1, updated_at = clock_timestamp()", priority
            )
            told: set[str] = set()
            while len(told) < 15:
                event = await quick.expect()
                if event.data["priority"] == priority:
                    told.add(event.data["id"])
        newest: dict[str, int] = {}
        count = 0
        while len(newest) < 15 or set(newest.values()) != {rounds}:
            event = await slow.expect()
            newest[event.data["id"]] = event.data["priority"]
            count += 1
    assert count < 15 * rounds / 2


@asynccontextmanager
async def unread(live: Live, who: str) -> AsyncIterator[Reader]:
    """A reader of whose connection nothing is read before it asks for it, and whose socket holds little."""
    options = [(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)]
    transport = httpx.AsyncHTTPTransport(socket_options=options)
    headers = {"authorization": f"Bearer {live.service.tokens[who]}"}
    async with (
        httpx.AsyncClient(base_url=live.url, headers=headers, transport=transport, timeout=PATIENCE) as client,
        client.stream("GET", "/api/events") as answer,
    ):
        reader = Reader(answer)
        assert (await reader.expect()).kind == "ready"
        yield reader


# -- the end --------------------------------------------------------------------------------------------------------


async def ended(reader: Reader) -> None:
    while await reader.next() is not None:
        pass


async def test_a_revoked_token_ends_the_stream(live: Live) -> None:
    live.hub.pace = replace(QUICK, recheck=0.1)
    async with live.reading("bob") as others, live.reading("ann") as reader:
        await live.service.admin.execute(
            """update forebay.api_token set revoked_at = clock_timestamp()
               where account_id = (select id from forebay.account where name = 'ann')"""
        )
        await ended(reader)
        job_id = await live.submit("b", who="bob")
        assert (await others.expect()).data["id"] == job_id


async def test_who_is_no_longer_administrator_hears_no_longer_of_all(live: Live) -> None:
    live.hub.pace = replace(QUICK, recheck=0.1)
    async with live.reading("root", "?userId=all") as reader:
        await identity.change_account(live.service.admin, "root", role="user")
        await ended(reader)


async def test_the_end_of_a_session_ends_its_stream(live: Live) -> None:
    live.hub.pace = replace(QUICK, recheck=0.1)
    async with live.client(None) as browser:
        await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
        assert COOKIE in browser.cookies
        async with browser.stream("GET", "/api/events") as answer:
            reader = Reader(answer)
            assert (await reader.expect()).kind == "ready"
            job_id = await live.submit("a")
            assert (await reader.expect()).data["id"] == job_id
            await live.service.admin.execute("delete from forebay.session")
            await ended(reader)


async def test_a_lost_connection_of_the_hub_loses_nothing(live: Live) -> None:
    async with live.reading("ann") as reader:
        for _ in range(3):
            await live.service.admin.execute(
                """select pg_terminate_backend(pid) from pg_stat_activity
                   where application_name = 'forebay admin' and datname = current_database()"""
            )
            job_id = await live.submit("a")
            assert (await reader.until(lambda event: event.kind == "job")).data["id"] == job_id


async def test_streams_end_when_the_server_stops(service: Service) -> None:
    async with AsyncExitStack() as readers:
        async with socketed(service) as live:
            open_ones = [await readers.enter_async_context(live.reading("ann")) for _ in range(3)]
            stuck = await readers.enter_async_context(unread(live, "bob"))
        for reader in (*open_ones, stuck):
            await ended(reader)


# -- many -----------------------------------------------------------------------------------------------------------


async def test_a_hundred_streams_are_cheap(service: Service) -> None:
    """In a process of its own, whose memory and connections are its own, and which stops while all of them are open."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.api._streams", service.dsn, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        live = Live((await process.stdout.readline()).decode().strip(), service)
        async with AsyncExitStack() as readers:
            await readers.enter_async_context(live.reading("ann"))
            before = psutil.Process(process.pid).memory_info().rss
            everyone = list(
                await asyncio.gather(
                    *(readers.enter_async_context(live.reading(who)) for who in ("ann", "bob") for _ in range(50))
                )
            )
            theirs = [str(job_id) for job_id in await submit_at_once(live, 300)]
            his = await live.submit("b", who="bob")
            await live.work()
            await asyncio.gather(
                *(reader.until_done(*theirs) for reader in everyone[:50]),
                *(reader.until_done(his) for reader in everyone[50:]),
            )
            growth = psutil.Process(process.pid).memory_info().rss - before
            connections = await service.admin.fetchval(
                """select count(*) from pg_stat_activity
                   where datname = current_database() and application_name like 'forebay %'"""
            )
            process.send_signal(signal.SIGTERM)
            await asyncio.gather(*(ended(reader) for reader in everyone))
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert growth < 50 << 20
    assert connections <= 12


async def test_a_job_that_cannot_be_shown_silences_nobody(live: Live) -> None:
    async with live.reading("ann") as reader:
        deep = f'{{"m": {"[" * 2000}{"]" * 2000}}}'
        await live.service.admin.execute(
            """with j as (select * from forebay.submit('pages', '{}', owner => 'ann'))
               update forebay.job set meta = $1::text::jsonb from j where id = j.job_id""",
            deep,
        )
        job_id = await live.submit("a")
        await reader.until_told(job_id)
