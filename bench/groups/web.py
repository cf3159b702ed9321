"""The web app in a real browser: a grid of many rows, events that arrive, and what open tabs cost those who submit."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

import asyncpg
import psutil

from bench import browser
from bench.browser import Chromium, Tab, browsing, opened
from bench.groups.memory import transactions
from bench.harness import Context, connected
from bench.http_client import Client
from bench.measure import cpu_seconds, median, percentile
from bench.ours import Forebay
from bench.probe import ProbeFolder
from bench.serving import served
from bench.tabs import open_tabs
from bench.workload import input_of

NAME, PASSWORD = "viewer", "a long password"
STATIC, GRID = "web: frame of 200 static rows, p95", "web: frame of the grid, p95"
ALONE, BESIDE = "forebay: API submit, no tab, p99", "forebay: API submit beside 50 tabs, p99"
IDLE, IDLE_TAB = "forebay: idle worker and API", "forebay: the same with an idle tab"
LONGEST_MS, HEAP_MB, MISSING, PAINTED_MS, TASK_MS = 200.0, 5.0, 0.05, 100.0, 100.0
EVENTS, JOBS = 10_000, 100
RENDERS, RENDERED_S = 4.0, 4.0
REACTION_MS, SLOWER = 100.0, 4.0
# Rows of a grid, the palette, the list of jobs, a job and its tabs.
JOURNEY = (
    *("ArrowDown", "ArrowRight", "PageDown", "x", "ArrowDown", "X", "*", "*", "Control+End", "Control+Home"),
    *("Control+k", *"jobs", "Escape", "g", "j", *"jjk", "Enter", *"2345", "g", "h", "?", "Escape", "[", "["),
)
PEOPLE = 50
RATE = 50.0

COLUMNS = ("Name", "Price", "Link")
ROWS = """
select n, jsonb_build_object('line', n + 1, 'row', jsonb_build_object(
    'Name', 'Lamp no. ' || n, 'Price', n % 97 || '.50', 'Link', 'https://example.org/lamps/' || n)) as input,
jsonb_build_object('look_up', jsonb_build_object(
    'title', 'Lamp ' || n, 'price', n % 97 || '.00', 'currency', 'EUR', 'provider', 'catalogue', 'score', 0.93,
    'strategy', 'title', 'reasons', 'the titles are alike', 'url', 'https://example.com/' || n)) as result
