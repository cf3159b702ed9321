"""An FTP server that does as it is told, however bad."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from tests.services.egress._world import Site, serving

Sends = Callable[[asyncio.StreamWriter], Awaitable[None]]

_ANSWERS = {
    "USER": "331 And the password?",
    "PASS": "230 Come in",
    "FEAT": "211-They are\r\n MLST type*;size*;modify*;\r\n211 End",
    "TYPE": "200 Yes",
    "NOOP": "200 Yes",
}


def sending(*lines: bytes) -> Sends:
    """A listing of these lines."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(b"".join(line + b"\r\n" for line in lines))

    return send


@contextlib.asynccontextmanager
async def scripted(listing: Sends, greeting: str = "220 Hello", **answers: str) -> AsyncIterator[Site]:
    """Answers by command; a listing is sent on a connection of its own, for MLSD and for LIST."""
    said: Mapping[str, str] = _ANSWERS | answers

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
        async with await asyncio.start_server(lambda _, data: connected.put_nowait(data), "127.0.0.1", 0) as data:
            port = data.sockets[0].getsockname()[1]
            writer.write(f"{greeting}\r\n".encode())
            while line := await reader.readline():
                command = line.decode().split()[0].upper()
                if command in ("MLSD", "LIST"):
                    writer.write(b"150 Here it comes\r\n")
                    await _send(await connected.get(), listing)
                    writer.write(b"226 That was it\r\n")
                    continue
                usual = f"229 Extended ({'|||'}{port}|)" if command == "EPSV" else "502 No such thing"
                answer = said.get(command, usual).format(high=port >> 8, low=port & 255)
                writer.write(f"{answer}\r\n".encode())

    async with serving(handle) as site:
        yield site


async def _send(writer: asyncio.StreamWriter, listing: Sends) -> None:
    try:
        await listing(writer)
        await writer.drain()
    finally:
        writer.close()
