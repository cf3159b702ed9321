"""HTTP/1.1 on a wire, by h11: what is forwarded was parsed strictly and is written anew, never copied."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import TYPE_CHECKING, TypeAlias, cast

import h11

from forebay.services.egress.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.services.egress.wires import Wire

Headers: TypeAlias = list[tuple[bytes, bytes]]

MARK = b"forebay-egress"  # the header that only the proxy's own answers have
MAX_HEAD = 64 << 10
_OF_ONE_HOP = frozenset(
    (
        b"connection", b"content-length", b"expect", b"host", b"keep-alive", b"proxy-authenticate",
        b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", MARK,
    )
)  # fmt: skip


class Side:
    """One end of an exchange: h11's state and the connection that it speaks of."""

    def __init__(self, wire: Wire, role: type[h11.CLIENT | h11.SERVER], idle_s: float) -> None:
        self.wire = wire
        self.http = h11.Connection(role, max_incomplete_event_size=MAX_HEAD)
        self.idle_s = idle_s

    async def event(self) -> h11.Event | type[h11.PAUSED]:
        """What comes next.

        Raises: h11.RemoteProtocolError; Unreachable when nothing comes for too long.
        """
        while (event := self.http.next_event()) is h11.NEED_DATA:
            try:
                async with asyncio.timeout(self.idle_s):
                    data = await self.wire.receive()
            except TimeoutError:
                raise Unreachable("timeout", f"nothing moved for {self.idle_s:g} s") from None
            if not data and self.http.their_state is h11.SEND_RESPONSE and not self.http.trailing_data[0]:
                return h11.ConnectionClosed()  # which h11 takes for a mistake
            self.http.receive_data(data)
        return cast("h11.Event | type[h11.PAUSED]", event)

    async def send(self, event: h11.Event) -> None:
        """Raises: ConnectionError; Unreachable when the other side takes nothing for too long."""
        data = self.http.send(event)
        if data:
            try:
                async with asyncio.timeout(self.idle_s):
                    await self.wire.send(data)
            except TimeoutError:
                raise Unreachable("timeout", f"nothing moved for {self.idle_s:g} s") from None

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow."""
        return self.http.our_state is h11.DONE and self.http.their_state is h11.DONE


async def answer(side: Side, status: int, code: str, reason: str, extra: Headers | None = None) -> None:
    """An answer of the proxy's own; the reason stands in the status line, too, where clients show it."""
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
    """The headers of a message that go on, with its framing and, if it `upgrades`, with that."""
    listed = list(headers)
    named = {part.strip().lower() for name, value in listed if name == b"connection" for part in value.split(b",")}
    kept = [(name, value) for name, value in listed if name not in _OF_ONE_HOP and name not in named]
    if any(name == b"transfer-encoding" for name, _ in listed):
        kept.append((b"Transfer-Encoding", b"chunked"))
    else:
        kept += [(name, value) for name, value in listed if name == b"content-length"][:1]
    return [*kept, (b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")] if upgrades else kept


def wants_websocket(request: h11.Request) -> bool:
    """Other upgrades are not forwarded: a tunnel of HTTP/2 would carry requests that nobody has checked."""
    values = [value.strip().lower() for name, value in request.headers if name == b"upgrade"]
    return request.method == b"GET" and values == [b"websocket"]


def check_size(request: h11.Request) -> None:
    """h11 bounds only what it keeps while a head is incomplete.

    Raises: h11.RemoteProtocolError.
    """
    if len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers) > MAX_HEAD:
        raise h11.RemoteProtocolError("the head is too large", error_status_hint=431)


def credentials(request: h11.Request) -> tuple[str, str] | None:
    """Name and password that a client shows to the proxy."""
    shown = [value for name, value in request.headers if name == b"proxy-authorization"]
    if len(shown) != 1 or shown[0][:6].lower() != b"basic ":
        return None
    try:
        name, colon, password = base64.b64decode(shown[0][6:].strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if colon else None
