"""One TCP connection: read piece by piece, or joined to another one so that bytes flow by themselves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_HIGH = 256 << 10  # bytes that are kept before the other side is told to wait


class Wire(asyncio.Protocol):
    """A connection whose two modes share one flow control: whoever reads slowly slows the sender down."""

    def __init__(self, on_open: Callable[[Wire], None] | None = None) -> None:
        self._on_open = on_open
        self._transport: asyncio.Transport | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._ended = False  # the other side sends no more
        self._reading: asyncio.Future[None] | None = None
        self._writing: asyncio.Future[None] | None = None
        self._peer: Wire | None = None
        self.is_paused = False  # what was written is not sent yet
        self.lost = asyncio.get_running_loop().create_future()
        self.active = True  # set whenever bytes arrive; whoever watches for idleness clears it
        self.meter: Callable[[int], bool] | None = None  # whether bytes that arrived may be used
        self.on_end: Callable[[], object] | None = None  # the other side left before this was joined

    # What the coroutine that serves a connection calls.

    async def receive(self) -> bytes:
        """What has arrived; empty at the end."""
        while not self._pieces and not self._ended and not self.lost.done():
            self._reading = asyncio.get_running_loop().create_future()
            await self._reading
        return self.take()

    def take(self) -> bytes:
        """What has arrived and was not read yet."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self.resume()
        return data

    async def send(self, data: bytes) -> None:
        """Raises: ConnectionError when the connection is lost."""
        self.write(data)
        while self.is_paused and not self.lost.done():
            self._writing = asyncio.get_running_loop().create_future()
            await self._writing
        if self.lost.done():
            raise ConnectionResetError("the connection was lost")

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def join(self, peer: Wire) -> None:
        """Let everything that arrives here go on to `peer`, what waits here first."""
        self._peer = peer
        if waiting := self.take():
            peer.write(waiting)
        if peer.is_paused:
            self.pause()
        if self._ended:
            peer.end()
        self.lost.add_done_callback(lambda _: peer.close())

    def pause(self) -> None:
        """Let the other side wait before it sends more."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def end(self) -> None:
        """Send no more; what arrives is still taken."""
        if self._transport is not None and not self._transport.is_closing() and self._transport.can_write_eof():
            self._transport.write_eof()

    def close(self) -> None:
        """Close once all that was written is sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once; the other side can tell that it was not a proper end."""
        if self._transport is not None and not self.lost.done():  # asyncio stumbles over what is gone
            self._transport.abort()

    @property
    def is_over(self) -> bool:
        """Whether the other side has closed, or at least sends no more."""
        return self._ended or self.lost.done()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if self._on_open is not None:
            self._on_open(self)

    def data_received(self, data: bytes) -> None:
        self.active = True
        if self.meter is not None and not self.meter(len(data)):
            self.abort()  # at once: a loop may have read far more before anyone else runs
            return
        if self._peer is not None:
            self._peer.write(data)
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size > _HIGH:
            self.pause()
        _wake(self._reading)

    def eof_received(self) -> bool:
        self._ended = True
        _wake(self._reading)
        if self._peer is not None:
            self._peer.end()
            if self._peer.is_over:
                self.close()
                self._peer.close()
        elif self.on_end is not None:
            self.on_end()
        return True  # the other direction stays open

    def pause_writing(self) -> None:
        self.is_paused = True
        if self._peer is not None:
            self._peer.pause()

    def resume_writing(self) -> None:
        self.is_paused = False
        _wake(self._writing)
        if self._peer is not None:
            self._peer.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(None)
        if self._peer is None and self.on_end is not None:
            self.on_end()
        _wake(self._reading)
        _wake(self._writing)


async def flow(first: Wire, second: Wire, *, idle_s: float) -> bool:
    """Join two connections until one is closed or both have ended; false when nothing came for `idle_s`."""
    first.join(second)
    second.join(first)
    while True:
        first.active = second.active = False
        await asyncio.wait((first.lost, second.lost), timeout=idle_s, return_when=asyncio.FIRST_COMPLETED)
        if first.lost.done() or second.lost.done():
            await asyncio.wait((first.lost, second.lost), timeout=idle_s)  # what was written is still sent
            return True
        if not (first.active or second.active):
            return False


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
