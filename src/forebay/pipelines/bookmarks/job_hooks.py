"""The hooks for jobs of bookmarks: each is about one bookmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.hooks import JobHooks, Subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Connection


class BookmarkJobs(JobHooks):
    async def subjects(self, conn: Connection, job_ids: Sequence[int]) -> Mapping[int, Subject]:
        from forebay.pipelines.bookmarks import db  # noqa: PLC0415 - `forebay job` does not need it

        rows = await db.of_jobs(conn, job_ids)
        return {row["job_id"]: Subject("bookmark", str(row["bookmark_id"]), row["title"]) for row in rows}
