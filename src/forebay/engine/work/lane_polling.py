"""Polling: finds the lanes that have ready tasks in the tables, at intervals that grow while nothing is found.

Wake-ups are faster, but only polls are required for correctness.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from forebay.db.pool import REJECTED, UNAVAILABLE
from forebay.engine.db import tasks
from forebay.errors import one_line
from forebay.log import get_logger
from forebay.waits import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import LaneInfo
    from forebay.engine.work.lane_book import LaneBook
    from forebay.engine.work.lanes import StepLanes
    from forebay.engine.work.task_order import TaskOrder

log = get_logger("claimer")

_FIRST_POLL = 0.01
_SWEEP_SHARE = 20  # polls of all lanes may use 1/20 of the time
_YIELD_EVERY = 250  # lanes after which a poll yields to the event loop
_IDLE_FACTOR = 5  # how much longer the interval becomes while wake-ups arrive and no lane is active
_IDLE_POLLERS = 8  # more workers than these poll less often; any of them finds what is ready
_LONGEST_IDLE = 60.0  # seconds


class LanePolling:
    """Polls for the lanes of one worker, and describes lanes of which only wake-ups are known."""

    def __init__(  # noqa: PLR0913 - one poller is wired once
        self,
        pool: Pool,
        clock: Clock,
        lanes: LaneBook,
        poll_s: float,
        *,
        on_ready: Callable[[], None],
        on_ready_key: Callable[[], None],
        task_order: TaskOrder | None = None,
        is_listening: Callable[[], bool] = lambda: False,
        workers: Callable[[], int] = lambda: 1,
    ) -> None:
        """`on_ready` is told that a lane has ready tasks, `on_ready_key` the same of a lane of a key. `task_order` gets
        the lanes whose tasks are to be put in order first. `is_listening`: whether wake-ups arrive. `workers`: how many
        workers run each of the steps."""
        self._pool = pool
        self._clock = clock
        self._lanes = lanes
        self._poll_s = poll_s
        self._workers = workers
        self._on_ready = on_ready
        self._on_ready_key = on_ready_key
        self._task_order = task_order
        self._is_listening = is_listening
        self._unknown: set[int] = set()  # lanes whose owner and priority are to be read
        self._pause = _FIRST_POLL
        self.is_requested = False
        self._ends_idle = False  # the present interval may be that of an idle worker
        self._news = asyncio.Event()  # a poll is requested, a lane is unknown, or the worker is not idle any more

    @property
    def idle_poll_s(self) -> float:
        """The longest interval while wake-ups arrive and no lane is active."""
        idle = self._poll_s * _IDLE_FACTOR
        return max(idle, min(_LONGEST_IDLE, idle * self._workers() / _IDLE_POLLERS))

    def request(self) -> None:
        """Poll soon, because wake-ups may have been missed."""
        self._pause = _FIRST_POLL
        self.is_requested = True
        self._news.set()

    def restart(self) -> None:
        """Poll at short intervals again: a task whose commit comes after its wake-up is found soon."""
        if self._pause > self._poll_s:
            self._ends_idle = True
            self._news.set()
        self._pause = _FIRST_POLL

    def describe(self, lane_id: int) -> None:
        """Read the owner and priority of a lane soon."""
        self._unknown.add(lane_id)
        self._news.set()

    async def run(self) -> None:
        """Poll for ready lanes forever. The interval doubles while nothing is found, so a task whose commit came after
        its wake-up waits about as long as the commit was late. Polling uses only a small share of the time."""
        while True:
            began, least = time.monotonic(), 0.0
            self.is_requested = False
            try:
                await self.find_ready_lanes()
                least = _SWEEP_SHARE * (time.monotonic() - began)
            except REJECTED + UNAVAILABLE as error:  # the time until a timeout is no work of the server
                self._lost(error)
            await self._wait(least)
            self._pause = min(self._pause * 2, self._longest())

    def _longest(self) -> float:
        """The longest interval. What a worker learns by wake-ups is not searched for as often."""
        has_tasks = any(lanes.active for lanes in self._lanes.steps.values())
        has_line = any(keys.next_look() is not None for keys in self._lanes.keys.values())
        return self.idle_poll_s if self._is_listening() and not has_tasks and not has_line else self._poll_s

    async def _wait(self, least: float) -> None:
        """Wait until the next poll is due or requested, but at least `least` seconds. Meanwhile lanes that wake-ups
        have named are described."""
        now = time.monotonic()
        earliest, latest = now + least, now + max(self._pause, least)
        self._ends_idle = False
        while (due := earliest if self.is_requested else latest) > now:
            await wait_for(self._news, due - now)
            self._news.clear()
            if self._ends_idle:
                latest = max(earliest, min(latest, time.monotonic() + self._poll_s))
                self._ends_idle = False
            try:
                await self._describe_unknown()
            except REJECTED + UNAVAILABLE as error:
                self._lost(error)
            now = time.monotonic()

    def _lost(self, error: BaseException) -> None:
        log.warning("claim_repeated", error=one_line(error), pause=self._pause)

    async def find_ready_lanes(self) -> None:
        """Poll now."""
        found: Iterable[tuple[int, LaneInfo]]
        found = await tasks.find_ready_lanes(self._pool, list(self._lanes.steps), self._clock.stamp())
        if self._lanes.keys:
            found = await self._learn_keys(list(found))
        if self._task_order is not None:
            found = await self._task_order.sift(found)
        for count, (step_id, info) in enumerate(found, 1):
            if self._lanes.serves(info.lane_id):
                self._found(self._lanes.lanes_of(step_id, info.lane_id), info)
            if not count % _YIELD_EVERY:
                await asyncio.sleep(0)
        self._lanes.forget_idle()
        await self._describe_unknown()

    async def _learn_keys(self, found: list[tuple[int, LaneInfo]]) -> list[tuple[int, LaneInfo]]:
        """Read the keys of lanes that are new to their step."""
        keys_of = self._lanes.keys
        lanes: dict[int, list[int]] = {}
        for step_id, info in found:
            if step_id in keys_of:
                lanes.setdefault(step_id, []).append(info.lane_id)
        new = {step_id: keys_of[step_id].unknown(mine) for step_id, mine in lanes.items()}
        if unknown := sorted({lane_id for mine in new.values() for lane_id in mine}):
            keys = await tasks.limit_keys(self._pool, unknown)
            for step_id, mine in new.items():
                keys_of[step_id].learn(mine, keys)
        return found

    def _found(self, lanes: StepLanes, info: LaneInfo) -> None:
        lanes.learn(info)
        # The lane was empty for us but is not empty: something is below the watermark. An active lane can have such
        # tasks too.
        if not lanes.is_active(info.lane_id):
            lanes.rewind(info.lane_id)
            if lanes is self._lanes.steps[lanes.step_id]:
                lanes.wake(info.lane_id)
                self._on_ready()
            else:
                self._lanes.keys[lanes.step_id].wake(info.lane_id)
                self._on_ready_key()
        else:
            lanes.rewind_if_due(info.lane_id)

    async def _describe_unknown(self) -> None:
        unknown, self._unknown = self._unknown, set[int]()
        if not unknown:
            return
        try:
            described = await tasks.describe_lanes(self._pool, sorted(unknown))
        except BaseException:
            self._unknown |= unknown
            raise
        for count, info in enumerate(described, 1):
            for step_id, lanes in self._lanes.steps.items():
                if info.lane_id in lanes.lanes:
                    lanes.learn(info)
                elif self._lanes.keys and info.lane_id in (of_key := self._lanes.lanes_of(step_id, info.lane_id)).lanes:
                    of_key.learn(info)
            if not count % _YIELD_EVERY:
                await asyncio.sleep(0)
