"""Workers that are killed, or stopped, in the middle of a download: the next one goes on where it was."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.pipelines.media._bed import media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg, padded
from tests.pipelines.media._server import MediaServer, Request, ranged

pytestmark = needs_ffmpeg

SIZE = 8 << 20
BUFFERED = 384 << 10  # at most, between the server and the partial file
ROOT = Path(__file__).parents[3]


def _partial_size(folder: Path) -> int:
    """How much of the film has come."""
    files = [file for file in folder.rglob("partial/*/*") if not file.suffix]
    return max((file.stat().st_size for file in files), default=0)


@pytest.mark.parametrize("kills", [(1 << 20,), (3 << 20, 5 << 20)], ids=["early", "twice"])
async def test_a_killed_download_is_continued(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, kills: tuple[int, ...]
) -> None:
    film = padded(samples.clip, SIZE)
    left, reached = list(kills), asyncio.Event()

    async def answer(request: Request) -> None:
        async def pause(done: int) -> None:
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
        while _partial_size(tmp_path) < left[0] - BUFFERED:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
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
    starts = [request.start for request in origin.heads[1:]]  # without the probe
    assert starts[0] == 0
    # What came before a kill is not fetched again, but for what was in the buffers on the way.
    assert all(kill - start < SIZE // 20 + BUFFERED for kill, start in zip(kills, starts[1:], strict=True)), starts
