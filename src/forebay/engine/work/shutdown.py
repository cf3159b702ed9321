"""The end of a worker: running tasks are finished or released."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.db.pool import UNAVAILABLE
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Collection

    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.claimer import Claimer
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.failure_log import FailureLog
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.settler import Settler
    from forebay.engine.work.status import StatusReports
    from forebay.engine.work.transactions import StepTransactions

log = get_logger("worker")


async def stop_tasks(
    claimer: Claimer,
    claiming: Collection[asyncio.Task[None]],
    executors: Collection[StepExecutor],
    grace_s: float,
) -> None:
    """Stop claiming, and let running tasks finish within the grace period; then stop them."""
    claimer.stop()
    await asyncio.wait(claiming, timeout=5)  # a claim in progress returns leases that must be released
    for executor in executors:
        executor.queue.clear()
    await _wait_for_slots(executors, grace_s)
    for executor in executors:
        executor.stop_all("shutdown")
    await _wait_for_slots(executors, 2.0)


async def _wait_for_slots(executors: Collection[StepExecutor], seconds: float) -> None:
    slots = {slot for executor in executors for slot in executor.slots}
    if slots:
        await asyncio.wait(slots, timeout=seconds)


async def settle_and_release(
    transactions: StepTransactions,
    settler: Settler,
    failures: FailureLog,
    leases: LeaseBook,
    limits: LimitClient,
    status: StatusReports,
) -> None:
    """Settle what has ended, release the rest, and report that the worker has stopped."""
    try:
        async with asyncio.timeout(10):
            await transactions.drained()
            await settler.drained()
            failures.close()
            await leases.release_all()
            await limits.close()
            await status.write(stopped=True)
    except UNAVAILABLE as error:  # leases that are not released expire
        log.warning("leases_not_released", leases=len(leases), error=one_line(error))
