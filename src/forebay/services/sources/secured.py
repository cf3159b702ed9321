"""Reads TLS over a plain connection.

uvloop, which workers use, loses buffered data when a server closes a connection without a TLS close_notify, as FTP
servers do after each file.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

T = TypeVar("T")

_RAW = 64 << 10


class SecuredReader:
    """Replaces the StreamReader of the plain connection."""

    def __init__(
        self,
        connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        trust: ssl.SSLContext,
        host: str,
        session: ssl.SSLSession | None,
    ) -> None:
        self._reader, self._writer = connection
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = trust.wrap_bio(self._incoming, self._outgoing, server_hostname=host, session=session)
        self._is_over = False

    async def begin(self) -> None:
        """Do the handshake.

        Raises: ssl.SSLError, OSError.
        """
        await self._until(self._tls.do_handshake)

    async def read(self, size: int) -> bytes:
        """Read some bytes; empty at the end, with or without close_notify, since the sizes of files are known."""
        if self._is_over:
            return b""
        try:
            pieces = [await self._until(lambda: self._tls.read(size))]
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            pieces = []
        self._is_over = not pieces or not pieces[0]
        while not self._is_over and (more := self._at_hand(size - sum(map(len, pieces)))):
            pieces.append(more)
        return b"".join(pieces)

    def _at_hand(self, size: int) -> bytes:
        """All bytes that are available: TLS returns them in small pieces."""
        try:
            return self._tls.read(size) if size > 0 else b""
        except ssl.SSLError:  # nothing, or the end, which is read again
            return b""

    async def _until(self, step: Callable[[], T]) -> T:
        """The result of a TLS operation once enough data was received."""
        while True:
            try:
                done = step()
            except ssl.SSLWantReadError:
                await self._flush()
                if data := await self._reader.read(_RAW):
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
            else:
                await self._flush()
                return done

    async def _flush(self) -> None:
        if waiting := self._outgoing.read():
            self._writer.write(waiting)
            await self._writer.drain()
