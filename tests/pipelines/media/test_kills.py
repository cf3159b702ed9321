"""Workers that are killed, or stopped, in the middle of a download: the next one goes on where it was."""

# demands: S1-19, S1-37, S1-60

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from forebay.pipelines.media.settings import MediaSettings
from tests.pipelines.media._bed import MediaBed, media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg, padded
from tests.pipelines.media._server import MediaServer, Request, ranged

pytestmark = needs_ffmpeg

SIZE, LARGE = 8 << 20, 256 << 20
BUFFERED = 384 << 10  # at most, between the server and the partial file
AHEAD = 2 << 20  # so far a server may be ahead of the partial file
T = TypeVar("T")
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
        async with _killed(dsn, tmp_path) as child:
            await _unless_it_ends(child, reached.wait())
            await _until_size(child, tmp_path, left[0] - BUFFERED)
        left.pop(0)
        reached.clear()
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


@pytest.mark.parametrize(
    ("size", "kills"),
    [pytest.param(3 * SIZE, 2, id="twice"), pytest.param(LARGE, 20, id="twenty times", marks=pytest.mark.soak)],
)
async def test_a_download_is_killed_at_any_moment_while_bytes_flow(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, size: int, kills: int
) -> None:
    """What the killed worker has written is there, and is not fetched again."""
    film, left, seed = padded(samples.clip, size), kills, random.randrange(1 << 32)
    chosen, part = random.Random(seed), (size - 2 * AHEAD) // kills

    async def answer(request: Request) -> None:
        async def pause(done: int) -> None:
            # Not so far ahead of what is written that all of it could come before the kill; but nothing stands still.
            while request.number > 1 and left and _partial_size(tmp_path) < request.start + done - AHEAD:  # noqa: ASYNC110
                await asyncio.sleep(0.002)

        await ranged(film, pause=pause)(request)

    async with media_bed(dsn, tmp_path) as bed:
        share_id = await bed.add(origin.put("/film.mp4", answer))
    kept: list[int] = []
    for each in range(kills):
        place = chosen.randrange(each * part, (each + 1) * part - 2 * AHEAD)  # more may come until it is killed
        async with _killed(dsn, tmp_path) as child:
            await _until_size(child, tmp_path, max(place, kept[-1] + 1 if kept else 1))
        kept.append(_partial_size(tmp_path))
        left -= 1
    async with media_bed(dsn, tmp_path) as bed:
        await bed.bed.finish()
        assert await bed.content(await bed.row(share_id)) == film
        assert await bed.conn.fetchval("select count(*) from forebay.file where media_type = 'video/mp4'") == 1
    assert [request.start for request in origin.heads[1:]] == [0, *kept], f"seed {seed}"


@pytest.mark.parametrize("stage", ["inspecting", "storing", "stored"])
async def test_a_worker_is_killed_after_the_last_byte(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, stage: str
) -> None:
    film = padded(samples.clip, SIZE)
    async with media_bed(dsn, tmp_path) as bed:
        share_id = await bed.add(origin.put("/film.mp4", ranged(film)))
    async with _killed(dsn, tmp_path, stage) as child:
        assert child.stdout is not None
        assert await _unless_it_ends(child, child.stdout.readline()) == b"reached\n"
    async with media_bed(dsn, tmp_path) as bed:
        await bed.bed.finish()
        assert await bed.content(await bed.row(share_id)) == film
        assert await bed.conn.fetchval("select count(*) from forebay.file where media_type = 'video/mp4'") == 1
    # The partial file is whole; only one that is in the store already, without a row, is fetched again.
    assert len(origin.heads) - 1 == (2 if stage == "stored" else 1)  # without the probe


@asynccontextmanager
async def _killed(dsn: str, folder: Path, *stage: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker that is killed at the end of the block; its leases expire."""
    command = (sys.executable, "-m", "tests.pipelines.media._worker", dsn, str(folder), *stage)
    child = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()
    async with media_bed(dsn, folder) as bed:
        await bed.conn.execute("update forebay.lease set expires_at = now() - interval '1 hour'")
        await bed.bed.worker.sweep()


async def _unless_it_ends(child: asyncio.subprocess.Process, awaited: Coroutine[Any, Any, T]) -> T:
    """What is awaited, within two minutes, unless the process ends before."""
    task, ended = asyncio.create_task(awaited), asyncio.create_task(child.wait())
    try:
        await asyncio.wait({task, ended}, timeout=120, return_when=asyncio.FIRST_COMPLETED)
        assert not ended.done(), f"the worker has ended with {child.returncode}"
        assert task.done(), "the worker has not come so far within two minutes"
        return task.result()
    finally:
        task.cancel()
        ended.cancel()


async def _until_size(child: asyncio.subprocess.Process, folder: Path, size: int) -> None:
    async def grown() -> None:
        while _partial_size(folder) < size:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.002)

    await _unless_it_ends(child, grown())


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
            await _unless_it_ends(first, reached.wait())
            await _until_size(first, tmp_path, stop_at - BUFFERED)
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
