"""The metrics of workers and of the services that their steps share, from the workers' last reports."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from forebay.api.metrics import names
from forebay.api.metrics.metric import Distribution
from forebay.db.measured_pool import WAIT_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from forebay.api.metrics.metric import MetricSet
    from forebay.engine.db.metrics import EngineCounts
    from forebay.engine.db.overview import WorkerRow


def newest_workers(counts: EngineCounts) -> Collection[WorkerRow]:
    """One row per name, the newest: a restarted container may have the same name."""
    return {worker.name: worker for worker in counts.workers}.values()


def write_workers(metrics: MetricSet, counts: EngineCounts) -> None:
    """Add the state of the workers."""
    for worker in newest_workers(counts):
        metrics.put(names.WORKER_UP, worker.alive, worker.name)
        metrics.put(names.WORKER_HEALTHY, worker.alive and not worker.stuck, worker.name)
        metrics.put(names.WORKER_STUCK, worker.stuck, worker.name)
        metrics.put(names.WORKER_UPTIME, (counts.at - worker.started_at).total_seconds(), worker.name)
        metrics.put(names.WORKER_IN_FLIGHT, float(worker.in_flight), worker.name)
        metrics.put(names.WORKER_LAST_ERROR, bool(worker.stats.get("has_failed")), worker.name)
        metrics.put(names.WORKER_STALE, worker.stale, worker.name)
        if processed := worker.stats.get("last_processed"):
            metrics.put(names.WORKER_LAST_PROCESSED, datetime.fromisoformat(processed).timestamp(), worker.name)
        _write_pool_waits(metrics, worker)
        _write_worker_steps(metrics, worker)


def _write_pool_waits(metrics: MetricSet, worker: WorkerRow) -> None:
    told = worker.stats.get("pool_waits")
    if told is not None and len(told["counts"]) == len(WAIT_BOUNDS) + 1:  # reported by workers of this version
        waits = Distribution(WAIT_BOUNDS)
        waits.counts, waits.total = list(told["counts"]), told["seconds"]
        metrics.put_histogram(names.WORKER_POOL_WAIT, waits, worker.name)


def _write_worker_steps(metrics: MetricSet, worker: WorkerRow) -> None:
    by_step: Mapping[str, Mapping[str, Any]] = worker.stats.get("by_step", {})
    for name, totals in by_step.items():
        pipeline, _, step = name.partition(".")
        succeeded, failed = totals["succeeded"], totals["failed"]
        metrics.put(names.WORKER_PROCESSED, succeeded + failed, worker.name, pipeline, step)
        metrics.put(names.WORKER_SUCCEEDED, succeeded, worker.name, pipeline, step)
        metrics.put(names.WORKER_FAILED, failed, worker.name, pipeline, step)
        metrics.put(names.WORKER_BUSY, totals["busy_s"], worker.name, pipeline, step)
    for name, seconds in worker.stats.get("lane_waits", {}).items():  # missing: of the previous release
        pipeline, _, step = name.partition(".")
        metrics.put(names.WORKER_LANE_WAIT, seconds, worker.name, pipeline, step)
    for name, about in worker.steps.items():
        pipeline, _, step = name.partition(".")
        metrics.put(names.WORKER_CONCURRENCY, about["concurrency"]["limit"], worker.name, pipeline, step)
        metrics.put(names.WORKER_CLAIM_SIZE, about["claim"]["value"], worker.name, pipeline, step)


def write_fleets(metrics: MetricSet, counts: EngineCounts) -> None:
    """Add what living dispatchers know about their brokers and runners."""
    for worker in newest_workers(counts):
        fleet: Mapping[str, Any] | None = worker.stats.get("fleet") if worker.alive else None
        if fleet is None:
            continue
        metrics.put(names.FLEET_BROKER_UP, fleet["broker_up"], worker.name)
        metrics.put(names.FLEET_RUNNERS, fleet["runners"], worker.name)
        metrics.put(names.FLEET_LOST, fleet["lost_offers"], worker.name)
        for name, about in fleet["steps"].items():
            pipeline, _, step = name.partition(".")
            metrics.put(names.FLEET_SLOTS, about["slots"], worker.name, pipeline, step)
            for state in ("offered", "taken"):
                metrics.put(names.FLEET_OFFERS, about[state], worker.name, pipeline, step, state)


def write_services(metrics: MetricSet, counts: EngineCounts) -> None:
    """Add the metrics of the egress proxy and the browser, for workers that have opened them."""
    for worker in newest_workers(counts):
        if egress := worker.shared.get("egress"):
            _write_egress(metrics, worker.name, egress)
        if hosts := worker.shared.get("hosts"):
            _write_hosts(metrics, worker.name, hosts)
        if browser := worker.shared.get("browser"):
            metrics.put(names.CAPTURES, browser["captures"], worker.name)
            metrics.put(names.CAPTURE_FAILURES, browser["failures"], worker.name)
            metrics.put(names.CAPTURE_SECONDS, browser["seconds"], worker.name)
            metrics.put(names.BROWSER_STARTS, browser["starts"], worker.name)


def _write_egress(metrics: MetricSet, worker: str, egress: Mapping[str, Any]) -> None:
    metrics.put(names.EGRESS_REQUESTS, egress["requests"], worker)
    metrics.put(names.EGRESS_CONNECTIONS, egress["open_connections"], worker)
    metrics.put(names.EGRESS_BYTES, egress["bytes_down"], worker, "in")
    metrics.put(names.EGRESS_BYTES, egress["bytes_up"], worker, "out")
    for metric, reasons in ((names.EGRESS_REFUSED, egress["refused"]), (names.EGRESS_FAILED, egress["failed"])):
        for reason, count in reasons.items():
            metrics.put(metric, count, worker, reason)


def _write_hosts(metrics: MetricSet, worker: str, hosts: Mapping[str, Any]) -> None:
    for state in ("known", "busy", "closed"):
        metrics.put(names.HOSTS, hosts[state], worker, state)
    for state in ("running", "waiting"):
        metrics.put(names.HOST_REQUESTS, hosts[state], worker, state)
    for what in ("closed", "delay"):
        metrics.put(names.HOST_WORST, hosts[f"longest_{what}_s"], worker, what)
    metrics.put(names.HOST_WORST_WAITING, hosts["most_waiting"], worker)
    metrics.put(names.HOST_THROTTLED, hosts["throttled"], worker)
