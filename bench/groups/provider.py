"""Look-ups at a provider: how much passes through when a worker finds out itself how much it takes."""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from bench.harness import Context, connected
from bench.provider_stub import KEY, ProviderStub, declaration
from forebay import log
from forebay.db import registry
from forebay.engine.context import Context as StepContext
from forebay.engine.pipeline import Pipeline
from forebay.engine.resources import Resources, resource
from forebay.engine.worker import Worker
from forebay.pipelines import looking_up
from forebay.pipelines.looking_up import Desks, Match, look_up, open_desks
from forebay.services.products import Fields
from forebay.settings import Settings
from forebay.tuning import Concurrency
from forebay.types import NotFound

HANDS, SECONDS = 8, 0.4  # slow enough for this machine's cores to have no part in it
FIXED = (4, 8, 12, 16, 32, 64)
MOST = 64
ROWS = 5_000

things = Pipeline("things", dict)


@things.step(concurrency=(MOST, MOST))
async def find(ctx: StepContext, fields: dict[str, str]) -> Match | NotFound:
    given: Fields = {"title": fields["title"]}
    return await look_up(ctx, given, attempt=1, attempts=1)


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


async def _passed(context: Context, fixed: int | None) -> float:
    """Good answers a second, once it has had time to find its pace."""
    assert context.ours is not None
    dsn = await context.database(context.ours)
    stub = ProviderStub(hands=HANDS, seconds=SECONDS)
    with tempfile.TemporaryDirectory(dir=context.folder) as folder:
        async with stub.serving(), connected(dsn) as conn:
            text = declaration(stub.port, concurrency=fixed or MOST, timeout_s=60)
            await asyncio.to_thread((Path(folder) / "stub.toml").write_text, text)
            await registry.register(conn, things.definition())
            await things.submit_many(conn, ({"title": f"thing number {n} box"} for n in range(ROWS)))
            settings = Settings(sheets_providers=Path(folder), egress_confine=False)
            worker = Worker(dsn, [things], settings=settings, resources={looking_up.providers: _desks(fixed)})
            running = asyncio.create_task(worker.run())
            try:
                await worker.ready_or_failed(running)
                await asyncio.sleep(context.sizes.provider_seconds * (0.3 if fixed else 1.0))
                began, before = time.monotonic(), len(stub.times)
                await asyncio.sleep(context.sizes.provider_seconds)
                rate = (len(stub.times) - before) / (time.monotonic() - began)
            finally:
                worker.stop()
                await running
    return rate


def _desks(fixed: int | None):
    @resource
    async def providers(given: Resources) -> AsyncGenerator[Desks]:
        desks = await open_desks(given)
        if fixed is not None:
            desks.by_name["stub"].hold(Concurrency(fixed, fixed, start=fixed))
        yield desks

    return providers
