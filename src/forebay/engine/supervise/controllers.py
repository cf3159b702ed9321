"""The controllers of a step over all workers: how much runs, how much may run, and how long a task takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.engine.db.overview import WorkerRow


@dataclass(frozen=True, slots=True)
class StepControl:
    """What the running workers do with a step. Concurrency and claim size are summed, with their bounds; times are
    means; of leases, failures and machines, the worst worker counts. None: unknown."""

    workers: int
    running: int
    limit: float
    least: float
    most: float
    claim: float
    claim_least: float | None
    claim_most: float | None
    item_ms: float | None
    latency_ms: float | None
    failure_share: float
    retry_spacing: float
    lease_s: float | None
    lease_floor_s: float | None
    lease_cap_s: float | None
    heartbeat_gap_s: float | None
    machine_share: float | None


def step_control(step: str, workers: Iterable[WorkerRow]) -> StepControl | None:
    """The controllers of `pipeline.step`; None if no running worker has it."""
    rows = [worker for worker in workers if worker.alive and step in worker.steps]
    if not rows:
        return None
    told: list[Any] = [worker.steps[step] for worker in rows]
    claims = [one["claim"] for one in told]
    limits = [one["concurrency"] for one in told]
    failures = [one.get("failures", {}) for one in told]
    leases = [worker.stats.get("lease", {}) for worker in rows]
    machines = [worker.stats.get("machine", {}) for worker in rows]
    return StepControl(
        workers=len(rows),
        running=sum(one["running"] for one in told),
        limit=sum(limit["limit"] for limit in limits),
        least=sum(limit["least"] for limit in limits),
        most=sum(limit["most"] for limit in limits),
        claim=sum(claim["value"] for claim in claims),
        claim_least=_total(claims, "least"),
        claim_most=_total(claims, "most"),
        item_ms=_mean(claims, "item_ms"),
        latency_ms=_mean(limits, "latency_ms"),
        failure_share=max(failure.get("share", 0.0) for failure in failures),
        retry_spacing=max(failure.get("spacing", 1.0) for failure in failures),
        lease_s=max(_known(leases, "value_s"), default=None),
        lease_floor_s=max(_known(leases, "floor_s"), default=None),
        lease_cap_s=max(_known(leases, "cap_s"), default=None),
        heartbeat_gap_s=max(_known(leases, "gap_s"), default=None),
        machine_share=min(_known(machines, "share"), default=None),
    )


def _known(reports: Iterable[Any], name: str) -> list[float]:
    """The values that were reported: workers of the release before report less."""
    return [report[name] for report in reports if report.get(name) is not None]


def _total(reports: list[Any], name: str) -> float | None:
    values = _known(reports, name)
    return sum(values) if len(values) == len(reports) else None


def _mean(reports: list[Any], name: str) -> float | None:
    values = _known(reports, name)
    return sum(values) / len(values) if values else None
