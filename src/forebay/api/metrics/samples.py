"""Numbers written down as samples of the catalogue's metrics."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from forebay.api.metrics import names as catalogue
from forebay.api.metrics.attempt_window import BOUNDS
from forebay.api.metrics.process import Distribution
from forebay.db.measured_pool import WAIT_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prometheus_client.core import Metric

    from forebay.api.metrics.attempt_window import Tally, Window
    from forebay.api.metrics.names import Described
    from forebay.api.metrics.process import Meter
    from forebay.engine.db.metrics import ItemCounts, Numbers
    from forebay.engine.db.overview import Depth, WorkerRow

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
_ANSWERS = ("answered", "not_found", "throttled", "failed", "remembered")
_PASSED = ("DONE", "SKIPPED", "NOT_FOUND")
_ENDED = (*_PASSED, "ERROR", "EXPIRED")
_ITEM_STATUSES = ("pending", "done", "skipped", "not_found", "error")
_STATUSES = ("pending", "processing", "done", "skipped", "not_found", "error")


class Sheet:
    """The samples of one moment."""

    def __init__(self) -> None:
        self._families = {one.name: one.family() for one in catalogue.ALL}

    def put(self, what: Described, value: float, *labels: str) -> None:
        self._families[what.name].add_sample(what.name, _labels(what, labels), value)

    def spread(self, what: Described, values: Distribution, *labels: str) -> None:
        """The samples of a histogram."""
        family, named = self._families[what.name], _labels(what, labels)
        seen = 0
        for bound, count in zip([*map(str, values.bounds), "+Inf"], values.counts, strict=True):
            seen += count
            family.add_sample(f"{what.name}_bucket", {**named, "le": bound}, seen)
        family.add_sample(f"{what.name}_count", named, seen)
        family.add_sample(f"{what.name}_sum", named, values.total)

    def collect(self) -> Iterable[Metric]:
        return self._families.values()


def _labels(what: Described, values: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(what.labels, values, strict=True))


def write_work(sheet: Sheet, numbers: Numbers) -> None:
    """What waits, runs and has failed for good."""
    sheet.put(catalogue.PENDING, numbers.pending)
    write_depth(sheet, numbers.depth)
    _write_jobs(sheet, numbers)
    _write_letters(sheet, numbers)


def write_depth(sheet: Sheet, depth: Iterable[Depth]) -> None:
    """What waits and runs at each step."""
    for one in depth:
        for status, count in (
            ("pending", one.ready),
            ("scheduled", one.scheduled),
            ("processing", one.leased),
            ("on_hold", one.on_hold),
        ):
            sheet.put(catalogue.QUEUE_DEPTH, float(count), one.pipeline, one.step, status)
        sheet.put(catalogue.QUEUE_PAUSED, one.paused, one.pipeline, one.step)
        sheet.put(catalogue.QUEUE_PARKED, one.parked is not None, one.pipeline, one.step)


def _write_jobs(sheet: Sheet, numbers: Numbers) -> None:
    items: Counter[tuple[str, str]] = Counter()
    for jobs in numbers.jobs:
        sheet.put(catalogue.OPEN_JOBS, jobs.jobs, jobs.pipeline, jobs.state)
        items.update({(jobs.pipeline, status): getattr(jobs, status) for status in _ITEM_STATUSES})
    for (pipeline, status), count in items.items():
        sheet.put(catalogue.OPEN_JOB_ITEMS, count, pipeline, status)
    write_items(sheet, numbers.items)


def write_items(sheet: Sheet, items: Iterable[ItemCounts]) -> None:
    """The items of each pipeline by their status."""
    for counts in items:
        for status in _STATUSES:
            sheet.put(catalogue.ITEMS, getattr(counts, status), counts.pipeline, status)


def _write_letters(sheet: Sheet, numbers: Numbers) -> None:
    kept = {(letters.pipeline, letters.step): letters for letters in numbers.dead_letters}
    for step in sorted({*kept, *numbers.steps}):
        letters = kept.get(step)
        sheet.put(catalogue.DEAD_LETTERS, letters.kept if letters else 0, *step)
        sheet.put(catalogue.DEAD_LETTERS_LAST_HOUR, letters.fresh if letters else 0, *step)


def write_attempts(sheet: Sheet, numbers: Numbers, window: Window) -> None:
    """How it went. A step that has done nothing yet counts from 0: else its first attempts would raise no rate."""
    totals, hour, (latest, seconds) = window.totals(), window.last_hour(), window.latest(numbers.at, 5)
    for step in sorted({key[:2] for key in totals} | set(numbers.steps)):
        for outcome in _OUTCOMES:
            sheet.put(catalogue.ATTEMPTS, _count(totals, step, outcome), *step, outcome)
        sheet.spread(catalogue.STEP_DURATION, totals.get((*step, "DONE"), Distribution(BOUNDS)), *step)
        sheet.put(catalogue.TASKS_PER_MINUTE, _count(latest, step, *_OUTCOMES) * 60 / seconds, *step)
        sheet.put(catalogue.ITEMS_PER_SECOND, _count(latest, step, *_PASSED) / seconds, *step)
        _write_hour(sheet, hour, step)


def _write_hour(sheet: Sheet, hour: Tally, step: tuple[str, str]) -> None:
    done = hour.get((*step, "DONE"), Distribution(BOUNDS))
    ended, failed = _count(hour, step, *_ENDED), _count(hour, step, "ERROR", "EXPIRED")
    throttled = _count(hour, step, "THROTTLED")
    for what, value in (
        (catalogue.AVERAGE, done.mean()),
        (catalogue.P95, done.quantile(0.95)),
        (catalogue.FAILURE_RATIO, _share(failed, ended)),
        (catalogue.NOT_FOUND_RATIO, _share(_count(hour, step, "NOT_FOUND"), ended)),
        (catalogue.THROTTLE_RATIO, _share(throttled, ended + throttled)),
    ):
        if value is not None:
            sheet.put(what, value, *step)


def _count(tally: Tally, step: tuple[str, str], *outcomes: str) -> int:
    return sum(tally[*step, outcome].count for outcome in outcomes if (*step, outcome) in tally)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def write_workers(sheet: Sheet, numbers: Numbers) -> None:
    """How the workers are."""
    # A name may come again, for example in a container that was restarted: then the newest counts.
    for worker in {worker.name: worker for worker in numbers.workers}.values():
        sheet.put(catalogue.WORKER_UP, worker.alive, worker.name)
        sheet.put(catalogue.WORKER_HEALTHY, worker.alive and not worker.stuck, worker.name)
        sheet.put(catalogue.WORKER_STUCK, worker.stuck, worker.name)
        sheet.put(catalogue.WORKER_UPTIME, (numbers.at - worker.started_at).total_seconds(), worker.name)
        sheet.put(catalogue.WORKER_IN_FLIGHT, float(worker.in_flight), worker.name)
        sheet.put(catalogue.WORKER_LAST_ERROR, bool(worker.stats.get("has_failed")), worker.name)
        sheet.put(catalogue.WORKER_STALE, worker.stale, worker.name)
        if processed := worker.stats.get("last_processed"):
            sheet.put(catalogue.WORKER_LAST_PROCESSED, datetime.fromisoformat(processed).timestamp(), worker.name)
        _write_pool_waits(sheet, worker)
        _write_worker_steps(sheet, worker)
        _write_providers(sheet, worker)


def _write_providers(sheet: Sheet, worker: WorkerRow) -> None:
    for name, about in worker.shared.get("providers", {}).items():
        for outcome in _ANSWERS:
            sheet.put(catalogue.PROVIDER_ASKS, about[outcome], worker.name, name, outcome)
        sheet.put(catalogue.PROVIDER_THROTTLE_RATIO, about["throttle_ratio"], worker.name, name)
        sheet.put(catalogue.PROVIDER_CONCURRENCY, about["limit"], worker.name, name)
        sheet.put(catalogue.PROVIDER_CLOSED, about["closed_s"], worker.name, name)
        sheet.put(catalogue.PROVIDER_PROBLEM, about.get("problem") is not None, worker.name, name)
        if about["seconds"] is not None:
            sheet.put(catalogue.PROVIDER_SECONDS, about["seconds"], worker.name, name)


def _write_pool_waits(sheet: Sheet, worker: WorkerRow) -> None:
    told = worker.stats.get("pool_waits")
    if told is not None and len(told["counts"]) == len(WAIT_BOUNDS) + 1:  # of a worker that is of this version
        waits = Distribution(WAIT_BOUNDS)
        waits.counts, waits.total = list(told["counts"]), told["seconds"]
        sheet.spread(catalogue.WORKER_POOL_WAIT, waits, worker.name)


def _write_worker_steps(sheet: Sheet, worker: WorkerRow) -> None:
    by_step: Mapping[str, Mapping[str, Any]] = worker.stats.get("by_step", {})
    for name, totals in by_step.items():
        pipeline, _, step = name.partition(".")
        succeeded, failed = totals["succeeded"], totals["failed"]
        sheet.put(catalogue.WORKER_PROCESSED, succeeded + failed, worker.name, pipeline, step)
        sheet.put(catalogue.WORKER_SUCCEEDED, succeeded, worker.name, pipeline, step)
        sheet.put(catalogue.WORKER_FAILED, failed, worker.name, pipeline, step)
        sheet.put(catalogue.WORKER_BUSY, totals["busy_s"], worker.name, pipeline, step)
    for name, about in worker.steps.items():
        pipeline, _, step = name.partition(".")
        sheet.put(catalogue.WORKER_CONCURRENCY, about["concurrency"]["limit"], worker.name, pipeline, step)
        sheet.put(catalogue.WORKER_CLAIM_SIZE, about["claim"]["value"], worker.name, pipeline, step)


def write_web(sheet: Sheet, numbers: Numbers) -> None:
    """The way out and the browser, of workers that have opened them."""
    for worker in {worker.name: worker for worker in numbers.workers}.values():
        if egress := worker.shared.get("egress"):
            _write_egress(sheet, worker.name, egress)
        if hosts := worker.shared.get("hosts"):
            _write_hosts(sheet, worker.name, hosts)
        if browser := worker.shared.get("browser"):
            sheet.put(catalogue.CAPTURES, browser["captures"], worker.name)
            sheet.put(catalogue.CAPTURE_FAILURES, browser["failures"], worker.name)
            sheet.put(catalogue.CAPTURE_SECONDS, browser["seconds"], worker.name)
            sheet.put(catalogue.BROWSER_STARTS, browser["starts"], worker.name)


def _write_egress(sheet: Sheet, worker: str, egress: Mapping[str, Any]) -> None:
    sheet.put(catalogue.EGRESS_REQUESTS, egress["requests"], worker)
    sheet.put(catalogue.EGRESS_CONNECTIONS, egress["open_connections"], worker)
    sheet.put(catalogue.EGRESS_BYTES, egress["bytes_down"], worker, "in")
    sheet.put(catalogue.EGRESS_BYTES, egress["bytes_up"], worker, "out")
    for what, counts in ((catalogue.EGRESS_REFUSED, egress["refused"]), (catalogue.EGRESS_FAILED, egress["failed"])):
        for reason, count in counts.items():
            sheet.put(what, count, worker, reason)


def _write_hosts(sheet: Sheet, worker: str, hosts: Mapping[str, Any]) -> None:
    for state in ("known", "busy", "closed"):
        sheet.put(catalogue.HOSTS, hosts[state], worker, state)
    for state in ("running", "waiting"):
        sheet.put(catalogue.HOST_REQUESTS, hosts[state], worker, state)
    for what in ("closed", "delay"):
        sheet.put(catalogue.HOST_WORST, hosts[f"longest_{what}_s"], worker, what)
    sheet.put(catalogue.HOST_WORST_WAITING, hosts["most_waiting"], worker)
    sheet.put(catalogue.HOST_THROTTLED, hosts["throttled"], worker)


def write_api(sheet: Sheet, meter: Meter) -> None:
    """What this process has measured."""
    for place, seconds in meter.requests.items():
        sheet.put(catalogue.API_REQUESTS, seconds.count, *place)
        sheet.spread(catalogue.API_DURATION, seconds, *place)
    for route, seconds in meter.ingests.items():
        sheet.spread(catalogue.INGEST, seconds, route)
    for room, seconds in meter.waits.items():
        sheet.spread(catalogue.POOL_WAIT, seconds, room)
    sheet.put(catalogue.FORWARDED_IGNORED, meter.forwarded_ignored)
    sheet.put(catalogue.PENDING_SERVED, meter.pending_served)
    if meter.latency is not None:
        sheet.put(catalogue.DB_LATENCY, meter.latency)
