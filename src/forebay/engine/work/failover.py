"""What a worker does when another server has become the primary.

With asynchronous replication, the new primary lacks the last transactions of the old one: positions in the queue are
given out again, and the worker may not be registered. So the watermarks of all lanes are reset, and it registers again
under its number. If the number, or that of a step, has got another meaning, the worker ends with an error; its
supervisor starts another one. With synchronous replication nothing is missing, and the same costs a few statements.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.db.hosts import watch_failover
from forebay.db.pool import retry_until_up
from forebay.engine.work.registration import register_again
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.work.claimer import Claimer
    from forebay.engine.work.registration import Registration

log = get_logger("worker")


class Failover:
    """Waits for a change of the primary."""

    def __init__(
        self,
        dsns: Collection[str],
        pool: Pool,
        clock: Clock,
        claimer: Claimer,
        *,
        registered: Registration,
        pipelines: Sequence[Pipeline[Any]],
    ) -> None:
        """`dsns`: the addresses that tell. Behind a pooler in transaction mode, open connections tell nothing: the
        address past it does."""
        self._dsns, self._pool, self._clock, self._claimer = dsns, pool, clock, claimer
        self._registered, self._pipelines = registered, pipelines
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Handle each change until cancelled.

        Raises: SchemaError if this worker cannot go on.
        """
        loop = asyncio.get_running_loop()

        def tell() -> None:
            loop.call_soon_threadsafe(self._changed.set)

        ends = [watch_failover(dsn, tell) for dsn in self._dsns]
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                self._claimer.rewind()
                await retry_until_up(self._register, self._repeated)
                self._claimer.rewind()  # a claim may have been on its way
                log.info("worker_registered_again", worker=self._registered.worker_id)
        finally:
            for end in ends:
                end()

    async def _register(self) -> None:
        async with self._pool.acquire() as conn:
            await register_again(conn, self._registered, self._pipelines, self._clock.stamp())

    def _repeated(self, error: BaseException, pause: float) -> None:
        log.warning("registration_repeated", error=one_line(error), pause=pause)