from generate_series(1, {count}) n
"""


async def run(context: Context) -> None:
    if not context.ours:
        return
    if browser.CHROMIUM is None:
        context.say(f"  web: the pages are skipped, {browser.MISSING}")
    else:
        browser.build()
        async with browsing() as chromium:
            await _grid(context, context.ours, chromium)
            await _events(context, context.ours, chromium)
            await _idle(context, context.ours, chromium)
    await _beside_tabs(context, context.ours)


@asynccontextmanager
async def _site(context: Context, ours: Forebay, dsn: str) -> AsyncIterator[int]:
    environment = ours.web_environment(dsn, context.folder / "web")
    async with served(context, ours.api_command(), environment) as (port, _):
        yield port


# -- the grid -----------------------------------------------------------------------------------------------------


async def _grid(context: Context, ours: Forebay, chromium: Chromium) -> None:
    """The same page with the grid and with rows that stay, in turns: what differs is the grid."""
    dsn, sizes = await context.database(ours), context.sizes
    await ours.api_token(dsn, NAME, PASSWORD)
    async with connected(dsn) as conn:
        job = await ours.load_sheet(conn, COLUMNS, ROWS.format(count=sizes.grid_rows), NAME)
        await ours.end_sheet(conn, job)
    await context.settle(dsn)
    longest = {GRID: 0.0, STATIC: 0.0}
    busiest = 0.0
    async with _site(context, ours, dsn) as port:
        for _ in range(sizes.repeats):
            async with opened(chromium, port, NAME, PASSWORD, f"/sheets/{job}") as tab:
                await tab.see("gridcell", "Lamp no. 1")
                await tab.frames(2)  # warm
                longest[GRID] = max(longest[GRID], await _frames(context, tab, GRID))
                busiest = max(busiest, await tab.longest_task(sizes.grid_gestures // 2))
                await tab.freeze()
                longest[STATIC] = max(longest[STATIC], await _frames(context, tab, STATIC))
        context.record_medians("grid_frame_p95", GRID, STATIC, f"{sizes.grid_rows:,} rows, {browser.SPEED:,} px/s")
        note = f"by the clock {longest[GRID]:.0f} ms, of static rows {longest[STATIC]:.0f} ms"
        context.record("grid_longest_frame", busiest, LONGEST_MS, note)
        async with opened(chromium, port, NAME, PASSWORD, f"/sheets/{job}") as tab:
            await tab.see("gridcell", "Lamp no. 1")
            context.record("grid_missing_rows", await tab.missing_share(sizes.grid_gestures), MISSING)
            await tab.jump(sizes.grid_jumps // 2, seed=1)  # blocks are kept up to their limit from now on
            before = await tab.heap()
            await tab.jump(sizes.grid_jumps, seed=2)
            grown = await tab.heap() - before
            note = f"{sizes.grid_jumps} jumps; {before:.1f} MB before"
            context.record("grid_heap", max(0.0, grown), HEAP_MB, note)
        await context.quiet()
        async with opened(chromium, port, NAME, PASSWORD, f"/sheets/{job}") as tab:
            await tab.see("gridcell", "Lamp no. 1")
            waits = await tab.interactions(JOURNEY, SLOWER)
            note = f"p50 {median(waits):.0f} ms, longest {max(waits):.0f} ms of {len(waits)}"
            context.record("interaction_p95", percentile(waits, 0.95), REACTION_MS, note)


async def _frames(context: Context, tab: Tab, name: str) -> float:
    await context.quiet()
    meter = context.meter()
    frames = await tab.frames(context.sizes.grid_gestures, back_and_forth=name == STATIC)
    context.sample(name, percentile(frames, 0.95), "ms", meter)
    return max(frames)


# -- events -------------------------------------------------------------------------------------------------------


async def _events(context: Context, ours: Forebay, chromium: Chromium) -> None:
    dsn = await context.database(ours)
    token = await ours.api_token(dsn, NAME, PASSWORD)
    async with connected(dsn) as conn:
        jobs = await ours.submit_watched(conn, NAME, JOBS)
        async with _site(context, ours, dsn) as port, opened(chromium, port, NAME, PASSWORD, "/jobs") as tab:
            await tab.see("button", "Live")
            await tab.see("list", "Jobs")
            await context.quiet()
            waits = await _painted(context, ours, conn, tab, jobs[-1])
            note = f"p50 {median(waits):.0f} ms, longest {max(waits):.0f} ms of {len(waits)}"
            context.record("event_painted_p95", percentile(waits, 0.95), PAINTED_MS, note)
            events = await _burst(port, token)
            await context.quiet()
            renders = await tab.renders("[aria-label=Jobs]", events, RENDERED_S)
            context.record("list_renders", renders, RENDERS, f"{EVENTS / RENDERED_S:,.0f} events a second")
            await context.quiet()
            context.record("event_burst", await tab.burst(await _burst(port, token)), TASK_MS, f"of {JOBS} jobs")


async def _painted(context: Context, ours: Forebay, conn: asyncpg.Connection, tab: Tab, job: int) -> list[float]:
    watching = asyncio.create_task(tab.painted("[aria-label=Jobs]", context.sizes.painted_events))
    while not watching.done():
        await ours.count_one_done(conn, job)
        await asyncio.sleep(0.6)  # the API looks twice a second
    return await watching


async def _burst(port: int, token: str) -> list[dict[str, Any]]:
    """Events of the jobs in the list, each changed a hundred times."""
    async with Client(port, token) as http:
        jobs = (await http.get(f"/api/jobs?pageSize={JOBS}"))["jobs"]
    now = datetime.now(UTC) + timedelta(minutes=1)
    return [
        job | {"counters": job["counters"] | {"done": n}, "updatedAt": (now + timedelta(seconds=n)).isoformat()}
        for n in range(EVENTS // len(jobs))
        for job in jobs
    ]


# -- an idle tab --------------------------------------------------------------------------------------------------


async def _idle(context: Context, ours: Forebay, chromium: Chromium) -> None:
    """Transactions a second of a worker and the API that have nothing to do, without a tab and with one."""
    dsn = await context.database(ours)
    await ours.api_token(dsn, NAME, PASSWORD)
    async with connected(dsn) as conn:
        await ours.submit_watched(conn, NAME, 1)
        await conn.execute("select forebay.pause(id) from forebay.job")
        probe = ProbeFolder(context.folder, 2000)
        with context.running(ours, dsn, probe):
            async with _site(context, ours, dsn) as port:
                await _sample_transactions(context, conn, IDLE)
                async with opened(chromium, port, NAME, PASSWORD, "/jobs") as tab:
                    await tab.see("button", "Live")
                    await _sample_transactions(context, conn, IDLE_TAB)


async def _sample_transactions(context: Context, conn: asyncpg.Connection, name: str) -> None:
    await asyncio.sleep(3.0)  # what the start costs is over
    meter = context.meter()
    rate = await transactions(conn, context.sizes.tab_seconds)
    context.sample(name, rate, "transactions/s", meter)


# -- many tabs ----------------------------------------------------------------------------------------------------


async def _beside_tabs(context: Context, ours: Forebay) -> None:
    """People submit, each for themselves, first with no tab open, then with one each that shows their jobs."""
    dsn, events, requests = await context.database(ours), 0, 0
    cpu = {ALONE: 0.0, BESIDE: 0.0}
    tokens = [await ours.api_token(dsn, f"person-{number}") for number in range(PEOPLE)]
    environment = ours.web_environment(dsn, context.folder / "web")
    async with served(context, ours.api_command(), environment) as (port, api):
        await _submit(port, tokens, 2.0)  # warm
        for _ in range(context.sizes.repeats):
            cpu[ALONE] += await _sample_submits(context, ALONE, port, tokens, api)
            async with open_tabs(port, tokens) as tabs:
                asked = sum(tab.requests for tab in tabs)  # when they were opened
                cpu[BESIDE] += await _sample_submits(context, BESIDE, port, tokens, api)
                events += sum(tab.events for tab in tabs)
                requests += sum(tab.requests for tab in tabs) - asked
    note = f"{PEOPLE} people submit {RATE:g} jobs a second in all; their tabs got {events:,} events and sent "
    cost = f", {(cpu[BESIDE] - cpu[ALONE]) / max(1, events) * 1e3:.1f} ms CPU of the API an event"
    context.record_medians("submit_beside_tabs", BESIDE, ALONE, f"{note}{requests:,} requests{cost}")


async def _sample_submits(context: Context, name: str, port: int, tokens: list[str], api: psutil.Process) -> float:
    """The seconds of CPU that the API used."""
    await context.quiet()
    meter, before = context.meter(), cpu_seconds([api])
    waits = await _submit(port, tokens, context.sizes.tab_seconds)
    used = cpu_seconds([api]) - before
    context.sample(name, percentile(waits, 0.99), "ms", meter)
    return used


async def _submit(port: int, tokens: list[str], seconds: float) -> list[float]:
    """Submit at a steady rate, each time as the next person; the times in ms."""
    waits: list[float] = []
    began = time.perf_counter()
    for number, token in zip(range(int(seconds * RATE)), cycle(tokens), strict=False):
        await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
        async with Client(port, token) as http:
            sent = time.perf_counter()
            await http.post("/api/jobs", {"pipeline": "noop", "input": input_of(number)})
            waits.append((time.perf_counter() - sent) * 1e3)
    return waits
