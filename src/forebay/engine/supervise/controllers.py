"""The controllers of a step over all workers: how much runs, how much may run, and how long a task takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.engine.db.overview import WorkerRow


@dataclass(frozen=True, slots=True)
class StepControl:
    """Sums over the running workers, and the mean time per item; None if unknown."""

    running: int
    limit: float
    claim: float
    item_ms: float | None


def step_control(step: str, workers: Iterable[WorkerRow]) -> StepControl | None:
    """The controllers of `pipeline.step`; None if no running worker has it."""
    told: list[Any] = [worker.steps[step] for worker in workers if worker.alive and step in worker.steps]
    if not told:
        return None
    times: list[float] = [one["claim"]["item_ms"] for one in told if one["claim"]["item_ms"] is not None]
    return StepControl(
        running=sum(one["running"] for one in told),
        limit=sum(one["concurrency"]["limit"] for one in told),
        claim=sum(one["claim"]["value"] for one in told),
        item_ms=sum(times) / len(times) if times else None,
    )
