"""How fast items come in: many at once beside COPY, one by one beside a raw INSERT."""

import time

from bench import limits
from bench.harness import Context
from bench.ours import Forebay

COPY, INSERT, INSERT_BLOCK = "limit: COPY", "limit: INSERT", "limit: BEGIN, INSERT, COMMIT"
BULK, SINGLE = "forebay: bulk submit", "forebay: single submit"
SINGLE_BLOCK = "forebay: BEGIN, single submit, COMMIT"


async def run(context: Context) -> None:
    sizes = context.sizes
    for _ in range(sizes.repeats):
        await context.limit(COPY, "items/s", limits.copy_rows, sizes.bulk_items)
        if context.ours:
            await _bulk(context, context.ours)
    for _ in range(sizes.repeats):
        await context.limit(INSERT_BLOCK, "submits/s", limits.insert_in_transaction, sizes.single_submits)
        if context.ours:
            await _singles(context, context.ours, SINGLE_BLOCK, in_block=True)
        await context.limit(INSERT, "submits/s", limits.insert_singly, sizes.single_submits)
        if context.ours:
            await _singles(context, context.ours, SINGLE, in_block=False)
    context.record_medians("bulk_submit", BULK, COPY)
    context.record_medians("single_submit", SINGLE_BLOCK, INSERT_BLOCK)
    context.record_medians("single_submit_autocommit", SINGLE, INSERT)


async def _bulk(context: Context, ours: Forebay) -> None:
    dsn, count = await context.database(ours), context.sizes.bulk_items
    await context.quiet()
    meter = context.meter()
    seconds = await ours.bulk_submit(dsn, count)
    context.sample(BULK, count / seconds, "items/s", meter)


async def _singles(context: Context, ours: Forebay, name: str, *, in_block: bool) -> None:
    dsn, count = await context.database(ours), context.sizes.single_submits
    async with ours.submitter(dsn, in_block=in_block) as submit:
        await submit(count)
        await context.quiet()
        meter, began = context.meter(), time.perf_counter()
        for seq in range(count):
            await submit(seq)
        rate = count / (time.perf_counter() - began)
    context.sample(name, rate, "submits/s", meter)
