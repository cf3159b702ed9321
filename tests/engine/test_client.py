"""The client: everything that a program does with jobs, on every kind of connection."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import asyncpg
import psycopg
import pytest

import forebay
from forebay import Client, Context, JobSummary, Pipeline, Submitted, SyncClient
from forebay.engine.submit import results
from forebay.errors import (
    ConflictError,
    DatabaseUnavailable,
    ForebayError,
    InputTooLarge,
    InvalidField,
    NotFoundError,
    UnknownPipeline,
)
from forebay.testing import testbed
from tests.engine._producing import Page, counts, inputs_of, pages, papers, register, strangers
from tests.engine.test_adapters import ASYNC, SYNC, Undone

every_async = pytest.mark.parametrize("opened", ASYNC.values(), ids=ASYNC.keys())
every_sync = pytest.mark.parametrize("opened", SYNC.values(), ids=SYNC.keys())


@pytest.fixture
async def watcher(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    await register(conn)
    yield conn
    await conn.close()


numbers: Pipeline[int] = Pipeline("numbers", int)


@numbers.step()
async def half(ctx: Context, n: int) -> int:
    if n % 2:
        raise forebay.PermanentError("odd")
    return n // 2


@every_async
async def test_every_async_connection_controls_a_job(dsn: str, watcher: asyncpg.Connection[Any], opened: Any) -> None:
    async with opened(dsn) as conn:
        client = Client(conn, actor="ann")
        await client.register(pages, numbers)
        one = await client.submit(pages, Page(url="1"))
        many = await client.submit_many(pages, [Page(url="2"), Page(url="3")])
        jobs = await client.submit_jobs(pages, [Page(url="é"), Page(url="5")], keys=[None, "k"])
        assert await client.pause(one)
        assert not await client.pause(one)
        assert await client.resume(one)
        assert await client.cancel(many.job_id)
        assert [event.state async for event in client.events(many)] == ["CANCELLED"]
        assert (await client.wait(many)).skipped == 2
        assert await client.reprocess(many, ["SKIPPED"], ns=[2]) == 1
        assert (await client.job(many)).open == 1
        assert [item.input["url"] async for item in client.results(many)] == ["2", "3"]
    assert await inputs_of(watcher, jobs[0].job_id) == [Page(url="é").model_dump()]
    assert await watcher.fetchval("select array_agg(distinct actor) from forebay.audit") == ["ann"]


@every_sync
async def test_every_blocking_connection_controls_a_job(
    dsn: str, watcher: asyncpg.Connection[Any], opened: Any
) -> None:
    def control() -> list[Submitted]:
        with opened(dsn) as conn:
            client = SyncClient(conn, actor="ann")
            client.register(pages, numbers)
            one = client.submit(pages, Page(url="1"))
            many = client.submit_many(pages, [Page(url="2"), Page(url="3")])
            jobs = client.submit_jobs(pages, [Page(url="é"), Page(url="5")], keys=[None, "k"])
            assert client.pause(one)
            assert client.resume(one)
            assert client.cancel(many.job_id)
            assert [event.state for event in client.events(many)] == ["CANCELLED"]
            assert client.wait(many).skipped == 2
            assert client.reprocess(many, ["SKIPPED"], ns=[2]) == 1
            assert client.job(many).open == 1
            assert [item.input["url"] for item in client.results(many)] == ["2", "3"]
            return jobs

    jobs = await asyncio.to_thread(control)
    assert await inputs_of(watcher, jobs[0].job_id) == [Page(url="é").model_dump()]
    assert await watcher.fetchval("select array_agg(distinct actor) from forebay.audit") == ["ann"]


async def test_many_jobs_run_one_by_one(dsn: str) -> None:
    async with testbed(dsn, [numbers], migrated=True) as bed:
        client = Client(bed.pool)
        jobs = await client.submit_jobs(numbers, range(20), owner="ann", meta={"from": "test"})
        assert len({job.job_id for job in jobs}) == 20
        await bed.finish()
        for n, job in enumerate(jobs):
            (item,) = [item async for item in client.results(job)]
            assert (item.input, item.result) == (n, {} if n % 2 else {"half": n // 2})
        assert (await client.job(jobs[3])).owner == "ann"
        assert await client.reprocess(jobs[3]) == 1


async def test_keys_of_many_jobs(watcher: asyncpg.Connection[Any]) -> None:
    client = Client(watcher)
    before = await client.submit(papers, {"n": 0}, key="a")
    new = await client.submit_jobs(papers, [{"n": n} for n in range(5)], keys=["a", None, "b", "b", None])
    assert [job.created for job in new] == [False, True, True, False, True]
    assert new[0].job_id == before.job_id
    assert new[2].job_id == new[3].job_id
    assert [await inputs_of(watcher, job.job_id) for job in new] == [[{"n": n}] for n in (0, 1, 2, 2, 4)]
    assert (await counts(watcher))["ready"] == 4
    assert await client.submit_jobs(papers, []) == []


async def test_many_jobs_later(watcher: asyncpg.Connection[Any]) -> None:
    await Client(watcher).submit_jobs(papers, [{}, {}], delay=60, priority=3)
    found = await counts(watcher)
    assert (found["scheduled"], found.get("ready", 0)) == (2, 0)


async def test_many_jobs_wake_a_worker_once(dsn: str, watcher: asyncpg.Connection[Any]) -> None:
    heard: list[Any] = []
    await watcher.add_listener("forebay", lambda *said: heard.append(said[-1]))
    other = await asyncpg.connect(dsn)
    await Client(other).submit_jobs(papers, [{} for _ in range(50)])
    await other.close()
    await watcher.fetchval("select 1")
    assert len(heard) == 1


async def test_invalid_jobs_write_nothing(dsn: str, watcher: asyncpg.Connection[Any]) -> None:
    client = Client(watcher)
    bad: list[Any] = [Page(url="1"), {"uri": 2}]
    with pytest.raises(InvalidField, match=r"inputs\[1\]"):
        await client.submit_jobs(pages, bad)
    with pytest.raises(InputTooLarge, match=r"inputs\[1\]"):
        await client.submit_jobs(pages, [Page(url="1"), Page(url="x" * 2000)])
    with pytest.raises(InvalidField, match="keys: must have as many entries as inputs"):
        await client.submit_jobs(papers, [{}, {}], keys=["a"])
    with pytest.raises(InvalidField, match=r"keys\[1\]: must have 1 to 500 characters"):
        await client.submit_jobs(papers, [{}, {}], keys=["a", ""])
    with pytest.raises(UnknownPipeline, match="there is no pipeline 'strangers' here"):
        await client.submit_jobs(strangers, [Page(url="1")])
    for statement, field in (
        ("select forebay.submit_jobs('papers', array[null]::jsonb[])", "inputs: must be JSON values, not SQL nulls"),
        ("select forebay.submit_jobs('papers', '{1}', keys => '{a,b}')", "keys: must have as many entries as inputs"),
        ("select forebay.submit_jobs('papers', '{1}', keys => '{\"\"}')", "keys[0]: must have 1 to 500 characters"),
        ("select forebay.submit_jobs('papers', '{1}', priority => 101)", "priority: must be between -100 and 100"),
        ("select forebay.submit_jobs('nobody', '{1}')", "pipeline: there is no pipeline 'nobody' here"),
    ):
        with pytest.raises(asyncpg.PostgresError) as error:
            await watcher.execute(statement)
        assert field in str(error.value)
    assert await counts(watcher) == {}


@pytest.mark.direct
async def test_the_first_jobs_register_their_pipeline(dsn: str) -> None:
    async with Client.connect(dsn) as client:
        assert len(await client.submit_jobs(numbers, [1, 2])) == 2
        with pytest.raises(NotFoundError, match="there is no job 99"):
            await client.wait(99)
        with pytest.raises(NotFoundError, match="there is no job 99"):
            await anext(client.results(99))
    with SyncClient.connect(dsn) as blocking:
        (job,) = blocking.submit_jobs(numbers, [4])
        assert next(iter(blocking.events(job))).state == "QUEUED"
        with pytest.raises(TimeoutError, match=r"job \d+ is not over after 0\.02 s"):
            blocking.wait(job, timeout=0.02)
        with pytest.raises(NotFoundError, match="there is no job 99"):
            blocking.job(99)
        with pytest.raises(NotFoundError, match="there is no job 99"):
            list(blocking.results(99))


async def test_a_timeout_of_zero_is_one_look(dsn: str, watcher: asyncpg.Connection[Any]) -> None:
    client = Client(watcher)
    job = await client.submit(pages, Page(url="1"))
    with SyncClient.connect(dsn) as blocking:
        waits: list[Callable[..., Awaitable[JobSummary]]] = [
            client.wait,
            lambda *args, **options: asyncio.to_thread(blocking.wait, *args, **options),
        ]
        async with watcher.transaction():
            for wait in waits:
                with pytest.raises(TimeoutError, match=rf"^job {job.job_id} is not over after 0 s$"):
                    await wait(job, timeout=0)
            assert await client.cancel(job)  # the transaction goes on
        for wait in waits:
            assert (await wait(job, timeout=0)).state == "CANCELLED"


def test_the_last_look_is_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [0.0]
    monkeypatch.setattr(results, "time", SimpleNamespace(monotonic=lambda: looks[-1]))

    def wait() -> None:
        for pause in results.pauses(7, 4.5):
            looks.append(looks[-1] + pause)

    with pytest.raises(TimeoutError, match=r"^job 7 is not over after 4\.5 s$"):
        wait()
    assert looks[1] == 0.0
    assert looks[-1] == pytest.approx(4.5)
    assert max(after - before for before, after in pairwise(looks)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("address", "reason"),
    [("postgresql://nobody@127.0.0.1:1/none", "failed"), ("no address", "its address is invalid")],
)
async def test_both_clients_name_a_database_that_is_unavailable(address: str, reason: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=rf"^cannot use the database: .*{reason}"):
        async with Client.connect(address):
            pass
    with (
        pytest.raises(DatabaseUnavailable, match=rf"^cannot use the database: .*{reason}"),
        SyncClient.connect(address),
    ):
        pass


def test_a_client_that_blocks_needs_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    needed = r"^SyncClient\.connect needs psycopg: pip install 'forebay\[psycopg\]'$"
    with pytest.raises(ForebayError, match=needed), SyncClient.connect("postgresql://"):
        pass


async def test_events_end_with_the_job(dsn: str) -> None:
    async with testbed(dsn, [numbers], migrated=True) as bed:
        client = Client(bed.pool)
        job = await client.submit_many(numbers, [2, 4])
        events = client.events(job)
        seen = [await anext(events)]
        await bed.finish()
        seen += [event async for event in events]
        assert (seen[0].state, seen[0].open) == ("QUEUED", 2)
        assert (seen[-1].state, seen[-1].done) == ("DONE", 2)
        with pytest.raises(ConflictError, match="it has already ended"):
            await client.cancel(job)


async def test_jobs_of_a_client_belong_to_its_transaction(dsn: str, watcher: asyncpg.Connection[Any]) -> None:
    def undo() -> None:
        with suppress(Undone), psycopg.connect(dsn) as conn:
            SyncClient(conn).submit_jobs(papers, [{}])
            raise Undone

    await asyncio.to_thread(undo)
    with suppress(Undone):
        async with watcher.transaction():
            await Client(watcher).submit_jobs(papers, [{}])
            raise Undone
    assert await counts(watcher) == {}


def test_errors_types_and_outcomes_are_names_of_forebay() -> None:
    for name in forebay.__all__:
        assert getattr(forebay, name) is not None
    assert {"ConflictError", "InvalidField", "Outcome", "Write", "Client", "SyncClient"} <= set(forebay.__all__)
