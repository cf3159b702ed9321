"""Clients that load the API as open tabs of the web app do: each has a stream of events, and asks for its lists again
when an event does not tell what to show: of a job that was counted without being named."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import chain, repeat

from bench.harness import BenchError
from bench.http_client import Client

AGAIN_S = (2.0, 4.0, 8.0, 16.0, 30.0)  # the pauses between questions: web/src/live/refresh.ts
_LISTS = ("/api/jobs/folded", "/api/jobs/counts")


@asynccontextmanager
async def open_tabs(port: int, tokens: Sequence[str]) -> AsyncIterator[list["OpenTab"]]:
    """One for each token, all with a stream that is ready."""
    tabs = [OpenTab(port, token) for token in tokens]
    running = [asyncio.create_task(tab.run()) for tab in tabs]
    try:
        await asyncio.gather(*(tab.ready.wait() for tab in tabs))
        yield tabs
        if failed := [task for task in running if task.done()]:
            raise BenchError(f"{len(failed)} of {len(tabs)} tabs lost their stream: {failed[0].exception()}")
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


class OpenTab:
    """The list of jobs, open in a browser of its own."""

    def __init__(self, port: int, token: str) -> None:
        self.ready = asyncio.Event()
        self.events = self.requests = 0
        self._port, self._token = port, token
        self._newest = 0  # of the jobs that the last answer counted
        self._told: set[int] = set()  # jobs of events since then
        self._refreshing: asyncio.Task[None] | None = None
        self._is_unsure = False

    async def run(self) -> None:
        await self._ask()
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            head = f"GET /api/events?topics=jobs HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self._token}\r\n\r\n"
            writer.write(head.encode())
            async for line in reader:
                await self._hear(line)
        finally:
            writer.close()
            if self._refreshing:
                self._refreshing.cancel()

    async def _hear(self, line: bytes) -> None:
        if line.startswith(b"event: ready"):
            self.ready.set()
        if not line.startswith(b"data:"):
            return
        data = json.loads(line[5:])
        if "counters" not in data:
            return
        self.events += 1
        job = int(data["id"])
        if job <= self._newest and job not in self._told:
            self._is_unsure = True
            self._refreshing = self._refreshing or asyncio.create_task(self._refresh())
        self._told.add(job)

    async def _refresh(self) -> None:
        for pause in chain(AGAIN_S, repeat(AGAIN_S[-1])):
            self._is_unsure = False
            await self._ask()
            await asyncio.sleep(pause)
            if not self._is_unsure:
                break
        self._refreshing = None

    async def _ask(self) -> None:
        async with Client(self._port, self._token) as http:
            for path in _LISTS:
                found = await http.get(path)
                self.requests += 1
                self._newest = int(found.get("lastId") or self._newest)
        self._told.clear()
