"""Picking: what a worker claims next, by the capacity of its executors and the order of its lanes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forebay.engine.db.tasks import Claim
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.lane_book import LaneBook
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.machine import Machine
    from forebay.engine.work.settler import Settler


class ClaimPicker:
    """Picks the claims of one worker: large ones, express ones, and those of tasks whose key admits them."""

    def __init__(
        self,
        executors: Mapping[int, StepExecutor],
        lanes: LaneBook,
        *,
        leases: LeaseBook,
        limits: LimitClient,
        settler: Settler,
        machine: Machine,
        may_claim: Callable[[], bool],
        on_express: Callable[[], None],
    ) -> None:
        """`on_express` is told that tasks are left to the express claim."""
        self._executors = executors
        self._order = sorted(executors.values(), key=lambda executor: -executor.step.priority)
        self._lanes = lanes
        self._leases = leases
        self._limits = limits
        self._settler = settler
        self._machine = machine
        self._may_claim = may_claim
        self._on_express = on_express

    def pick(self) -> list[Claim]:
        """What to claim now: for every step with capacity, tasks from the lanes that are next."""
        claims: list[Claim] = []
        if self._settler.is_full or not self._may_claim():
            return claims
        for executor in self._order:
            capacity, lanes = self._capacity(executor), self._lanes.steps[executor.step_id]
            if not lanes.active or not executor.needs_tasks(capacity):
                continue
            if self._is_unused(executor) and not all(map(self._is_unused, self._order)):
                # Together with a large claim of another step, its first tasks would start as late as that.
                self._on_express()
            else:
                capacity = self._within_limits(executor, capacity)
                aged = lanes.pick_aged(capacity) if executor.keeps_none_ahead and lanes.has_priorities else []
                claims += aged + lanes.pick(capacity - len(aged), self._leases.served(executor.step_id))
        return claims

    def _is_unused(self, executor: StepExecutor) -> bool:
        """Whether this worker has hardly any tasks of the step and is not about to get some."""
        step_id, leases = executor.step_id, self._leases
        is_idle = executor.is_idle and not self._lanes.steps[step_id].is_claiming
        return is_idle and not leases.served(step_id) and not self._filled_by(executor)

    def _filled_by(self, executor: StepExecutor) -> set[int]:
        """The owners who have as many tasks of the step here as it has slots at present."""
        return self._leases.filled_by(executor.step_id, executor.slots_at(self._machine.share))

    def has_room(self, step_id: int) -> bool:
        """Whether a task of this step would start soon."""
        executor = self._executors.get(step_id)
        if executor is None or self._settler.is_full or not self._may_claim():
            return False
        return self._capacity(executor) > 0

    def _capacity(self, executor: StepExecutor) -> int:
        """How many more tasks this step wants. Of long tasks, those that are on the way count, too: another worker
        could start what waits here."""
        capacity = executor.capacity(self._machine.share)
        return capacity - self._lanes.expected(executor.step_id) if executor.keeps_none_ahead else capacity

    def _startable(self, executor: StepExecutor, capacity: int, *, extra: bool = True) -> int:
        """At most `capacity`, and of long tasks no more than can start now; `extra`: in extra slots as well."""
        if not executor.keeps_none_ahead:
            return capacity
        startable = executor.startable(self._machine.share, extra=extra)
        return min(capacity, startable - self._lanes.expected(executor.step_id))

    def pick_waiting(self) -> list[Claim]:
        """The same for lanes that have almost nothing in this worker while others have much."""
        claims: list[Claim] = []
        if not self._may_claim():
            return claims
        for executor in self._order:
            lanes = self._lanes.steps[executor.step_id]
            if not lanes.active:
                continue
            served, owners = self._leases.served(executor.step_id), self._filled_by(executor)
            slots = executor.slots_at(self._machine.share)
            if served or owners:
                capacity = self._within_limits(executor, self._startable(executor, slots))
                holding = self._leases.lanes(executor.step_id)
                claims += lanes.pick_waiting(capacity, served, () if served else owners, holding)
            elif executor.is_idle:  # the other loops may be in the middle of large claims of other steps
                few = max(slots, executor.step.batch_size or 1)
                few = self._startable(executor, few)
                claims += lanes.pick_waiting(self._within_limits(executor, few), served)
            elif (spare := executor.spare_reserve(self._machine.share)) > 0:  # several owners hold all slots
                capacity = self._within_limits(executor, self._startable(executor, spare))
                holders, holding = self._leases.holders(executor.step_id), self._leases.lanes(executor.step_id)
                claims += lanes.pick_waiting(capacity, served, holders, holding)
            if self._startable(executor, 1) < 1:
                continue
            if executor.is_shared and (holders := self._leases.holders(executor.step_id)) and self._may_start(executor):
                claims += lanes.pick_outranked(holders)
            if lanes.has_priorities and self._may_start(executor):
                claims += lanes.pick_aged()
        return claims

    def pick_of_keys(self) -> list[Claim]:
        """Tasks whose key admits them. They need not wait for capacity behind the backlog of other keys: they are few,
        and a start that is not used is lost. But no more of them wait in a queue than can run, and none of those that
        take long: another worker may be able to start them."""
        claims: list[Claim] = []
        keys = self._lanes.keys
        if self._settler.is_full or not self._may_claim() or self._lanes.next_start() != 0.0:
            return claims
        queued = {step_id: self._executors[step_id].queue.sizes_of_keys() for step_id in keys}
        taken = sum(queued.values(), Counter[tuple[str, str]]())
        for step_id, lanes in list(keys.items()):
            executor = self._executors[step_id]
            capacity = self._startable(executor, executor.concurrency.value - queued[step_id].total(), extra=False)
            picked = lanes.pick(self._within_limits(executor, capacity), taken)
            if not picked and executor.keeps_none_ahead and (spare := executor.spare_reserve(self._machine.share)) > 0:
                spare = self._within_limits(executor, spare - self._lanes.expected(step_id))
                holders, holding = self._leases.holders(step_id), self._leases.lanes(step_id)
                picked = lanes.pick_waiting(spare, taken, holders, holding)
            if picked:
                claims += picked
                keys[step_id] = keys.pop(step_id)  # steps with the same key go in turn
        return claims

    def _may_start(self, executor: StepExecutor) -> bool:
        """Whether the step's limits admit any task."""
        return not executor.step.limits or self._limits.capacity(executor.step.limits, 1) != 0

    def _within_limits(self, executor: StepExecutor, capacity: int) -> int:
        """How many of these tasks could start soon. Tasks that the step's limits hold back are better left
        unclaimed."""
        step = executor.step
        allowed = self._limits.capacity(step.limits, capacity) if step.limits else None
        return capacity if allowed is None else min(capacity, allowed * (step.batch_size or 1) - executor.queue.size)

    def held_back_s(self) -> list[float]:
        """For each step with ready tasks: for how many seconds its limits without a key admit none of them."""
        ready = (executor for executor in self._order if self._lanes.steps[executor.step_id].active)
        return [self._limits.held_back_s(executor.step.limits) for executor in ready]

    def limits_wait(self) -> float:
        """After how many seconds the limits of a step may admit more tasks."""
        return min((self._limits.wait(e.step.limits) for e in self._order if e.step.limits), default=1.0)
