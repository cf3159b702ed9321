"""Workers that are killed, or stopped, in the middle of a download: the next one goes on where it was."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.pipelines.media._bed import media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg, padded
from tests.pipelines.media._server import BLOCK, MediaServer, Request, ranged

pytestmark = needs_ffmpeg

SIZE = 8 << 20
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("kills", [(BLOCK,), (3 << 20, 5 << 20)], ids=["early", "twice"])
async def test_a_killed_download_is_continued(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, kills: tuple[int, ...]
) -> None:
    film = padded(samples.clip, SIZE)
    sent, left, reached = [0], list(kills), asyncio.Event()

    async def answer(request: Request) -> None:
        async def pause(done: int) -> None:
            sent[0] += BLOCK
            if request.number > 1 and left and request.start + done > left[0]:  # the first one is the probe
                reached.set()
                await asyncio.Event().wait()

        await ranged(film, pause=pause)(request)

    url = origin.put("/film.mp4", answer)
    async with media_bed(dsn, tmp_path) as bed:
        share_id = await bed.add(url)
    while left:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.pipelines.media._worker", dsn, str(tmp_path), cwd=ROOT
        )
        await reached.wait()
        child.kill()
        await child.wait()
        left.pop(0)
        reached.clear()
        async with media_bed(dsn, tmp_path) as bed:  # the leases of the killed worker have expired by then
            await bed.conn.execute("update forebay.lease set expires_at = now() - interval '1 hour'")
            await bed.bed.worker.sweep()
    async with media_bed(dsn, tmp_path) as bed:
        await bed.bed.finish()
        share = await bed.row(share_id)
        assert await bed.content(share) == film
        assert await bed.conn.fetchval("select count(*) from forebay.file where media_type = 'video/mp4'") == 1
        probed = BLOCK * 8  # what the buffers between the server and the reader of a beginning take
        assert sent[0] < SIZE * 1.05 + len(kills) * (1 << 20) + probed
