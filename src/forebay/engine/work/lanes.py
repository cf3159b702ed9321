"""Fairness: which lanes a worker claims from next, and how much from each.

Within a priority, owners share by weight in virtual time: the owner with the least service, relative to the weight,
goes first. All state is in the worker's memory, so fairness causes no writes. If each worker is fair, all of them are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.engine.db.tasks import Claim

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from forebay.engine.db.tasks import LaneInfo, Lease

# Claims read this many runs before the newest exhausted one: another worker may have been splitting those.
_LOOK_BACK = 500
_MAX_LANES = 64  # in one claim
_FEW = 8


@dataclass(slots=True, eq=False)
class Lane:
    """What a worker knows about one step of one lane."""

    lane_id: int
    owner_id: int = 0
    priority: int = 0
    weight: float = 1.0
    known: bool = False  # owner, priority and weight are known
    paused: bool = False
    head: int = 0  # the watermark: nothing is expected below it; a periodic poll checks there
    run_rows: int = 4  # runs that a claim reads; grows while runs are short
    virtual: float = 0.0
    claiming: bool = False
    woken: bool = False  # woken during a claim, which may have missed the new task
    rewound: float = 0.0  # when the watermark was last reset, monotonic
    full: bool = False  # the last claim returned as much as requested


class StepLanes:
    """The lanes of one step that have, or may have, ready tasks."""

    def __init__(self, step_id: int) -> None:
        self.step_id = step_id
        self.lanes: dict[int, Lane] = {}
        self.active: set[int] = set()
        self._owner_virtual: dict[int, float] = {}

    def wake(self, lane_id: int, seq: int | None = None) -> bool:
        """Record that something may be ready in this lane, at `seq` or later; return whether this is new."""
        lane = self.lanes.get(lane_id)
        if lane is None:
            lane = self.lanes[lane_id] = Lane(lane_id)
        if seq is not None and seq <= lane.head:
            lane.head = seq - 1  # a late commit below the watermark
        lane.woken = True
        news = lane_id not in self.active
        if news:
            self._catch_up(lane)
            self.active.add(lane_id)
        return news

    def _catch_up(self, lane: Lane) -> None:
        """A lane that was idle gets no credit for the time in which others were served."""
        others = [self.lanes[i] for i in self.active if i != lane.lane_id]
        if others:
            lane.virtual = max(lane.virtual, min(other.virtual for other in others))
            least = min(self._owner_virtual.get(other.owner_id, 0.0) for other in others)
            self._owner_virtual[lane.owner_id] = max(self._owner_virtual.get(lane.owner_id, 0.0), least)

    def learn(self, info: LaneInfo) -> None:
        lane = self.lanes.get(info.lane_id)
        if lane is None:
            lane = self.lanes[info.lane_id] = Lane(info.lane_id)
        lane.owner_id, lane.priority, lane.weight = info.owner_id, info.priority, max(info.weight, 0.01)
        if not lane.known and info.lane_id in self.active:
            self._catch_up(lane)
        lane.paused, lane.known = info.paused, True
        if lane.paused:
            self.active.discard(info.lane_id)

    def unknown(self) -> list[int]:
        return [lane_id for lane_id in self.active if not self.lanes[lane_id].known]

    def forget_idle(self) -> None:
        """Forget idle lanes, to bound the memory when there are many owners."""
        if len(self.lanes) > 10_000:
            self.lanes = {i: lane for i, lane in self.lanes.items() if i in self.active or lane.claiming}
            self._owner_virtual.clear()

    def pick(self, capacity: int, served: Container[int] = ()) -> list[Claim]:
        """Divide `capacity` tasks among the lanes of the highest priority, those with the least service first. The
        lanes in
        `served` have some tasks in this worker already."""
        if not self.active or capacity < 1:
            return []
        ready = self._ready()
        known = [lane for lane in ready if lane.lane_id in served]
        if known and len(ready) - len(known) <= _FEW:
            ready = known  # `pick_waiting` serves the others without waiting for this claim
        ready = sorted(ready, key=self._sort_key)[: min(capacity, _MAX_LANES)]
        shares = self._shares(ready)
        return [
            self._claim(lane, max(1, min(capacity, round(capacity * share))))
            for lane, share in zip(ready, shares, strict=True)
        ]

    def pick_waiting(self, capacity: int, served: Container[int], owners: Container[int] = ()) -> list[Claim]:
        """A few tasks of lanes that have almost none in this worker and belong to none of these owners: they do not
        wait for capacity behind the tasks of others. A lane that turns out to have many tasks is then served like the
        others."""
        waiting = [lane for lane in self._ready() if lane.lane_id not in served and lane.owner_id not in owners]
        waiting = sorted(waiting, key=self._sort_key)[: min(max(capacity, 0), _FEW)]
        return [self._claim(lane, max(1, capacity // len(waiting))) for lane in waiting]

    def pick_outranked(self, owners: Container[int]) -> list[Claim]:
        """One task each for a few other owners whose lanes wait behind higher priorities: a priority orders the
        backlog, but must not exclude anyone."""
        top = self._top()
        lanes = [self.lanes[i] for i in self.active]
        leading = {lane.owner_id for lane in lanes if lane.priority == top}
        first: dict[int, Lane] = {}
        for lane in lanes:
            if not (lane.claiming or lane.owner_id in leading or lane.owner_id in owners):
                other = first.setdefault(lane.owner_id, lane)
                if (-lane.priority, self._sort_key(lane)) < (-other.priority, self._sort_key(other)):
                    first[lane.owner_id] = lane
        return [self._claim(lane, 1) for lane in sorted(first.values(), key=self._sort_key)[:_FEW]]

    def _top(self) -> int:
        return max((self.lanes[i].priority for i in self.active), default=0)

    def _ready(self) -> list[Lane]:
        """The lanes of the highest priority. A lane with a claim in progress still blocks lower priorities."""
        top = self._top()
        return [lane for i in self.active if (lane := self.lanes[i]).priority == top and not lane.claiming]

    def _claim(self, lane: Lane, quota: int) -> Claim:
        lane.claiming, lane.woken, lane.full = True, False, False
        head = max(0, lane.head - _LOOK_BACK)
        return Claim(self.step_id, lane.lane_id, head, quota, min(quota, lane.run_rows))

    def _sort_key(self, lane: Lane) -> tuple[float, float, int]:
        return (self._owner_virtual.get(lane.owner_id, 0.0), lane.virtual, lane.lane_id)

    def _shares(self, lanes: list[Lane]) -> list[float]:
        """The weight of an owner is divided among the owner's lanes: more jobs do not give a larger share."""
        of_owner: dict[int, int] = {}
        for lane in lanes:
            of_owner[lane.owner_id] = of_owner.get(lane.owner_id, 0) + 1
        shares = [lane.weight / of_owner[lane.owner_id] for lane in lanes]
        total = sum(shares)
        return [share / total for share in shares]

    def claimed(self, claims: Iterable[Claim], leases: Iterable[Lease]) -> None:
        """Update watermarks, virtual time and empty lanes from the result of a claim."""
        by_lane: dict[int, list[Lease]] = {}
        for lease in leases:
            by_lane.setdefault(lease.lane_id, []).append(lease)
        for claim in claims:
            self._learn_from(claim, by_lane.get(claim.lane_id, []))

    def _learn_from(self, claim: Claim, leases: list[Lease]) -> None:
        lane = self.lanes[claim.lane_id]
        lane.claiming = False
        got = sum(lease.last_n - lease.first_n + 1 for lease in leases)
        lane.full = got >= claim.quota
        lane.head = max([lane.head, *(lease.seq for lease in leases if lease.rest == 0)])
        lane.virtual += got / lane.weight
        if got:
            self._owner_virtual[lane.owner_id] = self._owner_virtual.get(lane.owner_id, 0.0) + got / lane.weight
        self._fit_run_rows(lane, claim, len(leases), got)
        if got < claim.quota and len(leases) < claim.max_rows and not lane.woken:
            self.active.discard(claim.lane_id)

    def _fit_run_rows(self, lane: Lane, claim: Claim, runs: int, got: int) -> None:
        """Read more runs per claim while runs are short, and fewer where few are found, so that a lane with little work
        returns to the claim that is optimized for a few tasks."""
        if runs >= claim.max_rows and got < claim.quota:
            lane.run_rows = min(2_000, lane.run_rows * 4)
        elif runs * 4 <= claim.max_rows:
            lane.run_rows = max(4, lane.run_rows // 4)

    def failed(self, claims: Iterable[Claim]) -> None:
        """Record that the claim failed; its lanes are tried again."""
        for claim in claims:
            self.lanes[claim.lane_id].claiming = False

    def set_aside(self, lane_id: int) -> None:
        """Do not claim from this lane until it is woken or found again."""
        self.active.discard(lane_id)

    def is_active(self, lane_id: int) -> bool:
        return lane_id in self.active or self.lanes[lane_id].claiming

    def rewind(self, lane_id: int) -> None:
        """Reset the watermark, so that the next claim reads everything."""
        lane = self.lanes[lane_id]
        lane.head, lane.rewound = 0, time.monotonic()
