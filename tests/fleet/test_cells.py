"""Cells by owner: two databases, each with a prefix in one broker, and one fleet that works for both."""

# demands: S1-118

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.engine.submit.results import wait
from forebay.fleet.bullmq import BullMQDispatcher, BullMQRunner
from forebay.fleet.jetstream import JetStreamDispatcher, JetStreamRunner
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.fleet._nats import NatsCluster
    from tests.fleet._redis import RedisServer

OWNERS = [f"owner {number}" for number in range(8)]
HOSTS = 2

pipeline: Pipeline[dict[str, Any]] = Pipeline("p", dict)


@pipeline.step(concurrency=(2, 2))
async def echo(ctx: Context, value: dict[str, Any]) -> str:
    return str(value["text"])


@dataclass(frozen=True)
class Cell:
    """A database, and its prefix in the broker."""

    dsn: str
    fleet: Fleet


@pytest.fixture
def second_dsn(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    with new_database() as dsn:
        yield dsn


@pytest.fixture(params=["jetstream", "bullmq"])
def cells(request: pytest.FixtureRequest, dsn: str, second_dsn: str) -> list[Cell]:
    """Two cells in one server of each broker."""
    if request.param == "jetstream":
        nats: NatsCluster = request.getfixturevalue("nats_server")
        urls = [f"{nats.url}/cell-{name}" for name in "ab"]
        fleets = [Fleet(partial(JetStreamDispatcher, url), partial(JetStreamRunner, url)) for url in urls]
    else:
        redis: RedisServer = request.getfixturevalue("redis_server")
        urls = [f"{redis.url}?prefix=cell-{name}" for name in "ab"]
        fleets = [Fleet(partial(BullMQDispatcher, url), partial(BullMQRunner, url)) for url in urls]
    return [Cell(*each) for each in zip([dsn, second_dsn], fleets, strict=True)]


@asynccontextmanager
async def hosts(cells: list[Cell]) -> AsyncIterator[None]:
    """The hosts of the fleet: each has a runner for each cell."""
    async with AsyncExitStack() as stack:
        for _ in range(HOSTS):
            for cell in cells:
                await stack.enter_async_context(running(cell.fleet.runner(pipeline)))
        yield


def cell_of(cells: list[Cell], owner: str) -> Cell:
    """The application knows the cell of each owner."""
    return cells[crc32(owner.encode()) % len(cells)]


async def submit(cells: list[Cell]) -> list[tuple[Cell, str, int]]:
    """A job of twenty items for each owner, in its cell."""
    jobs: list[tuple[Cell, str, int]] = []
    for cell in cells:
        conn = await asyncpg.connect(cell.dsn)
        try:
            for owner in [each for each in OWNERS if cell_of(cells, each) is cell]:
                items = [{"text": f"{owner}: {n}"} for n in range(20)]
                jobs.append((cell, owner, (await pipeline.submit_many(conn, items, owner=owner)).job_id))
        finally:
            await conn.close()
    return jobs


async def check(cells: list[Cell]) -> None:
    """Each task was done once, in the cell of its owner, with a result of its own."""
    for cell in cells:
        conn = await asyncpg.connect(cell.dsn)
        try:
            found = await conn.fetch(
                """select j.owner, i.input ->> 'text' as text, i.result ->> 'echo' as result
                   from forebay.items i join forebay.jobs j on j.id = i.job_id"""
            )
            mine = [owner for owner in OWNERS if cell_of(cells, owner) is cell]
            assert sorted(each["text"] for each in found) == sorted(
                f"{owner}: {n}" for owner in mine for n in range(20)
            )
            assert [each for each in found if each["result"] != each["text"]] == []
            assert await conn.fetchval("select count(*) from forebay.attempt") == len(found)
            assert await conn.fetchval("select count(*) from forebay.lease") == 0
        finally:
            await conn.close()


async def test_one_fleet_drains_two_databases(cells: list[Cell]) -> None:
    """Jobs, tasks and tokens of both may have the same numbers."""
    jobs = await submit(cells)
    assert {cell.dsn for cell, _, _ in jobs} == {cell.dsn for cell in cells}
    async with AsyncExitStack() as stack:
        for cell in cells:
            await stack.enter_async_context(running(cell.fleet.dispatcher(cell.dsn, pipeline)))
        await stack.enter_async_context(hosts(cells))
        ended = await asyncio.gather(*[wait(cell.dsn, job_id, timeout=60) for cell, _, job_id in jobs])
    assert [each.done for each in ended] == [20] * len(jobs)
    await check(cells)


async def test_a_cell_without_a_dispatcher_does_not_hold_up_the_other(cells: list[Cell]) -> None:
    stopped, lives = cells
    jobs = await submit(cells)
    async with hosts(cells):
        async with running(lives.fleet.dispatcher(lives.dsn, pipeline)):
            for cell, _, job_id in jobs:
                if cell is lives:
                    assert (await wait(cell.dsn, job_id, timeout=60)).done == 20
            conn = await asyncpg.connect(stopped.dsn)
            try:
                assert await conn.fetchval("select count(*) from forebay.attempt") == 0
            finally:
                await conn.close()
        async with running(stopped.fleet.dispatcher(stopped.dsn, pipeline)):
            for cell, _, job_id in jobs:
                assert (await wait(cell.dsn, job_id, timeout=60)).done == 20
    await check(cells)
