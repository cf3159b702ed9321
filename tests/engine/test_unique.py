"""Unique submits from Python: every way to submit takes them, and rejects what makes no sense."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import asyncpg
import psycopg
import pytest

from forebay import Client, Context, Done, Pipeline, SyncClient, Unique
from forebay.errors import InvalidField
from forebay.testing import testbed

OPEN = Unique(states={"QUEUED", "RUNNING", "PAUSED"}, period=timedelta(hours=1))

HOURLY = Unique(period=3600)

reports: Pipeline[str] = Pipeline("reports", str)
parents: Pipeline[list[str]] = Pipeline("parents", list[str])


@reports.step()
async def write(ctx: Context, name: str) -> str:
    return name


@parents.step()
async def plan(ctx: Context, names: list[str]) -> Done[int]:
    return Done(len(names), submits=[reports.new(name, key=name, unique=HOURLY) for name in names])


async def test_every_way_to_submit(dsn: str) -> None:
    async with testbed(dsn, [reports, parents], migrated=True) as bed:
        client = Client(bed.pool)
        first = await client.submit(reports, "a", key="a", unique=OPEN)
        assert first.created
        with psycopg.connect(dsn, autocommit=True) as conn:
            again = SyncClient(conn).submit(reports, "b", key="a", unique=OPEN)
        assert (again.job_id, again.created) == (first.job_id, False)
        many = await client.submit_many(reports, ["x", "y"], key="a", unique=OPEN)
        assert (many.job_id, many.created, many.items) == (first.job_id, False, 1)
        long = await client.submit_many(reports, map(str, range(1001)), key="a", unique=OPEN)
        assert (long.job_id, long.created) == (first.job_id, False)
        one, other = await client.submit_jobs(reports, ["x", "y"], keys=["a", "b"], unique=OPEN)
        assert (one.job_id, one.created, other.created) == (first.job_id, False, True)
        parent = await bed.submit(parents, ["a", "c"], key="p", unique=OPEN)
        await bed.run()  # all jobs end: their keys are free
        assert (await bed.item(parent)).result == {"plan": 2}
        assert await bed.pool.fetchval("select count(*) from forebay.job where key in ('a', 'c')") == 2
        assert (await client.submit(reports, "a", key="a", unique=OPEN)).created


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"unique": OPEN}, "key: is required for unique"),
        ({"key": "k", "unique": {"states": []}}, "unique: must be a Unique, not dict"),
        (
            {"key": "k", "unique": Unique(states=["PENDING"])},
            "unique.states: must be some of QUEUED, RUNNING, PAUSED, DONE, FAILED, CANCELLED",
        ),
        (
            {"key": "k", "unique": Unique(states=())},
            "unique.states: must be some of QUEUED, RUNNING, PAUSED, DONE, FAILED, CANCELLED",
        ),
        ({"key": "k", "unique": Unique(period=-1)}, "unique.period: must be between 0 and ten years"),
        (
            {"key": "k", "unique": OPEN, "coalesce": True},
            "unique: cannot be given together with coalesce",
        ),
    ],
)
async def test_what_makes_no_sense(conn: asyncpg.Connection[Any], options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidField) as caught:
        await reports.submit(conn, "a", **options)
    assert str(caught.value) == complaint


async def test_many_jobs_need_keys(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(InvalidField, match="keys: are required for unique"):
        await Client(conn).submit_jobs(reports, ["a"], unique=OPEN)
