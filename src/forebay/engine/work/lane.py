"""A lane as a worker knows it: one step's tasks of one owner, job or key, and the service that it has received."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.engine.work.service_time import ServiceTime

if TYPE_CHECKING:
    from forebay.engine.db.tasks import Claim

_LEAST_RUN_ROWS, _MOST_RUN_ROWS = 4, 2_000


@dataclass(slots=True, eq=False)
class Owner:
    """The service that an owner has received from one step."""

    virtual: float = 0.0
    lane_floor: float = 0.0  # virtual time of the owner's lane that was served last
    lanes: int = 0
    active: dict[int, int] = field(default_factory=dict[int, int])  # number of active lanes, by priority


@dataclass(slots=True, eq=False)
class Lane:
    """What a worker knows about one step of one lane."""

    lane_id: int
    owner: Owner
    owner_id: int = 0
    priority: int = 0
    weight: float = 1.0
    known: bool = False  # owner, priority and weight are known
    paused: bool = False
    head: int = 0  # the watermark: nothing is expected below it; a periodic poll checks there
    run_rows: int = _LEAST_RUN_ROWS  # runs that a claim reads; grows while runs are short
    virtual: float = 0.0
    service: ServiceTime = field(default_factory=ServiceTime)
    claiming: bool = False
    woken: bool = False  # woken during a claim, which may have missed the new task
    rewound: float = 0.0  # when the watermark was last reset, monotonic
    whole_s: float = 0.0  # seconds that the last claim from the start of the lane took
    full: bool = False  # the last claim returned as much as requested
    fresh: bool = False  # nothing was claimed since it became active
    place: int = 0  # identifies its valid entry in the order of lanes; 0: it has none
    since: float = 0.0  # when it became active or was last claimed from, monotonic

    def charge(self, seconds: float) -> None:
        """Charge the lane and its owner for slot time, in proportion to the weight."""
        self.virtual += seconds / self.weight
        self.owner.virtual += seconds / self.weight

    def fit_run_rows(self, claim: Claim, runs: int, got: int) -> None:
        """Read more runs per claim while runs are short, and fewer where few are found, so that a lane with little work
        returns to the claim that is optimized for a few tasks."""
        if runs >= claim.max_rows and got < claim.quota:
            self.run_rows = min(_MOST_RUN_ROWS, self.run_rows * 4)
        elif runs * 4 <= claim.max_rows:
            self.run_rows = max(_LEAST_RUN_ROWS, self.run_rows // 4)


def shares_of(lanes: list[Lane]) -> list[float]:
    """The shares of lanes in a claim. The weight of an owner is divided among the owner's lanes: more jobs do not give
    a larger share."""
    of_owner: dict[int, int] = {}
    for lane in lanes:
        of_owner[lane.owner_id] = of_owner.get(lane.owner_id, 0) + 1
    shares = [lane.weight / of_owner[lane.owner_id] for lane in lanes]
    total = sum(shares)
    return [share / total for share in shares]
