"""The hooks for jobs of media: each is about one share, or about the entries of a playlist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.hooks import JobHooks, Subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Connection


class ShareJobs(JobHooks):
    async def subjects(self, conn: Connection, job_ids: Sequence[int]) -> Mapping[int, Subject]:
        from forebay.pipelines.media import db  # noqa: PLC0415 - `forebay job` does not need it

        rows = await db.of_jobs(conn, job_ids)
        return {row["job_id"]: Subject("share", str(row["share_id"]), row["title"], row["parent_id"]) for row in rows}
