"""Connections that do not get on, and too many of them, on real sockets."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
import uvicorn
from structlog.testing import capture_logs

from forebay import open_files
from forebay.api.middleware.connections import ConnectionLimits
from forebay.cli.api import listen, server_config
from forebay.settings import Settings

LONG = 60.0
SHORT = 0.15
HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


ended = threading.Event()


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body, and answers as much as the path says."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(256 if scope["path"] == "/large" else 1):
        await send({"type": "http.response.body", "body": b"x" * (1 << 18), "more_body": True})
    await send({"type": "http.response.body", "body": b"."})
    ended.set()


@contextmanager
def served(**settings: Any) -> Iterator[int]:
    """The port of a server with these settings."""
    config = server_config(app, Settings(**settings), lifespan="off")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined] # not the main thread
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join(30)


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def rest(sock: socket.socket) -> bytes:
    """All that comes until the other side ends; TimeoutError when it does not."""
    data = b""
    try:
        while more := sock.recv(1 << 16):
            data += more
    except ConnectionResetError:
        pass
    return data


@pytest.fixture(scope="module")
def hasty() -> Iterator[int]:
    with served(api_head_s=SHORT, api_idle_s=SHORT) as port:
        yield port


def test_a_head_that_stops(hasty: int) -> None:
    with connected(hasty) as sock:
        sock.sendall(HEAD[:-5])
        assert rest(sock).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_a_head_that_trickles_in_has_no_more_time(hasty: int) -> None:
    with connected(hasty) as sock:
        sock.settimeout(0.02)
        sock.sendall(HEAD[:-2])
        answer = b""
        for _ in range(1000):
            with suppress(TimeoutError):
                answer = sock.recv(100)
                break
            sock.sendall(b"X: y\r\n")
    assert answer.startswith(b"HTTP/1.1 408")


def test_a_connection_that_says_nothing(hasty: int) -> None:
    with connected(hasty) as sock:
        assert rest(sock) == b""


def test_the_head_of_a_second_request(hasty: int) -> None:
    with connected(hasty) as sock:
        sock.sendall(HEAD + HEAD[:10])
        assert rest(sock).endswith(b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")


def test_a_body_that_stops(hasty: int) -> None:
    with connected(hasty) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
        assert rest(sock) == b""


def test_a_reader_that_stops(hasty: int) -> None:
    ended.clear()
    with connected(hasty) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(HEAD.replace(b"/healthz", b"/large"))
        assert ended.wait(20), "the answer was kept for a reader who does not read"


def test_no_more_connections_than_allowed() -> None:
    with capture_logs() as logs, served(api_head_s=LONG, api_max_connections=4) as port, ExitStack() as open_ones:
        mine = [open_ones.enter_context(connected(port)) for _ in range(2)]  # one address has half of them
        for sock in mine:
            sock.sendall(HEAD)
            assert sock.recv(12) == b"HTTP/1.1 200"
        with connected(port) as refused:
            assert rest(refused).startswith(b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\n")
        with connected(port) as refused:
            assert rest(refused).startswith(b"HTTP/1.1 503")
    (told,) = [log for log in logs if log["event"] == "connection_refused"]  # not for each of them
    assert (told["address"], told["open"], told["most"]) == ("127.0.0.1", 2, 4)
    assert "FOREBAY_API_MAX_CONNECTIONS" in told["setting"]


def test_one_address_leaves_room_for_others_unless_it_is_a_proxy() -> None:
    limits = ConnectionLimits(LONG, LONG, 4, trusted="10.0.0.9")
    assert [limits.admit("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert [limits.admit("192.0.2.2") for _ in range(3)] == [True, True, False]
    assert not limits.admit("10.0.0.9")  # full
    for _ in range(2):
        limits.leave("192.0.2.1")
        limits.leave("192.0.2.2")
    assert [limits.admit("10.0.0.9") for _ in range(5)] == [True, True, True, True, False]
    assert limits.refused == 4


@pytest.fixture
def low_limit() -> Iterator[int]:
    """A soft limit of open files as systems begin with."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    low = min(1024, before[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (low, before[1]))
    yield low
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_connections_leave_files_for_everything_else(low_limit: int) -> None:
    assert ConnectionLimits.of(Settings()).most == low_limit - 256
    assert open_files.connection_limit(4096, files_each=2) == (low_limit - 256) // 2
    assert open_files.connection_limit(10) == 10


def test_the_soft_limit_of_open_files_is_raised(low_limit: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert open_files.raise_limit() == min(hard, 65_536)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 65_536), hard)
