"""Rate and concurrency limits over all workers, by leased slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.policy import Limit


class Limits:
    def __init__(self, pool: Pool, worker_id: int, clock: Clock) -> None:
        self._pool, self._worker_id, self._clock = pool, worker_id, clock

    async def enter(self, limits: Sequence[Limit], value: Any) -> list[str]:
        return []

    def leave(self, held: list[str]) -> None:
        return None
