"""What the jobs of articles are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.hooks import JobHooks, Subject
from forebay.pipelines.articles import db as rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Connection


class ArticleJobs(JobHooks):
    """A job of one task is about its article; a reindex is about many."""

    async def subjects(self, conn: Connection, job_ids: Sequence[int]) -> Mapping[int, Subject]:
        found = await rows.of_jobs(conn, job_ids)
        return {row["job_id"]: Subject("article", str(row["article_id"]), row["title"]) for row in found}
