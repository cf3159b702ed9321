"""A TCP connection that is either read by a coroutine or joined to another connection."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.services.egress.byte_rate import ByteRate

Forwarded: TypeAlias = Literal["whole", "broken", "idle"]
Obstacle: TypeAlias = Literal["buffer", "peer", "rate", "whole"]  # why a connection is not read: see `pause`

_HIGH = 256 << 10  # bytes that are buffered before reading pauses


class TcpConnection(asyncio.Protocol):
    """A connection with flow control in both modes: a slow reader slows down the sender."""

    def __init__(self, on_open: Callable[[TcpConnection], None] | None = None) -> None:
        self._on_open = on_open
        self._transport: asyncio.Transport | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._ended = False  # received EOF
        self._reading: asyncio.Future[None] | None = None
        self._writing: asyncio.Future[None] | None = None
        self._peer: TcpConnection | None = None  # receives what arrives here
        self._source: TcpConnection | None = None  # sends what is written here; waits while the write buffer is full
        self._left: int | None = None  # bytes that are still to be forwarded; None: all that come
        self.forwarded: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # none is left, or none comes
        self._obstacles: set[Obstacle] = set()
        self.is_paused = False  # the write buffer is full
        self.lost = asyncio.get_running_loop().create_future()
        self.active = True  # set when bytes arrive; cleared by the check for idle connections
        self.meter: Callable[[int], bool] | None = None  # whether received bytes are within the limit
        self.rate: ByteRate | None = None  # of received bytes, shared with other connections
        self.on_end: Callable[[], object] | None = None  # called when the peer disconnects before `join`

    # Called by the coroutine that serves the connection.

    async def receive(self) -> bytes:
        """Wait for received bytes; empty at the end."""
        while not self._pieces and not self._ended and not self.lost.done():
            self._reading = asyncio.get_running_loop().create_future()
            await self._reading
        return self.take()

    def take(self) -> bytes:
        """The received bytes that were not read yet."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self.resume("buffer")
        return data

    async def send(self, data: bytes) -> None:
        """Raises: ConnectionError when the connection is lost."""
        self.write(data)
        while self.is_paused and not self.lost.done():
            self._writing = asyncio.get_running_loop().create_future()
            await self._writing
        if self.lost.done():
            raise ConnectionResetError("the connection was lost")

    async def flush(self) -> None:
        """Wait until everything is sent.

        Raises: ConnectionError when the connection is lost.
        """
        if self._transport is not None and not self._transport.is_closing():
            self._transport.set_write_buffer_limits(0)
        await self.send(b"")

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def join(self, peer: TcpConnection, size: int | None = None) -> None:
        """Forward everything received to `peer`, beginning with the buffer.

        With a `size`, not more than that, and the end of the connection is left to the caller.
        """
        self._peer, peer._source, self._left = peer, self, size
        if waiting := self.take():
            self._forward(peer, waiting)
        if peer.is_paused:
            self.pause("peer")
        if self._ended:
            self._end_forwarding(peer)
        if size is None:
            self.lost.add_done_callback(lambda _: peer.close())

    def pause(self, obstacle: Obstacle) -> None:
        """Stop reading, so that the sender waits: the own buffer is full, or that of the peer, or the rate is reached,
        or the body is whole."""
        self._obstacles.add(obstacle)
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self, obstacle: Obstacle) -> None:
        """Read again, if this was the only obstacle."""
        self._obstacles.discard(obstacle)
        if self._transport is not None and not self._transport.is_closing() and not self._obstacles:
            self._transport.resume_reading()

    def end(self) -> None:
        """Send EOF; receiving continues."""
        if self._transport is not None and not self._transport.is_closing() and self._transport.can_write_eof():
            self._transport.write_eof()

    def close(self) -> None:
        """Close after the write buffer is sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close immediately, so that the peer sees an abnormal end."""
        if self._transport is not None and not self.lost.done():  # abort fails on a closed transport
            self._transport.abort()

    @property
    def is_over(self) -> bool:
        """Whether the peer has closed, or sent EOF."""
        return self._ended or self.lost.done()

    @property
    def is_whole(self) -> bool:
        """Whether as many bytes were forwarded as were to be."""
        return self._left == 0

    @property
    def waits_for_rate(self) -> bool:
        """Whether nothing is read because of the rate, so that the sender is not idle."""
        return "rate" in self._obstacles

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if self._on_open is not None:
            self._on_open(self)

    def data_received(self, data: bytes) -> None:
        self.active = True
        if self.meter is not None and not self.meter(len(data)):
            self.abort()  # immediately: the loop may read much more before other tasks run
            return
        if self.rate is not None:
            self._keep_rate(self.rate.take(len(data)))
        if self._peer is not None:
            self._forward(self._peer, data)
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size > _HIGH:
            self.pause("buffer")
        _wake(self._reading)

    def eof_received(self) -> bool:
        self._ended = True
        _wake(self._reading)
        if self._peer is not None:
            self._end_forwarding(self._peer)
            if self._left is None and self._peer.is_over:
                self.close()
                self._peer.close()
        elif self.on_end is not None:
            self.on_end()
        return True  # the other direction stays open

    def pause_writing(self) -> None:
        self.is_paused = True
        if self._source is not None:
            self._source.pause("peer")

    def resume_writing(self) -> None:
        self.is_paused = False
        _wake(self._writing)
        if self._source is not None:
            self._source.resume("peer")

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(None)
        if self._peer is None and self.on_end is not None:
            self.on_end()
        _wake(self._reading)
        _wake(self._writing)

    def _keep_rate(self, wait_s: float) -> None:
        if wait_s > 0:
            self.pause("rate")
            asyncio.get_running_loop().call_later(wait_s, self.resume, "rate")

    def _forward(self, peer: TcpConnection, data: bytes) -> None:
        if self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
            if not self._left:
                self.pause("whole")
                _wake(self.forwarded)
        if data:
            peer.write(data)

    def _end_forwarding(self, peer: TcpConnection) -> None:
        if self._left is None:
            peer.end()
        else:
            _wake(self.forwarded)


async def forward(source: TcpConnection, target: TcpConnection, size: int, *, idle_s: float) -> Forwarded:
    """Forward so many bytes. They are `whole`, or one of the two was closed before, or nothing moved for `idle_s`."""
    source.join(target, size)
    ends = (source.forwarded, source.lost, target.lost)
    while not any(end.done() for end in ends):
        source.active = False
        await asyncio.wait(ends, timeout=idle_s, return_when=asyncio.FIRST_COMPLETED)
        if not (source.active or source.waits_for_rate or any(end.done() for end in ends)):
            return "idle"
    return "whole" if source.is_whole else "broken"


async def flow(first: TcpConnection, second: TcpConnection, *, idle_s: float) -> bool:
    """Join two connections until one is closed or both have ended; false when they are idle for `idle_s`."""
    first.join(second)
    second.join(first)
    while True:
        first.active = second.active = False
        await asyncio.wait((first.lost, second.lost), timeout=idle_s, return_when=asyncio.FIRST_COMPLETED)
        if first.lost.done() or second.lost.done():
            await asyncio.wait((first.lost, second.lost), timeout=idle_s)  # the write buffer is still sent
            return True
        if not any(each.active or each.waits_for_rate for each in (first, second)):
            return False


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
