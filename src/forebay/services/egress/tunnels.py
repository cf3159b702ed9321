"""Sockets through the proxy, for protocols other than HTTP."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
from typing import TYPE_CHECKING

from forebay.services.egress.errors import Refused, Unreachable

if TYPE_CHECKING:
    from forebay.services.egress.grants import Grant

_LONGEST_HEAD = 4096
_SPARE_S = 5.0  # seconds for the proxy to report a timeout


async def open_tunnel(grant: Grant, host: str, port: int) -> socket.socket:
    """Open a socket to a host, which the SSRF guard resolves, checks and pins.

    Raises: Refused, Unreachable.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(grant.limits.connect_s + _SPARE_S):
            await _ask(sock, grant, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except TimeoutError:
        sock.close()
        raise Unreachable("timeout", f"the egress proxy did not connect to {host} in time") from None
    except OSError as error:
        sock.close()
        why = os.strerror(error.errno) if error.errno else str(error)
        raise Unreachable("connect", f"the egress proxy closed the connection: {why}") from None
    except BaseException:
        sock.close()
        raise
    return sock


async def _ask(sock: socket.socket, grant: Grant, place: str) -> None:
    loop = asyncio.get_running_loop()
    shown = base64.b64encode(f"{grant.username}:{grant.password}".encode()).decode()
    request = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\nProxy-Authorization: Basic {shown}\r\n\r\n"
    await loop.sock_connect(sock, (grant.host, grant.port))
    await loop.sock_sendall(sock, request.encode())
    status, code, reason = _told(await _head(sock))
    if status == 403:
        raise Refused(code, reason)
    if status != 200:
        raise Unreachable(code, reason)


async def _head(sock: socket.socket) -> bytes:
    """Read byte by byte: what follows belongs to the server."""
    loop = asyncio.get_running_loop()
    head = bytearray()
    while not head.endswith(b"\r\n\r\n") and len(head) < _LONGEST_HEAD:
        byte = await loop.sock_recv(sock, 1)
        if not byte:
            raise ConnectionResetError("no response")
        head += byte
    return bytes(head)


def _told(head: bytes) -> tuple[int, str, str]:
    """Status, and code and reason of a refusal."""
    line = head.partition(b"\r\n")[0].decode("latin-1")
    _, _, rest = line.partition(" ")
    status, _, phrase = rest.partition(" ")
    code, _, reason = phrase.partition(": ")
    return int(status) if status.isdecimal() else 502, code, reason
