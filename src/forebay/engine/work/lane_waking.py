"""Wake-ups: activates the lanes of which a message, a settle or the order of tasks says that they have ready tasks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.engine.work.lane_book import LaneBook
    from forebay.engine.work.lane_polling import LanePolling
    from forebay.engine.work.lanes import StepLanes
    from forebay.engine.work.slot_scheduler import SlotScheduler
    from forebay.engine.work.task_order import TaskOrder


class ClaimNews:
    """Wakes the loops that claim: each waits for its own event."""

    def __init__(self) -> None:
        self.regular = asyncio.Event()
        self.express = asyncio.Event()
        self.keys = asyncio.Event()

    def on_ready(self) -> None:
        """Handle a lane that has ready tasks."""
        self.regular.set()
        self.express.set()

    def on_open(self) -> None:
        """Handle that claims are possible again."""
        self.regular.set()
        self.keys.set()

    def on_change(self) -> None:
        """Handle free capacity, or the end of all claims. With free capacity, a lane may have so few tasks left that
        the express claim serves it."""
        self.regular.set()
        self.express.set()
        self.keys.set()


class LaneWaking:
    """Wakes the lanes of one worker."""

    def __init__(
        self,
        lanes: LaneBook,
        news: ClaimNews,
        scheduler: SlotScheduler,
        polling: LanePolling,
        task_order: TaskOrder | None,
    ) -> None:
        """`task_order` gets the lanes whose tasks are to be put in order first."""
        self._lanes = lanes
        self._news = news
        self._scheduler = scheduler
        self._polling = polling
        self._task_order = task_order

    def wake(self, step_id: int, lane_id: int, seq: int | None = None) -> None:
        """Record that something is ready in this lane."""
        lanes = self._lanes.steps.get(step_id)
        if lanes is None or not self._lanes.serves(lane_id):
            return
        if self._task_order is None or not self._task_order.wake(step_id, lane_id):
            self._wake_lane(lanes, lane_id, seq)

    def wake_sorted(self, step_id: int, lane_id: int, seq: int | None) -> None:
        """Record that tasks can be claimed from this lane: those in it have their order."""
        if self._lanes.only is not None:
            self._lanes.only.add(lane_id)
        if step_id in self._lanes.steps:
            self._wake_lane(self._lanes.steps[step_id], lane_id, seq)

    def _wake_lane(self, lanes: StepLanes, lane_id: int, seq: int | None) -> None:
        self._news.express.set()
        if lanes.wake(lane_id, seq):
            self._scheduler.shorten(is_short=True)
            # uvloop sends what is written in an iteration at its end: the other loops wake up in the next one, so that
            # the express claim does not wait for them.
            asyncio.get_running_loop().call_soon(self._wake_other_loops, lanes, lane_id)

    def _wake_other_loops(self, lanes: StepLanes, lane_id: int) -> None:
        self._polling.restart()
        self._news.regular.set()
        if not lanes.lanes[lane_id].known:
            self._polling.describe(lane_id)  # its owner and priority are read while its first tasks are claimed

    def wake_key(self, step_id: int, lane_id: int, seq: int, key: tuple[str, str] | None = None) -> None:
        """Record that tasks wait for a key in this lane; without the key, it is read first."""
        lanes = self._lanes.keys.get(step_id)
        if self._task_order is not None:
            self._task_order.learn_sorted(lane_id)
        if lanes is None:  # the step has no such limit any more, or the lane is that of tasks in order
            self.wake(step_id, lane_id, seq)
            return
        if key is not None:
            lanes.learn([lane_id], {lane_id: key})
            if self._lanes.only is not None:
                self._lanes.only.add(lane_id)
        if lanes.unknown([lane_id]):
            self._polling.request()
        elif lanes.key_of(lane_id) is None:
            self.wake(step_id, lane_id, seq)
        elif self._lanes.serves(lane_id):
            if not lanes.wake(lane_id, seq):
                self._polling.describe(lane_id)
            self._news.keys.set()

    def on_key(self, name: str, key: str) -> None:
        """Handle that a key may admit more tasks."""
        for lanes in self._lanes.keys.values():
            if lanes.has_line((name, key)):
                lanes.look_at((name, key))
                self._news.keys.set()

    def has_line(self, name: str, key: str) -> bool:
        """Whether tasks wait in lanes of this key."""
        return any(lanes.has_line((name, key)) for lanes in self._lanes.keys.values())
