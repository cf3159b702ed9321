"""The hooks for jobs of attachments: each is about one instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.hooks import JobHooks, Subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Connection


class AttachmentJobs(JobHooks):
    async def subjects(self, conn: Connection, job_ids: Sequence[int]) -> Mapping[int, Subject]:
        from forebay.pipelines.attachments import db  # noqa: PLC0415 - `forebay job` does not need it

        rows = await db.of_jobs(conn, job_ids)
        return {row["job_id"]: Subject("attachment", str(row["id"]), row["title"] or row["key"]) for row in rows}
