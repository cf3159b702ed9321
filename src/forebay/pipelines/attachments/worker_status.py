"""Whether downloads run: by the files of an owner and the workers that have the step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forebay.engine.db import overview
from forebay.pipelines.attachments import db
from forebay.pipelines.attachments.models import AttachmentStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection
    from forebay.engine.db.overview import WorkerRow

STEP = "attachment_files.download"


@dataclass(frozen=True, slots=True)
class DownloadWork:
    """The files of an owner, or of all."""

    counts: dict[str, int]
    last_attempt_at: datetime | None
    last_error: str | None
    oldest_pending_at: datetime | None


async def read(conn: Connection, owner_id: int | None) -> DownloadWork:
    last = await db.last(conn, owner_id)
    return DownloadWork(
        await db.counts(conn, owner_id), last["last_attempt_at"], last["last_error"], last["oldest_pending_at"]
    )


async def workers(conn: Connection) -> list[WorkerRow]:
    """The workers that download files."""
    return [each for each in await overview.workers(conn) if STEP in each.steps]


def judged(
    work: DownloadWork, workers: Sequence[WorkerRow], stuck_s: float, now: datetime | None = None
) -> AttachmentStatus:
    """An idle worker is healthy, however long it has been idle."""
    at = now or datetime.now(UTC)
    alive = [each for each in workers if each.alive]
    pending = work.counts["PENDING"]
    moved = max((each for each in (work.last_attempt_at, work.oldest_pending_at) if each), default=at)
    is_stuck = pending > 0 and (at - moved).total_seconds() > stuck_s
    return AttachmentStatus(
        is_running=bool(alive),
        last_processed=work.last_attempt_at,
        pending_count=pending,
        processed_count=work.counts["DOWNLOADED"],
        failed_count=work.counts["FAILED"],
        up_since_seconds=(at - min(each.started_at for each in alive)).total_seconds() if alive else None,
        is_healthy=not is_stuck and (bool(alive) or not pending),
        last_error=work.last_error,
    )
