"""One owner does not take all the downloads."""

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
