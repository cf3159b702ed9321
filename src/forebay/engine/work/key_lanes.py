"""The lanes in which tasks of one step wait for a key of a limit.

Each key has lanes of its own, one for each owner (and large job) that waits for it, and the key's starts go round these
by weight: each start counts the same, however long its task takes. A task is claimed from such a lane only when its key
can admit it.
"""

from __future__ import annotations

import heapq
from itertools import count
from math import isinf
from typing import TYPE_CHECKING

from forebay.engine.work.lanes import StepLanes

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Container, Iterable

    from forebay.engine.db.tasks import Claim
    from forebay.engine.declare.limit import Limit
    from forebay.engine.limits.client import LimitClient

Key = tuple[str, str]  # the name of a limit, and a key

_MIN_PAUSE = 0.005  # seconds between two looks at a key that nobody has called for
_MAX_PAUSE = 30.0
_ASKING_PAUSE = 1.0  # the same while the database is asked; its answer leads to a look at once
_FEW = 8  # keys that are looked at for owners who run nothing
_MAX_KNOWN = 100_000  # lanes whose key is remembered


class KeyLanes:
    """The lanes of keys of one step."""

    def __init__(self, step_id: int, limits: Iterable[Limit], client: LimitClient) -> None:
        self.step_id = step_id
        self._limits = {limit.name: limit for limit in limits if limit.key is not None}
        self._client = client
        self._lanes: dict[Key, StepLanes] = {}
        self._keys: dict[int, Key | None] = {}  # of known lanes; None: not the lane of a key of this step
        self._due: list[tuple[float, int, Key]] = []  # when to look at a key again; an entry may be out of date
        self._entries: dict[Key, tuple[float, int]] = {}  # which one is valid
        self._numbers = count()
        self._asked: set[Key] = set()  # whose lanes may be in the middle of a claim

    def unknown(self, lanes: Iterable[int]) -> list[int]:
        """Those of these lanes whose key has to be read."""
        return [lane_id for lane_id in lanes if lane_id not in self._keys]

    def learn(self, lanes: Iterable[int], keys: dict[int, Key]) -> None:
        """Record the keys of lanes. A limit that the step does not have any more holds nothing back."""
        if len(self._keys) > _MAX_KNOWN:
            active = {lane_id for lanes_of in self._lanes.values() for lane_id in lanes_of.lanes}
            self._keys = {lane_id: key for lane_id, key in self._keys.items() if lane_id in active}
        for lane_id in lanes:
            key = keys.get(lane_id)
            self._keys[lane_id] = key if key is not None and key[0] in self._limits else None

    def key_of(self, lane_id: int) -> Key | None:
        return self._keys.get(lane_id)

    def all_lanes(self) -> Iterable[StepLanes]:
        return self._lanes.values()

    def lanes_of(self, lane_id: int) -> StepLanes | None:
        """The lanes of the key that this lane belongs to; None if it is not the lane of a key."""
        key = self._keys.get(lane_id)
        if key is None:
            return None
        lanes = self._lanes.get(key)
        if lanes is None:
            lanes = self._lanes[key] = StepLanes(self.step_id)
        return lanes

    def wake(self, lane_id: int, seq: int | None = None) -> bool:
        """Record that tasks wait in this lane, at `seq` or later; return whether its owner is known."""
        key, lanes = self._keys[lane_id], self.lanes_of(lane_id)
        assert key is not None  # noqa: S101 - checked by the callers
        assert lanes is not None  # noqa: S101 - it has a key
        lanes.wake(lane_id, seq)
        self.look_at(key)
        return lanes.lanes[lane_id].known

    def has_line(self, key: Key) -> bool:
        """Whether tasks wait for this key."""
        lanes = self._lanes.get(key)
        return lanes is not None and bool(lanes.active)

    def look_at(self, key: Key, pause: float = 0.0) -> None:
        """Look at a key after a pause, or now."""
        entry = self._entries[key] = (self._client.now() + pause, next(self._numbers))
        heapq.heappush(self._due, (*entry, key))

    def pick(self, capacity: int, taken: Counter[Key]) -> list[Claim]:
        """What to claim now, at most `capacity` tasks. `taken`: tasks of each key that have been claimed, for any step,
        and have not started; what is picked is added."""
        return self._pick(capacity, taken, _pick_next)

    def pick_waiting(
        self, capacity: int, taken: Counter[Key], owners: Container[int], holding: Container[int]
    ) -> list[Claim]:
        """The same for lanes that belong to none of these owners: see `StepLanes.pick_waiting`. A few keys are looked
        at, and the others keep what they admit."""
        return self._pick(
            capacity,
            taken,
            lambda lanes, most: lanes.pick_waiting(most, (), owners, holding),
            is_wanted=lambda lanes: any(lanes.lanes[lane_id].owner_id not in owners for lane_id in lanes.active),
            most=_FEW,
        )

    def _pick(
        self,
        capacity: int,
        taken: Counter[Key],
        choose: Callable[[StepLanes, int], list[Claim]],
        *,
        is_wanted: Callable[[StepLanes], bool] = lambda _: True,
        most: int | None = None,
    ) -> list[Claim]:
        claims: list[Claim] = []
        now = self._client.now()
        looks = count()
        while capacity > 0 and next(looks) != most and (key := self._next_due(now)) is not None:
            lanes = self._lanes[key]
            if not is_wanted(lanes):
                self.look_at(key, _MIN_PAUSE)
                continue
            admitted, pause = self._client.key_capacity(self._limits[key[0]], key[1], capacity)
            picked = choose(lanes, min(admitted - taken[key], capacity))
            tasks = sum(claim.quota for claim in picked)
            capacity -= tasks
            taken[key] += tasks
            claims += picked
            self._asked.add(key)
            if self.has_line(key):
                self.look_at(key, _ASKING_PAUSE if isinf(pause) else min(max(pause, _MIN_PAUSE), _MAX_PAUSE))
        return claims

    @property
    def expected(self) -> int:
        """Tasks that the claims in progress may return."""
        self._asked = {key for key in self._asked if key in self._lanes and self._lanes[key].is_claiming}
        return sum(self._lanes[key].expected for key in self._asked)

    def claimed(self, lane_id: int) -> None:
        """Handle the end of a claim: another lane of the key may be next, or nobody waits any more."""
        key = self._keys[lane_id]
        assert key is not None  # noqa: S101 - only lanes of keys are claimed from
        if self.has_line(key):
            self.look_at(key)
        else:
            self._entries.pop(key, None)
            lanes = self._lanes.get(key)  # None: another lane of the key was the last one of the same claim
            if lanes is not None and not _is_in_use(lanes):
                del self._lanes[key]

    def forget_idle(self) -> None:
        """Forget the lanes of keys that nobody waits for, and idle lanes of the others."""
        self._lanes = {key: lanes for key, lanes in self._lanes.items() if _is_in_use(lanes)}
        for lanes in self._lanes.values():
            lanes.forget_idle()

    def _next_due(self, now: float) -> Key | None:
        self._drop_invalid()
        if not self._due or self._due[0][0] > now:
            return None
        key = heapq.heappop(self._due)[2]
        del self._entries[key]
        return key

    def _drop_invalid(self) -> None:
        while self._due:
            at, number, key = self._due[0]
            if self._entries.get(key) == (at, number) and self.has_line(key):
                return
            heapq.heappop(self._due)
            if self._entries.get(key) == (at, number):
                del self._entries[key]

    def next_look(self) -> float | None:
        """When to look next, in the time of the limits; None if no task waits."""
        self._drop_invalid()
        return self._due[0][0] if self._due else None

    @property
    def is_asking(self) -> bool:
        """Whether the database has been asked for starts of a key that tasks wait for, or for the tasks."""
        return any(self._client.is_asking(*key) for key in self._entries) or any(
            lane.claiming for lanes in self._lanes.values() for lane in lanes.lanes.values()
        )


def _pick_next(lanes: StepLanes, most: int) -> list[Claim]:
    """Tasks of the lanes that are next, and of those that have waited for long behind higher priorities."""
    picked = lanes.pick(most)
    return picked + lanes.pick_aged() if most > 0 and lanes.has_priorities else picked


def _is_in_use(lanes: StepLanes) -> bool:
    return bool(lanes.active) or any(lane.claiming for lane in lanes.lanes.values())
