"""The kernel closes connections to a database that is gone, instead of waiting for minutes."""

from __future__ import annotations

import socket
from typing import Any, cast

from forebay import SyncClient
from forebay.db.fair_pool import open_fair_pool
from forebay.db.pool import connect, open_pool
from forebay.db.tcp import DEAD_AFTER, KeepaliveConnection, detect_dead_peer


def test_unacknowledged_data_ends_a_connection() -> None:
    with socket.socket() as sock:
        detect_dead_peer(sock)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1000 * DEAD_AFTER


def test_other_sockets_are_left_alone() -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        detect_dead_peer(sock)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 0
    detect_dead_peer(None)


async def test_all_connections_have_it(dsn: str) -> None:
    conn = await connect(dsn)
    assert type(conn) is KeepaliveConnection
    await conn.close()
    for opening in (
        open_pool(dsn, size=1, name="test"),
        open_fair_pool(dsn, size=1, name="test", prepared=True, timeout=60),
    ):
        async with await opening as pool, pool.acquire() as proxy:
            assert type(cast("Any", proxy)._con) is KeepaliveConnection


def test_blocking_connections_have_it_unless_their_address_has_its_own(dsn: str) -> None:
    for address, found in ((dsn, str(1000 * DEAD_AFTER)), (f"{dsn}?tcp_user_timeout=5000", "5000")):
        with SyncClient.connect(address) as client:
            assert cast("Any", client)._conn.info.get_parameters()["tcp_user_timeout"] == found
