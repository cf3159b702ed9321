"""What a worker with nothing to do takes; the figures of a busy one come with the backlog."""

import asyncio

from bench.groups.backlog import MEGABYTE
from bench.groups.latency import warm_worker
from bench.harness import Context
from bench.measure import resident_bytes

IDLE_BAR = 80.0


async def run(context: Context) -> None:
    if not context.ours:
        return
    async with warm_worker(context, context.ours, 0) as (_, workers, _):
        await asyncio.sleep(3.0)
        context.record("memory_idle", resident_bytes(workers.processes) / MEGABYTE, IDLE_BAR)
