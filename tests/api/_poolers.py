"""What may stand between the API and PostgreSQL: something that drops the role, and a real pooler."""

from __future__ import annotations

import asyncio
import os
import shutil
import struct
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from forebay.cli.api import listen

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def through(dsn: str, port: int) -> str:
    """The same database, reached by another port."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}").geturl()


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


@contextmanager
def pgbouncer(dsn: str, folder: Path) -> Iterator[str]:
    """A pooler in transaction mode, with two connections for everyone."""
    assert PGBOUNCER is not None
    there = urlsplit(dsn)
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
    folder.chmod(0o755)
    (folder / "users.txt").write_text(f'"{there.username}" "{there.password}"\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={there.hostname} port={there.port}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = plain\n"
        f"auth_file = {folder}/users.txt\npool_mode = transaction\ndefault_pool_size = 2\n"
    )
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    with subprocess.Popen([PGBOUNCER, "-q", *user, str(folder / "pgbouncer.ini")]) as process:
        try:
            yield through(dsn, port)
        finally:
            process.terminate()


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
