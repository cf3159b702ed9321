"""The metrics of media: how many downloads wait, run and fail, and how long they take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from forebay.api.metrics.metric import Metric, Sample
from forebay.api.metrics.package_metrics import PackageMetrics
from forebay.pipelines.media import db

if TYPE_CHECKING:
    from forebay.db.pool import Connection

_STATES = ("pending", "processing", "retry", "failed")

DEPTH = Metric(
    "forebay_media_shares", "gauge", ("status",), "shares without a file, by the status of their download", "S1-101",
)  # fmt: skip
COMPLETED = Metric(
    "forebay_media_completed_last_hour", "gauge", (), "downloads that were completed in the last hour", "S1-105",
)  # fmt: skip
SECONDS = Metric(
    "forebay_media_download_seconds", "gauge", (), "average duration of the downloads of the last hour", "S1-102",
)  # fmt: skip
FAILURES = Metric(
    "forebay_media_failure_ratio", "gauge", (), "share of failed ones among the shares of the last hour", "S1-103",
)  # fmt: skip
BYTES = Metric("forebay_media_bytes", "gauge", (), "bytes of the files of all shares")


async def _read(conn: Connection) -> list[Sample]:
    row = await db.metrics(conn)
    counted = json.loads(row["open"])
    samples = [Sample(DEPTH, counted.get(state, 0), (state,)) for state in _STATES]
    samples += [Sample(COMPLETED, row["completed"]), Sample(BYTES, row["bytes"])]
    if row["seconds"] is not None:
        samples.append(Sample(SECONDS, row["seconds"]))
    if row["failure_ratio"] is not None:
        samples.append(Sample(FAILURES, row["failure_ratio"]))
    return samples


METRICS = PackageMetrics((DEPTH, COMPLETED, SECONDS, FAILURES, BYTES), from_database=_read)
