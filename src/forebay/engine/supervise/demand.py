"""How many slots a queue needs: what runs now, and what ends the waiting tasks within the time that they may wait."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from forebay.engine.supervise.controllers import step_control

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from forebay.engine.db.overview import Depth, WorkerRow

TARGET_S = 60.0  # how long tasks may wait, unless the caller says otherwise
UNMEASURED_S = 1.0  # the time of a task of a step that has not run for an hour, unless the caller says otherwise


@dataclass(frozen=True, slots=True)
class QueueDemand:
    """The tasks of some steps, and the slots that they need."""

    slots: int
    waiting: int  # ready, or claimed and not started
    running: int


def queue_demand(
    depth: Iterable[Depth],
    workers: Sequence[WorkerRow],
    task_times: Mapping[str, float],
    *,
    target_s: float = TARGET_S,
    unmeasured_s: float = UNMEASURED_S,
) -> QueueDemand:
    """The demand of these steps together. `task_times`: seconds by `pipeline.step`, of steps without a report."""
    slots, waiting, running = 0.0, 0, 0
    for step in depth:
        label = f"{step.pipeline}.{step.step}"
        control = step_control(label, workers)
        runs = min(step.leased, control.running if control else 0)
        waits = step.leased - runs + (0 if step.paused else step.ready)
        measured = control.item_ms / 1000 if control and control.item_ms is not None else task_times.get(label)
        slots += runs + _slots_for(waits, unmeasured_s if measured is None else measured, target_s, step.parked)
        waiting, running = waiting + waits, running + runs
    return QueueDemand(ceil(slots), waiting, running)


def _slots_for(tasks: int, task_s: float, target_s: float, parked: str | None) -> float:
    """The slots that end the tasks in this time, but not more than there are tasks."""
    if parked is not None:
        return min(tasks, 1)  # one worker tries from time to time whether what is missing is there
    return min(tasks, tasks * task_s / target_s)
