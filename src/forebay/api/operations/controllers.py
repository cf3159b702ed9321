"""The controllers of the steps: what they decide now, within which bounds, from which inputs, and in the last hour."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from forebay.api.models import Model
from forebay.engine.supervise.controllers import step_control

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.db.overview import WorkerRow
    from forebay.engine.db.samples import ControllerSample, OwnerSample
    from forebay.engine.supervise.controllers import StepControl


class Controlled(Model):
    """A value that is adjusted to what was measured, and its bounds; null: the workers do not report it."""

    value: float | None
    least: float | None
    most: float | None


class ControllerInputs(Model):
    """What the workers measured; null: nothing yet."""

    latency_ms: float | None = Field(description="mean duration of successful attempts: slower ones lower concurrency")
    item_ms: float | None = Field(description="mean duration per item: gives the claim size")
    failure_share: float = Field(description="of about the last fifty attempts, in the worst worker")
    retry_spacing: float = Field(description="by what the pauses before retries are multiplied because of failures")
    machine_share: float | None = Field(description="of their usual claims that workers on the busiest machine make")
    heartbeat_gap_s: float | None = Field(description="the longest time between two heartbeats: gives the lease time")


class ControllerHistory(Model):
    """The samples of the last hour, one a minute, at the times of `ControllerList.minutes`; null: the step had no
    running worker."""

    running: list[int | None]
    concurrency: list[float | None]
    claim_size: list[float | None]
    item_ms: list[float | None]
    lease_s: list[float | None]


class StepController(Model):
    """A step in all running workers; concurrency and claim size are summed, the lease time is the longest."""

    pipeline: str
    step: str
    workers: int
    running: int
    concurrency: Controlled = Field(description="how many tasks may run at a time")
    claim_size: Controlled = Field(description="how many tasks workers claim at a time")
    lease_s: Controlled = Field(description="after how many seconds without a heartbeat tasks are given to others")
    inputs: ControllerInputs
    history: ControllerHistory


class ControllerList(Model):
    at: datetime
    minutes: list[datetime]
    steps: list[StepController] = Field(description="those that a running worker has")


def controller_list(at: datetime, workers: Sequence[WorkerRow], samples: Sequence[ControllerSample]) -> ControllerList:
    """All steps of the running workers, by name."""
    minutes = sorted({one.minute for one in samples if one.minute is not None})
    by_step: dict[str, dict[datetime | None, ControllerSample]] = {}
    for one in samples:
        by_step.setdefault(f"{one.pipeline}.{one.step}", {})[one.minute] = one
    labels = sorted({label for worker in workers if worker.alive for label in worker.steps})
    return ControllerList(
        at=at,
        minutes=minutes,
        steps=[
            _step(label, now, _history([by_step.get(label, {}).get(minute) for minute in minutes]))
            for label in labels
            if (now := step_control(label, workers)) is not None
        ],
    )


def _step(label: str, now: StepControl, history: ControllerHistory) -> StepController:
    pipeline, _, step = label.partition(".")
    return StepController(
        pipeline=pipeline,
        step=step,
        workers=now.workers,
        running=now.running,
        concurrency=Controlled(value=now.limit, least=now.least, most=now.most),
        claim_size=Controlled(value=now.claim, least=now.claim_least, most=now.claim_most),
        lease_s=Controlled(value=now.lease_s, least=now.lease_floor_s, most=now.lease_cap_s),
        inputs=ControllerInputs.model_validate(now, from_attributes=True),
        history=history,
    )


def _history(samples: Sequence[ControllerSample | None]) -> ControllerHistory:
    return ControllerHistory(
        running=[None if one is None else one.running for one in samples],
        concurrency=[None if one is None else one.concurrency for one in samples],
        claim_size=[None if one is None else one.claim_size for one in samples],
        item_ms=[None if one is None else one.item_ms for one in samples],
        lease_s=[None if one is None else one.lease_s for one in samples],
    )


class OwnerSeries(Model):
    """The work of an owner at the times of `OwnerSeriesList.minutes`, and what it got of the workers."""

    owner: str
    ready: list[int]
    running: list[int]
    attempts_per_s: list[float]
    fair_share: list[float | None] = Field(description="by weight; null: it had no tasks that could run")


class OwnerSeriesList(Model):
    """One sample a minute of the owners with the most work."""

    minutes: list[datetime]
    owners: list[OwnerSeries]


def owner_series(samples: Sequence[OwnerSample]) -> OwnerSeriesList:
    """The samples by owner; an owner without work has zeros."""
    minutes = sorted({one.minute for one in samples})
    by_owner: dict[str, dict[datetime, OwnerSample]] = {}
    for one in samples:
        by_owner.setdefault(one.owner, {})[one.minute] = one
    return OwnerSeriesList(
        minutes=minutes,
        owners=[
            OwnerSeries(
                owner=owner,
                ready=[found[minute].ready if minute in found else 0 for minute in minutes],
                running=[found[minute].running if minute in found else 0 for minute in minutes],
                attempts_per_s=[found[minute].attempts_per_s if minute in found else 0.0 for minute in minutes],
                fair_share=[found[minute].fair_share if minute in found else None for minute in minutes],
            )
            for owner, found in sorted(by_owner.items())
        ],
    )
