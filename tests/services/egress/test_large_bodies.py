"""Large bodies of a known size are copied from one connection to the other, within all the limits."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from dataclasses import replace

import pytest

from forebay.services.egress import Egress, Grant, Limits
from tests.services.egress._world import Handler, answering, raw, reply, serving, until
from tests.services.egress.test_proxy import ask, getting, head_of

BODY = random.Random(1).randbytes(3 << 20)
CUT = (ConnectionResetError, asyncio.IncompleteReadError)


def _sending(sent: bytes, size: int = len(BODY), *, stays: bool = False) -> Handler:
    """Announces `size` bytes, sends these, and stays or goes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode() + sent)
        await writer.drain()
        if stays:
            await reader.read()

    return answer


async def _get(grant: Grant, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{port}/"))
    status, head = await head_of(reader)
    assert (status, "connection: close" in head.lower()) == (200, True)
    return reader, writer


async def _resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Announces more than it sends, and resets the connection: what it was sent is not read."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(BODY)}\r\n\r\n".encode() + BODY[:-1])
    await writer.drain()
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize("more", [b"", b"HTTP/1.1 200 OK\r\n\r\nsmuggled"], ids=["exact", "more"])
async def test_the_body_arrives_and_nothing_that_follows_it(egress: Egress, more: bytes) -> None:
    async with serving(_sending(BODY + more, stays=True)) as site:
        with egress.grant("test") as grant:
            reader, writer = await _get(grant, site.port)
            assert await reader.read() == BODY  # and the connection ends
            writer.close()
            assert len(BODY) <= grant.bytes_down


@pytest.mark.parametrize("breaking", [_sending(BODY[:-1]), _resetting], ids=["ends", "resets"])
async def test_a_body_that_breaks_off_is_not_whole(egress: Egress, breaking: Handler) -> None:
    async with serving(breaking) as site:
        with egress.grant("test") as grant:
            reader, writer = await _get(grant, site.port)
            with pytest.raises(CUT) as cut:
                await reader.readexactly(len(BODY))
            assert not isinstance(cut.value, asyncio.IncompleteReadError) or len(cut.value.partial) < len(BODY)
            writer.close()
            await until(lambda: egress.describe()["open_connections"] == 0)
            [(host, failure)] = grant.failures.items()
            assert (host, failure.code) == ("good.test", "closed")
            assert failure.reason == "the server closed the connection before the end of the body"
    assert egress.describe()["failed"] == {"closed": 1}


async def test_a_body_that_stalls_is_given_up(egress: Egress) -> None:
    async with serving(_sending(BODY[: 2 << 20], stays=True)) as site:
        with egress.grant("test", Limits(idle_s=1.0)) as grant:
            reader, writer = await _get(grant, site.port)
            with pytest.raises(CUT):
                await reader.readexactly(len(BODY))
            writer.close()
            assert [failure.code for failure in grant.failures.values()] == ["timeout"]


async def test_a_client_that_reads_slowly_slows_down_the_server(egress: Egress) -> None:
    body = bytes(64 << 20)
    async with serving(_sending(body, len(body))) as site:
        with egress.grant("test") as grant:
            reader, writer = await asyncio.open_connection("127.0.0.1", grant.port, limit=1 << 16)
            writer.write(getting(grant, f"http://good.test:{site.port}/"))
            assert (await head_of(reader))[0] == 200
            before = -1
            while grant.bytes_down != before:  # until nothing moves: the buffers on the way are full
                before = grant.bytes_down
                for _ in range(200):
                    await asyncio.sleep(0)
            assert grant.bytes_down < len(body)
            received = 0
            while data := await reader.read(1 << 20):
                received += len(data)
            assert received == len(body)
            writer.close()


async def test_a_client_that_does_not_read_the_end_is_given_up(egress: Egress) -> None:
    """Its connection counts as open until everything is sent, within the same limits."""
    unread = 200 << 10
    for listener in (listener for server in egress._proxy._servers for listener in server.sockets):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # those that it accepts have the same
    async with serving(_sending(BODY, stays=True)) as site:
        with egress.grant("test", Limits(idle_s=1.0)) as grant, socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", grant.port))
            await loop.sock_sendall(client, getting(grant, f"http://good.test:{site.port}/"))
            left = len(BODY) - unread
            while left > 0:
                left -= len(await loop.sock_recv(client, left))
            await until(lambda: egress.describe()["failed"])
            await until(lambda: egress.describe()["open_connections"] == 0)
    assert egress.describe()["failed"] == {"timeout": 1}


async def test_the_limit_on_bytes_holds(egress: Egress) -> None:
    async with serving(_sending(BODY, stays=True)) as site:
        with egress.grant("test", replace(egress.limits, bytes_down=1 << 20)) as grant:
            reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{site.port}/"))
            with pytest.raises(CUT):
                await reader.readexactly(len(BODY))
            writer.close()
            assert [refusal.code for refusal in grant.refusals] == ["bytes_down"]


async def test_a_head_that_announces_a_large_body_has_none(egress: Egress) -> None:
    large, small = f"HTTP/1.1 200 OK\r\nContent-Length: {2 << 20}\r\n\r\n".encode(), reply("small")
    async with answering(large, small) as site:
        with egress.grant("test") as grant:
            url = f"http://good.test:{site.port}/"
            reader, writer = await raw(grant.port, getting(grant, url, method="HEAD") + getting(grant, url))
            assert (await head_of(reader))[0] == 200
            assert (await head_of(reader))[0] == 200
            assert await reader.readexactly(5) == b"small"
            writer.close()
            assert (await ask(egress, getting(grant, url)))[2] == b"small"
