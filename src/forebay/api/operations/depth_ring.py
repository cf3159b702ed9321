"""Samples of the waiting and running tasks of the last hour, in the memory of this process."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.engine.db import metrics, overview
from forebay.engine.loops import every

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import datetime, timedelta

    from forebay.db.pool import Pool
    from forebay.engine.db.overview import Depth

EVERY_S = 10.0
_SAMPLES = 360


@dataclass(frozen=True, slots=True)
class DepthSample:
    at: datetime
    steps: dict[tuple[str, str], Depth]  # by pipeline and step; those without tasks are left out


class DepthRing:
    """The last samples, the oldest first."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._samples: deque[DepthSample] = deque(maxlen=_SAMPLES)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[DepthRing]:
        task = asyncio.create_task(every(EVERY_S, "depth", self.sample, jitter=0))
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def sample(self) -> None:
        """Add a sample."""
        async with self._pool.acquire() as conn:
            at, depth = await metrics.now(conn), await overview.depth(conn)
        self._samples.append(DepthSample(at, {(one.pipeline, one.step): one for one in depth if one.open}))

    def newest(self, age: timedelta) -> list[DepthSample]:
        """The samples that are at most this much older than the last one."""
        if not self._samples:
            return []
        since = self._samples[-1].at - age
        return [sample for sample in self._samples if sample.at >= since]
