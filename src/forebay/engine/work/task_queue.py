"""The claimed tasks of one step in a worker, in fair order.

Lanes share the slots in time, not in numbers of tasks: a lane is charged for the time that its tasks usually take when
they are taken, and for the difference when they end.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from forebay.engine.work.service_time import AGE_S, FIRST_ESTIMATE, ServiceTime
from forebay.tuning import Ewma

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from forebay.engine.db.tasks import Lease

_MAX_IDLE = 1000  # empty lanes whose virtual time is remembered
_AHEAD_S = 0.1  # seconds of slot time by which an owner who runs nothing may be ahead of others and still be next
_FEW_OWNERS = 32  # of more, each waits for a turn anyway


class _LaneQueue:
    __slots__ = (
        "declared_priority",
        "lane_id",
        "leases",
        "owed",
        "owner_id",
        "priority",
        "service",
        "since",
        "step_by",
        "virtual",
    )

    def __init__(self, lane_id: int, owner_id: int, priority: int, weight: float) -> None:
        self.lane_id = lane_id
        self.owner_id = owner_id
        self.leases: deque[tuple[Lease, int]] = deque()  # with the index of the next task in the lease
        self.declared_priority = self.priority = priority
        self.step_by = 1 / weight
        self.virtual = 0.0
        self.owed = 0.0  # a change of the virtual time that is applied when the lane comes first
        self.service = ServiceTime()
        self.since = 0.0  # when it was last served, or was empty

    def __lt__(self, other: _LaneQueue) -> bool:
        # Called about 15 times for each task where many lanes wait: a comparison of tuples takes longer.
        if self.priority != other.priority:
            return self.priority > other.priority
        return self.virtual < other.virtual

    def pay(self) -> None:
        """Apply what is owed."""
        self.virtual += self.owed
        self.owed = 0.0

    def take(self, usual: float, now: float) -> tuple[Lease, int]:
        """Take the next task of this lane and charge the lane for it."""
        lease, index = self.leases[0]
        self.virtual += self.step_by * self.service.take(1, usual)
        self.priority, self.since = self.declared_priority, now
        if index + 1 < len(lease.ns):
            self.leases[0] = (lease, index + 1)
        else:
            self.leases.popleft()
        return lease, index


class TaskQueue:
    """Tasks of several lanes; within the highest priority, the lane with the least service for its weight goes
    first."""

    def __init__(self) -> None:
        self._lanes: dict[int, _LaneQueue] = {}
        self._idle: dict[int, None] = {}  # lanes without tasks, the oldest first
        self._heap: list[_LaneQueue] = []
        self._owners: dict[int, int] = {}  # number of lanes by owner
        self._now = 0.0  # virtual time
        self._time = time.monotonic()  # of the last call of `age`
        self._mean = Ewma()
        self._usual = FIRST_ESTIMATE  # seconds per task of a lane about which nothing is known
        self.size = 0

    @property
    def owners(self) -> int:
        """The number of owners who have tasks in the queue."""
        return len(self._owners)

    def push(self, lease: Lease, priority: int = 0, weight: float = 1.0) -> None:
        if not lease.ns:
            return
        lane = self._lanes.get(lease.lane_id)
        if lane is None:
            lane = self._lanes[lease.lane_id] = _LaneQueue(lease.lane_id, lease.owner_id, priority, weight)
        if not lane.leases:
            self._idle.pop(lane.lane_id, None)
            lane.declared_priority = lane.priority = priority
            lane.step_by, lane.since = 1 / weight, self._time
            lane.virtual = max(lane.virtual, self._now)  # no credit for the time in which it was empty
            heapq.heappush(self._heap, lane)
            self._owners[lane.owner_id] = self._owners.get(lane.owner_id, 0) + 1
        lane.leases.append((lease, 0))
        self.size += len(lease.ns)

    def sizes_of_keys(self) -> Counter[tuple[str, str]]:
        """The number of queued tasks that come from lanes of keys, by limit and key."""
        sizes: Counter[tuple[str, str]] = Counter()
        for lane in self._heap:
            if (key := lane.leases[0][0].key) is not None:  # the same for all leases of a lane
                sizes[key] += sum(len(lease.ns) - index for lease, index in lane.leases)
        return sizes

    def ended(self, lane_id: int, count: int, seconds: float) -> None:
        """Charge a lane for the slot time of tasks that have ended, in place of the estimate."""
        self._mean.add(seconds / count)
        self._usual = self._mean.mean or FIRST_ESTIMATE
        lane = self._lanes.get(lane_id)
        if lane is not None:
            lane.owed += lane.service.end(count, seconds) * lane.step_by
            if not lane.leases:
                lane.pay()

    def age(self, now: float) -> None:
        """Raise lanes that have waited for long to the highest priority, until one of their tasks is taken: a low
        priority is slow, but never starves."""
        self._time = now
        if len(self._heap) < 2:
            return
        top = self._heap[0].priority
        aged = [
            lane for lane in self._heap if lane.priority < top and now - lane.since >= AGE_S * (top - lane.priority)
        ]
        for lane in aged:
            lane.priority = top
        if aged:
            heapq.heapify(self._heap)

    def pop_shared(self, held: Mapping[int, int], most: int) -> tuple[Lease, int] | None:
        """The next task, given the slots that each owner holds: owners who hold none come first, and owners who hold
        `most` come last, regardless of priorities and weights."""
        if len(self._owners) > 1 and (holds := held.get(self._heap[0].owner_id)):
            if any(owner_id not in held for owner_id in self._owners):
                return self.pop_of_others(held)
            if holds >= most:
                return self.pop_of_others({owner_id for owner_id, n in held.items() if n >= most}) or self.pop()
        return self.pop()

    def pop_outranked(self, owners: Container[int]) -> tuple[Lease, int] | None:
        """The next task of another owner than these, whose priority is below that of others in the queue."""
        if len(self._owners) < 2:
            return None
        top = self._heap[0].priority
        leading = {lane.owner_id for lane in self._heap if lane.priority == top}
        if len(leading) == len(self._owners):
            return None
        return self._pop_of(
            [lane for lane in self._heap if lane.owner_id not in leading and lane.owner_id not in owners]
        )

    def pop_waiting(self, held: Container[int], last: int) -> tuple[Lease, int] | None:
        """The next task of an owner who holds no slot, and is not the one whose task ran last. Slots that run short
        tasks hold nothing between two of them: behind the backlog of their owner, others would wait for the whole of
        what they are ahead. That is the slot time of their last tasks, most of which they may have waited."""
        if not 1 < len(self._owners) <= _FEW_OWNERS:
            return None
        first = self._heap[0]
        waiting = [
            lane
            for lane in self._heap
            if lane.owner_id != last
            and lane.owner_id not in held
            and lane.priority == first.priority
            and lane.virtual + lane.owed - first.virtual < _AHEAD_S * lane.step_by
        ]
        return self._pop_of(waiting)

    def is_next_of(self, owners: Container[int]) -> bool:
        """Whether the next task belongs to one of these owners."""
        return bool(self._heap) and self._heap[0].owner_id in owners

    def pop_of_others(self, owners: Container[int]) -> tuple[Lease, int] | None:
        """The next task of an owner who is none of these."""
        return self._pop_of([lane for lane in self._heap if lane.owner_id not in owners])

    def _pop_of(self, lanes: list[_LaneQueue]) -> tuple[Lease, int] | None:
        if not lanes:
            return None
        for lane in lanes:
            lane.pay()
        lane = min(lanes)
        task = lane.take(self._usual, self._time)
        self.size -= 1
        if not lane.leases:
            self._heap.remove(lane)
            self._leave(lane)
        heapq.heapify(self._heap)
        return task

    def _leave(self, lane: _LaneQueue) -> None:
        """Record that a lane has no tasks; its virtual time is remembered for a while."""
        self._idle[lane.lane_id] = None
        if len(self._idle) > _MAX_IDLE:
            oldest = next(iter(self._idle))
            del self._idle[oldest], self._lanes[oldest]
        self._owners[lane.owner_id] -= 1
        if not self._owners[lane.owner_id]:
            del self._owners[lane.owner_id]

    def pop(self) -> tuple[Lease, int] | None:
        """The next task: a lease and an index into it."""
        if not self.size:
            return None
        heap = self._heap
        lane = heap[0]
        while lane.owed:
            lane.pay()
            heapq.heapreplace(heap, lane)
            lane = heap[0]
        self._now = lane.virtual
        task = lane.take(self._usual, self._time)
        self.size -= 1
        if not lane.leases:
            heapq.heappop(heap)
            self._leave(lane)
        elif len(heap) > 1:
            heapq.heapreplace(heap, lane)
        return task

    def clear(self) -> None:
        """Remove all tasks."""
        self._lanes.clear()
        self._idle.clear()
        self._heap.clear()
        self._owners.clear()
        self.size = 0

    def drop(self, is_meant: Callable[[Lease], bool]) -> list[tuple[Lease, int]]:
        """Remove the tasks of the matching leases; return them as (lease, n)."""
        dropped: list[tuple[Lease, int]] = []
        for lane in list(self._heap):
            kept: deque[tuple[Lease, int]] = deque()
            for lease, index in lane.leases:
                if is_meant(lease):
                    dropped += ((lease, n) for n in lease.ns[index:])
                else:
                    kept.append((lease, index))
            lane.leases = kept
            if not kept:
                self._heap.remove(lane)
                self._leave(lane)
        heapq.heapify(self._heap)
        self.size -= len(dropped)
        return dropped
