"""The metrics of jobs, queues and attempts, from counts in the database."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from forebay.api.metrics import names
from forebay.api.metrics.attempt_window import BOUNDS
from forebay.api.metrics.metric import Distribution
from forebay.engine.supervise.demand import queue_demand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.api.metrics.attempt_window import AttemptWindow, Durations
    from forebay.api.metrics.metric import MetricSet
    from forebay.engine.db.metrics import EngineCounts, ItemCounts
    from forebay.engine.db.overview import Depth

_OUTCOMES = (
    "DONE",
    "SKIPPED",
    "NOT_FOUND",
    "ERROR",
    "CANCELLED",
    "SNOOZED",
    "THROTTLED",
    "LIMITED",
    "RELEASED",
    "EXPIRED",
)
_PASSED = ("DONE", "SKIPPED", "NOT_FOUND")
_ENDED = (*_PASSED, "ERROR", "EXPIRED")
_ITEM_STATUSES = ("pending", "done", "skipped", "not_found", "error")
_STATUSES = ("pending", "processing", "done", "skipped", "not_found", "error")


def write_work(metrics: MetricSet, counts: EngineCounts) -> None:
    """Add the metrics of waiting, running and failed work."""
    metrics.put(names.PENDING, counts.pending)
    write_depth(metrics, counts.depth)
    _write_demand(metrics, counts)
    _write_jobs(metrics, counts)
    _write_letters(metrics, counts)


def write_depth(metrics: MetricSet, depth: Iterable[Depth]) -> None:
    """Add the numbers of waiting and running tasks per step."""
    for one in depth:
        for status, count in (
            ("pending", one.ready),
            ("scheduled", one.scheduled),
            ("processing", one.leased),
            ("on_hold", one.on_hold),
        ):
            metrics.put(names.QUEUE_DEPTH, float(count), one.pipeline, one.step, status)
        metrics.put(names.QUEUE_PAUSED, one.paused, one.pipeline, one.step)
        metrics.put(names.QUEUE_PARKED, one.parked is not None, one.pipeline, one.step)


def _write_demand(metrics: MetricSet, counts: EngineCounts) -> None:
    for queue in sorted({step.queue for step in counts.depth}):
        steps = [step for step in counts.depth if step.queue == queue]
        metrics.put(names.QUEUE_DEMAND, queue_demand(steps, counts.workers, counts.task_times).slots, queue)


def _write_jobs(metrics: MetricSet, counts: EngineCounts) -> None:
    items: Counter[tuple[str, str]] = Counter()
    for jobs in counts.jobs:
        metrics.put(names.OPEN_JOBS, jobs.jobs, jobs.pipeline, jobs.state)
        items.update({(jobs.pipeline, status): getattr(jobs, status) for status in _ITEM_STATUSES})
    for (pipeline, status), count in items.items():
        metrics.put(names.OPEN_JOB_ITEMS, count, pipeline, status)
    unserved: Counter[str] = Counter()
    for version in counts.versions:
        unserved[version.pipeline] += version.open_jobs if version.unserved else 0
    for pipeline, count in unserved.items():
        metrics.put(names.UNSERVED_JOBS, count, pipeline)
    write_items(metrics, counts.items)


def write_items(metrics: MetricSet, items: Iterable[ItemCounts]) -> None:
    """Add the items of each pipeline by status."""
    for one in items:
        for status in _STATUSES:
            metrics.put(names.ITEMS, getattr(one, status), one.pipeline, status)


def _write_letters(metrics: MetricSet, counts: EngineCounts) -> None:
    kept = {(letters.pipeline, letters.step): letters for letters in counts.dead_letters}
    for step in sorted({*kept, *counts.steps}):
        letters = kept.get(step)
        metrics.put(names.DEAD_LETTERS, letters.kept if letters else 0, *step)
        metrics.put(names.DEAD_LETTERS_LAST_HOUR, letters.fresh if letters else 0, *step)


def write_attempts(metrics: MetricSet, counts: EngineCounts, window: AttemptWindow) -> None:
    """Add the outcomes of attempts. Counters start at 0 before the first attempt, so that it counts as an increase."""
    totals, hour, (latest, seconds) = window.totals(), window.last_hour(), window.latest(counts.at, 5)
    for step in sorted({key[:2] for key in totals} | set(counts.steps)):
        for outcome in _OUTCOMES:
            metrics.put(names.ATTEMPTS, _count(totals, step, outcome), *step, outcome)
        metrics.put_histogram(names.STEP_DURATION, totals.get((*step, "DONE"), Distribution(BOUNDS)), *step)
        metrics.put(names.TASKS_PER_MINUTE, _count(latest, step, *_OUTCOMES) * 60 / seconds, *step)
        metrics.put(names.ITEMS_PER_SECOND, _count(latest, step, *_PASSED) / seconds, *step)
        _write_hour(metrics, hour, step)


def _write_hour(metrics: MetricSet, hour: Durations, step: tuple[str, str]) -> None:
    done = hour.get((*step, "DONE"), Distribution(BOUNDS))
    ended, failed = _count(hour, step, *_ENDED), _count(hour, step, "ERROR", "EXPIRED")
    throttled = _count(hour, step, "THROTTLED")
    for what, value in (
        (names.AVERAGE, done.mean()),
        (names.P95, done.quantile(0.95)),
        (names.FAILURE_RATIO, _share(failed, ended)),
        (names.NOT_FOUND_RATIO, _share(_count(hour, step, "NOT_FOUND"), ended)),
        (names.THROTTLE_RATIO, _share(throttled, ended + throttled)),
    ):
        if value is not None:
            metrics.put(what, value, *step)


def _count(durations: Durations, step: tuple[str, str], *outcomes: str) -> int:
    return sum(durations[*step, outcome].count for outcome in outcomes if (*step, outcome) in durations)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
