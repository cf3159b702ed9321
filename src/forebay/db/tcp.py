"""Connections that notice a dead network: the kernel closes one whose peer has not answered for a while."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

if TYPE_CHECKING:
    _Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:
    _Connection = asyncpg.Connection

DEAD_AFTER = 20  # seconds without an acknowledgement; longer than a busy server leaves COPY data unread
_OPTIONS = {
    "TCP_KEEPIDLE": 10,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": DEAD_AFTER * 1000,
}  # not all systems have all of them


class KeepaliveConnection(_Connection):
    """A connection with keepalives, and with a limit for data that is not acknowledged."""

    def __init__(self, protocol: Any, transport: Any, *args: Any) -> None:
        super().__init__(protocol, transport, *args)
        detect_dead_peer(transport.get_extra_info("socket"))


def libpq_options(dsn: str) -> dict[str, int]:
    """The same for a connection of libpq, unless the connection string has its own."""
    options = {
        "keepalives_idle": _OPTIONS["TCP_KEEPIDLE"],
        "keepalives_interval": _OPTIONS["TCP_KEEPINTVL"],
        "keepalives_count": _OPTIONS["TCP_KEEPCNT"],
        "tcp_user_timeout": _OPTIONS["TCP_USER_TIMEOUT"],
    }
    return {name: value for name, value in options.items() if name not in dsn}


def detect_dead_peer(sock: Any) -> None:
    """Set the options of a TCP socket; sockets of other families have none."""
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS.items():
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
