"""Shared resources of steps, and functions in separate processes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import structlog.testing

from forebay import Context, Pipeline, limited, resource
from forebay.engine.declare.resources import Resources
from forebay.engine.processes.pool import ProcessPool
from forebay.errors import ConfigError, DefinitionError
from forebay.settings import Settings
from forebay.testing import testbed
from forebay.types import ItemStatus
from tests.engine import process_steps as steps

Number = dict[str, Any]


class Shelf:
    """Records when it was opened and closed."""

    def __init__(self) -> None:
        self.log: list[str] = []


async def test_a_resource_is_opened_once_for_all_and_closed_with_the_worker(dsn: str) -> None:
    shelf = Shelf()

    @resource
    async def books(given: Resources) -> AsyncGenerator[list[int]]:
        shelf.log.append(f"open, {given.settings.poll_s:g}")
        yield []
        shelf.log.append("closed")

    @resource
    async def reader(given: Resources) -> AsyncGenerator[str]:
        (await given.get(books)).append(-1)
        yield "reader"
        shelf.log.append("reader closed")

    numbers: Pipeline[Number] = Pipeline("numbers", dict)

    @numbers.step(concurrency=(8, 8))
    async def take(ctx: Context, value: Number) -> int:
        assert await ctx.get(reader) == "reader"
        await asyncio.sleep(0)
        mine = await ctx.get(books)
        mine.append(ctx.n)
        return len(mine)

    async with testbed(dsn, [numbers], migrated=True) as bed:
        job = await numbers.submit_many(bed.pool, [{"n": n} for n in range(20)])
        await bed.run()
        assert shelf.log == ["open, 3600"]
        assert max(item.result["take"] for item in await bed.items(job)) == 21
    assert shelf.log == ["open, 3600", "reader closed", "closed"]


async def test_what_cannot_be_opened_parks_the_step_until_it_can(dsn: str) -> None:
    is_there = False

    @resource
    async def service(given: Resources) -> AsyncGenerator[str]:
        if not is_there:
            raise ConfigError("no service: install it with `apt-get install service`")
        yield "served"

    calls: Pipeline[Number] = Pipeline("calls", dict)

    @calls.step()
    async def call(ctx: Context, value: Number) -> str:
        return await ctx.get(service)

    async with testbed(dsn, [calls], migrated=True) as bed:
        job = await bed.submit(calls, {"n": 1})
        await bed.run()
        assert (await bed.item(job)).status == ItemStatus.PENDING
        is_there = True
        bed.clock.advance(31)  # then it is retried
        await bed.run()
        assert (await bed.item(job)).result["call"] == "served"


async def test_a_resource_that_fails_in_closing_keeps_no_other_from_it() -> None:
    closed: list[str] = []

    @resource
    async def good(given: Resources) -> AsyncGenerator[int]:
        yield 1
        closed.append("good")

    @resource
    async def bad(given: Resources) -> AsyncGenerator[int]:
        yield 2
        raise RuntimeError("stuck in its drawer")

    resources = Resources(Settings(), pool=None, limits=None)  # type: ignore[arg-type] # these need none
    assert await resources.get(good) + await resources.get(bad) == 3
    with structlog.testing.capture_logs() as logs:
        await resources.close()
    assert closed == ["good"]
    assert [(line["event"], line["resource"], line["error"]) for line in logs] == [
        ("resource_not_closed", "bad", "stuck in its drawer")
    ]


async def test_tests_can_put_another_resource_in_its_place(dsn: str) -> None:
    @resource
    async def real(given: Resources) -> AsyncGenerator[str]:
        yield "real"

    @resource
    async def pretended(given: Resources) -> AsyncGenerator[str]:
        yield "pretended"

    plays: Pipeline[Number] = Pipeline("plays", dict)

    @plays.step()
    async def play(ctx: Context, value: Number) -> str:
        return await ctx.get(real)

    async with testbed(dsn, [plays], migrated=True, resources={real: pretended}) as bed:
        job = await bed.submit(plays, {})
        await bed.run()
        assert (await bed.item(job)).result["play"] == "pretended"


PARSE = limited(steps.parse, memory_mb=64, timeout=30)
HASTY = limited(steps.parse, timeout=0.2)


async def test_a_step_calls_a_function_in_a_process_with_limits(dsn: str) -> None:
    parses: Pipeline[Number] = Pipeline("parses", dict)

    @parses.step()
    async def parse(ctx: Context, value: Number) -> tuple[int, int]:
        hasty = value["text"] == "hang"
        return await ctx.call(HASTY if hasty else PARSE, value["text"], base=16)

    async with testbed(dsn, [parses], migrated=True) as bed:
        texts = ["ff", "10", "zz", "hang", "eat", "die"]
        job = await parses.submit_many(bed.pool, [{"text": text} for text in texts])
        await bed.finish()
        good, also_good, bad, late, large, dead = await bed.items(job)
    assert (good.result["parse"][0], also_good.result["parse"][0]) == (255, 16)
    assert os.getpid() not in (good.result["parse"][1], also_good.result["parse"][1])
    reasons = [(item.error or {})["reason"] for item in (bad, late, large, dead)]
    assert reasons == [
        "'zz' is no number",
        "timed out after 0.2 s, and did so before: the file is too large or too complex",
        "needed more than 64 MB of memory, and did so before: the file is too large or too complex",
        "the step's process was killed by SIGKILL",
    ]
    assert [(item.error or {})["class"] for item in (bad, late, large, dead)] == ["data", "data", "data", "transient"]


async def test_a_process_step_is_told_that_these_are_not_for_it() -> None:
    pool = ProcessPool()
    ctx = Context(1, 1, 1, "asks_for_more", 1, 1, steps.NoHost())
    said = await pool.run(steps.asks_for_more, ctx, ("x",))
    await pool.close()
    assert said == (
        "'x' belongs to the worker: a process step cannot use it; "
        "'x': already runs in a separate process: call the function directly; "
        "a process step has no database connection: return Done(value, writes=[…]); "
        "a process step has no database connection: read the children in an async step"
    )


def test_functions_that_a_process_cannot_find_and_limits_that_cannot_be_are_refused() -> None:
    def local() -> None:
        pass

    with pytest.raises(DefinitionError, match="must be a module-level function, so that its process can import it"):
        limited(local)
    wrong: list[dict[str, Any]] = [{"memory_mb": 8}, {"timeout": 0}]
    for each in wrong:
        with pytest.raises(DefinitionError, match="memory_mb must be at least 32, and the timeout positive"):
            limited(steps.parse, **each)
