"""The numbers of the service: exact, from the database, counted at most twice a minute where that costs something."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from forebay.db import overview

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client.core import Metric

    from forebay.db.overview import Numbers
    from forebay.db.pool import Pool

_FRESH = 30.0


class Statistics:
    """What /metrics, /api/statistics and the worker list show."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._numbers: Numbers | None = None
        self._at = 0.0
        self._lock = asyncio.Lock()

    async def numbers(self) -> Numbers:
        async with self._lock:  # who comes meanwhile gets the same
            if self._numbers is None or time.monotonic() - self._at > _FRESH:
                async with self._pool.acquire() as conn:
                    self._numbers = await overview.numbers(conn)
                self._at = time.monotonic()
            return self._numbers

    async def pending_count(self) -> int:
        return sum(depth.waiting + depth.leased for depth in (await self.numbers()).depth)

    async def exposition(self) -> bytes:
        registry = CollectorRegistry()
        registry.register(_Collector(await self.numbers()))
        return generate_latest(registry)

    async def as_json(self) -> dict[str, Any]:
        return {
            family.name: [{"labels": sample.labels, "value": sample.value} for sample in family.samples]
            for family in _families(await self.numbers())
        }


class _Collector:
    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def collect(self) -> Iterable[Metric]:
        return _families(self._numbers)


def _families(numbers: Numbers) -> Iterator[Metric]:
    steps = ["pipeline", "step"]
    depth = GaugeMetricFamily("forebay_queue_depth", "tasks by step and status", labels=[*steps, "status"])
    for one in numbers.depth:
        for status, count in (
            ("pending", one.ready),
            ("scheduled", one.scheduled),
            ("processing", one.leased),
            ("on_hold", one.on_hold),
        ):
            depth.add_metric([one.pipeline, one.step, status], count)
    yield depth
    pending = sum(one.waiting + one.leased for one in numbers.depth)
    yield GaugeMetricFamily("forebay_pending_count", "tasks that are not done", value=pending)
    hour = (
        ("forebay_attempts_last_hour", "attempts that ended in the last hour", "attempts"),
        ("forebay_failure_rate_last_hour", "share of the last hour's attempts that failed", "failure_rate"),
        ("forebay_average_seconds_last_hour", "mean time of the last hour's attempts", "average_s"),
        ("forebay_p95_seconds_last_hour", "95th percentile of the last hour's attempts", "p95_s"),
    )
    for name, text, field in hour:
        family = GaugeMetricFamily(name, text, labels=steps)
        for row in numbers.last_hour:
            if row[field] is not None:
                family.add_metric([row["pipeline"], row["step"]], float(row[field]))
        yield family
    yield GaugeMetricFamily("forebay_dead_letters", "tasks that failed for good", value=numbers.dead_letters)
    items = GaugeMetricFamily("forebay_open_jobs", "jobs by state", labels=["state"])
    for state, count in numbers.jobs.items():
        items.add_metric([state], count)
    yield items
    yield from _worker_families(numbers)


def _worker_families(numbers: Numbers) -> Iterator[Metric]:
    for name, text, value in (
        ("forebay_worker_up", "1 while the worker is alive", lambda w: float(w.alive)),
        (
            "forebay_worker_stuck",
            "1 when nothing has ended for 5 minutes while work is pending",
            lambda w: float(w.stuck),
        ),
        ("forebay_worker_in_flight", "tasks that the worker holds", lambda w: w.in_flight),
        ("forebay_worker_succeeded", "attempts that ended well since it began", lambda w: w.stats.get("succeeded", 0)),
        ("forebay_worker_failed", "attempts that failed since it began", lambda w: w.stats.get("failed", 0)),
        ("forebay_worker_stale", "reports that came too late since it began", lambda w: w.stale),
    ):
        family = GaugeMetricFamily(name, text, labels=["worker"])
        for worker in numbers.workers:
            family.add_metric([worker.name], float(value(worker)))
        yield family
