"""HTTP/1.1 with h11: forwarded messages are parsed strictly and serialized again, never copied."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import TYPE_CHECKING, TypeAlias, cast

import h11

from forebay.services.egress.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from forebay.services.egress.tcp import TcpConnection

Headers: TypeAlias = list[tuple[bytes, bytes]]

MARK = b"forebay-egress"  # the header that only the proxy's responses have
MAX_HEAD = 64 << 10
_OF_ONE_HOP = frozenset(
    (
        b"connection", b"content-length", b"expect", b"host", b"keep-alive", b"proxy-authenticate",
        b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", MARK,
    )
)  # fmt: skip


class Side:
    """One side of an exchange: h11's state and its connection."""

    def __init__(self, tcp: TcpConnection, role: type[h11.CLIENT | h11.SERVER], idle_s: float) -> None:
        self.tcp = tcp
        self.http = h11.Connection(role, max_incomplete_event_size=MAX_HEAD)
        self.idle_s = idle_s

    async def event(self) -> h11.Event | type[h11.PAUSED]:
        """The next event.

        Raises: h11.RemoteProtocolError; Unreachable when the connection is idle for too long.
        """
        while (event := self.http.next_event()) is h11.NEED_DATA:
            try:
                async with asyncio.timeout(self.idle_s):
                    data = await self.tcp.receive()
            except TimeoutError:
                if self.tcp.waits_for_rate:
                    continue
                raise Unreachable("timeout", f"no data for {self.idle_s:g} s") from None
            if not data and self.http.their_state is h11.SEND_RESPONSE and not self.http.trailing_data[0]:
                return h11.ConnectionClosed()  # which h11 reports as an error
            self.http.receive_data(data)
        return cast("h11.Event | type[h11.PAUSED]", event)

    async def send(self, event: h11.Event) -> None:
        """Raises: ConnectionError; Unreachable when the other side takes nothing for too long."""
        data = self.http.send(event)
        if data:
            await self.send_bytes(data)

    async def send_bytes(self, data: bytes) -> None:
        """Send what h11 need not know of.

        Raises: the same.
        """
        await self._timed(self.tcp.send(data))

    async def flush(self) -> None:
        """Wait until the other side has taken everything.

        Raises: the same.
        """
        await self._timed(self.tcp.flush())

    async def _timed(self, sending: Awaitable[None]) -> None:
        try:
            async with asyncio.timeout(self.idle_s):
                await sending
        except TimeoutError:
            raise Unreachable("timeout", f"no data for {self.idle_s:g} s") from None

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow."""
        return self.http.our_state is h11.DONE and self.http.their_state is h11.DONE


async def answer(side: Side, status: int, code: str, reason: str, extra: Headers | None = None) -> None:
    """Send a response of the proxy; the reason is also in the status line, where clients show it."""
    body = f"{reason}\n".encode()
    headers = [
        (b"Content-Type", b"text/plain; charset=utf-8"),
        (b"Content-Length", str(len(body)).encode()),
        (MARK.title(), code.encode()),
        *(extra or []),
    ]
    phrase = "".join(each if 32 <= ord(each) < 127 else "?" for each in f"{code}: {reason}")[:300]
    await side.send(h11.Response(status_code=status, headers=headers, reason=phrase.encode()))
    await side.send(h11.Data(data=body))
    await side.send(h11.EndOfMessage())


def forwarded(headers: Iterable[tuple[bytes, bytes]], *, upgrades: bool = False) -> Headers:
    """The headers to forward, with the framing of the message and, if it `upgrades`, the upgrade."""
    listed = list(headers)
    named = {part.strip().lower() for name, value in listed if name == b"connection" for part in value.split(b",")}
    kept = [(name, value) for name, value in listed if name not in _OF_ONE_HOP and name not in named]
    if any(name == b"transfer-encoding" for name, _ in listed):
        kept.append((b"Transfer-Encoding", b"chunked"))
    else:
        kept += [(name, value) for name, value in listed if name == b"content-length"][:1]
    return [*kept, (b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")] if upgrades else kept


def wants_websocket(request: h11.Request) -> bool:
    """Other upgrades are not forwarded: HTTP/2 would carry unchecked requests."""
    values = [value.strip().lower() for name, value in request.headers if name == b"upgrade"]
    return request.method == b"GET" and values == [b"websocket"]


def check_size(request: h11.Request) -> None:
    """h11 limits the size of a head only while it is incomplete.

    Raises: h11.RemoteProtocolError.
    """
    if len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers) > MAX_HEAD:
        raise h11.RemoteProtocolError("the head is too large", error_status_hint=431)


def credentials(request: h11.Request) -> tuple[str, str] | None:
    """The name and password of a client."""
    shown = [value for name, value in request.headers if name == b"proxy-authorization"]
    if len(shown) != 1 or shown[0][:6].lower() != b"basic ":
        return None
    try:
        name, colon, password = base64.b64decode(shown[0][6:].strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if colon else None
