"""Puts the tasks of steps with `ordered_by` in order, before they are claimed.

New tasks of such a step come in the lanes of their owner and jobs, from which nobody claims. A worker takes them from
there, determines their keys, and puts them back: the first task of each key into a lane from which workers claim, the
others behind it. The database lets one worker at a time do this for an owner, so that no task overtakes an earlier one
whose key is not known yet.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import from_json

from forebay.db.pool import REJECTED, retry_until_up
from forebay.engine.db import order, tasks
from forebay.engine.declare.limit import TaskInfo
from forebay.engine.work.arguments import input_parser
from forebay.errors import DataError, one_line
from forebay.log import get_logger
from forebay.waits import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.order import UnorderedTask
    from forebay.engine.db.tasks import LaneInfo
    from forebay.engine.declare.step import Step

log = get_logger("order")

Pair = tuple[int, int]  # a step and a lane

_MAX_PAIRS = 100  # in one transaction
_MAX_TASKS = 1000  # in one transaction, shared by the pairs
_MANY_BYTES = 1 << 20  # after so many bytes of inputs there may be more tasks than were taken
_BUSY_PAUSE = 0.05  # seconds until a pair is tried again that another worker has locked
_YIELD_EVERY = 250  # keys after which the event loop may do something else
_MAX_KNOWN = 100_000  # lanes that are remembered


class TaskOrder:
    """The new tasks of all steps of one worker that have an order."""

    def __init__(
        self,
        pool: Pool,
        steps: Mapping[int, Step[Any, Any]],
        clock: Clock,
        *,
        timeout: float,
        on_ready: Callable[[int, int, int | None], None],
        on_idle: Callable[[], None],
    ) -> None:
        """`on_ready` is told the lanes (step, lane, seq) from which tasks can be claimed."""
        self._pool, self._clock, self._timeout = pool, clock, timeout
        self._on_ready, self._on_idle = on_ready, on_idle
        self._steps = {step_id: step for step_id, step in steps.items() if step.order is not None}
        self._parsers = {step_id: input_parser(step) for step_id, step in self._steps.items()}
        self._with_meta = any(step.order is not None and step.order.takes_task for step in self._steps.values())
        self._is_sorted: dict[int, bool] = {}  # known lanes: whether tasks can be claimed from them
        self._due: dict[Pair, None] = {}  # in the order in which they came
        self._is_working = False
        self._closed = False
        self._news = asyncio.Event()

    @property
    def is_idle(self) -> bool:
        return not self._due and not self._is_working

    def close(self) -> None:
        """Stop until `open` is called."""
        self._closed = True

    def open(self) -> None:
        self._closed = False
        self._news.set()

    def learn_sorted(self, lane_id: int) -> None:
        """Record that tasks can be claimed from this lane."""
        if len(self._is_sorted) > _MAX_KNOWN:
            self._is_sorted.clear()
        self._is_sorted[lane_id] = True

    def wake(self, step_id: int, lane_id: int) -> bool:
        """Record that something is ready in this lane; return False if it can be claimed as it is."""
        if step_id not in self._steps or self._is_sorted.get(lane_id):
            return False
        self._due[step_id, lane_id] = None
        self._news.set()
        return True

    async def sift(self, found: Iterable[tuple[int, LaneInfo]]) -> list[tuple[int, LaneInfo]]:
        """Record those of these lanes whose tasks have no order yet; return the others."""
        found = list(found)
        await self._learn(info.lane_id for step_id, info in found if step_id in self._steps)
        return [(step_id, info) for step_id, info in found if not self.wake(step_id, info.lane_id)]

    async def run(self) -> None:
        """Put tasks in order forever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._due and not self._closed:
                await self._next_round()
            self._on_idle()

    async def _next_round(self) -> None:
        pairs = list(self._due)[:_MAX_PAIRS]
        for pair in pairs:
            del self._due[pair]
        self._is_working = True
        try:
            busy = await self._put_in_order_isolated(pairs)
        finally:
            self._is_working = False
        self._due |= dict.fromkeys(busy)
        if busy and len(busy) == len(self._due):
            await wait_for(self._news, _BUSY_PAUSE)

    async def _put_in_order_isolated(self, pairs: list[Pair]) -> list[Pair]:
        """If the database rejects it, one pair after the other; a pair that causes this is tried again when the next
        poll finds it."""
        try:
            await self._learn(lane_id for _, lane_id in pairs)
            return await retry_until_up(lambda: self._put_in_order(pairs), self._repeated, self._timeout)
        except REJECTED as error:
            if len(pairs) > 1:
                return [busy for pair in pairs for busy in await self._put_in_order_isolated([pair])]
            log.exception("order_rejected", step=pairs[0][0], lane=pairs[0][1], error=one_line(error))
            return []

    async def _put_in_order(self, pairs: list[Pair]) -> list[Pair]:
        """Put the first tasks of these pairs in order; return the pairs that another worker has locked."""
        ready: list[tuple[int, int, int | None]] = [(*pair, None) for pair in pairs if self._is_sorted.get(pair[1])]
        unsorted = [pair for pair in pairs if not self._is_sorted.get(pair[1])]
        states: dict[Pair, str] = {}
        taken: list[UnorderedTask] = []
        quota = max(1, _MAX_TASKS // max(1, len(unsorted)))
        if unsorted:
            async with self._pool.acquire() as conn, conn.transaction():
                states = await order.lock(conn, unsorted)
                locked = [pair for pair in unsorted if states.get(pair) == "locked"]
                if locked:
                    taken = await order.take_unordered(conn, locked, quota, with_meta=self._with_meta)
                if taken:
                    keys = await self._keys(taken)
                    ready += await order.order_tasks(conn, taken, keys, self._clock.stamp())
        for step_id, lane_id, seq in ready:
            self.learn_sorted(lane_id)
            self._on_ready(step_id, lane_id, seq)
        for pair, state in states.items():
            if state == "none":  # the version of the pipeline that the jobs have has no order
                self._on_ready(*pair, None)
        self._due |= dict.fromkeys(_with_more(taken, quota))
        return [pair for pair, state in states.items() if state == "busy"]

    async def _keys(self, taken: list[UnorderedTask]) -> list[str | None]:
        keys: list[str | None] = []
        for count, task in enumerate(taken, 1):
            keys.append(self._key_of(task))
            if not count % _YIELD_EVERY:
                await asyncio.sleep(0)
        return keys

    def _key_of(self, task: UnorderedTask) -> str | None:
        step_order = self._steps[task.step_id].order
        assert step_order is not None  # noqa: S101 - of the steps that have one
        if task.input is None:
            return None
        meta = None if task.meta is None else from_json(task.meta)
        try:
            value = self._parsers[task.step_id](task.input)
            return step_order.key_of(value, TaskInfo(task.job_id, task.owner_id, task.owner or "", meta))
        except (ValidationError, DataError):  # its attempt fails for the same reason
            return None

    async def _learn(self, lanes: Iterable[int]) -> None:
        if unknown := sorted({lane_id for lane_id in lanes if lane_id not in self._is_sorted}):
            keys = await tasks.limit_keys(self._pool, unknown)
            for lane_id in unknown:
                if lane_id in keys:
                    self.learn_sorted(lane_id)
                else:
                    self._is_sorted[lane_id] = False

    def _repeated(self, error: BaseException, pause: float) -> None:
        log.warning("order_repeated", error=one_line(error), pause=pause)


def _with_more(taken: list[UnorderedTask], quota: int) -> list[Pair]:
    """The pairs that may have more tasks: one for each step and owner of whom as many were taken as was allowed."""
    counts: dict[Pair, tuple[int, int, int]] = {}
    for task in taken:
        count, size, _ = counts.get((task.step_id, task.owner_id), (0, 0, 0))
        counts[task.step_id, task.owner_id] = (count + 1, size + len(task.input or ""), task.lane_id)
    return [
        (step_id, lane_id)
        for (step_id, _), (count, size, lane_id) in counts.items()
        if count >= quota or size >= _MANY_BYTES
    ]
