"""How fast a backlog is worked off: ours, the bare loop, and the peers, in turns. A peer's job is one task; ours is
measured as one job of many items, and as many jobs of one, of one owner or of many."""

from bench import limits
from bench.draining import load_and_drain, sample
from bench.harness import Contender, Context
from bench.ours import SingleJobs, SingleJobsOfOwners
from bench.report import CLAIM_LIMIT as LIMIT

SINGLES = "forebay: drain of one-item jobs, one process"
SINGLES_TWO = "forebay: drain of one-item jobs, two processes"
SINGLES_OWNERS = "forebay: drain of one-item jobs of 1,000 owners, one process"


async def run(context: Context) -> None:
    for _ in range(context.sizes.repeats):
        await _limit(context)
        await _everyone(context, processes=1)
        if context.ours:
            await _singles(context, SINGLES, SingleJobs())
        if context.peers:
            await _everyone(context, processes=2)
            if context.ours:
                await _singles(context, SINGLES_TWO, SingleJobs(), processes=2)
                await _singles(context, SINGLES_OWNERS, SingleJobsOfOwners())
    await _limit(context)
    context.record_medians("drain_1_vs_limit", _name("forebay", 1), LIMIT)
    context.record_medians("drain_1_vs_pgqueuer", _name("forebay", 1), _name("pgqueuer", 1))
    context.record_medians("drain_1_vs_graphile", _name("forebay", 1), _name("graphile", 1))
    context.record_medians("drain_singles_vs_bulk", SINGLES, _name("forebay", 1))
    context.record_medians("drain_singles_vs_pgqueuer", SINGLES, _name("pgqueuer", 1))
    context.record_medians("drain_singles_vs_graphile", SINGLES, _name("graphile", 1))
    context.record_medians("drain_owners_vs_graphile", SINGLES_OWNERS, _name("graphile", 1))
    context.record_medians("drain_singles_2_vs_graphile", SINGLES_TWO, _name("graphile", 2))
    context.record_medians("drain_2_vs_graphile", _name("forebay", 2), _name("graphile", 2))


async def _limit(context: Context) -> None:
    await context.limit(LIMIT, "tasks/s", limits.claim_and_complete, context.sizes.drain_items)


async def _singles(context: Context, name: str, ours: SingleJobs, processes: int = 1) -> None:
    sample(context, name, await load_and_drain(context, ours, context.sizes.drain_singles, processes))


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
