"""Wake-ups: PostgreSQL sends each of them to all workers, but one worker should claim the new task.

Each wake-up puts the workers of its step into an order, which all of them compute in the same way from its number. The
first claims at once. If it has no room for the task, it tells the others, and the next two claim, then the next four,
until one has room. The second of all claims a little later in any case: the first may have died or hang.

The number is the position of the first new task. It also moves the watermark of the lane back when a transaction
commits late. So PostgreSQL does not fold the messages of single submits of one transaction; `submit_jobs` sends one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.engine.work.peers import Peers

Lane = tuple[int, int]  # a step and a lane

_SECOND_PAUSE = 0.1  # seconds until the second worker claims


class WakeUps:
    """The wake-ups that a worker has received and not handled yet."""

    def __init__(
        self,
        peers: Peers,
        *,
        wake: Callable[[int, int, int], None],
        is_active: Callable[[int, int], bool],
        has_room: Callable[[int], bool],
        pass_on: Callable[[int, int, int, int], None],
        call_later: Callable[[float, Callable[[], None]], asyncio.TimerHandle] | None = None,
    ) -> None:
        """`is_active`: whether this worker claims from the step and lane anyway. `has_room`: whether it would start a
        task of the step now. `pass_on` tells all workers that those of a round (1, 2, ...) are to claim."""
        self._peers = peers
        self._wake = wake
        self._is_active = is_active
        self._has_room = has_room
        self._pass_on = pass_on
        self._call_later = call_later or asyncio.get_running_loop().call_later
        self._pending: dict[Lane, tuple[int, asyncio.TimerHandle]] = {}  # the first number

    def add(self, step_id: int, lane_id: int, seq: int, round_no: int = 0) -> None:
        """Handle a wake-up; `round_no`: how often it was passed on."""
        place, count = self._peers.place(step_id)
        # The numbers of wake-ups are not evenly distributed: the multiple of the golden ratio is.
        rank = (((seq * 0x9E3779B1 & 0xFFFFFFFF) * count >> 32) + place) % count
        first, end = 2**round_no - 1, 2 ** (round_no + 1) - 1
        lane = (step_id, lane_id)
        if rank == first:
            self._claim_or_pass(lane, seq, round_no + 1, is_last=end >= count)
        elif first < rank < end or self._is_active(step_id, lane_id):
            self._claim(lane, seq)
        elif round_no == 0 and rank == 1:
            self._claim_later(lane, seq)

    def _claim(self, lane: Lane, seq: int) -> None:
        """One claim covers all wake-ups of the lane that have been received until then."""
        if (waiting := self._pending.pop(lane, None)) is not None:
            waiting[1].cancel()
            seq = min(seq, waiting[0])
        self._wake(*lane, seq)

    def _claim_or_pass(self, lane: Lane, seq: int, round_no: int, *, is_last: bool) -> None:
        self._claim(lane, seq)
        if not is_last and not self._has_room(lane[0]):
            self._pass_on(*lane, seq, round_no)

    def _claim_later(self, lane: Lane, seq: int) -> None:
        if lane in self._pending:
            first, timer = self._pending[lane]
            self._pending[lane] = (min(seq, first), timer)
        else:
            self._pending[lane] = (seq, self._call_later(_SECOND_PAUSE, lambda: self._end_wait(lane)))

    def _end_wait(self, lane: Lane) -> None:
        seq, _ = self._pending.pop(lane)
        _, count = self._peers.place(lane[0])
        self._claim_or_pass(lane, seq, 1, is_last=count < 2)

    def close(self) -> None:
        for _, timer in self._pending.values():
            timer.cancel()
        self._pending.clear()
