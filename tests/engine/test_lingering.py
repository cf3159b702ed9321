"""Batches that wait for more items: full ones start at once, others when their time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from forebay import Context, DefinitionError, Pipeline
from forebay.engine.work.worker import Worker
from forebay.settings import Settings


def _declared(size: int, linger: float | timedelta) -> tuple[Pipeline[int], list[list[int]]]:
    numbers: Pipeline[int] = Pipeline("numbers", int)
    calls: list[list[int]] = []

    @numbers.batch_step(size=size, linger=linger)
    async def double(ctx: Context, values: Sequence[int]) -> list[int]:
        calls.append(sorted(values))
        return [2 * value for value in values]

    return numbers, calls


async def _run(dsn: str, numbers: Pipeline[int], values: Sequence[int]) -> None:
    """Submit each value as a job of its own, after the one before it is in the worker."""
    worker = Worker(dsn, [numbers], settings=Settings(poll_s=3600))
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    pool = worker._pool
    for value in values:
        await numbers.submit(pool, value)
        async with asyncio.timeout(30):
            while await pool.fetchval("select count(*) from forebay.ready"):
                pass
    async with asyncio.timeout(30):
        while await pool.fetchval("select count(*) from forebay.job where finished_at is null"):
            pass
    worker.stop()
    await running


async def test_a_full_batch_starts_at_once(dsn: str) -> None:
    numbers, calls = _declared(3, linger=50)
    await _run(dsn, numbers, range(6))
    assert calls == [[0, 1, 2], [3, 4, 5]]


async def test_a_batch_starts_when_its_time_is_up(dsn: str) -> None:
    numbers, calls = _declared(100, linger=timedelta(seconds=0.05))
    await _run(dsn, numbers, [7])
    assert calls == [[7]]


async def test_a_batch_larger_than_a_claim_is_filled(dsn: str) -> None:
    """Although a worker usually claims only what its slots can run soon."""
    numbers, calls = _declared(500, linger=50)
    worker = Worker(dsn, [numbers], settings=Settings(claim_max=50))
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    await numbers.submit_many(worker._pool, range(1000))
    async with asyncio.timeout(30):
        while await worker._pool.fetchval("select count(*) from forebay.job where finished_at is null"):
            pass
    worker.stop()
    await running
    assert [len(call) for call in calls] == [500, 500]


def test_the_time_is_bounded() -> None:
    with pytest.raises(DefinitionError, match=r"step numbers\.double: linger must be between 0 and 60 seconds"):
        _declared(2, linger=61)
