"""Workers that are killed, or stopped, in the middle of a download: the next one goes on where it was."""

# demands: S1-19, S1-37, S1-60

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from forebay.pipelines.media.settings import MediaSettings
from tests.pipelines.media._bed import MediaBed, media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg, padded
from tests.pipelines.media._server import MediaServer, Request, ranged

pytestmark = needs_ffmpeg

SIZE, LARGE = 8 << 20, 256 << 20
BUFFERED = 384 << 10  # at most, between the server and the partial file
ROOT = Path(__file__).parents[3]


def _partial_size(folder: Path) -> int:
    """How much of the film has come."""
    files = [file for file in folder.rglob("partial/*/*") if not file.suffix]
    return max((file.stat().st_size for file in files), default=0)


def _kills(size: int) -> tuple[int, ...]:
    """Twenty places in a file, at any byte."""
    return tuple(sorted(random.Random(20).sample(range(1 << 20, size - (1 << 20)), 20)))


@pytest.mark.parametrize(
    ("size", "kills"),
    [
        pytest.param(SIZE, (1 << 20,), id="early"),
        pytest.param(SIZE, (3 << 20, 5 << 20), id="twice"),
        pytest.param(LARGE, _kills(LARGE), id="twenty times", marks=pytest.mark.soak),
    ],
)
async def test_a_killed_download_is_continued(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, size: int, kills: tuple[int, ...]
) -> None:
    film = padded(await asyncio.to_thread(_with_subtitles, samples, tmp_path), size)
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
    async with media_bed(dsn, tmp_path, packages=[MediaSettings()]) as bed:
        await bed.bed.finish()
        share = await bed.row(share_id)
        assert await bed.content(share) == film
        assert await bed.conn.fetchval("select count(*) from forebay.file where media_type = 'video/mp4'") == 1
        assert await bed.conn.fetchval("select count(*) from forebay.transcript where source = 'subtitles'") == 1
    starts = [request.start for request in origin.heads[1:]]  # without the probe
    assert starts[0] == 0
    # What came before a kill is not fetched again, but for what was in the buffers on the way.
    again = [kill - start for kill, start in zip(kills, starts[1:], strict=True)]
    assert max(again) < SIZE // 20 + BUFFERED, starts
    assert size < LARGE or sum(again) < size / 20, starts


def _with_subtitles(samples: Samples, folder: Path) -> bytes:
    """The clip, with what is said in it as text."""
    (folder / "said.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nThe library opens.\n")
    made, inputs = folder / "said.mp4", ("-i", str(samples.folder / "clip.mp4"), "-i", str(folder / "said.srt"))
    coded = ("-map", "0", "-map", "1", "-c", "copy", "-c:s", "mov_text", str(made))
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *inputs, *coded], check=True)
    return made.read_bytes()


@asynccontextmanager
async def _working(dsn: str, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """`forebay worker`, which stops a running step a second after it is told to stop."""
    given = {
        "FOREBAY_DATABASE_URL": dsn,
        "FOREBAY_PIPELINES": "forebay.pipelines.media",
        "FOREBAY_DATA_DIR": str(folder),
        "FOREBAY_EGRESS_ALLOW_NETWORKS": "127.0.0.0/8",
        "FOREBAY_MEDIA_TRANSCRIPTS": "false",
        "FOREBAY_GRACE_S": "1",
    }
    command = (sys.executable, "-m", "forebay", "worker")
    child = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=os.environ | given)
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def test_a_stopped_worker_hands_its_download_over_with_the_partial_file(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples
) -> None:
    film, stop_at = padded(samples.clip, SIZE), 3 << 20
    reached, stopped = asyncio.Event(), asyncio.Event()

    async def answer(request: Request) -> None:
        async def pause(done: int) -> None:
            if request.number > 1 and not stopped.is_set() and request.start + done > stop_at:
                reached.set()
                await stopped.wait()

        await ranged(film, pause=pause)(request)

    origin.put("/film.mp4", answer)
    async with media_bed(dsn, tmp_path) as bed:
        share_id = await bed.add(origin.url("/film.mp4", "127.0.0.1"))
        async with _working(dsn, tmp_path) as first:
            await reached.wait()
            while _partial_size(tmp_path) < stop_at - BUFFERED:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
            assert (await bed.row(share_id))["download_status"] == "processing"
            first.send_signal(signal.SIGTERM)
            assert await first.wait() == 0
        kept = _partial_size(tmp_path)
        stopped.set()
        # It is handed over at once: no lease has to expire, and the attempt does not count.
        assert await bed.conn.fetchval("select count(*) from forebay.lease") == 0
        assert await bed.conn.fetchval(
            "select array_agg(attempt) from forebay.ready where step_id = $1", await _step(bed)
        ) == [0]
        async with _working(dsn, tmp_path) as second:
            while (await bed.row(share_id))["download_status"] != "completed":
                assert second.returncode is None
                await asyncio.sleep(0.05)
            second.send_signal(signal.SIGTERM)
            await second.wait()
        assert await bed.content(await bed.row(share_id)) == film
        assert await bed.conn.fetchval("select count(*) from forebay.file where media_type = 'video/mp4'") == 1
    starts = [request.start for request in origin.heads[1:]]  # without the probe
    assert starts == [0, kept]
    assert kept >= stop_at - BUFFERED


async def _step(bed: MediaBed) -> int:
    return int(await bed.conn.fetchval("select id from forebay.step where name = 'download' and active"))
