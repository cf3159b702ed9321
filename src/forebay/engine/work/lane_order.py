"""The order in which the lanes of one step are served: within a priority, those with the least service first.

Lanes wait in heaps, so the cost of a wake-up or a claim does not grow with their number.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from forebay.engine.work.lane import Lane

MAX_LANES = 64  # in one claim


class LaneOrder:
    """Active lanes without a claim in progress, by priority."""

    def __init__(self, lanes: Mapping[int, Lane], counts: Mapping[int, int]) -> None:
        """`counts`: the number of active lanes, by priority."""
        self._lanes = lanes
        self._counts = counts
        # An entry may be out of date: a lane's place says which one is valid, and its key, which usually grows, is
        # checked when it comes first.
        self._heaps: dict[int, list[tuple[float, float, int, int]]] = {}
        self._places = count(1)
        self._floors: dict[int, float] = {}

    def key(self, lane: Lane) -> tuple[float, float, int]:
        """The position of a lane among those of its priority."""
        return (lane.owner.virtual, lane.virtual, lane.lane_id)

    def push(self, lane: Lane) -> None:
        heap = self._heaps.setdefault(lane.priority, [])
        if len(heap) > 2 * self._counts[lane.priority] + MAX_LANES:  # most entries are out of date
            heap[:] = [entry for entry in heap if self._is_valid(entry)]
            heapq.heapify(heap)
        lane.place = next(self._places)
        heapq.heappush(heap, (*self.key(lane), lane.place))

    def _is_valid(self, entry: tuple[float, float, int, int]) -> bool:
        lane = self._lanes.get(entry[2])
        return lane is not None and lane.place == entry[3]

    def first(self, priority: int) -> Lane | None:
        """The lane with the least service that can be claimed from."""
        heap = self._heaps.get(priority, [])
        while heap:
            entry = heap[0]
            if not self._is_valid(entry):
                heapq.heappop(heap)
                continue
            lane = self._lanes[entry[2]]
            key = self.key(lane)
            if key <= entry[:3]:
                return lane
            heapq.heapreplace(heap, (*key, lane.place))
        return None

    def pop(self, priority: int, most: int, fits: Callable[[Lane], bool] | None = None) -> list[Lane]:
        """The first lanes that fit. Those that had more service than many that do not fit are not looked at."""
        chosen: list[Lane] = []
        others: list[Lane] = []
        while len(chosen) < most and len(others) < MAX_LANES and (lane := self.first(priority)) is not None:
            heapq.heappop(self._heaps[priority])
            (chosen if fits is None or fits(lane) else others).append(lane)
        for lane in others:
            self.push(lane)
        return chosen

    def floor(self, priority: int) -> float:
        """The least virtual time of the owners that are active in this priority; it never decreases."""
        first = self.first(priority)
        floor = self._floors.get(priority, 0.0)
        if first is not None:
            floor = self._floors[priority] = max(floor, first.owner.virtual)
        return floor

    def leading(self) -> Iterator[Lane]:
        """Lanes of each priority with little service."""
        for heap in self._heaps.values():
            for entry in heap[:MAX_LANES]:
                if self._is_valid(entry):
                    yield self._lanes[entry[2]]
