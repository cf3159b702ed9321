"""How fast a backlog is worked off: ours, the bare loop, and the peers, in turns. A peer's job is one task; ours is
measured as one job of many items, and as many jobs of one."""

from bench import limits
from bench.draining import load_and_drain, sample
from bench.harness import Contender, Context
from bench.ours import SingleJobs
from bench.report import CLAIM_LIMIT as LIMIT

SINGLES = "forebay: drain of one-item jobs, one process"


async def run(context: Context) -> None:
    for _ in range(context.sizes.repeats):
        await _limit(context)
        await _everyone(context, processes=1)
        if context.ours:
            sample(context, SINGLES, await load_and_drain(context, SingleJobs(), context.sizes.drain_singles))
        if context.peers:
            await _everyone(context, processes=2)
    await _limit(context)
    context.record_medians("drain_1_vs_limit", _name("forebay", 1), LIMIT)
    context.record_medians("drain_1_vs_pgqueuer", _name("forebay", 1), _name("pgqueuer", 1))
    context.record_medians("drain_1_vs_graphile", _name("forebay", 1), _name("graphile", 1))
    context.record_medians("drain_singles_vs_bulk", SINGLES, _name("forebay", 1))
    context.record_medians("drain_singles_vs_pgqueuer", SINGLES, _name("pgqueuer", 1))
    context.record_medians("drain_singles_vs_graphile", SINGLES, _name("graphile", 1))
    context.record_medians("drain_2_vs_graphile", _name("forebay", 2), _name("graphile", 2))


async def _limit(context: Context) -> None:
    await context.limit(LIMIT, "tasks/s", limits.claim_and_complete, context.sizes.drain_items)


async def _everyone(context: Context, processes: int) -> None:
    if context.ours:
        await _one(context, context.ours, context.sizes.drain_items, processes)
    for peer in context.peers:
        await _one(context, peer, peer.drain_items or context.sizes.drain_items, processes)


async def _one(context: Context, contender: Contender, count: int, processes: int) -> None:
    found = await load_and_drain(context, contender, count, processes)
    sample(context, _name(contender.name, processes), found)


def _name(engine: str, processes: int) -> str:
    return f"{engine}: drain, {'one process' if processes == 1 else 'two processes'}"
