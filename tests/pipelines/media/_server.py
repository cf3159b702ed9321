"""A server of media that behaves as tests like: ranged, plain, stalling, truncating, lying, throttling."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate

from tests.services.egress._world import Site, serving

BLOCK = 1 << 16


@dataclass
class Request:
    """A request for a path, and where to answer it."""

    path: str
    headers: dict[str, str]
    writer: asyncio.StreamWriter
    number: int  # of this path, from 1

    @property
    def start(self) -> int:
        """The first byte that is asked for."""
        wanted = self.headers.get("range", "")
        return int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0

    async def head(self, status: str, **headers: str | int) -> None:
        lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
        self.writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        await self.writer.drain()

    async def body(self, data: bytes, pause: Callable[[int], Awaitable[None]] | None = None) -> None:
        for at in range(0, len(data), BLOCK):
            self.writer.write(data[at : at + BLOCK])
            await self.writer.drain()
            if pause is not None:
                await pause(at + BLOCK)

    async def reply(self, data: bytes | str, kind: str = "text/html", status: str = "200 OK", **headers: str) -> None:
        data = data.encode() if isinstance(data, str) else data
        await self.head(status, Content_Type=kind, Content_Length=len(data), **headers)
        await self.body(data)


Answer = Callable[[Request], Awaitable[None]]


@dataclass
class MediaServer:
    """Answers by path; counts requests and the bytes of bodies that were sent."""

    site: Site
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    hits: Counter[str] = field(default_factory=Counter[str])
    sent: Counter[str] = field(default_factory=Counter[str])
    heads: list[Request] = field(default_factory=list[Request])

    def url(self, path: str, host: str = "media.test") -> str:
        return f"http://{host}:{self.site.port}{path}"

    def put(self, path: str, answer: Answer) -> str:
        self.answers[path] = answer
        return self.url(path)

    def put_all(self, folder: str, files: Iterable[tuple[str, bytes, str]]) -> None:
        for name, data, kind in files:
            self.put(f"{folder}/{name}", plain(data, kind))

    def forget(self) -> None:
        self.answers.clear()
        self.hits.clear()
        self.sent.clear()
        self.heads.clear()


@asynccontextmanager
async def serving_media() -> AsyncIterator[MediaServer]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        path = first.split(" ")[1]
        path = path.partition("//")[2].partition("/")[2] if "//" in path else path
        path = f"/{path.removeprefix('/')}"
        server.hits[path] += 1
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        request = Request(path, headers, writer, server.hits[path])
        server.heads.append(request)
        answer = server.answers.get(path) or server.answers.get(path.partition("?")[0])
        if answer is None:
            await request.reply("not here", status="404 Not Found")
        else:
            await answer(request)

    async with serving(handle) as site:
        server = MediaServer(site)
        yield server


def etag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:20]}"'


def ranged(data: bytes, kind: str = "video/mp4", pause: Callable[[int], Awaitable[None]] | None = None) -> Answer:
    """A file of which parts can be asked for."""

    async def answer(request: Request) -> None:
        start, tag = request.start, etag(data)
        common = {"ETag": tag, "Content_Type": kind, "Accept_Ranges": "bytes", "Date": formatdate(usegmt=True)}
        if start and request.headers.get("if-range", tag) == tag:
            where = f"bytes {start}-{len(data) - 1}/{len(data)}"
            await request.head("206 Partial Content", Content_Length=len(data) - start, Content_Range=where, **common)
            await request.body(data[start:], pause)
        else:
            await request.head("200 OK", Content_Length=len(data), **common)
            await request.body(data, pause)

    return answer


def plain(data: bytes, kind: str = "video/mp4") -> Answer:
    """A file without anything that could prove that a part belongs to it."""
    return lambda request: request.reply(data, kind)
