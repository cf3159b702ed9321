"""A world of the tests' own: names that resolve as they like, and servers that answer what they are told."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

import h2.config
import h2.connection
import h2.events
import structlog
import trustme

from forebay.services.egress.addresses import Address
from forebay.services.egress.errors import Unreachable

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Names:
    """A DNS whose answers are scripted: each name has one answer after the other, the last one for ever."""

    def __init__(self, **answers: Sequence[str] | Sequence[Sequence[str]]) -> None:
        self.asked: list[str] = []
        self._answers: dict[str, list[list[Address]]] = {}
        for name, given in answers.items():
            self.put(name.replace("_", "."), *given)

    def put(self, name: str, *answers: str | Sequence[str]) -> None:
        several = [[answer] if isinstance(answer, str) else answer for answer in answers]
        self._answers[name] = [[ip_address(text) for text in texts] for texts in several]

    async def resolve(self, host: str, lookups: asyncio.Semaphore | None = None) -> Sequence[Address]:
        self.asked.append(host)
        answers = self._answers.get(host)
        if answers is None:
            raise Unreachable("no_such_host", f"the host {host} does not exist")
        return answers.pop(0) if len(answers) > 1 else answers[0]


@dataclass
class Site:
    """A server on 127.0.0.1 that keeps what it was sent."""

    port: int
    heads: list[str] = field(default_factory=list[str])
    connections: int = 0


@contextlib.asynccontextmanager
async def serving(
    handler: Handler, trust: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Site]:
    """A server that does what the handler does; what it leaves open is closed in the end."""
    writers: set[asyncio.StreamWriter] = set()
    site = Site(0)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site.connections += 1
        writers.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await handler(reader, writer)
        writer.close()

    server = await asyncio.start_server(handle, host, 0, ssl=trust)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for writer in writers:
            with contextlib.suppress(AttributeError):  # abort fails on a closed transport
                writer.transport.abort()
        await server.wait_closed()


@contextlib.asynccontextmanager
async def answering(
    *answers: bytes | Callable[[str], bytes], trust: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Site]:
    """A server that gives these answers in turn, the last one for ever, one for each request."""
    left = list(answers)
    seen: list[str] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = [
                int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length")
            ]
            body = await reader.readexactly(length[0]) if length else b""
            if "transfer-encoding: chunked" in head.lower():
                body = await reader.readuntil(b"0\r\n\r\n")
            seen.append(head + body.decode("latin-1"))
            answer = left.pop(0) if len(left) > 1 else left[0]
            writer.write(answer(head) if callable(answer) else answer)
            await writer.drain()

    async with serving(handle, trust, host) as site:
        site.heads = seen
        yield site


def reply(body: bytes | str = b"", status: str = "200 OK", **headers: str | int) -> bytes:
    """An answer as bytes; the underscores of headers become dashes."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextlib.asynccontextmanager
async def speaking_http2(trust: ssl.SSLContext, body: bytes) -> AsyncIterator[Site]:
    """A server that speaks HTTP/2 only."""
    seen: list[str] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding=False))
        talk.initiate_connection()
        writer.write(talk.data_to_send())
        while data := await reader.read(65536):
            for event in talk.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    seen.append(dict(event.headers or [])[b":path"].decode())
                    assert event.stream_id is not None
                    talk.send_headers(event.stream_id, [(":status", "200"), ("content-type", "text/plain")])
                    talk.send_data(event.stream_id, body, end_stream=True)
            writer.write(talk.data_to_send())
            await writer.drain()

    trust.set_alpn_protocols(["h2"])
    async with serving(handle, trust) as site:
        site.heads = seen
        yield site


def certified(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    """What a server needs to prove that it has these names."""
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(trust)
    return trust


@contextlib.contextmanager
def hearing() -> Iterator[list[dict[str, Any]]]:
    """Everything that is logged meanwhile."""
    with structlog.testing.capture_logs() as logs:
        yield logs  # type: ignore[misc]


async def raw(port: int, data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a port on which this was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    return reader, writer


async def until(condition: Callable[[], object]) -> None:
    """Let the others run until something is so."""
    while not condition():  # noqa: ASYNC110 - the states that are waited for have no events
        await asyncio.sleep(0)
