"""What may stand between the API and PostgreSQL: something that drops the role, and a real pooler."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import asyncpg

from tests._pooler import through


@asynccontextmanager
async def dropping_role(dsn: str) -> AsyncIterator[str]:
    """A way to the database on which the startup parameter `role` gets lost."""
    there = urlsplit(dsn)
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(there.hostname, there.port)
        try:
            to_writer.write(await _startup(reader))
            pipes = (asyncio.create_task(_pipe(reader, to_writer)), asyncio.create_task(_pipe(to_reader, writer)))
            tasks.update(pipes)
            await asyncio.wait(pipes, return_when=asyncio.FIRST_COMPLETED)
        finally:
            to_writer.close()
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield through(dsn, server.sockets[0].getsockname()[1]) + "?sslmode=disable"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _startup(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack("!I", await reader.readexactly(4))
    body = await reader.readexactly(size - 4)
    words = body[4:].rstrip(b"\0").split(b"\0")
    kept = {name: value for name, value in zip(words[::2], words[1::2], strict=True) if name != b"role"}
    body = body[:4] + b"".join(name + b"\0" + value + b"\0" for name, value in kept.items()) + b"\0"
    return struct.pack("!I", len(body) + 4) + body


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


async def answering(dsn: str) -> None:
    """Returns when the pooler is up."""
    async with asyncio.timeout(20):
        while True:
            try:
                await (await asyncpg.connect(dsn, statement_cache_size=0)).close()
            except OSError:
                await asyncio.sleep(0.05)
            else:
                return
