"""The lanes of all steps of a worker: those of owners and jobs, and those in which tasks wait for a key of a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engine.work.key_lanes import KeyLanes
from forebay.engine.work.lanes import StepLanes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.executor import StepExecutor


class LaneBook:
    """What a worker knows about ready lanes, by step. `only` restricts it to some lanes; `spreads`: whether it begins
    with another owner than other workers."""

    def __init__(
        self,
        executors: Mapping[int, StepExecutor],
        limits: LimitClient,
        only: frozenset[int] | None = None,
        *,
        spreads: bool = False,
    ) -> None:
        self._limits = limits
        self.only = None if only is None else set(only)
        self.steps = {step_id: StepLanes(step_id, spreads=spreads) for step_id in executors}
        self.keys = {
            step_id: KeyLanes(step_id, executor.step.limits, limits)
            for step_id, executor in executors.items()
            if any(limit.key is not None for limit in executor.step.limits)
        }

    def expected(self, step_id: int) -> int:
        """How many tasks of the step the claims in progress may return."""
        keys = self.keys.get(step_id)
        return self.steps[step_id].expected + (0 if keys is None else keys.expected)

    def serves(self, lane_id: int) -> bool:
        """Whether the worker may claim from this lane."""
        return self.only is None or lane_id in self.only

    def is_active(self, step_id: int, lane_id: int) -> bool:
        """Whether something is known to be ready in this lane."""
        lanes = self.steps.get(step_id)
        return lanes is not None and lane_id in lanes.active

    def lanes_of(self, step_id: int, lane_id: int) -> StepLanes:
        """The lanes of the step that this lane is one of: those of its key, if it has one."""
        keys = self.keys.get(step_id)
        return (keys.lanes_of(lane_id) if keys else None) or self.steps[step_id]

    def next_start(self) -> float | None:
        """After how many seconds a key may admit the next task that waits for it; None if none waits."""
        looks = [look for lanes in self.keys.values() if (look := lanes.next_look()) is not None]
        return max(0.0, min(looks) - self._limits.now()) if looks else None

    def rewind(self) -> None:
        """Forget all watermarks."""
        for lanes in (*self.steps.values(), *(each for keys in self.keys.values() for each in keys.all_lanes())):
            lanes.rewind_all()

    def forget_idle(self) -> None:
        """Forget lanes that have been idle for long."""
        for lanes in self.steps.values():
            lanes.forget_idle()
        for keys in self.keys.values():
            keys.forget_idle()
