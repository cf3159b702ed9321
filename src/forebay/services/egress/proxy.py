"""The egress proxy on 127.0.0.1: connects clients with a grant to addresses that the policy allows."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import h11

from forebay.log import get_logger
from forebay.open_files import connection_limit
from forebay.services.egress.errors import InvalidUrl, Refused, Unreachable
from forebay.services.egress.forwarding import Forwarder, connected, forwarded_url
from forebay.services.egress.grants import Grants, note_refusal
from forebay.services.egress.messages import Side, answer, check_size, credentials
from forebay.services.egress.tcp import TcpConnection, flow
from forebay.services.egress.urls import checked_host, checked_port

if TYPE_CHECKING:
    import socket

    from forebay.services.egress.dialing import Dialer
    from forebay.services.egress.grants import Grant
    from forebay.services.egress.urls import Url

log = get_logger("egress")
HOST = "127.0.0.1"
_HEAD_S = 20.0  # seconds for the head of a request, and between two requests
_MOST = 4096  # connections of all clients, if as many files may be open
_STATUSES = {"timeout": 504, "busy": 503}  # of a host that was not reached; otherwise 502
_LEFT_OVER = 1 << 20  # bytes of a refused request's body that are read, so that the client sees the response


class Proxy:
    """Accepts connections of clients on this machine and in the namespaces of confined child processes."""

    def __init__(self, dialer: Dialer, grants: Grants) -> None:
        self._dialer = dialer
        self._grants = grants
        self._serving: set[asyncio.Task[None]] = set()
        self._servers: set[asyncio.Server] = set()
        self.most = connection_limit(_MOST, files_each=2)  # the connections to the client and to the server
        self.port = 0

    async def open(self) -> None:
        server = await asyncio.get_running_loop().create_server(self._tcp, HOST, 0, backlog=256)
        self._servers.add(server)
        self.port = self._dialer.own_port = server.sockets[0].getsockname()[1]

    async def accept_on(self, listener: socket.socket) -> asyncio.Server:
        """Also accept connections on another listening socket."""
        server = await asyncio.get_running_loop().create_server(self._tcp, sock=listener)
        self._servers.add(server)
        return server

    def stop_accepting_on(self, server: asyncio.Server) -> None:
        server.close()
        self._servers.discard(server)

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    @property
    def connections(self) -> int:
        return len(self._serving)

    def _tcp(self) -> TcpConnection:
        return TcpConnection(self._begin)

    def _begin(self, tcp: TcpConnection) -> None:
        if len(self._serving) >= self.most:
            tcp.abort()
            return
        task = asyncio.get_running_loop().create_task(
            self._serve(tcp, ProxyConnection(self._dialer, self._grants, tcp))
        )
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        tcp.on_end = task.cancel  # a client that disconnects before the response does not need it

    async def _serve(self, tcp: TcpConnection, client: ProxyConnection) -> None:
        self._grants.counts.connections += 1
        try:
            await client.serve()
        except (ConnectionError, Unreachable, h11.ProtocolError):
            tcp.abort()
        except Exception as error:
            # Unexpected: this connection ends, the others continue.
            log.exception("egress_connection_failed", error=type(error).__name__)
            tcp.abort()
        finally:
            client.close()
            tcp.close()


class ProxyConnection:
    """A connection of a client, with consecutive requests."""

    def __init__(self, dialer: Dialer, grants: Grants, tcp: TcpConnection) -> None:
        self._dialer, self._grants, self._tcp = dialer, grants, tcp
        self._side = Side(tcp, h11.SERVER, _HEAD_S)
        self._forwarder = Forwarder(self._side, dialer)
        self._grant: Grant | None = None

    async def serve(self) -> None:
        """Process requests until the client closes the connection."""
        while isinstance(request := await self._request(), h11.Request):
            if not await self._answer(request):
                break
            self._side.http.start_next_cycle()
            self._side.idle_s = _HEAD_S
        await self._side.flush()

    def close(self) -> None:
        self._forwarder.close()

    async def _request(self) -> h11.Event | type[h11.PAUSED] | None:
        """The next request; None when the client takes too long."""
        try:
            async with asyncio.timeout(_HEAD_S):  # for the whole head: slow bytes do not extend it
                event = await self._side.event()
            if isinstance(event, h11.Request):
                check_size(event)
        except TimeoutError:
            if self._side.http.trailing_data[0]:
                await answer(self._side, 408, "timeout", f"the request did not arrive within {_HEAD_S:g} s")
            return None
        except h11.RemoteProtocolError as error:
            await answer(self._side, error.error_status_hint, "request", f"invalid request: {error}")
            raise
        return event

    async def _answer(self, request: h11.Request) -> bool:
        """Process a request; returns whether another may follow."""
        grant = self._find_grant(request)
        if grant is None:
            return await self._ask_for_credentials(request)
        self._grants.counts.requests += 1
        host, port = "", 0
        try:
            async with asyncio.timeout(grant.limits.total_s):
                if request.method == b"CONNECT":
                    host, port = _connect_target(request.target)
                    return await self._tunnel(host, port, grant)
                url = forwarded_url(request.target)
                host, port = url.host, url.port
                return await self._forward(request, url, grant)
        except Refused as refused:
            grant.refuse(host or request.target[:200].decode("latin-1"), port, refused)
            return await self._tell(403, refused.code, refused.reason)
        except Unreachable as error:
            self._grants.counts.failed[error.code] += 1
            grant.note_failure(host, error)
            if self._forwarder.has_answered:
                raise
            return await self._tell(_STATUSES.get(error.code, 502), error.code, error.reason)
        except TimeoutError:
            self._grants.counts.failed["total"] += 1
            log.info("egress_timed_out", host=host, port=port, purpose=grant.purpose)
            self._tcp.abort()
            return False

    def _find_grant(self, request: h11.Request) -> Grant | None:
        shown = credentials(request)
        found = self._grants.find(*shown) if shown else None
        if found is not None and found is not self._grant:
            self._grant = found
            task = asyncio.current_task()
            if task is not None:
                found.serves(task)
            self._tcp.meter = found.add_sent
        if found is not None:
            self._side.idle_s = found.limits.idle_s
        return found

    async def _ask_for_credentials(self, request: h11.Request) -> bool:
        if credentials(request) is not None:
            # A request without credentials is only challenged; most clients send them after that.
            refused = Refused("credentials", "the name or password for the egress proxy is wrong")
            note_refusal(self._grants.counts, None, request.target[:200].decode("latin-1"), 0, refused)
        wanted = [(b"Proxy-Authenticate", b'Basic realm="forebay egress"')]
        return await self._tell(407, "credentials", "the egress proxy needs the name and password of a grant", wanted)

    async def _forward(self, request: h11.Request, url: Url, grant: Grant) -> bool:
        _check_grant(grant)
        async with grant.reach(url.host) as reached:
            return await self._forwarder.forward(request, url, grant, reached)

    async def _tunnel(self, host: str, port: int, grant: Grant) -> bool:
        _check_grant(grant)
        async with grant.reach(host) as reached:
            server = await connected(self._dialer, host, port, grant, tunnel=True)
            if reached is not None:
                reached.connected()
            return await self._flow(server, grant)

    async def _flow(self, server: Side, grant: Grant) -> bool:
        try:
            while not isinstance(await self._side.event(), type):  # until h11 pauses, since CONNECT has no body
                pass
            await self._side.send(h11.Response(status_code=200, headers=[], reason=b"Connected"))
            server.tcp.write(self._side.http.trailing_data[0])
            if not await flow(self._tcp, server.tcp, idle_s=grant.limits.idle_s):
                self._grants.counts.failed["idle"] += 1
                self._tcp.abort()
        finally:
            server.tcp.abort()
        return False

    async def _tell(self, status: int, code: str, reason: str, extra: list[tuple[bytes, bytes]] | None = None) -> bool:
        await answer(self._side, status, code, reason, extra)
        with contextlib.suppress(h11.RemoteProtocolError, Unreachable):
            await self._drain()
        return self._side.is_reusable

    async def _drain(self) -> None:
        """Read the rest of an answered request: closing earlier could discard the response."""
        seen = 0
        while self._side.http.their_state is h11.SEND_BODY and seen < _LEFT_OVER:
            event = await self._side.event()
            if not isinstance(event, h11.Data):
                return
            seen += len(event.data)


def _connect_target(target: bytes) -> tuple[str, int]:
    """Host and port of a CONNECT.

    Raises: Refused.
    """
    host, _, port = target.decode("latin-1").rpartition(":")
    try:
        return checked_host(host), checked_port(port)
    except InvalidUrl as error:
        raise Refused("url", f"CONNECT {error.reason}") from None


def _check_grant(grant: Grant) -> None:
    if grant.is_exhausted:
        raise Refused("bytes_down", "this grant has used up its byte limit")
    if grant.is_full:
        raise Refused("connections", f"more than {grant.limits.connections} connections at a time")
