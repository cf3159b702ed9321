"""Limits of hosts that hold for all workers together: here for two processes on one database."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from forebay.db.pool import open_pool
from forebay.engine.clock import Clock
from forebay.engine.declare.resources import Resources
from forebay.engine.limits.client import LimitClient
from forebay.engine.loops import every
from forebay.resources import _politeness
from forebay.services.egress import Politeness
from forebay.settings import Settings

ROOT = Path(__file__).parents[2]
# Asks for a slot at a host for each line that it is told, and says how that went; a slot ends with the next line.
_OTHER = """
import asyncio, json, sys
from forebay.errors import ThrottledError
from tests.pipelines.test_shared_politeness import polite

async def main(dsn, settings):
    async with polite(dsn, 2, **settings) as politeness:
        while host := await asyncio.to_thread(sys.stdin.readline):
            try:
                async with politeness.slot(host.strip()):
                    print("entered", flush=True)
                    await asyncio.to_thread(sys.stdin.readline)
            except ThrottledError as error:
                print(f"{error} {error.ours}", flush=True)
            else:
                print("left", flush=True)

asyncio.run(main(**json.loads(sys.argv[1])))
"""


@asynccontextmanager
async def polite(dsn: str, worker: int, **settings: Any) -> AsyncIterator[Politeness]:
    """What a worker of that number has for its requests."""
    async with await open_pool(dsn, size=2, name="forebay tests") as pool:
        limits = LimitClient(pool, worker, Clock())
        renewing = asyncio.create_task(every(1.0, "limits", limits.renew))
        try:
            yield _politeness(Resources(Settings(**settings), pool, limits))
        finally:
            renewing.cancel()
            await limits.close()


class Other:
    """The other process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    async def told(self, line: str) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{line}\n")
        stdin.flush()
        return (await asyncio.to_thread(stdout.readline)).strip()


def _started(dsn: str, settings: dict[str, Any]) -> subprocess.Popen[str]:
    told = json.dumps({"dsn": dsn, "settings": settings})
    command = [sys.executable, "-c", _OTHER, told]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_two_processes_share_the_places_at_a_host(dsn: str) -> None:
    with _started(dsn, {"egress_host_concurrency": 1, "egress_host_wait_s": 1.0}) as process:
        other = Other(process)
        try:
            async with polite(dsn, 1, egress_host_concurrency=1) as politeness:
                async with politeness.slot("busy.test"):
                    await _enters(other, "free.test")
                    refused = await other.told("busy.test")
                    assert refused.startswith("enough requests to busy.test are under way already; retrying in ")
                    assert refused.endswith(" True")  # it is we who hold back
                await _enters(other, "busy.test")
        finally:
            process.kill()


async def _enters(other: Other, host: str) -> None:
    """There is a place at the host for the other process: at its first try, or when it was returned."""
    for _ in range(20):
        if await other.told(host) == "entered":
            assert await other.told("leave") == "left"
            return
    raise AssertionError(f"there was never a place at {host}")


async def test_for_each_process_by_itself(dsn: str) -> None:
    settings = {"egress_host_concurrency": 1, "egress_host_shared": False}
    async with (
        polite(dsn, 1, **settings) as one,
        polite(dsn, 2, **settings) as two,
        one.slot("busy.test"),
        two.slot("busy.test"),
    ):
        pass


async def test_the_least_delay_is_shared(dsn: str) -> None:
    """Two workers that each keep 0.3 s between requests keep it together."""
    settings = {"egress_host_delay_s": 0.3}
    starts: list[float] = []
    clock = asyncio.get_running_loop().time

    async def ask(politeness: Politeness) -> None:
        for _ in range(2):
            async with politeness.slot("slow.test"):
                starts.append(clock())

    async with polite(dsn, 1, **settings) as one, polite(dsn, 2, **settings) as two:
        await asyncio.gather(ask(one), ask(two))
    gaps = [later - earlier for earlier, later in zip(sorted(starts), sorted(starts)[1:], strict=False)]
    assert min(gaps) > 0.1  # a start is good for a while after its time
    assert sum(gaps) > 0.6
