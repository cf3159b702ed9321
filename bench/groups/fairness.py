"""How long another owner's task waits while one owner's large job drains."""

import asyncio
import shutil
import time

from bench.draining import check, until_done, until_started
from bench.groups.latency import idle_starts
from bench.harness import Context, connected
from bench.measure import percentile
from bench.ours import Forebay, Submit
from bench.probe import ProbeFolder

OTHER_OWNER = "someone-else"


async def run(context: Context) -> None:
    if not context.ours:
        return
    if context.idle_p50 is None:
        context.idle_p50 = percentile(await idle_starts(context, context.ours), 0.5)
    waits = await _waits(context, context.ours)
    p50, largest = percentile(waits, 0.5), max(waits)
    note = f"{len(waits)} tasks while {context.sizes.large_backlog:,} items of one owner drained; "
    note += f"p50 {p50:.1f} ms, largest {largest:.1f} ms"
    context.record("other_owner_p95", percentile(waits, 0.95), context.idle_p50, note)


async def _waits(context: Context, ours: Forebay) -> list[float]:
    """Milliseconds until each task of the other owner starts, sent between 5 % and 90 % of the drain."""
    dsn, count = await context.database(ours), context.sizes.large_backlog
    await ours.load(dsn, count)
    await context.settle(dsn)
    probe = ProbeFolder(context.folder, count + count // 100, stamp_from=count)
    async with connected(dsn) as conn:
        with context.running(ours, dsn, probe) as workers:
            await until_started(probe, count // 20, workers)
            async with ours.submitter(dsn, owner=OTHER_OWNER) as submit:
                sent = await _send(context, submit, probe, count)
            await until_started(probe, count + len(sent), workers)
            await until_done(ours, conn, workers)
        reading = probe.read()
        shutil.rmtree(probe.path, ignore_errors=True)
        await check(ours, conn, reading, count + len(sent))
    return [(reading.stamps[seq] - clock) * 1e3 for seq, clock in sent.items()]


async def _send(context: Context, submit: Submit, probe: ProbeFolder, count: int) -> dict[int, float]:
    sent: dict[int, float] = {}
    for seq in range(count, count + count // 100):
        if probe.started() >= count * 0.9:
            break
        sent[seq] = time.time()
        await submit(seq)
        await asyncio.sleep(context.sizes.other_owner_interval)
    return sent
