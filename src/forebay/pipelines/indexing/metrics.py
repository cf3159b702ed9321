"""The metrics of the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.metrics.metric import Metric, Sample
from forebay.api.metrics.package_metrics import PackageMetrics
from forebay.packages import search_sources
from forebay.search import db

if TYPE_CHECKING:
    from forebay.db.pool import Connection

DOCUMENTS = Metric("forebay_search_documents", "gauge", ("kind",), "documents in the index")
MISSING = Metric(
    "forebay_search_missing_documents", "gauge", ("model", "state"),
    "documents that a model has not embedded in their present version",
)  # fmt: skip


async def _read(conn: Connection) -> list[Sample]:
    kinds, models = await db.count_documents(conn), await db.count_missing(conn)
    counts = {kind.name: 0 for source in search_sources() for kind in source.kinds}
    counts |= {row["kind"]: row["count"] for row in kinds}
    missing = {(row["name"], row["state"]): row["count"] for row in models} or {("", "active"): 0}
    return [
        *(Sample(DOCUMENTS, count, (kind,)) for kind, count in counts.items()),
        *(Sample(MISSING, count, labels) for labels, count in missing.items()),
    ]


METRICS = PackageMetrics((DOCUMENTS, MISSING), from_database=_read)
