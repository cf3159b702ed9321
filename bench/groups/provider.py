"""Look-ups at a provider: how much passes through when a worker finds out itself how much it takes."""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from bench.harness import BenchError, Context, connected
from bench.provider_stub import KEY, Mood, ProviderStub, declaration
from forebay import log
from forebay.engine.db import registry
from forebay.engine.declare.context import Context as StepContext
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.resources import Resource, Resources, resource
from forebay.engine.work.worker import Worker
from forebay.pipelines.sheets.lookup import Match, look_up
from forebay.pipelines.sheets.providers import Providers, open_providers
from forebay.pipelines.sheets.providers import providers as all_providers
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.products import Fields
from forebay.services.provider_gate import ProviderGate
from forebay.settings import Settings
from forebay.tuning import Concurrency
from forebay.types import NotFound

HANDS, SECONDS = 8, 0.4  # slow enough for this machine's cores to have no part in it
FIXED = (4, 8, 12, 16, 32, 64)
MOST = 64
ROWS = 5_000
SLOWER = 3.0
BAD: tuple[Mood, ...] = ("throttling", "broken")
SOON = 5.0
# An attempt that was throttled and is followed by one with a higher number, but for failures in between.
SPENT = """
select count(*) from (
    select a.outcome, a.attempt, lead(a.attempt) over (partition by a.job_id, a.n order by a.ended_at) as next
    from forebay.attempt a) t
where t.outcome = 'THROTTLED' and t.next > t.attempt
"""

things = Pipeline("things", dict)


@things.step(concurrency=(MOST, MOST))
async def find(ctx: StepContext, fields: dict[str, str]) -> Match | NotFound:
    given: Fields = {"title": fields["title"]}
    return await look_up(ctx, given, attempts=1)


async def run(context: Context) -> None:
    if not context.ours:
        return
    os.environ["STUB_KEY"] = KEY
    log.configure("warning", json_lines=False)
    fixed = {most: await _passed(context, most) for most in FIXED}
    best = max(fixed, key=lambda most: fixed[most])
    ours = await _passed(context, None)
    told = ", ".join(f"{most}: {rate:.1f}/s" for most, rate in fixed.items())
    context.record("provider_sought", ours, fixed[best], f"best of {told}; {HANDS} hands, {SECONDS:g} s an answer")
    await _bad_day(context)


async def _passed(context: Context, fixed: int | None) -> float:
    """Good answers a second, once it has had time to find its pace."""
    async with _looking_up(context, fixed) as (stub, _):
        await asyncio.sleep(context.sizes.provider_seconds * (0.3 if fixed else 1.0))
        return await _rate(stub, context.sizes.provider_seconds)


async def _bad_day(context: Context) -> None:
    """A provider that is well, slow, throttling, broken, and well again; measured from soon after each change on."""
    seconds = context.sizes.provider_seconds
    async with _looking_up(context, None) as (stub, conn):
        await asyncio.sleep(seconds)
        before = await _rate(stub, seconds)
        stub.seconds = SECONDS * SLOWER
        await asyncio.sleep(SOON)
        slow = await _rate(stub, seconds)
        stub.seconds = SECONDS
        for mood in BAD:
            stub.mood = mood
            await asyncio.sleep(SOON)
        stub.mood = "well"
        await asyncio.sleep(SOON)
        after = await _rate(stub, seconds)
        spent = await conn.fetchval(SPENT)
    if spent or stub.wrong or not {429, 500} <= stub.answered.keys():
        raise BenchError(f"{spent} throttled tasks spent an attempt; {stub.wrong[:3]}; answers: {dict(stub.answered)}")
    context.record("provider_slow", slow, HANDS / (SECONDS * SLOWER), f"from {SOON:g} s after it became slower")
    context.record("provider_well_again", after, before, f"from {SOON:g} s after 429, 500 and its being well again")


async def _rate(stub: ProviderStub, seconds: float) -> float:
    """Good answers a second, for so long."""
    began, before = time.monotonic(), len(stub.times)
    await asyncio.sleep(seconds)
    return (len(stub.times) - before) / (time.monotonic() - began)


@asynccontextmanager
async def _looking_up(context: Context, fixed: int | None) -> AsyncIterator[tuple[ProviderStub, asyncpg.Connection]]:
    """A worker that looks rows up, with the provider that it asks; so many at a time, or as many as it finds out."""
    assert context.ours is not None
    dsn = await context.database(context.ours)
    stub = ProviderStub(hands=HANDS, seconds=SECONDS)
    with tempfile.TemporaryDirectory(dir=context.folder) as folder:
        async with stub.serving(), connected(dsn) as conn:
            text = declaration(stub.port, concurrency=fixed or MOST, timeout_s=60)
            await asyncio.to_thread((Path(folder) / "stub.toml").write_text, text)
            await registry.register(conn, things.definition())
            await things.submit_many(conn, ({"title": f"thing number {n} box"} for n in range(ROWS)))
            settings = Settings(egress_confine=False).including(SheetsSettings(providers=Path(folder)))
            worker = Worker(dsn, [things], settings=settings, resources={all_providers: _providers(fixed)})
            running = asyncio.create_task(worker.run())
            try:
                await worker.ready_or_failed(running)
                yield stub, conn
            finally:
                worker.stop()
                await running


def _providers(fixed: int | None) -> Resource[Providers]:
    @resource
    async def providers(given: Resources) -> AsyncGenerator[Providers]:
        opened = await open_providers(given)
        if fixed is not None:
            _hold(opened.by_name["stub"].gate, fixed)
        yield opened

    return providers


def _hold(gate: ProviderGate[Any, Any], fixed: int) -> None:
    """Ask so many at a time, whatever is found out: only a comparison wants that, so a gate has no way to be told."""
    gate._politeness._host(gate.name, fixed).limit = Concurrency(fixed, fixed, start=fixed)  # noqa: SLF001
