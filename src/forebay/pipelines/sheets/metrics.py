"""The metrics of sheets: the providers, from the workers' last reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.metrics.metric import Metric, Sample
from forebay.api.metrics.package_metrics import PackageMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.engine.db.overview import WorkerRow

_LABELS = ("worker", "provider")
_OUTCOMES = ("answered", "not_found", "throttled", "failed", "remembered")

ASKS = Metric(
    "forebay_provider_asks_total", "counter", (*_LABELS, "outcome"),
    "queries to a provider: answered, not_found, throttled, failed; remembered: served from the cache",
)  # fmt: skip
THROTTLE_RATIO = Metric(
    "forebay_provider_throttle_ratio", "gauge", _LABELS,
    "share of throttled among about the last hundred responses: api_throttle_rate", "S5-101",
)  # fmt: skip
SECONDS = Metric(
    "forebay_provider_answer_seconds", "gauge", _LABELS, "response time, moving average",
)  # fmt: skip
CONCURRENCY = Metric(
    "forebay_provider_concurrency_limit", "gauge", _LABELS, "concurrent queries, auto-tuned",
)  # fmt: skip
CLOSED = Metric(
    "forebay_provider_closed_seconds", "gauge", _LABELS,
    "time until it is queried again after throttling or failures; 0: it is queried",
)  # fmt: skip
PROBLEM = Metric(
    "forebay_provider_problem", "gauge", _LABELS,
    "1: its key or its declaration has to be fixed before it can be queried",
)  # fmt: skip


def _samples(worker: WorkerRow) -> Iterator[Sample]:
    for name, about in worker.shared.get("providers", {}).items():
        labels = (worker.name, name)
        for outcome in _OUTCOMES:
            yield Sample(ASKS, about[outcome], (*labels, outcome))
        yield Sample(THROTTLE_RATIO, about["throttle_ratio"], labels)
        yield Sample(CONCURRENCY, about["limit"], labels)
        yield Sample(CLOSED, about["closed_s"], labels)
        yield Sample(PROBLEM, about.get("problem") is not None, labels)
        if about["seconds"] is not None:
            yield Sample(SECONDS, about["seconds"], labels)


METRICS = PackageMetrics((ASKS, THROTTLE_RATIO, SECONDS, CONCURRENCY, CLOSED, PROBLEM), from_worker=_samples)
