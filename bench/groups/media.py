"""Media: a hundred downloads of 20 MB at a time in one worker: memory, the API meanwhile, and the pace of aria2c."""

# demands: S1-13, S1-17

import asyncio
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import asyncpg
import psutil

from bench.harness import BenchError, Context, connected
from bench.http_client import Client
from bench.measure import percentile, resident_bytes
from bench.serving import served
from bench.steadily import registered, worker

SIZE = 20 << 20
RATE = 1 << 20  # bytes a second for each reader
MEMORY_BAR = 300.0
MEGABYTE = 1 << 20
_FFMPEG = shutil.which("ffmpeg") or ""
_LEFT = "select count(*) from forebay.share where download_status <> 'completed'"
_RUNNING = "select count(*) from forebay.share where download_status = 'processing'"


async def run(context: Context) -> None:
    ours = context.ours
    if not ours or not all(map(shutil.which, ("ffmpeg", "ffprobe", "aria2c"))):
        return
    film, count = _film(context.folder), context.sizes.media_downloads
    dsn = await context.database(ours)
    token = await ours.api_token(dsn)
    environment = ours.api_environment(dsn) | {
        "FOREBAY_PIPELINES": "forebay.pipelines",
        "FOREBAY_EGRESS_ALLOW_NETWORKS": "127.0.0.0/8",
        "FOREBAY_DATA_DIR": str(context.folder / "media"),
        "FOREBAY_DOWNLOAD_WORKERS": str(count),
        "FOREBAY_MEDIA_TRANSCRIPTS": "false",
    }
    site_command = [sys.executable, "-m", "bench.media_site", str(film), str(RATE)]
    async with (
        served(context, site_command, {}, "media-site.log") as (site, _),
        served(context, ours.api_command(), environment) as (port, _),
        connected(dsn) as conn,
    ):
        bare = await _aria2c(context.folder, site, count)
        with worker(context, environment, "media") as child:
            await registered(conn, "media")
            idle = await _requests(port, token, 100)
            await _measure(context, conn, (port, token, site), child, (idle, bare))


def _film(folder: Path) -> Path:
    """A film of a second with a box behind it that players skip."""
    film = folder / "film.mp4"
    source = ["-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration=1", "-c:v", "libx264", "-pix_fmt", "yuv420p"]
    subprocess.run([_FFMPEG, "-v", "error", "-y", *source, str(film)], check=True)
    left = SIZE - film.stat().st_size
    with film.open("ab") as file:
        file.write(struct.pack(">I4s", left, b"free") + bytes(left - 8))
    return film


def _urls(site: int, count: int) -> list[str]:
    """Each at a host of its own: otherwise politeness would keep all but a few waiting."""
    return [f"http://127.0.1.{number % 250 + 1}:{site}/{number}.mp4" for number in range(count)]


async def _aria2c(folder: Path, site: int, count: int) -> float:
    """Seconds that aria2c takes for the same files."""
    listed, target = folder / "urls.txt", folder / "aria2c"
    listed.write_text("\n".join(_urls(site, count)))
    options = ["-q", "-x1", "-s1", f"-j{count}", "--file-allocation=none", f"-d{target}", f"-i{listed}"]
    began = time.perf_counter()
    child = await asyncio.create_subprocess_exec("aria2c", *options)
    if await child.wait() != 0:
        raise BenchError("aria2c failed")
    shutil.rmtree(target)
    return time.perf_counter() - began


async def _requests(port: int, token: str, count: int) -> list[float]:
    """Milliseconds of requests for a list of shares."""
    waits: list[float] = []
    async with Client(port, token) as http:
        for _ in range(count):
            began = time.perf_counter()
            await http.get("/api/shares?pageSize=20")
            waits.append((time.perf_counter() - began) * 1e3)
            await asyncio.sleep(0.02)
    return waits


async def _measure(
    context: Context,
    conn: asyncpg.Connection,
    at: tuple[int, str, int],
    worker: psutil.Process,
    before: tuple[list[float], float],
) -> None:
    port, token, site = at
    idle, bare = before
    count, peak, most = context.sizes.media_downloads, 0, 0
    waits: list[float] = []
    began = time.perf_counter()
    async with Client(port, token) as http:
        await http.post("/api/shares", {"shares": [{"url": url} for url in _urls(site, count)]})
    answered = (time.perf_counter() - began) * 1e3
    while await conn.fetchval(_LEFT):
        waits += await _requests(port, token, 10)
        peak = max(peak, resident_bytes([worker]))
        most = max(most, await conn.fetchval(_RUNNING))
        if time.perf_counter() - began > context.sizes.patience + 20 * bare:
            raise BenchError(f"{await conn.fetchval(_LEFT)} of {count} downloads are still open")
    seconds = time.perf_counter() - began
    note = (
        f"{count} files of 20 MB, {most} at a time, {seconds:.1f} s; the request was answered after {answered:.0f} ms"
    )
    context.record("media_memory", peak / MEGABYTE, MEMORY_BAR, note)
    context.record("media_api_p99", percentile(waits, 0.99), percentile(idle, 0.99), f"{len(waits)} lists of shares")
    context.record("media_throughput", count * 20 / seconds, count * 20 / bare, f"aria2c: {bare:.1f} s")
