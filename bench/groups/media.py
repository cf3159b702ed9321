"""Media: a hundred downloads of 20 MB at a time in one worker: memory, the API meanwhile, and the pace of aria2c.

The worker is one for downloads, as the guide has it; all of them may run at the same time (FOREBAY_DOWNLOAD_WORKERS),
and each file is at an address of its own, because the limits per host and per site stay at their defaults, as does the
guard. aria2c and the worker take turns; without aria2c, memory and the API are measured alone. The worker also inspects
each file, makes a poster and stores it durably.
"""

# demands: S1-12, S1-13, S1-14, S1-17, S1-23, S1-77, S1-78, S1-79, S1-80, S1-81, S1-82, S1-83, S1-91

import asyncio
import resource
import shutil
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil

from bench.harness import BenchError, Context, connected
from bench.http_client import Client
from bench.measure import cpu_seconds, median, percentile, proportional_bytes
from bench.serving import served
from bench.steadily import registered, worker

SIZE = 20 << 20
RATE = 1 << 20  # bytes a second for each reader
ROUNDS = 2
MEMORY_BAR = 300.0
MEGABYTE = 1 << 20
_FFMPEG, _ARIA2C = shutil.which("ffmpeg") or "", shutil.which("aria2c") or ""
_LEFT = "select count(*) from forebay.share where download_status <> 'completed'"
_RUNNING = "select count(*) from forebay.share where download_status = 'processing'"


@dataclass
class Round:
    """What one turn has taken."""

    seconds: float
    cpu: float
    answered: float = 0.0  # milliseconds until the API has responded
    at_once: int = 0
    waits: tuple[float, ...] = ()


async def run(context: Context) -> None:
    ours = context.ours
    if not ours:
        return
    if not _FFMPEG:
        context.say("media_memory, media_api_p99 and media_throughput are not measured: ffmpeg is not installed")
        return
    if not _ARIA2C:
        context.say("media_throughput is not measured: aria2c is not installed")
    film = _film(context.folder)
    dsn = await context.database(ours)
    token = await ours.api_token(dsn)
    environment = ours.api_environment(dsn) | {
        "FOREBAY_PIPELINES": "forebay.pipelines",
        "FOREBAY_EGRESS_ALLOW_NETWORKS": "127.0.0.0/8",
        "FOREBAY_DATA_DIR": str(context.folder / "media"),
        "FOREBAY_DOWNLOAD_WORKERS": str(context.sizes.media_downloads),
        "FOREBAY_MEDIA_TRANSCRIPTS": "false",
    }
    site_command = [sys.executable, "-m", "bench.media_site", str(film), str(RATE)]
    async with (
        served(context, site_command, {}, "media-site.log") as (site, _),
        served(context, ours.api_command(), environment) as (port, _),
        connected(dsn) as conn,
    ):
        await _in_turns(context, conn, (port, token, site), environment)


async def _in_turns(
    context: Context, conn: asyncpg.Connection, at: tuple[int, str, int], environment: dict[str, str]
) -> None:
    port, token, site = at
    bare, loaded, idle, peak = list[Round](), list[Round](), list[float](), _Peak()
    for number in range(ROUNDS):
        urls = _urls(site, number, context.sizes.media_downloads)
        if _ARIA2C:
            bare.append(await _aria2c(context.folder, urls))
        with worker(context, environment | {"FOREBAY_PIPELINES": "forebay.pipelines.media"}, "media") as child:
            await registered(conn, "media")
            await _requests(port, token, 50)  # the first ones after a start are slower
            idle += await _requests(port, token, 200)
            loaded.append(await _measure(context, conn, (port, token), child, urls, peak))
    _record(context, bare, loaded, idle, peak)


class _Peak:
    bytes = 0

    def note(self, process: psutil.Process) -> None:
        self.bytes = max(self.bytes, proportional_bytes(process))


def _record(context: Context, bare: list[Round], loaded: list[Round], idle: list[float], peak: _Peak) -> None:
    count, megabytes = context.sizes.media_downloads, context.sizes.media_downloads * 20
    ours = median([each.seconds for each in loaded])
    waits = [wait for each in loaded for wait in each.waits]
    note = (
        f"{count} files of 20 MB, {loaded[-1].at_once} at a time, {ours:.1f} s; "
        f"the request was answered after {loaded[-1].answered:.0f} ms"
    )
    context.record("media_memory", peak.bytes / MEGABYTE, MEMORY_BAR, note)
    context.record("media_api_p99", percentile(waits, 0.99), percentile(idle, 0.99), f"{len(waits)} lists of shares")
    if not bare:
        return
    theirs = median([each.seconds for each in bare])
    cpu, bare_cpu = median([each.cpu for each in loaded]), median([each.cpu for each in bare])
    note = f"aria2c: {theirs:.1f} s; CPU of the worker {cpu:.1f} s, of aria2c {bare_cpu:.1f} s"
    context.record("media_throughput", megabytes / ours, megabytes / theirs, note)


def _film(folder: Path) -> Path:
    """A film of a second with a box behind it that players skip."""
    film = folder / "film.mp4"
    source = ["-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration=1", "-c:v", "libx264", "-pix_fmt", "yuv420p"]
    subprocess.run([_FFMPEG, "-v", "error", "-y", *source, str(film)], check=True)
    left = SIZE - film.stat().st_size
    with film.open("ab") as file:
        file.write(struct.pack(">I4s", left, b"free") + bytes(left - 8))
    return film


def _urls(site: int, turn: int, count: int) -> list[str]:
    """Each at a host of its own: otherwise politeness would keep all but a few waiting."""
    return [f"http://127.0.1.{number % 250 + 1}:{site}/{turn}-{number}.mp4" for number in range(count)]


async def _aria2c(folder: Path, urls: list[str]) -> Round:
    listed, target = folder / "urls.txt", folder / "aria2c"
    listed.write_text("\n".join(urls))
    options = ["-q", "-x1", "-s1", f"-j{len(urls)}", "--file-allocation=none", f"-d{target}", f"-i{listed}"]
    before, began = _children_cpu(), time.perf_counter()
    child = await asyncio.create_subprocess_exec(_ARIA2C, *options)
    if await child.wait() != 0:
        raise BenchError("aria2c failed")
    took = Round(time.perf_counter() - began, _children_cpu() - before)
    shutil.rmtree(target)
    return took


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
    at: tuple[int, str],
    worker: psutil.Process,
    urls: list[str],
    peak: _Peak,
) -> Round:
    port, token = at
    waits, most, cpu = list[float](), 0, cpu_seconds([worker])
    began = time.perf_counter()
    async with Client(port, token) as http:
        await http.post("/api/shares", {"shares": [{"url": url} for url in urls]})
    answered = (time.perf_counter() - began) * 1e3
    while await conn.fetchval(_LEFT):
        waits += await _requests(port, token, 10)
        await asyncio.to_thread(peak.note, worker)
        most = max(most, await conn.fetchval(_RUNNING))
        if time.perf_counter() - began > context.sizes.patience:
            raise BenchError(f"{await conn.fetchval(_LEFT)} of {len(urls)} downloads are still open")
    seconds = time.perf_counter() - began
    return Round(seconds, cpu_seconds([worker]) - cpu, answered, most, tuple(waits))
