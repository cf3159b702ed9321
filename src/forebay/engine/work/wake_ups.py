"""Wake-ups: PostgreSQL sends each of them to all workers, but one worker should claim the new task.

Each wake-up puts the workers into an order, which all of them compute in the same way from its number. The first claims
at once, the others later and later: they find nothing, unless those before them were busy. One claim of a worker covers
all wake-ups of a lane that it has received until then. Those that would wait for longer than the next poll do nothing.

The number is the position of the first new task. It also moves the watermark of the lane back when a transaction
commits late. So PostgreSQL does not fold the messages of single submits of one transaction; `submit_jobs` sends one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Lane = tuple[int, int]  # a step and a lane

_FIRST_PAUSE = 0.005  # seconds until the second worker claims; the pause of the others grows with the square


class WakeUps:
    """The wake-ups that a worker has received and not handled yet."""

    def __init__(
        self,
        worker_id: int,
        poll_s: float,
        *,
        wake: Callable[[int, int, int], None],
        is_active: Callable[[int, int], bool],
        call_later: Callable[[float, Callable[[], None]], asyncio.TimerHandle] | None = None,
    ) -> None:
        """`is_active`: whether this worker claims from the step and lane anyway."""
        self._worker_id = worker_id
        self._poll_s = poll_s
        self._wake = wake
        self._is_active = is_active
        self._call_later = call_later or asyncio.get_running_loop().call_later
        self._place, self._workers = 0, 1
        self._pending: dict[Lane, tuple[int, float, asyncio.TimerHandle]] = {}  # the first number, the pause

    def set_workers(self, worker_ids: Sequence[int]) -> None:
        """Set which workers are alive that run some of the same steps."""
        if self._worker_id in worker_ids:
            self._place, self._workers = worker_ids.index(self._worker_id), len(worker_ids)

    def add(self, step_id: int, lane_id: int, seq: int) -> None:
        lane = (step_id, lane_id)
        pause = 0.0 if self._is_active(step_id, lane_id) else self._pause(seq)
        first, planned, timer = self._pending.get(lane, (seq, self._poll_s, None))
        seq = min(seq, first)
        if pause == 0.0:
            if timer is not None:
                timer.cancel()
                del self._pending[lane]
            self._wake(step_id, lane_id, seq)
        elif pause < planned:
            if timer is not None:
                timer.cancel()
            self._pending[lane] = (seq, pause, self._call_later(pause, lambda: self._handle(lane)))
        elif timer is not None:
            self._pending[lane] = (seq, planned, timer)

    def _pause(self, seq: int) -> float:
        """How long this worker waits for those before it. The numbers of wake-ups are not evenly distributed, so they
        are hashed."""
        rank = ((seq * 0x9E3779B1 >> 16) + self._place) % self._workers
        return _FIRST_PAUSE * rank * rank

    def _handle(self, lane: Lane) -> None:
        seq, _, _ = self._pending.pop(lane)
        self._wake(*lane, seq)

    def close(self) -> None:
        for _, _, timer in self._pending.values():
            timer.cancel()
        self._pending.clear()
