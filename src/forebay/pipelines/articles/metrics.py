"""The metrics of articles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.metrics.metric import Metric, Sample
from forebay.api.metrics.package_metrics import PackageMetrics
from forebay.pipelines.articles import db as rows

if TYPE_CHECKING:
    from forebay.db.pool import Connection

ARTICLES = Metric("forebay_articles", "gauge", ("embedding",), "articles by the state of their vectors")
TASKS = Metric("forebay_article_tasks", "gauge", ("status",), "tasks that embed articles, by status", "S4-116")


async def _read(conn: Connection) -> list[Sample]:
    states = await rows.count_articles(conn)
    tasks = await rows.count_tasks(conn, None)
    return [
        *(Sample(ARTICLES, count, (state,)) for state, count in states.items()),
        *(Sample(TASKS, count, (status,)) for status, count in tasks.items()),
    ]


METRICS = PackageMetrics((ARTICLES, TASKS), from_database=_read)
