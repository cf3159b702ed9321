"""Fairness: which lanes a worker claims from next, and how much from each.

Within a priority, owners share the slot time of the step by weight, in virtual time: the owner with the least service,
relative to the weight, goes first. All state is in the worker's memory, so fairness causes no writes. If each worker is
fair, all of them are.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from forebay.engine.db.tasks import Claim
from forebay.engine.work.lane import Lane, Owner, shares_of
from forebay.engine.work.lane_order import MAX_LANES, LaneOrder
from forebay.engine.work.service_time import AGE_S, FIRST_ESTIMATE
from forebay.tuning import Ewma

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable

    from forebay.engine.db.tasks import LaneInfo, Lease

# Claims read this many runs before the newest exhausted one: another worker may have been splitting those.
_LOOK_BACK = 500
_FEW = 8
_MAX_IDLE = 10_000  # lanes without ready tasks that are remembered
_REWIND_EVERY = 5.0  # seconds between claims below the watermark of a busy lane
_REWIND_SHARE = 50  # such claims may use 1/50 of the time: a long transaction keeps the runs that were claimed


class StepLanes:
    """The lanes of one step that have, or may have, ready tasks."""

    def __init__(self, step_id: int, clock: Callable[[], float] = time.monotonic, *, spreads: bool = False) -> None:
        """`spreads`: the owners that are known before the first task has ended begin at random places, so that many new
        workers do not all begin with the same one."""
        self.step_id = step_id
        self._spreads = spreads
        self.lanes: dict[int, Lane] = {}
        self.active: set[int] = set()
        self._clock = clock
        self._owners: dict[int, Owner] = {}
        self._counts: dict[int, int] = {}  # active lanes, by priority
        self._order = LaneOrder(self.lanes, self._counts)
        self._claims: dict[int, int] = {}  # lanes with a claim in progress, by priority
        self._served: dict[int, float] = {}  # when a lane of the priority was last claimed from, monotonic
        self._idle: dict[int, None] = {}  # lanes that are neither active nor being claimed from, the oldest first
        self._usual = Ewma()
        self.expected = 0  # tasks that the claims in progress may return

    # -- which lanes are active -----------------------------------------------------------------------------------

    def wake(self, lane_id: int, seq: int | None = None) -> bool:
        """Record that something may be ready in this lane, at `seq` or later; return whether this is new."""
        lane = self._lane(lane_id)
        if seq is not None and seq <= lane.head:
            lane.head = seq - 1  # a late commit below the watermark
        lane.woken = True
        news = lane_id not in self.active
        if news:
            self._catch_up(lane)
            self._activate(lane)
        return news

    def learn(self, info: LaneInfo) -> None:
        lane = self._lane(info.lane_id)
        if not lane.known:
            self._set_owner(lane, info)
        lane.weight = max(info.weight, 0.01)
        lane.paused, lane.known = info.paused, True
        if lane.paused and lane.lane_id in self.active:
            self._deactivate(lane)

    def _lane(self, lane_id: int) -> Lane:
        lane = self.lanes.get(lane_id)
        if lane is None:
            lane = self.lanes[lane_id] = Lane(lane_id, self._owner(0))
            lane.owner.lanes += 1
            self._idle[lane_id] = None
        return lane

    def _owner(self, owner_id: int, weight: float = 1.0) -> Owner:
        owner = self._owners.get(owner_id)
        if owner is None:
            owner = self._owners[owner_id] = Owner()
            if self._is_new:
                # The least of exponentially distributed numbers is that of each owner in proportion to the weight.
                owner.virtual = random.expovariate(weight / FIRST_ESTIMATE)
        return owner

    @property
    def _is_new(self) -> bool:
        """Whether owners begin at random places, because no task has ended yet."""
        return self._spreads and self._usual.mean is None

    def _set_owner(self, lane: Lane, info: LaneInfo) -> None:
        """The owner and priority of a lane do not change, but a wake-up does not tell them."""
        is_active = lane.lane_id in self.active
        if is_active:
            self._deactivate(lane)
        if lane.claiming:
            _add(self._claims, lane.priority, -1)
            _add(self._claims, info.priority, 1)
        self._leave_owner(lane)
        lane.owner_id, lane.priority = info.owner_id, info.priority
        lane.owner = self._owner(lane.owner_id, max(info.weight, 0.01))
        lane.owner.lanes += 1
        if is_active:
            self._catch_up(lane)
            self._activate(lane)

    def _leave_owner(self, lane: Lane) -> None:
        lane.owner.lanes -= 1
        if not lane.owner.lanes:
            del self._owners[lane.owner_id]

    def _activate(self, lane: Lane) -> None:
        self.active.add(lane.lane_id)
        self._idle.pop(lane.lane_id, None)
        if _add(self._counts, lane.priority, 1) == 1:
            self._served[lane.priority] = self._clock()
        _add(lane.owner.active, lane.priority, 1)
        lane.since, lane.fresh = self._clock(), True
        if not lane.claiming:
            self._order.push(lane)

    def _deactivate(self, lane: Lane) -> None:
        self.active.discard(lane.lane_id)
        _add(self._counts, lane.priority, -1)
        _add(lane.owner.active, lane.priority, -1)
        lane.place = 0
        if not lane.claiming:
            self._idle[lane.lane_id] = None

    def _catch_up(self, lane: Lane) -> None:
        """A lane that was idle gets no credit for the time in which others were served."""
        owner = lane.owner
        if not owner.active and not self._is_new:
            owner.virtual = max(owner.virtual, self._order.floor(lane.priority))
        lane.virtual = max(lane.virtual, owner.lane_floor)

    def forget_idle(self) -> None:
        """Forget the lanes that have been idle for longest, to bound the memory when there are many owners."""
        while len(self._idle) > _MAX_IDLE:
            lane_id = next(iter(self._idle))
            del self._idle[lane_id]
            self._leave_owner(self.lanes.pop(lane_id))

    def is_active(self, lane_id: int) -> bool:
        return lane_id in self.active or self.lanes[lane_id].claiming

    def rewind(self, lane_id: int) -> None:
        """Reset the watermark, so that the next claim reads everything."""
        lane = self.lanes[lane_id]
        lane.head, lane.rewound = 0, self._clock()

    def rewind_all(self) -> None:
        """The same for all lanes."""
        for lane_id in self.lanes:
            self.rewind(lane_id)

    def rewind_if_due(self, lane_id: int) -> None:
        """Reset the watermark of a busy lane from time to time."""
        lane = self.lanes[lane_id]
        if self._clock() - lane.rewound > max(_REWIND_EVERY, _REWIND_SHARE * lane.whole_s):
            self.rewind(lane_id)

    # -- claims ---------------------------------------------------------------------------------------------------

    def pick(self, capacity: int, served: Collection[int] = ()) -> list[Claim]:
        """Divide `capacity` tasks among the lanes of the highest priority, those with the least service first. The
        lanes in `served` have some tasks in this worker already."""
        if not self.active or capacity < 1:
            return []
        top, most = self._top(), min(capacity, MAX_LANES)
        known = [lane for i in served if i in self.active and self._can_claim(lane := self.lanes[i], top)]
        others = self._counts[top] - self._claims.get(top, 0) - len(known)
        # `pick_waiting` serves a few others without waiting for this claim.
        ready = sorted(known, key=self._order.key)[:most] if known and others <= _FEW else self._order.pop(top, most)
        shares = shares_of(ready)
        return [
            self._claim(lane, max(1, min(capacity, round(capacity * share))))
            for lane, share in zip(ready, shares, strict=True)
        ]

    def pick_waiting(
        self, capacity: int, served: Container[int], owners: Container[int] = (), holding: Container[int] = ()
    ) -> list[Claim]:
        """A few tasks of lanes that have almost none in this worker and belong to none of these owners: they do not
        wait for capacity behind the tasks of others. A lane that turns out to have many tasks is then served like the
        others. A lane that has tasks here (`holding`) and whose owner is not known yet may belong to one of them. Where
        very many lanes wait, only those that have just become active: small claims for all of them would take the time
        of the large ones."""
        if not self.active or capacity < 1:
            return []
        top = self._top()
        is_crowd = self._counts[top] > MAX_LANES
        waiting = self._order.pop(
            top,
            min(capacity, _FEW),
            lambda lane: (
                (lane.fresh or not is_crowd)
                and lane.lane_id not in served
                and lane.owner_id not in owners
                and (lane.known or lane.lane_id not in holding)
            ),
        )
        return [self._claim(lane, max(1, capacity // len(waiting))) for lane in waiting]

    def pick_outranked(self, owners: Container[int]) -> list[Claim]:
        """One task each for a few other owners whose lanes wait behind higher priorities: a priority orders the
        backlog, but must not exclude anyone."""
        top, *lower = sorted(self._counts, reverse=True) or [0]
        chosen: set[int] = set()

        def is_excluded(lane: Lane) -> bool:
            owner_id = lane.owner_id
            if owner_id in chosen or owner_id in owners or top in lane.owner.active:
                return False
            chosen.add(owner_id)
            return True

        lanes: list[Lane] = []
        for priority in lower:
            lanes += self._order.pop(priority, _FEW - len(lanes), is_excluded)
        return [self._claim(lane, 1) for lane in lanes]

    @property
    def is_claiming(self) -> bool:
        """Whether a claim is in progress."""
        return bool(self._claims)

    @property
    def has_priorities(self) -> bool:
        """Whether lanes of several priorities are active."""
        return len(self._counts) > 1

    def pick_aged(self, most: int | None = None) -> list[Claim]:
        """One task of each priority, at most so many, that has waited so long behind higher ones that it has reached
        their level: a low priority is slow, but never starves."""
        if most is not None and most < 1:
            return []
        top, now = self._top(), self._clock()
        aged = [p for p in self._counts if p < top and now - self._served[p] >= AGE_S * (top - p)]
        return [self._claim(lane, 1) for priority in aged[:most] for lane in self._order.pop(priority, 1)]

    def longest_wait(self) -> float:
        """For how many seconds a lane with ready tasks has not been claimed from. Those with the least service are
        considered."""
        now = self._clock()
        return max((now - lane.since for lane in self._order.leading()), default=0.0)

    def _top(self) -> int:
        """The highest priority. A lane with a claim in progress still blocks lower ones."""
        return max(self._counts)

    def _can_claim(self, lane: Lane, priority: int) -> bool:
        return lane.priority == priority and not lane.claiming

    def _claim(self, lane: Lane, quota: int) -> Claim:
        lane.claiming, lane.woken, lane.full, lane.fresh, lane.place = True, False, False, False, 0
        lane.since = self._served[lane.priority] = self._clock()
        _add(self._claims, lane.priority, 1)
        self.expected += quota
        lane.owner.lane_floor = lane.virtual
        head = max(0, lane.head - _LOOK_BACK)
        return Claim(self.step_id, lane.lane_id, head, quota, min(quota, lane.run_rows))

    def claimed(self, claims: Collection[Claim], leases: Iterable[Lease], seconds: float = 0.0) -> None:
        """Update watermarks, virtual time and empty lanes from the result of a claim that took so many seconds."""
        whole = [self.lanes[claim.lane_id] for claim in claims if not claim.head]
        for lane in whole:
            lane.whole_s = seconds / len(whole)
        by_lane: dict[int, list[Lease]] = {}
        for lease in leases:
            by_lane.setdefault(lease.lane_id, []).append(lease)
        for claim in claims:
            self.expected -= claim.quota
            self._learn_from(claim, by_lane.get(claim.lane_id, []))

    def _learn_from(self, claim: Claim, leases: list[Lease]) -> None:
        lane = self.lanes[claim.lane_id]
        got = sum(lease.last_n - lease.first_n + 1 for lease in leases)
        lane.full = got >= claim.quota
        lane.head = max([lane.head, *(lease.seq for lease in leases if lease.rest == 0)])
        if got:
            lane.charge(lane.service.take(got, self._usual.mean or FIRST_ESTIMATE))
        lane.fit_run_rows(claim, len(leases), got)
        if got < claim.quota and len(leases) < claim.max_rows and not lane.woken and lane.lane_id in self.active:
            self._deactivate(lane)
        self._end_claim(lane)

    def failed(self, claims: Iterable[Claim]) -> None:
        """Record that the claim failed; its lanes are tried again."""
        for claim in claims:
            self.expected -= claim.quota
            self._end_claim(self.lanes[claim.lane_id])

    def set_aside(self, lane_id: int) -> None:
        """Do not claim from this lane until it is woken or found again."""
        if lane_id in self.active:
            self._deactivate(self.lanes[lane_id])

    def _end_claim(self, lane: Lane) -> None:
        lane.claiming = False
        _add(self._claims, lane.priority, -1)
        if lane.lane_id in self.active:
            self._order.push(lane)
        else:
            self._idle[lane.lane_id] = None

    # -- slot time ------------------------------------------------------------------------------------------------

    def ended(self, lane_id: int, count: int, seconds: float) -> None:
        """Charge a lane for the slot time of tasks that have ended, in place of the estimate."""
        self._usual.add(seconds / count)
        lane = self.lanes.get(lane_id)
        if lane is not None:
            lane.charge(lane.service.end(count, seconds))

    def returned(self, lane_id: int, count: int) -> None:
        """Undo the charge for tasks that did not run."""
        lane = self.lanes.get(lane_id)
        if lane is not None:
            lane.charge(lane.service.refund(count))


def _add(counts: dict[int, int], key: int, change: int) -> int:
    """Change a count; a count of zero is removed."""
    counts[key] = counts.get(key, 0) + change
    if not counts[key]:
        return counts.pop(key)
    return counts[key]
