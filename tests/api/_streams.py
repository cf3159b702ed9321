"""Readers of events, and the servers that they read from."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from forebay.api.app import create_app
from forebay.api.events.hub import Hub
from forebay.cli.api import address, listen
from forebay.engine.work.worker import Worker
from forebay.settings import Settings
from tests.api._service import Service, pages

PATIENCE = 30.0


@dataclass(frozen=True)
class Event:
    id: str
    kind: str
    data: Any

    @property
    def state(self) -> tuple[str, str]:
        """Of a job: which, and its last change."""
        return self.data["id"], self.data["updatedAt"]


class Reader:
    """The events of one connection, one after another."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()
        self.seen: list[Event] = []
        self.last_id = ""

    async def next(self) -> Event | None:
        """The next event; None when the stream has ended."""
        while (fields := await self._block()) is not None:
            if "data" in fields:
                event = Event(fields["id"], fields["event"], json.loads(fields["data"]))
                self.seen.append(event)
                return event
        return None

    async def _block(self) -> dict[str, str] | None:
        """The lines up to the next empty one."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                if not line:
                    self.last_id = fields.get("id", self.last_id)
                    return fields
                name, _, value = line.partition(": ")
                fields[name] = value
        return None

    async def expect(self) -> Event:
        event = await self.next()
        assert event is not None, "the stream has ended"
        return event

    async def until(self, found: Callable[[Event], bool]) -> Event:
        """The first event that is it; those before are in `seen`."""
        async with asyncio.timeout(PATIENCE):  # ticks come while it waits
            while not found(event := await self.expect()):
                pass
        return event

    async def until_told(self, job_id: str) -> Event:
        return await self.until(lambda event: event.kind == "job" and event.data["id"] == job_id)

    async def until_done(self, *job_ids: str) -> None:
        missing = set(job_ids)
        while missing:
            event = await self.until(lambda event: event.kind == "job" and event.data["state"] == "DONE")
            missing.discard(event.data["id"])

    def jobs(self) -> list[Event]:
        return [event for event in self.seen if event.kind == "job"]


@dataclass
class Live:
    """A service behind a socket."""

    url: str
    service: Service

    @property
    def hub(self) -> Hub:
        hub: Hub = self.service.app.state.hub
        return hub

    def client(self, who: str | None) -> httpx.AsyncClient:
        headers = {} if who is None else {"authorization": f"Bearer {self.service.tokens[who]}"}
        if who == "service":
            headers["x-forebay-owner"] = "ann"
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE)

    @asynccontextmanager
    async def reading(self, who: str, query: str = "", after: str | None = None) -> AsyncIterator[Reader]:
        """A reader who has been greeted."""
        headers = {} if after is None else {"last-event-id": after}
        async with self.client(who) as client, client.stream("GET", f"/api/events{query}", headers=headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            reader = Reader(answer)
            assert (await reader.expect()).kind == "ready"
            yield reader

    async def submit(self, *titles: str, who: str = "ann", meta: Any = None) -> str:
        async with self.client(who) as client:
            body = {"pipeline": "pages", "items": [{"title": title} for title in titles], "meta": meta}
            answer = await client.post("/api/jobs", json=body)
        assert answer.status_code == 201, answer.text
        job_id: str = answer.json()["jobId"]
        return job_id

    async def work(self) -> None:
        """Do all that there is to do, in real time."""
        await Worker(self.service.dsn, [pages], settings=Settings(listen=False)).run_slice(PATIENCE)


@asynccontextmanager
async def socketed(service: Service) -> AsyncIterator[Live]:
    """The service behind a real socket; nothing but the end of its streams lets it stop."""
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(service.app, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    live = Live(address(listener), service)
    try:
        yield live
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await serving
    assert live.hub.listeners == 0


def main(dsn: str) -> None:
    """A server in a process of its own; its address is the first line that it prints."""
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(create_app(dsn, Settings(), [pages]), log_config=None, access_log=False, loop="uvloop")
    sys.stdout.write(f"{address(listener)}\n")
    sys.stdout.flush()
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
