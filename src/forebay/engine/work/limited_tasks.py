"""Returns claimed tasks that a limit does not admit to the queue: to the lane of the key that is full."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from forebay.db.pool import REJECTED, retry_until_up
from forebay.engine.db import tasks
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Woken
    from forebay.engine.work.attempt import Attempt

log = get_logger("limits")

_BATCH = 2000


class LimitedTasks:
    """Collects tasks that a limit does not admit, and returns them in batches. They are no attempts, so nothing is
    recorded about them."""

    def __init__(
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        *,
        timeout: float,
        on_returned: Callable[[Sequence[Attempt], Sequence[Woken]], None],
    ) -> None:
        self._pool, self._worker_id, self._clock, self._timeout = pool, worker_id, clock, timeout
        self._on_returned = on_returned
        self._waiting: deque[Attempt] = deque()
        self._news = asyncio.Event()

    def add(self, attempt: Attempt) -> None:
        self._waiting.append(attempt)
        self._news.set()

    async def run(self) -> None:
        """Return tasks forever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                await self._return([self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))])

    async def _return(self, batch: list[Attempt]) -> None:
        held_back = [(attempt.lease, attempt.n, *attempt.held_back_by) for attempt in batch]
        try:
            woken = await retry_until_up(
                lambda: tasks.wait_for_limits(self._pool, self._worker_id, held_back, self._clock.stamp()),
                self._repeated,
                self._timeout,
            )
        except REJECTED as error:  # their leases are not renewed any more: they expire, and the tasks are ready again
            log.critical("limited_tasks_lost", tasks=len(batch), error=one_line(error))
            woken = []
        self._on_returned(batch, woken)

    def _repeated(self, error: BaseException, pause: float) -> None:
        log.warning("limited_tasks_repeated", error=one_line(error), pause=pause)
