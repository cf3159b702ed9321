"""Retention, metrics, export and uploads of media."""

# demands: S1-33, S1-34, S1-108, X-08

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from forebay.api.metrics.metric import Sample
from forebay.pipelines.media import db
from forebay.pipelines.media.metrics import COMPLETED, DEPTH, FAILURES, METRICS, SECONDS
from forebay.pipelines.media.settings import MediaSettings
from tests.pipelines.media._bed import MediaBed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, ranged

pytestmark = needs_ffmpeg


async def test_files_are_removed_by_age_and_by_quota_but_their_shares_stay(
    bed: MediaBed, origin: MediaServer, samples: Samples
) -> None:
    old = await bed.shared(origin.put("/old.mp4", ranged(samples.clip)))
    new = await bed.shared(origin.put("/new.m4a", ranged(samples.sound, "audio/mp4")))
    pool, now = bed.bed.pool, datetime.now(UTC)
    assert await db.expire(pool, now - timedelta(days=1), 1 << 30, 10) == 0
    assert await db.expire(pool, None, len(samples.sound), 10) == 1  # the newest may stay
    old, new = await bed.row(old["id"]), await bed.row(new["id"])
    assert (old["file_id"], old["download_status"], new["file_id"] is None) == (None, "completed", False)
    assert old["file_removed_at"] is not None
    assert await db.expire(pool, now + timedelta(days=1), None, 10) == 1
    assert await bed.conn.fetchval("select count(*) from forebay.file where media_type = 'audio/mp4'") == 0
    # What was removed can be downloaded again.
    await bed.conn.fetchval("select forebay.retry_share($1)", old["id"])
    await bed.bed.run()
    assert await bed.content(await bed.row(old["id"])) == samples.clip


async def test_the_numbers_of_the_last_hour(bed: MediaBed, origin: MediaServer, samples: Samples) -> None:
    await bed.shared(origin.put("/one.mp4", ranged(samples.clip)))
    await bed.finished(origin.url("/missing.mp4"))
    await bed.add(origin.url("/later.mp4"))
    assert METRICS.from_database is not None
    found = {(sample.metric.name, sample.labels): sample.value for sample in await METRICS.from_database(bed.conn)}
    waiting = Sample(DEPTH, 1, ("pending",))
    assert found[DEPTH.name, waiting.labels] == 1
    assert found[DEPTH.name, ("failed",)] == 1
    assert (found[COMPLETED.name, ()], found[FAILURES.name, ()]) == (1, 1 / 3)
    assert found[SECONDS.name, ()] >= 0


async def test_the_indexes_that_the_source_names(bed: MediaBed) -> None:
    found = await bed.conn.fetch(
        "select indexname, indexdef from pg_indexes "
        "where tablename = 'share' and indexname like 'idx_shares_%' order by 1"
    )
    assert [row["indexname"] for row in found] == ["idx_shares_download_queue", "idx_shares_download_status"]
    queue, status = [row["indexdef"].partition(" USING btree ")[2] for row in found]
    columns, _, condition = queue.partition(" WHERE ")
    assert columns == "(download_status, created_at)"
    assert "'pending'" in condition
    assert "'retry'" in condition
    assert "'processing'" not in condition
    assert status == "(download_status)"


def test_the_guide_begins_with_three_downloads_and_names_what_to_watch() -> None:
    guide = (Path(__file__).parents[3] / "docs/howto/media.md").read_text("utf-8")
    assert MediaSettings.model_fields["downloads"].default == 3
    assert "FOREBAY_DOWNLOAD_WORKERS=3" in guide
    watched = set(re.findall(r"`(forebay_media_[a-z_]+)", guide.partition("## Deploy it")[2].partition("\n## ")[0]))
    assert watched == {metric.name for metric in (COMPLETED, DEPTH, FAILURES, SECONDS)}
