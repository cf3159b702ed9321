"""The metrics of attachments: files by status, quotas, and what workers have downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.metrics.metric import Metric, Sample
from forebay.api.metrics.package_metrics import PackageMetrics
from forebay.pipelines.attachments import db

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.db.pool import Connection
    from forebay.engine.db.overview import WorkerRow

_LABELS = ("worker", "source")
_OUTCOMES = ("answered", "throttled", "failed")

FILES = Metric(
    "forebay_attachment_files", "gauge", ("status",),
    "files by status; at most 100,000 of each are counted", "S3-99",
)  # fmt: skip
QUOTA_USED = Metric(
    "forebay_attachment_quota_used", "gauge", ("app",), "requests for files within the last 24 hours",
)  # fmt: skip
DOWNLOADS = Metric(
    "forebay_attachment_downloads_total", "counter", (*_LABELS, "outcome"),
    "attempts to download a file: answered, throttled, failed", "S3-99",
)  # fmt: skip
BYTES = Metric(
    "forebay_attachment_bytes_total", "counter", _LABELS, "bytes of downloaded files", "S3-99",
)  # fmt: skip
SECONDS = Metric(
    "forebay_attachment_download_seconds", "gauge", _LABELS, "time of a download, moving average", "S3-99",
)  # fmt: skip
CLOSED = Metric(
    "forebay_attachment_closed_seconds", "gauge", _LABELS,
    "time until files are requested again after throttling or failures; 0: they are requested",
)  # fmt: skip


def _from_worker(worker: WorkerRow) -> Iterator[Sample]:
    for name, about in worker.shared.get("attachments", {}).items():
        labels = (worker.name, name)
        for outcome in _OUTCOMES:
            yield Sample(DOWNLOADS, about[outcome], (*labels, outcome))
        yield Sample(BYTES, about["bytes"], labels)
        yield Sample(CLOSED, about["closed_s"], labels)
        if about["seconds"] is not None:
            yield Sample(SECONDS, about["seconds"], labels)


async def _from_database(conn: Connection) -> list[Sample]:
    found = [Sample(FILES, count, (status,)) for status, count in (await db.counts(conn, None)).items()]
    return found + [Sample(QUOTA_USED, used, (app,)) for app, (used, _) in (await db.quota(conn)).items()]


METRICS = PackageMetrics(
    (FILES, QUOTA_USED, DOWNLOADS, BYTES, SECONDS, CLOSED), from_database=_from_database, from_worker=_from_worker
)
