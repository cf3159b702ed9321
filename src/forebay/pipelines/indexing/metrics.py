"""The metrics of the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.metrics.metric import Metric, Sample
from forebay.api.metrics.package_metrics import PackageMetrics
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
    return [
        *(Sample(DOCUMENTS, row["count"], (row["kind"],)) for row in kinds),
        *(Sample(MISSING, row["count"], (row["name"], row["state"])) for row in models),
    ]


METRICS = PackageMetrics((DOCUMENTS, MISSING), from_database=_read)
