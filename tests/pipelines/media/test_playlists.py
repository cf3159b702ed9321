"""Playlists and galleries: one share for each entry, each an item of one job."""

from __future__ import annotations

from tests.pipelines.media._bed import MediaBed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, plain, ranged

pytestmark = needs_ffmpeg

ENTRIES = "select * from forebay.share where playlist_id = $1 order by playlist_index"


async def test_a_page_with_several_media_becomes_one_job_with_an_item_each(
    bed: MediaBed, origin: MediaServer, samples: Samples
) -> None:
    origin.put("/a.mp4", ranged(samples.clip))
    origin.put("/b.m4a", ranged(samples.sound, "audio/mp4"))
    body = '<title>Two</title><video src="/a.mp4"></video><audio src="/b.m4a"></audio><video src="/gone.mp4"></video>'
    page = await bed.finished(origin.put("/list", plain(f"<html>{body}</html>".encode(), "text/html")))
    assert (page["kind"], page["download_status"], page["title"]) == ("playlist", "completed", "Two")
    rows = await bed.conn.fetch(
        "select * from forebay.share where playlist_id = $1 order by playlist_index", page["id"]
    )
    assert [(row["kind"], row["download_status"]) for row in rows] == [
        ("video", "completed"),
        ("audio", "completed"),
        (None, "failed"),
    ]
    assert len({row["job_id"] for row in rows}) == 1
    assert rows[0]["job_id"] != page["job_id"]
    assert [row["item_n"] for row in rows] == [1, 2, 3]
    assert await bed.content(rows[1]) == samples.sound
    assert (await bed.item(page["id"]))["status"] == "DONE"

    # Another job for the playlist works on what is missing only.
    origin.put("/gone.mp4", ranged(samples.clip))
    await bed.conn.fetchval("select forebay.retry_share($1)", page["id"])
    await bed.bed.finish()
    rows = await bed.conn.fetch(
        "select * from forebay.share where playlist_id = $1 order by playlist_index", page["id"]
    )
    assert [row["download_status"] for row in rows] == ["completed"] * 3
    assert origin.hits["/a.mp4"] == 2  # the probe and the download


async def test_a_gallery_of_pictures(bed: MediaBed, origin: MediaServer, samples: Samples) -> None:
    origin.put("/1.jpg", plain(samples.picture, "image/jpeg"))
    origin.put("/2.jpg", plain(samples.picture, "image/jpeg"))
    tags = '<meta property="og:image" content="/1.jpg"><meta property="og:image" content="/2.jpg">'
    page = await bed.finished(origin.put("/gallery", plain(f"<html>{tags}</html>".encode(), "text/html")))
    rows = await bed.conn.fetch(ENTRIES, page["id"])
    assert [(row["kind"], row["width"], row["container"]) for row in rows] == [("image", 160, "jpeg")] * 2
    assert all(row["poster_id"] == row["file_id"] for row in rows)
