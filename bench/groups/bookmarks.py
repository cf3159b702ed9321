"""Bookmarks: how long adding one takes while a hundred others are being looked at, with browser and all."""

# demands: S2-03

import asyncio
import sys

import asyncpg

from bench.harness import BenchError, Context, connected
from bench.http_client import Client
from bench.limits import CREATE, CREATE_READY
from bench.measure import percentile
from bench.serving import served
from bench.steadily import RATE, raw_inserts, registered, timed, worker

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
        with worker(context, environment, "bookmarks"):
            await registered(raw, "bookmarks")
            await _measure(context, port, token, site, raw)


async def _measure(context: Context, port: int, token: str, site: int, conn: asyncpg.Connection) -> None:
    count = context.sizes.bookmarks
    async with Client(port, token) as http:
        for seq in range(AT_LEAST + count // 4):
            await http.post("/api/bookmarks", {"url": f"http://127.0.0.1:{site}/warm/{seq}"})
    while not await conn.fetchval(_SHOTS):  # noqa: ASYNC110 - the worker is another process
        await asyncio.sleep(0.05)
    async with Client(port, token) as http:  # a new one: the server closes connections that were idle meanwhile
        waits, raw = await asyncio.gather(
            timed(count, lambda seq: http.post("/api/bookmarks", {"url": f"http://127.0.0.1:{site}/page/{seq}"})),
            raw_inserts(conn, count),
        )
    still = await conn.fetchval(_OPEN)
    if still < AT_LEAST:
        raise BenchError(f"only {still} bookmarks were still in progress in the end")
    shots = await conn.fetchval(_SHOTS)
    note = f"{len(waits)} added at {RATE:g}/s while {still} others were worked on and {shots} had their pictures; "
    note += f"p50 {percentile(waits, 0.5):.1f} ms, raw {percentile(raw, 0.5):.1f} ms"
    context.record("bookmark_add_p99", percentile(waits, 0.99), percentile(raw, 0.99), note)
