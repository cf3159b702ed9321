"""The order of downloads: one owner does not take all of them, and what failed goes ahead of what is new."""

# demands: S1-49, S1-115

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from forebay.pipelines.media.settings import MediaSettings
from tests.pipelines.media._bed import media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, Request, ranged

pytestmark = needs_ffmpeg


async def test_an_owner_has_one_download_at_a_time_while_others_have_theirs(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples
) -> None:
    active, most, both = Counter[str](), Counter[str](), asyncio.Event()

    async def answer(request: Request) -> None:
        owner = request.path.split("/")[1]
        if request.number > 1:  # the first one is the probe
            active[owner] += 1
            most[owner] = max(most[owner], active[owner])
            if active.total() == 2:
                both.set()
            await both.wait()
        await ranged(samples.sound, "audio/mp4")(request)
        if request.number > 1:
            active[owner] -= 1

    own = MediaSettings(transcripts=False, owner_downloads=1, downloads=4)
    async with media_bed(dsn, tmp_path, packages=[own]) as bed:
        for n in range(3):
            await bed.add(origin.put(f"/ann/{n}.m4a", answer))
        await bed.add(origin.put("/bob/1.m4a", answer), "bob")
        await bed.bed.finish()
        done = await bed.conn.fetchval("select count(*) from forebay.share where download_status = 'completed'")
        assert (done, most) == (4, {"ann": 1, "bob": 1})


async def test_an_owner_begins_so_many_downloads_a_minute(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples
) -> None:
    own = MediaSettings(transcripts=False, owner_per_minute=1, downloads=4)
    ended = "select owner_id, count(*) from forebay.share where download_status = 'completed' group by 1 order by 1"
    async with media_bed(dsn, tmp_path, packages=[own]) as bed:
        for n in range(2):
            await bed.add(origin.put(f"/ann/{n}.m4a", ranged(samples.sound, "audio/mp4")))
        await bed.add(origin.put("/bob.m4a", ranged(samples.sound, "audio/mp4")), "bob")
        await bed.bed.run()
        assert [row["count"] for row in await bed.conn.fetch(ended)] == [1, 1]
        await bed.bed.finish()  # with every pause skipped
        assert [row["count"] for row in await bed.conn.fetch(ended)] == [2, 1]


async def test_an_automatic_retry_goes_ahead_of_new_work_of_its_owner(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples
) -> None:
    asked: list[str] = []

    async def answer(request: Request) -> None:
        if request.number > 1:  # the first one is the probe
            asked.append(request.path)
            if len(asked) == 1:
                await request.reply("busy", status="503 Service Unavailable")
                return
        await ranged(samples.sound, "audio/mp4")(request)

    own = MediaSettings(transcripts=False, downloads=1)
    async with media_bed(dsn, tmp_path, packages=[own]) as bed:
        await bed.add(origin.put("/first.m4a", answer))
        await bed.bed.run()
        await bed.conn.execute("select forebay.pause_queue('media.download')")
        for n in range(3):
            await bed.add(origin.put(f"/{n}.m4a", answer))
        await bed.bed.run()  # they are ready to be downloaded
        assert asked == ["/first.m4a"]
        due = await bed.bed.next_due()
        assert due is not None
        bed.bed.clock.advance((due - bed.bed.clock.now()).total_seconds() + 0.001)
        await bed.conn.execute("select forebay.resume_queue('media.download')")
        await bed.bed.finish()
        assert await bed.conn.fetchval("select count(*) from forebay.share where download_status = 'completed'") == 4
    assert asked[:2] == ["/first.m4a"] * 2
    assert sorted(asked[2:]) == ["/0.m4a", "/1.m4a", "/2.m4a"]
