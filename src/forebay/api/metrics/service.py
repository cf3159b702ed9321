"""The metrics of the service: exact, from the database, at most twice a minute; and those of this process."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest

from forebay.api.metrics import names
from forebay.api.metrics.attempt_window import BOUNDS, AttemptWindow
from forebay.api.metrics.metric import MetricSet
from forebay.api.metrics.package_metrics import load_package_metrics, read_samples, write_samples
from forebay.api.metrics.process import write_api
from forebay.api.metrics.work import write_attempts, write_depth, write_items, write_work
from forebay.api.metrics.workers import newest_workers, write_fleets, write_services, write_workers
from forebay.db.pool import UNAVAILABLE
from forebay.engine.db import metrics as db
from forebay.errors import DatabaseUnavailable, one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from forebay.api.metrics.metric import Sample
    from forebay.api.metrics.process import Meter
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.engine.db.metrics import EngineCounts, ItemCounts
    from forebay.engine.db.overview import Depth

log = get_logger("api")

_FRESH = 30.0
_FAILED = 5.0  # seconds before a failed count is repeated
_SOON = 3.0  # seconds within which the database must answer a trivial query
_AWAY = (DatabaseUnavailable, *UNAVAILABLE)


def owner_metrics(depth: Sequence[Depth], items: Sequence[ItemCounts]) -> dict[str, Any]:
    """The metrics of one owner's work, under the names of the service's metrics."""
    metrics = MetricSet(names.GENERAL)
    write_depth(metrics, depth)
    write_items(metrics, items)
    return _as_json(metrics)


def _as_json(metrics: MetricSet) -> dict[str, Any]:
    found: dict[str, list[dict[str, Any]]] = {}
    for family in metrics.collect():
        for sample in family.samples:
            found.setdefault(sample.name, []).append({"labels": sample.labels, "value": sample.value})
    return found


class ServiceMetrics:
    """The data of /metrics, /api/statistics and the worker list."""

    def __init__(self, pools: RolePools, meter: Meter) -> None:
        self._pools = pools
        self._meter = meter
        self._packages = load_package_metrics()
        self._window = AttemptWindow()
        self._counts: EngineCounts | None = None
        self._package_samples: dict[str, list[Sample]] = {}
        self._at = 0.0
        self._failure: Exception | None = None
        self._failed_at = 0.0
        self._lock = asyncio.Lock()

    async def counts(self) -> EngineCounts:
        async with self._lock:  # concurrent callers share one count
            if self._counts is None or time.monotonic() - self._at > _FRESH:
                self._counts = await self._counted()
                self._at = time.monotonic()
            return self._counts

    async def _counted(self) -> EngineCounts:
        if self._failure is not None and time.monotonic() - self._failed_at < _FAILED:
            raise self._failure.with_traceback(None)
        try:
            async with self._pools.watch.acquire() as conn:
                found = await self._count(conn)
                self._package_samples = await read_samples(conn, self._packages)
        except _AWAY as error:
            self._failure, self._failed_at = error, time.monotonic()
            raise
        self._failure = None
        return found

    async def _count(self, conn: Connection) -> EngineCounts:
        began = time.perf_counter()
        async with asyncio.timeout(_SOON):
            now = await db.now(conn)
        self._meter.round_trip(time.perf_counter() - began)
        for since, until in self._window.unread(now):
            self._window.take(since, await db.count_attempts(conn, since, until, BOUNDS))
        self._window.move_on(now)
        return await db.read_counts(conn, now)

    async def window(self) -> tuple[AttemptWindow, datetime]:
        """The attempts of the last hour, and when they were counted."""
        return self._window, (await self.counts()).at

    async def pending_count(self) -> int:
        return (await self.counts()).pending

    async def exposition(self) -> bytes:
        registry = CollectorRegistry()
        registry.register(await self._collected())
        return generate_latest(registry)

    async def as_json(self) -> dict[str, Any]:
        return _as_json(await self._collected())

    async def _collected(self) -> MetricSet:
        """All metrics; without a database, only those of this process."""
        declared = (metric for package in self._packages.values() for metric in package.metrics)
        metrics = MetricSet([*names.GENERAL, *declared])
        try:
            counts = await self.counts()
        except _AWAY as error:
            log.warning("metrics_not_counted", error=one_line(error))
            metrics.put(names.DATABASE_UP, 0)
        else:
            metrics.put(names.DATABASE_UP, 1)
            self._write(metrics, counts)
        write_api(metrics, self._meter)
        return metrics

    def _write(self, metrics: MetricSet, counts: EngineCounts) -> None:
        write_work(metrics, counts)
        write_attempts(metrics, counts, self._window)
        write_workers(metrics, counts)
        write_fleets(metrics, counts)
        write_services(metrics, counts)
        write_samples(metrics, self._packages, newest_workers(counts), self._package_samples)
