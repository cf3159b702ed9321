"""Wake-ups: PostgreSQL sends each of them to all workers, but only as many workers should claim as there are tasks.

Each wake-up puts the workers of its step into an order, which all of them compute in the same way from its number. The
first claims at once. If it has no room for the task, or its claim leaves it no room, it tells the others, provided that
something is ready still: the next two claim, then the next four, until nothing is left or all have been told.

Any of them may have died or hang. So the second of all claims a little later in any case, the next ones look after that
whether something is left, and of those who claim together, each tells the others if nobody before it did.

The number is the position of the first new task. It also moves the watermark of the lane back when a transaction
commits late. So PostgreSQL does not fold the messages of single submits of one transaction; `submit_jobs` sends one.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.engine.work.peers import Peers

Lane = tuple[int, int]  # a step and a lane

_SECOND_PAUSE = 0.1  # seconds until the second worker claims
_LOOK_PAUSE = 0.5  # seconds until the next ones look whether something is left, each _SECOND_PAUSE after the one before
_LOOKING = 3  # how many of them look
_TELL_PAUSE = 0.05  # seconds between two of those who claim together, until each tells the others
_TOLD_FOR = 1.0  # seconds in which a worker does not tell the same again: the message has come twice
_MAX_TOLD = 10_000  # lanes of which this is remembered


@dataclass(slots=True)
class _Later:
    """What is done about a lane after a pause, unless somebody else has done it."""

    seq: int
    timer: asyncio.TimerHandle


@dataclass(slots=True)
class _Claiming:
    """A lane that this worker was told to claim from: whom it tells if it has no room for all that is there."""

    seq: int
    round_no: int  # the round that is told
    pause: float  # seconds until then: others may do it before
    timer: asyncio.TimerHandle | None = None


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
        on_all_told: Callable[[int, int, bool], None],
        call_later: Callable[[float, Callable[[], None]], asyncio.TimerHandle] | None = None,
    ) -> None:
        """`is_active`: whether this worker claims from the step and lane anyway. `has_room`: whether it would start a
        task of the step now. `pass_on` tells all workers that those of a round (1, 2, ...) are to claim, if something
        is ready still. `on_all_told`: a task was left when all workers had been told; whether to mark the lane."""
        self._peers = peers
        self._wake = wake
        self._is_active = is_active
        self._has_room = has_room
        self._pass_on = pass_on
        self._on_all_told = on_all_told
        self._call_later = call_later or asyncio.get_running_loop().call_later
        self._later: dict[Lane, _Later] = {}
        self._claiming: dict[int, dict[int, _Claiming]] = {}  # by step and lane
        self._told: dict[Lane, tuple[int, int, float]] = {}  # number and round that this worker has told last, and when

    def add(self, step_id: int, lane_id: int, seq: int, round_no: int = 0) -> None:
        """Handle a wake-up; `round_no`: how often it was passed on."""
        lane = (step_id, lane_id)
        rank, count = self._peers.rank(step_id, seq)
        first, end = 2**round_no - 1, 2 ** (round_no + 1) - 1
        if round_no:
            self._note_told(lane, seq, round_no)
        if first <= rank < end or (rank < first and self._has_room(step_id)):
            self._claim(lane, seq, min(round_no + 1, count.bit_length()), _TELL_PAUSE * ((rank - first) % end))
        elif self._is_active(step_id, lane_id):
            self._wake(step_id, lane_id, self._take_later(lane, seq))
        elif round_no == 0 and rank == 1:
            self._do_later(lane, seq, _SECOND_PAUSE, lambda: self._claim_late(lane))
        elif (turn := rank - max(end, 2)) < _LOOKING and rank >= end:
            self._do_later(lane, seq, _LOOK_PAUSE + turn * _SECOND_PAUSE, lambda: self._look(lane))
        if first >= count:
            self._on_all_told(step_id, lane_id, rank == 0 and not self._has_room(step_id))

    def claimed(self, step_id: int, lanes: Sequence[int], *, is_long: bool) -> None:
        """Handle the end of a claim: tell the others if this worker has no room for what is left. `is_long`: this is so
        for lanes as well that it has not claimed from yet, because its tasks take long."""
        claiming = self._claiming.get(step_id)
        if not claiming:
            return
        for lane_id in lanes:
            if not self._is_active(step_id, lane_id):
                self._drop(step_id, lane_id)
        for lane_id in [*claiming] if is_long else lanes:
            self._tell_if_full(step_id, lane_id)

    # -- claiming -------------------------------------------------------------------------------------------------

    def _claim(self, lane: Lane, seq: int, round_no: int, pause: float) -> None:
        """One claim covers all wake-ups of the lane that have been received until then."""
        step_id, lane_id = lane
        seq = self._take_later(lane, seq)
        self._wake(step_id, lane_id, seq)
        if self._has_told(lane, seq, round_no):
            return
        if (before := self._drop(step_id, lane_id)) is not None:
            seq, round_no, pause = min(seq, before.seq), min(round_no, before.round_no), min(pause, before.pause)
        self._claiming.setdefault(step_id, {})[lane_id] = _Claiming(seq, round_no, pause)
        self._tell_if_full(step_id, lane_id)

    def _claim_late(self, lane: Lane) -> None:
        self._claim(lane, self._later[lane].seq, 1, 0.0)

    def _look(self, lane: Lane) -> None:
        """Tell the round of this worker, if something is ready still."""
        seq = self._later.pop(lane).seq
        rank, _ = self._peers.rank(lane[0], seq)
        self._pass_on(*lane, seq, (rank + 1).bit_length() - 1)

    def _do_later(self, lane: Lane, seq: int, pause: float, call: Callable[[], None]) -> None:
        if (later := self._later.get(lane)) is not None:
            later.seq = min(seq, later.seq)
        else:
            self._later[lane] = _Later(seq, self._call_later(pause, call))

    def _take_later(self, lane: Lane, seq: int) -> int:
        """Do now what was to be done later: return the lower number."""
        if (later := self._later.pop(lane, None)) is None:
            return seq
        later.timer.cancel()
        return min(seq, later.seq)

    # -- telling the others ---------------------------------------------------------------------------------------

    def _tell_if_full(self, step_id: int, lane_id: int) -> None:
        claiming = self._claiming[step_id].get(lane_id)
        if claiming is None or claiming.timer is not None or self._has_room(step_id):
            return
        if claiming.pause:
            claiming.timer = self._call_later(claiming.pause, lambda: self._tell(step_id, lane_id))
        else:
            self._tell(step_id, lane_id)

    def _tell(self, step_id: int, lane_id: int) -> None:
        claiming = self._drop(step_id, lane_id)
        assert claiming is not None  # noqa: S101 - what drops it cancels the timer
        if self._peers.count_of(step_id) == 1:
            return
        if len(self._told) >= _MAX_TOLD:
            self._told.clear()
        self._told[step_id, lane_id] = claiming.seq, claiming.round_no, time.monotonic()
        self._pass_on(step_id, lane_id, claiming.seq, claiming.round_no)

    def _has_told(self, lane: Lane, seq: int, round_no: int) -> bool:
        """Whether this worker has just told that. Those of the last round are told as often as somebody has claimed."""
        told, last, at = self._told.get(lane, (seq, 0, 0.0))
        is_same = told == seq and round_no <= last < self._peers.count_of(lane[0]).bit_length()
        return is_same and time.monotonic() - at < _TOLD_FOR

    def _note_told(self, lane: Lane, seq: int, round_no: int) -> None:
        """Somebody has told the others of all that is ready from this number on."""
        step_id, lane_id = lane
        if (later := self._later.get(lane)) is not None and later.seq >= seq:
            self._take_later(lane, seq)
        claiming = self._claiming.get(step_id, {}).get(lane_id)
        if claiming is not None and claiming.seq >= seq and claiming.round_no <= round_no:
            self._drop(step_id, lane_id)

    def _drop(self, step_id: int, lane_id: int) -> _Claiming | None:
        claiming = self._claiming.get(step_id, {}).pop(lane_id, None)
        if claiming is not None and claiming.timer is not None:
            claiming.timer.cancel()
        return claiming

    def close(self) -> None:
        for later in self._later.values():
            later.timer.cancel()
        self._later.clear()
        for claiming in self._claiming.values():
            for lane in claiming.values():
                if lane.timer is not None:
                    lane.timer.cancel()
        self._claiming.clear()
