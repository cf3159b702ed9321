"""Connections that are joined: a slow reader slows down the sender, and none of the bytes is lost."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator

import h11
import pytest

from forebay.services.egress import Unreachable
from forebay.services.egress.byte_rate import ByteRate
from forebay.services.egress.messages import Side
from forebay.services.egress.tcp import TcpConnection, forward
from tests.services.egress._world import until

BODY = random.Random(2).randbytes(4 << 20)
MOST_BUFFERED = 512 << 10


class Line:
    """A connection, and the other end of it; the buffers of its sockets are small."""

    def __init__(self, tcp: TcpConnection, end: socket.socket) -> None:
        self.tcp, self.end = tcp, end

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.end, data)

    async def read(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size and (data := await asyncio.get_running_loop().sock_recv(self.end, 1 << 16)):
            received += data
        return bytes(received)

    @property
    def buffered(self) -> int:
        assert self.tcp._transport is not None
        return self.tcp._transport.get_write_buffer_size()


@contextlib.asynccontextmanager
async def line() -> AsyncIterator[Line]:
    near, end = socket.socketpair()
    for each in (near, end):
        each.setblocking(False)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    _, tcp = await asyncio.get_running_loop().create_connection(TcpConnection, sock=near)
    try:
        yield Line(tcp, end)
    finally:
        tcp.abort()
        end.close()


async def _settled(line: Line) -> None:
    """Until nothing moves any more."""
    before = -1
    while line.buffered != before:
        before = line.buffered
        for _ in range(200):
            await asyncio.sleep(0)


async def test_a_slow_reader_slows_down_the_sender() -> None:
    async with line() as source, line() as target:
        sending = asyncio.create_task(source.send(BODY))
        forwarding = asyncio.create_task(forward(source.tcp, target.tcp, len(BODY), idle_s=60.0))
        await until(lambda: target.tcp.is_paused)
        await _settled(target)
        assert not sending.done()
        assert target.buffered < MOST_BUFFERED
        assert await target.read(len(BODY)) == BODY
        assert await forwarding == "whole"
        await sending


async def test_bytes_that_waited_fill_the_buffer_and_the_rest_follows() -> None:
    waiting, rest = BODY[: 256 << 10], BODY[256 << 10 :]
    async with line() as source, line() as target:
        await source.send(waiting)
        sending = asyncio.create_task(source.send(rest))
        await until(lambda: source.tcp._size >= len(waiting))
        forwarding = asyncio.create_task(forward(source.tcp, target.tcp, len(BODY), idle_s=60.0))
        await until(lambda: target.tcp.is_paused)
        assert await target.read(len(BODY)) == BODY
        assert await forwarding == "whole"
        await sending


@pytest.mark.parametrize("waits", [True, False], ids=["before it is joined", "afterwards"])
async def test_a_source_that_ends_early(waits: bool) -> None:
    async with line() as source, line() as target:
        forwarding = None if waits else asyncio.create_task(forward(source.tcp, target.tcp, 100, idle_s=60.0))
        await source.send(b"some")
        source.end.shutdown(socket.SHUT_WR)
        await until(lambda: source.tcp.is_over)
        forwarding = forwarding or asyncio.create_task(forward(source.tcp, target.tcp, 100, idle_s=60.0))
        assert await forwarding == "broken"
        assert await target.read(4) == b"some"


async def test_a_source_that_stands_still() -> None:
    async with line() as source, line() as target:
        await source.send(b"some")
        assert await forward(source.tcp, target.tcp, 100, idle_s=0.05) == "idle"


async def test_nothing_after_the_size_is_forwarded() -> None:
    async with line() as source, line() as target:
        await source.send(BODY[:1000])
        assert await forward(source.tcp, target.tcp, 600, idle_s=60.0) == "whole"
        await target.tcp.flush()
        target.tcp.close()
        assert await target.read(1000) == BODY[:600]


async def test_a_rate_is_kept_and_does_not_count_as_standing_still() -> None:
    clock = [0.0]
    async with line() as source, line() as target:
        source.tcp.rate = ByteRate(1000, lambda: clock[0])
        sending = asyncio.create_task(source.send(BODY))
        await until(lambda: source.tcp.waits_for_rate)
        forwarding = asyncio.create_task(forward(source.tcp, target.tcp, len(BODY), idle_s=1.0))
        await _settled(target)
        assert not forwarding.done()
        source.tcp.resume("peer")  # the other obstacles do not matter
        source.tcp.resume("buffer")
        await asyncio.wait({forwarding}, timeout=1.5)  # longer than it may stand still
        assert (source.tcp.waits_for_rate, forwarding.done(), sending.done()) == (True, False, False)
        source.tcp.rate = None
        source.tcp.resume("rate")
        assert await target.read(len(BODY)) == BODY
        assert await forwarding == "whole"
        await sending


def test_connections_share_a_rate() -> None:
    clock = [0.0]
    rate = ByteRate(1000, lambda: clock[0])
    assert [rate.take(500), rate.take(500)] == [0.5, 1.0]
    clock[0] = 1.0
    assert rate.take(0) == 0
    clock[0] = 100.0  # what was not used is not kept, except a tenth of a second
    assert [rate.take(100), rate.take(500)] == [0, 0.5]


async def test_what_is_not_taken_is_not_flushed() -> None:
    size = 32 << 10  # less than makes a sender wait
    async with line() as target:
        target.tcp.write(BODY[:size])
        assert (target.buffered > 0, target.tcp.is_paused) == (True, False)
        with pytest.raises(Unreachable, match=r"no data for 0\.05 s"):
            await Side(target.tcp, h11.SERVER, 0.05).flush()
        flushing = asyncio.create_task(Side(target.tcp, h11.SERVER, 60.0).flush())
        assert await target.read(size) == BODY[:size]
        await flushing
        assert target.buffered == 0
