"""A provider of products: a real HTTP server that insists on the protocol, and is as good or bad as it is told to be.

It has so many hands. Who comes when all are busy waits, and the more wait, the slower all become.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import h11

KEY = "s3cret-of-the-stub"
Mood = Literal["well", "throttling", "broken"]


@dataclass
class ProviderStub:
    """What it is told to do, and what it has seen."""

    hands: int = 8
    seconds: float = 0.1
    thrash: float = 0.02  # how much slower all become by each one that waits
    mood: Mood = "well"
    retry_after: int = 1
    port: int = 0
    answered: Counter[int] = field(default_factory=Counter[int])
    asked: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    times: list[float] = field(default_factory=list[float])  # when good answers were given
    inside: int = 0
    most_inside: int = 0

    def __post_init__(self) -> None:
        self._hands = asyncio.Semaphore(self.hands)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[ProviderStub]:
        writers: set[asyncio.StreamWriter] = set()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.add(writer)
            try:
                with contextlib.suppress(ConnectionError):
                    await self._talk(reader, writer)
            finally:
                writers.discard(writer)
                writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for writer in list(writers):
                writer.transport.abort()
            await server.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        side = h11.Connection(h11.SERVER)
        while True:
            event = side.next_event()
            if event is h11.NEED_DATA:
                side.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Request):
                status, headers, body = await self._answer(event)
            elif isinstance(event, h11.EndOfMessage):
                lines = [("content-type", "application/json"), ("content-length", str(len(body))), *headers]
                sent = [h11.Response(status_code=status, headers=lines), h11.Data(data=body), h11.EndOfMessage()]
                writer.write(b"".join(side.send(each) or b"" for each in sent))
                await writer.drain()
                self.answered[status] += 1
                if side.our_state is not h11.DONE or side.their_state is not h11.DONE:
                    return
                side.start_next_cycle()
            else:
                return

    async def _answer(self, request: h11.Request) -> tuple[int, list[tuple[str, str]], bytes]:
        headers = {name.decode(): value.decode() for name, value in request.headers}
        path = urlsplit(request.target.decode())
        values = parse_qs(path.query, strict_parsing=True, errors="strict")
        if request.method != b"GET" or path.path != "/products" or list(values) != ["q"]:
            self.wrong.append(f"{request.method.decode()} {request.target.decode()}")
            return 400, [], b"{}"
        if headers.get("authorization") != f"Bearer {KEY}" or headers.get("accept") != "application/json":
            self.wrong.append(f"headers {sorted(headers)}")
            return 401, [], b"{}"
        (text,) = values["q"]
        self.asked[text] += 1
        if self.mood == "throttling":
            return 429, [("retry-after", str(self.retry_after))], b"{}"
        if self.mood == "broken":
            return 500, [], b"{}"
        await self._work()
        self.times.append(time.monotonic())
        return 200, [], json.dumps({"products": found(text)}).encode()

    async def _work(self) -> None:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            async with self._hands:
                waiting = max(0, self.inside - self.hands)
                await asyncio.sleep(self.seconds * (1 + self.thrash * waiting))
        finally:
            self.inside -= 1


def found(text: str) -> list[dict[str, str]]:
    """One product for every question, but for those that begin with "no "."""
    return [] if text.startswith("no ") else [{"id": text, "name": text}]


def declaration(port: int, name: str = "stub", **limits: float) -> str:
    """How it is declared, in TOML."""
    told = "\n".join(f"{key} = {value}" for key, value in limits.items())
    return f"""
name = "{name}"
[secrets]
key = "STUB_KEY"
[headers]
Authorization = "Bearer {{secret.key}}"
[queries]
title = "http://127.0.0.1:{port}/products?q={{title}}"
[response]
items = "$.products[*]"
expects = "$.products"
id = "$.id"
[response.fields]
title = "$.name"
[limits]
{told}
"""
