"""Bookmarks: how long adding one takes while a hundred others are being looked at, with browser and all."""

# demands: S2-03

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import asyncpg

from bench.harness import BenchError, Context, connected
from bench.http_client import Client
from bench.limits import CREATE, CREATE_READY, INSERT
from bench.measure import percentile
from bench.serving import served
from bench.workload import json_inputs

RATE = 10.0
AT_LEAST = 100  # bookmarks that are being worked on at any time

_OPEN = "select count(*) from forebay.job where finished_at is null"
_SHOTS = "select count(*) from forebay.bookmark where screenshot_id is not null"


async def run(context: Context) -> None:
    ours = context.ours
    if not ours:
        return
    dsn = await context.database(ours)
    token = await ours.api_token(dsn)
    environment = ours.api_environment(dsn) | {
        "FOREBAY_PIPELINES": "forebay.pipelines",
        "FOREBAY_EGRESS_ALLOW_NETWORKS": "127.0.0.0/8",
        "FOREBAY_DATA_DIR": str(context.folder / "bookmarks"),
    }
    async with connected(dsn) as conn:
        await conn.execute(f"{CREATE}; {CREATE_READY}")
    site_command = [sys.executable, "-m", "bench.pages_site"]
    async with (
        served(context, site_command, {}, "site.log") as (site, _),
        served(context, ours.api_command(), environment) as (port, _),
        connected(dsn) as raw,
    ):
        with _worker(context, environment):
            await _registered(raw)
            await _measure(context, port, token, site, raw)


@contextmanager
def _worker(context: Context, environment: dict[str, str]) -> Iterator[None]:
    log = context.folder / "bookmarks.log"
    with log.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "forebay", "worker"], env=os.environ | environment, stdout=out, stderr=out
        )
    try:
        yield
        if child.poll() is not None:
            raise BenchError(f"the worker ended by itself\n{log.read_text()[-2000:]}")
    finally:
        child.terminate()
        child.wait(60)


async def _registered(conn: asyncpg.Connection) -> None:
    for _ in range(3000):
        if await conn.fetchval("select exists (select from forebay.pipeline where name = 'bookmarks')"):
            return
        await asyncio.sleep(0.02)
    raise BenchError("no worker has begun within a minute")


async def _measure(context: Context, port: int, token: str, site: int, conn: asyncpg.Connection) -> None:
    async with Client(port, token) as http:
        for seq in range(AT_LEAST + context.sizes.bookmarks // 4):
            await http.post("/api/bookmarks", {"url": f"http://127.0.0.1:{site}/warm/{seq}"})
    while not await conn.fetchval(_SHOTS):  # noqa: ASYNC110 - the worker is another process
        await asyncio.sleep(0.05)
    async with Client(port, token) as http:  # a new one: the server closes connections that were idle meanwhile
        waits, raw = await asyncio.gather(
            _steadily_add(http, site, context.sizes.bookmarks), _steadily_insert(conn, context.sizes.bookmarks)
        )
    still = await conn.fetchval(_OPEN)
    if still < AT_LEAST:
        raise BenchError(f"only {still} bookmarks were still in progress in the end")
    shots = await conn.fetchval(_SHOTS)
    note = f"{len(waits)} added at {RATE:g}/s while {still} others were worked on and {shots} had their pictures; "
    note += f"p50 {percentile(waits, 0.5):.1f} ms, raw {percentile(raw, 0.5):.1f} ms"
    context.record("bookmark_add_p99", percentile(waits, 0.99), percentile(raw, 0.99), note)


async def _steadily_add(http: Client, site: int, count: int) -> list[float]:
    waits: list[float] = []
    async for seq in _ticks(count):
        began = time.perf_counter()
        await http.post("/api/bookmarks", {"url": f"http://127.0.0.1:{site}/page/{seq}"})
        waits.append((time.perf_counter() - began) * 1e3)
    return waits


async def _steadily_insert(conn: asyncpg.Connection, count: int) -> list[float]:
    insert, row = await conn.prepare(INSERT), next(json_inputs(1))
    waits: list[float] = []
    async for seq in _ticks(count):
        began = time.perf_counter()
        await insert.fetch(seq, row)
        waits.append((time.perf_counter() - began) * 1e3)
    return waits


async def _ticks(count: int) -> AsyncIterator[int]:
    began = time.perf_counter()
    for seq in range(count):
        yield seq
        await asyncio.sleep(max(0.0, began + (seq + 1) / RATE - time.perf_counter()))
