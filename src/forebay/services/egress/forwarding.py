"""Plain HTTP through the proxy: requests one at a time, and WebSockets after an upgrade."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Literal, TypeAlias

import h11

from forebay.services.egress.errors import InvalidUrl, Refused, Unreachable
from forebay.services.egress.messages import Side, forwarded, wants_websocket
from forebay.services.egress.tcp import TcpConnection, flow, forward
from forebay.services.egress.urls import checked_url

if TYPE_CHECKING:
    from forebay.services.egress.dialing import Dialer
    from forebay.services.egress.grants import Grant
    from forebay.services.egress.urls import Url
    from forebay.services.egress.visits import VisitedHost

Ended: TypeAlias = Literal["answered", "upgraded", "copied"]

_LARGE = 1 << 20  # bytes of a body that is copied: the connection is not used again afterwards


class Forwarder:
    """Forwards the requests of one client; consecutive requests to the same server share a connection."""

    def __init__(self, client: Side, dialer: Dialer) -> None:
        self._client = client
        self._dialer = dialer
        self._server: Side | None = None
        self._place: tuple[Grant, str, int] | None = None
        self.has_answered = False  # the client has received the head of a response

    async def forward(self, request: h11.Request, url: Url, grant: Grant, reached: VisitedHost | None) -> bool:
        """Forward one request, and report the response; returns whether the client may send another.

        Raises: Refused, Unreachable, ConnectionError, h11.RemoteProtocolError.
        """
        self.has_answered = False
        server = await self._connect(url, grant)
        upgrades = wants_websocket(request)
        headers = [(b"Host", url.authority.encode()), *forwarded(request.headers, upgrades=upgrades)]
        try:
            await server.send(h11.Request(method=request.method, target=url.target.encode(), headers=headers))
            ended = await self._exchange(server, request.method, reached)
        except h11.RemoteProtocolError as error:
            self.close()
            raise Unreachable("protocol", f"{url.host} does not speak HTTP: {error}") from None
        except BaseException:
            self.close()
            raise
        if ended == "upgraded":
            await self._join(server, grant)
            return False
        if ended == "copied":
            return False
        if not server.is_reusable:
            self.close()
        else:
            server.http.start_next_cycle()
        return self._client.is_reusable

    def close(self) -> None:
        if self._server is not None:
            self._server.tcp.abort()
        self._server = self._place = None

    async def _connect(self, url: Url, grant: Grant) -> Side:
        place = (grant, url.host, url.port)
        if self._server is not None and (self._place != place or self._server.tcp.is_over):
            self.close()
        if self._server is None:
            self._server = await connected(self._dialer, url.host, url.port, grant, tunnel=False)
            self._place = place
        return self._server

    async def _exchange(self, server: Side, method: bytes, reached: VisitedHost | None) -> Ended:
        """Forward both directions concurrently: servers may respond before they have read the body."""
        sending = asyncio.create_task(self._send_body(server))
        try:
            return await self._send_answer(server, method, reached)
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError, Unreachable, h11.ProtocolError):
                await sending

    async def _send_body(self, server: Side) -> None:
        if self._client.http.they_are_waiting_for_100_continue:
            await self._client.send(h11.InformationalResponse(status_code=100, headers=[]))
        while isinstance(event := await self._client.event(), h11.Data):
            await server.send(h11.Data(data=event.data))
        if isinstance(event, h11.EndOfMessage):
            await server.send(h11.EndOfMessage())

    async def _send_answer(self, server: Side, method: bytes, reached: VisitedHost | None) -> Ended:
        while True:
            event = await server.event()
            if isinstance(event, h11.InformationalResponse):
                if event.status_code == 101:
                    headers = forwarded(event.headers, upgrades=True)
                    await self._client.send(h11.InformationalResponse(status_code=101, headers=headers))
                    return "upgraded"
            elif isinstance(event, h11.Response):
                self.has_answered = True
                if reached is not None:
                    reached.answered(event.status_code, _text_headers(event))
                large = _large_body(event, method)
                headers = [*forwarded(event.headers), *([(b"Connection", b"close")] if large else [])]
                head = h11.Response(status_code=event.status_code, headers=headers, reason=event.reason)
                await self._client.send(head)
                if large:
                    await self._copy(server, large)
                    return "copied"
            elif isinstance(event, h11.Data):
                await self._client.send(h11.Data(data=event.data))
            elif isinstance(event, h11.EndOfMessage):
                await self._client.send(h11.EndOfMessage())
                return "answered"
            else:
                raise Unreachable("closed", "the server closed the connection before it responded")

    async def _copy(self, server: Side, size: int) -> None:
        """Copy a body of a known size from one connection to the other, which costs much less than parsing each block.
        Nothing that follows it is read.

        Raises: Unreachable.
        """
        begun = server.http.trailing_data[0][:size]
        await self._client.send_bytes(begun)
        if len(begun) < size:
            ended = await forward(server.tcp, self._client.tcp, size - len(begun), idle_s=server.idle_s)
            if ended == "idle":
                raise Unreachable("timeout", f"no data for {server.idle_s:g} s")
            if ended == "broken":
                raise Unreachable("closed", "the server closed the connection before the end of the body")
        await self._client.flush()

    async def _join(self, server: Side, grant: Grant) -> None:
        server.tcp.write(self._client.http.trailing_data[0])
        self._client.tcp.write(server.http.trailing_data[0])
        await flow(self._client.tcp, server.tcp, idle_s=grant.limits.idle_s)
        self.close()


def _text_headers(answer: h11.Response) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in answer.headers}


def _large_body(answer: h11.Response, method: bytes) -> int:
    """The size of the body if it is known and large, or 0."""
    if method == b"HEAD" or answer.status_code not in (200, 206):
        return 0
    sizes = [value for name, value in answer.headers if name == b"content-length"]
    if len(sizes) != 1 or any(name == b"transfer-encoding" for name, _ in answer.headers):
        return 0
    return int(sizes[0]) if int(sizes[0]) >= _LARGE else 0


async def connected(dialer: Dialer, host: str, port: int, grant: Grant, *, tunnel: bool) -> Side:
    """Open a measured connection to the server.

    Raises: Refused, Unreachable.
    """
    trusted = grant.trusts(host, port, tunnel=tunnel)
    sock = await dialer.dial(host, port, grant.limits.connect_s, trusted=trusted, lookups=grant.lookups)
    try:
        _, tcp = await asyncio.get_running_loop().create_connection(TcpConnection, sock=sock)
    except BaseException:
        sock.close()
        raise
    tcp.meter, tcp.rate = grant.add_received, grant.rate
    return Side(tcp, h11.CLIENT, grant.limits.idle_s)


def forwarded_url(target: bytes) -> Url:
    """The target of a request other than CONNECT.

    Raises: Refused.
    """
    try:
        url = checked_url(target.decode("latin-1"))
    except InvalidUrl as error:
        raise Refused("url", f"the URL {error.reason}") from None
    if url.scheme != "http":
        raise Refused("url", "the URL begins with https://: use CONNECT, which keeps it encrypted")
    return url
