"""Reasons that concern workers: none runs the step, they are busy, or one has the task already."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from forebay.engine.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from forebay.engine.db.why import JobFacts, StepFacts, TaskFacts, WorkerFacts

# A report that is written so long after a claim was made after it: before it is written, a claim may come in between.
_REPORTED_AFTER = timedelta(seconds=1)


def serving(step: StepFacts, workers: Sequence[WorkerFacts]) -> list[WorkerFacts]:
    """The workers that run a step."""
    return [worker for worker in workers if worker.alive and step.step_id in worker.steps]


def missing(step: StepFacts, job: JobFacts | None, workers: Sequence[WorkerFacts]) -> Iterator[Reason]:
    """Why no worker will take the step's tasks."""
    if serving(step, workers):
        return
    alive = [worker for worker in workers if worker.alive]
    facts: dict[str, Any] = {"queue": step.queue, "workers": len(alive)}
    if job is not None and not job.is_present:
        facts |= {"version": job.version}
        yield Reason("version_unserved", step.name, since=job.unserved_since, facts=facts)
    else:
        yield Reason("no_worker", step.name, facts=facts, actions=("kickoff",) if job is not None else ())


def busy(step: StepFacts, workers: Sequence[WorkerFacts]) -> Iterator[Reason]:
    """Why the workers that run the step do not start another task of it."""
    ours = serving(step, workers)
    if not ours:
        return
    machines = [worker.machine for worker in ours]
    if all(worker.held_s > 0 or worker.machine.get("share", 1.0) < 1.0 for worker in ours):
        yield Reason(
            "machine_busy",
            step.name,
            facts={
                "workers": len(ours),
                "share": min((about.get("share", 1.0) for about in machines), default=1.0),
                "lag_ms": max((about.get("lag_ms", 0.0) for about in machines), default=0.0),
                "load": max((about.get("load", 0.0) for about in machines), default=0.0),
                "free_memory": min((about.get("free_memory", 1.0) for about in machines), default=1.0),
                "held_seconds": min(worker.held_s for worker in ours),
            },
        )
    told = [about for worker in ours if (about := worker.stats.get(step.label))]
    running, slots = sum(about["running"] for about in told), sum(about["concurrency"]["limit"] for about in told)
    if told and running >= slots:
        facts = {"workers": len(ours), "running": running, "slots": slots}
        yield Reason("workers_full", step.name, facts=facts | _pace(told))
    for worker in ours:
        if worker.stuck:
            yield Reason("stuck", step.name, since=worker.seen_at, facts={"worker": worker.name})


def _pace(told: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    times = [about["claim"]["item_ms"] for about in told if about["claim"]["item_ms"] is not None]
    return {"item_ms": round(sum(times) / len(times), 3)} if times else {}


def rate(step: StepFacts, workers: Sequence[WorkerFacts]) -> float | None:
    """How many tasks of the step its workers run per second, if all slots are used; None while that is unknown."""
    told = [about for worker in serving(step, workers) if (about := worker.stats.get(step.label))]
    each = [
        about["concurrency"]["limit"] / about["claim"]["item_ms"] * 1000 for about in told if about["claim"]["item_ms"]
    ]
    return sum(each) if each else None


def declared_limits(step: StepFacts, workers: Sequence[WorkerFacts]) -> dict[str, Mapping[str, Any]]:
    """The limits of the step by name, as its workers have declared them."""
    return {
        limit["name"]: limit
        for worker in serving(step, workers)
        for limit in worker.stats.get(step.label, {}).get("limits", ())
    }


def holding(
    step: StepFacts, task: TaskFacts, workers: Sequence[WorkerFacts], progress: Mapping[str, Any] | None, at: datetime
) -> Reason:
    """What becomes of a task that a worker has claimed."""
    worker = next((each for each in workers if each.id == task.worker_id), None)
    facts: dict[str, Any] = {"attempt": task.attempt, "max_attempts": step.max_attempts}
    if worker is not None:
        facts["worker"] = worker.name
    if task.is_cancelled:
        return Reason("cancelling", step.name, since=task.at, until=task.until, facts=facts)
    if worker is None or not worker.alive or (task.until is not None and task.until <= at):
        return Reason("worker_lost", step.name, since=task.at, until=task.until, facts=facts)
    about = worker.stats.get(step.label)
    if about is not None and task.at is not None and worker.seen_at - task.at >= _REPORTED_AFTER:
        if lingers := about.get("lingers"):
            facts |= {"queued": about["queued"], "batch": lingers["size"], "linger_seconds": lingers["seconds"]}
            return Reason("batch_lingers", step.name, since=task.at, facts=facts, actions=("cancel_item",))
        if not about["running"] and not about["queued"]:
            return Reason("settling", step.name, since=task.at, until=task.until, facts=facts)
        if about["queued"] and (task.ahead or 0) >= about["running"]:
            facts |= {"queued": about["queued"], "running": about["running"], "slots": about["concurrency"]["limit"]}
            return Reason("claimed", step.name, since=task.at, facts=facts, actions=("cancel_item",))
    if progress is not None and progress.get("step") == step.name:
        told = {"fraction": "fraction", "note": "note", "ends_at": "endsAt"}
        facts |= {fact: progress[name] for fact, name in told.items() if progress.get(name) is not None}
    return Reason("running", step.name, since=task.at, until=task.until, facts=facts, actions=("cancel_item",))
