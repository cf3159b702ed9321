"""A sample a minute of what the controllers decide and how the owners share the workers, for the last hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engine.db import overview, samples
from forebay.engine.db.lanes import attempt_rates, owner_work
from forebay.engine.supervise.controllers import step_control

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from forebay.db.pool import Pool
    from forebay.engine.db.overview import WorkerRow
    from forebay.engine.db.samples import ControllerSample

_MOST_OWNERS = 50  # those with the most work


async def add_samples(pool: Pool, now: datetime | None) -> None:
    """Add the samples of this minute from the reports of the workers, and delete those that are older than an hour."""
    async with pool.acquire() as conn:
        workers = await overview.workers(conn)
        await samples.add_controllers(conn, now, list(_controllers(workers)))
        rates = attempt_rates(workers)
        owners = await owner_work(conn, _MOST_OWNERS)
        rows = [(one.id, one.ready, one.running, rates.by_owner.get(one.id, 0.0), one.fair_share) for one in owners]
        await samples.add_owners(conn, now, rows)


def _controllers(workers: Sequence[WorkerRow]) -> Iterator[ControllerSample]:
    for label in sorted({step for worker in workers if worker.alive for step in worker.steps}):
        pipeline, _, step = label.partition(".")
        if (now := step_control(label, workers)) is not None:
            yield samples.ControllerSample(
                None, pipeline, step, now.running, now.limit, now.claim, now.item_ms, now.lease_s
            )
