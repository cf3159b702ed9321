"""The proxy: who is let out, where to, and that neither clients nor servers can hurt it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from forebay.services.egress import Egress, Grant, Limits
from tests.services.egress._world import Names, answering, hearing, raw, reply, serving, until
from tests.services.egress.conftest import Opened


def shown(grant: Grant) -> str:
    """The header with which a client shows its grant."""
    token = base64.b64encode(f"{grant.username}:{grant.password}".encode()).decode()
    return f"Proxy-Authorization: Basic {token}\r\n"


def getting(grant: Grant, url: str, headers: str = "", method: str = "GET") -> bytes:
    return f"{method} {url} HTTP/1.1\r\nHost: ignored.test\r\n{shown(grant)}{headers}\r\n".encode()


def connecting(grant: Grant, target: str) -> bytes:
    return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{shown(grant)}\r\n".encode()


async def head_of(reader: asyncio.StreamReader) -> tuple[int, str]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    return int(head.split()[1]), head


async def ask(egress: Egress, data: bytes) -> tuple[int, str, bytes]:
    """Status, head and body of the answer to one request."""
    reader, writer = await raw(egress.describe()["port"], data)
    try:
        status, head = await head_of(reader)
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1])) if length else await reader.read()
        return status, head, body
    finally:
        writer.close()


@asynccontextmanager
async def echoing() -> AsyncIterator[int]:
    """A server that sends back what it gets, and ends when it does."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write(b"!")
        writer.write_eof()

    async with serving(echo) as site:
        yield site.port


# Where requests may go.


async def test_plain_http_is_forwarded(egress: Egress) -> None:
    async with answering(reply("hello", X_From="server")) as site:
        with egress.grant("test") as grant:
            url = f"http://GOOD.test:{site.port}/a?b"
            headers = "X-Kept: 1\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\n"
            status, head, body = await ask(egress, getting(grant, url, headers))
            assert grant.bytes_down > 5
    assert (status, body) == (200, b"hello")
    assert "x-from: server" in head.lower()
    sent = site.heads[0].lower()
    assert sent.startswith("get /a?b http/1.1\r\n")
    assert f"host: good.test:{site.port}\r\n" in sent
    assert "x-kept: 1" in sent
    for hop in ("ignored.test", "x-hop", "keep-alive", "te:", "h2c", "upgrade", "proxy-", "basic"):
        assert hop not in sent


async def test_a_tunnel(egress: Egress) -> None:
    async with echoing() as port:
        with egress.grant("test") as grant:
            # Bytes that come together with the request belong to the tunnel.
            reader, writer = await raw(grant.port, connecting(grant, f"good.test:{port}") + b"first ")
            assert (await head_of(reader))[0] == 200
            writer.write(b"second")
            assert await reader.readexactly(12) == b"first second"
            writer.write_eof()  # one direction ends, the other goes on
            assert await reader.read() == b"!"
            writer.close()
            assert grant.bytes_down == 13


async def test_a_large_tunnel_with_a_slow_reader(egress: Egress) -> None:
    size = 32 << 20
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        for _ in range(size >> 16):
            writer.write(bytes(1 << 16))
            await writer.drain()
            sent += 1 << 16

    async with serving(flood) as site:
        with egress.grant("test") as grant:
            reader, writer = await asyncio.open_connection("127.0.0.1", grant.port, limit=1 << 16)
            writer.write(connecting(grant, f"good.test:{site.port}"))
            assert (await head_of(reader))[0] == 200
            before = -1
            while sent != before:  # until nothing moves: the buffers on the way are full
                before = sent
                for _ in range(200):
                    await asyncio.sleep(0)
            assert grant.bytes_down < size  # what is not read was not taken in
            received = 0
            while data := await reader.read(1 << 20):
                received += len(data)
            assert received == size
            writer.close()


HINT = b"FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks"


@pytest.mark.parametrize(
    ("place", "code", "reason"),
    [
        ("bad.test", "address", "bad.test has no public address"),
        ("mixed.test", "address", "mixed.test has no public address"),
        ("dressed.test", "address", "dressed.test has no public address"),
        ("10.0.0.1", "address", "10.0.0.1 is private"),
        ("169.254.169.254", "address", "169.254.169.254 is link-local, where clouds keep their metadata"),
        ("[::1]", "address", "::1 is this machine"),
        ("[::ffff:10.0.0.1]", "address", "10.0.0.1 is private"),
        ("[64:ff9b::a9fe:a9fe]", "address", "64:ff9b::a9fe:a9fe is 169.254.169.254 inside IPv6, link-local"),
        ("[2002:a00:1::]", "address", "2002:a00:1:: is 10.0.0.1 inside IPv6, private"),
        ("0x7f.1", "url", "has the host '0x7f.1': write addresses as four decimal numbers"),
        ("2130706433", "url", "has the host '2130706433': write addresses as four decimal numbers"),
        ("denied.test", "denied_host", "denied.test is in FOREBAY_EGRESS_DENY_HOSTS"),
        ("good.test:25", "port", "port 25 of good.test is not in FOREBAY_EGRESS_PORTS"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_refusals(opened: Opened, names: Names, method: str, place: str, code: str, reason: str) -> None:
    names.put("mixed.test", ["127.0.0.1", "10.0.0.1"])
    names.put("dressed.test", "64:ff9b::a00:1")
    async with opened(egress_deny_hosts="denied.test") as egress:
        with egress.grant("bookmarks.metadata") as grant, hearing() as logs:
            if method == "GET":
                status, head, body = await ask(egress, getting(grant, f"http://{place}/x"))
            else:
                target = place if re.search(r":\d+$", place) else f"{place}:443"
                status, head, body = await ask(egress, connecting(grant, target))
            assert status == 403
            assert f"forebay-egress: {code}\r\n" in head.lower()
            assert reason in body.decode()
            assert f"403 {code}: " in head
            (refusal,) = grant.refusals
            assert refusal.code == code
            assert reason in refusal.reason
            (told,) = [log for log in logs if log["event"] == "egress_refused"]
            assert (told["code"], told["purpose"]) == (code, "bookmarks.metadata")
            assert told["host"] in place.strip("[]") or told["host"] in (
                f"http://{place}/x",
                "10.0.0.1",
                f"{place}:443",
            )
        assert egress.describe()["refused"] == {code: 1}


async def test_a_name_that_moves_into_the_private_network(egress: Egress, names: Names) -> None:
    """DNS rebinding: what was checked is what is connected to, and the next connection is checked anew."""
    async with answering(reply("hello")) as site:
        names.put("rebind.test", "127.0.0.1", "10.0.0.1", "127.0.0.1", ["127.0.0.1", "10.0.0.1"])
        statuses = []
        with egress.grant("test") as grant:
            for _ in range(4):
                status, _, _ = await ask(egress, getting(grant, f"http://rebind.test:{site.port}/"))
                statuses.append(status)
            assert [refusal.host for refusal in grant.refusals] == ["rebind.test"] * 2
    assert statuses == [200, 403, 200, 403]
    assert names.asked == ["rebind.test"] * 4  # once for each connection, and never after the check


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("/relative", "the URL must begin with http:// or https://"),
        ("https://good.test/", "the URL begins with https://: use CONNECT, which keeps it encrypted"),
        ("ftp://good.test/", "the URL must begin with http:// or https://"),
        ("http://u:p@good.test/", "the URL contains a user name or password before @"),
        ("http://good.test\\@bad.test/", "the URL contains a backslash"),
    ],
)
async def test_targets_that_are_not_forwarded(egress: Egress, target: str, reason: str) -> None:
    with egress.grant("test") as grant:
        status, _, body = await ask(egress, getting(grant, target))
        assert status == 403
        assert reason in body.decode()


async def test_the_proxy_does_not_go_round_in_circles(egress: Egress) -> None:
    with egress.grant("test") as grant:
        status, _, body = await ask(egress, connecting(grant, f"good.test:{grant.port}"))
        assert (status, body) == (403, b"good.test is the egress proxy itself\n")


async def test_the_first_address_that_answers(egress: Egress, names: Names, opened: Opened) -> None:
    async with answering(reply("hello")) as site, opened(egress_allow_networks="127.0.0.0/8,::1/128") as both:
        names.put("several.test", ["::1", "127.0.0.2", "127.0.0.1"])
        with both.grant("test") as grant:
            assert (await ask(both, getting(grant, f"http://several.test:{site.port}/")))[0] == 200


async def test_a_host_that_does_not_accept(egress: Egress) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as stack:
        for _ in range(4):  # more than fit: the kernel lets the others wait
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        port = full.getsockname()[1]
        with egress.grant("test", Limits(connect_s=0.1)) as grant:
            status, _, body = await ask(egress, connecting(grant, f"good.test:{port}"))
    assert (status, body) == (504, b"good.test did not accept a connection within 0.1 s\n")


async def test_a_client_that_does_not_read(egress: Egress) -> None:
    async with answering(reply(bytes(64 << 20))) as site:
        with egress.grant("test", SHORT) as grant:
            _, writer = await raw(grant.port, getting(grant, f"http://good.test:{site.port}/"))
            await until(lambda: egress.describe()["failed"])
            writer.close()
    assert egress.describe()["failed"] == {"timeout": 1}


# Who may.


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Proxy-Authorization: Basic bm9ib2R5OnNlY3JldA==\r\n",
        "Proxy-Authorization: Bearer x\r\n",
        "Proxy-Authorization: Basic !\r\n",
        "Proxy-Authorization: Basic bm9ib2R5\r\n",
    ],
)
@pytest.mark.parametrize("request_line", ["GET http://good.test/", "CONNECT good.test:443"])
async def test_without_a_pass(egress: Egress, names: Names, header: str, request_line: str) -> None:
    status, head, body = await ask(egress, f"{request_line} HTTP/1.1\r\nHost: x\r\n{header}\r\n".encode())
    assert status == 407
    assert 'proxy-authenticate: basic realm="forebay egress"' in head.lower()
    assert body == b"the egress proxy needs the name and password of a grant\n"
    assert not names.asked


async def test_wrong_credentials_are_told(egress: Egress) -> None:
    with egress.grant("test") as grant, hearing() as logs:
        grant.password, secret = "wrong", grant.password
        data = getting(grant, "http://good.test/")
        grant.password = secret
        assert (await ask(egress, data))[0] == 407
    (told,) = [log for log in logs if log["event"] == "egress_refused"]
    assert told["reason"] == "the name or password for the egress proxy is wrong"
    assert "wrong" not in str({**told, "reason": ""})


async def test_clients_that_show_their_pass_only_when_asked(egress: Egress) -> None:
    """As Chromium does: on the same connection."""
    async with echoing() as port:
        with egress.grant("test") as grant:
            reader, writer = await raw(grant.port, f"CONNECT good.test:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            status, head = await head_of(reader)
            assert status == 407
            length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
            assert length
            await reader.readexactly(int(length[1]))
            writer.write(connecting(grant, f"good.test:{port}"))
            assert (await head_of(reader))[0] == 200
            writer.close()


async def test_a_pass_ends_with_its_block(egress: Egress) -> None:
    async with echoing() as port:
        with egress.grant("test") as grant:
            reader, writer = await raw(grant.port, connecting(grant, f"good.test:{port}"))
            assert (await head_of(reader))[0] == 200
        assert await reader.read() == b""
        writer.close()
        assert (await ask(egress, connecting(grant, f"good.test:{port}")))[0] == 407
    assert repr(grant) == f"<Grant {grant.username} for test>"
    assert grant.password not in repr(grant)


async def test_what_children_are_told(egress: Egress) -> None:
    with egress.grant("test") as grant:
        assert grant.url == f"http://{grant.username}:{grant.password}@127.0.0.1:{grant.port}"
        told = grant.environment
    assert {told[name] for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY")} == {
        grant.url
    }
    assert told["no_proxy"] == told["NO_PROXY"] == ""


# How much.


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_too_many_bytes(egress: Egress, method: str) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if method == "GET":
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()

    async with serving(endless) as site:
        place = f"good.test:{site.port}"
        with egress.grant("test", replace(egress.limits, bytes_down=1_000_000)) as grant, hearing() as logs:
            data = connecting(grant, place) if method == "CONNECT" else getting(grant, f"http://{place}/")
            reader, writer = await raw(grant.port, data)
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readexactly(100_000_000)
            writer.close()
            assert [refusal.reason for refusal in grant.refusals] == ["more than 1000000 bytes came in"]
            assert grant.bytes_down < 1_000_000 + (512 << 10)  # no more than one read further
            assert [log["event"] for log in logs if log["log_level"] == "warning"] == ["egress_cut"]
            status, _, body = await ask(egress, getting(grant, f"http://{place}/"))
            assert (status, body) == (403, b"this grant has used up its byte limit\n")


async def test_too_many_bytes_out(egress: Egress) -> None:
    async with echoing() as port:
        with egress.grant("test", replace(egress.limits, bytes_up=100_000)) as grant:
            reader, writer = await raw(grant.port, connecting(grant, f"good.test:{port}"))
            assert (await head_of(reader))[0] == 200
            writer.write(bytes(2_000_000))
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readexactly(2_000_000)
            writer.close()
            assert [refusal.reason for refusal in grant.refusals] == ["more than 100000 bytes went out"]


async def test_too_many_connections(egress: Egress) -> None:
    async with echoing() as port:
        with egress.grant("test", replace(egress.limits, connections=2)) as grant:
            held = [await raw(grant.port, connecting(grant, f"good.test:{port}")) for _ in range(2)]
            for reader, _ in held:
                assert (await head_of(reader))[0] == 200
            status, _, body = await ask(egress, connecting(grant, f"good.test:{port}"))
            assert (status, body) == (403, b"more than 2 connections at a time\n")
            for _, writer in held:
                writer.close()


SHORT = Limits(idle_s=0.05)


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_nothing_moves(egress: Egress, method: str) -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read(-1)

    async with serving(silent) as site:
        place = f"good.test:{site.port}"
        with egress.grant("test", SHORT) as grant:
            data = connecting(grant, place) if method == "CONNECT" else getting(grant, f"http://{place}/")
            reader, writer = await raw(grant.port, data)
            if method == "GET":
                status, _ = await head_of(reader)
                assert status == 504
                assert b"no data for 0.05 s\n" in await reader.readline()
            else:
                assert (await head_of(reader))[0] == 200
                with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                    await reader.readexactly(1)
            writer.close()
        assert asked.is_set()
        assert sum(egress.describe()["failed"].values()) == 1


async def test_a_connection_that_takes_too_long(egress: Egress) -> None:
    async with echoing() as port:
        with egress.grant("test", Limits(total_s=0.1)) as grant:
            reader, writer = await raw(grant.port, connecting(grant, f"good.test:{port}"))
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readexactly(1_000_000)
            writer.close()
    assert egress.describe()["failed"] == {"total": 1}


# Plain HTTP, from requests that nobody sane would send.


async def test_keep_alive_with_checks_for_each_request(egress: Egress, names: Names) -> None:
    names.put("other.test", "127.0.0.1")
    async with answering(reply("one")) as one, answering(reply("two")) as two:
        with egress.grant("test") as grant:
            reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{one.port}/1"))
            places = [
                (f"http://good.test:{one.port}/2", 200, b"one"),
                (f"http://other.test:{two.port}/3", 200, b"two"),
                ("http://bad.test/", 403, b"bad.test has no public address; %b\n" % HINT),
                (f"http://good.test:{one.port}/4", 200, b"one"),
            ]
            assert (await head_of(reader))[0] == 200
            assert await reader.readexactly(3) == b"one"
            for url, status, body in places:
                writer.write(getting(grant, url))
                assert (await head_of(reader))[0] == status
                assert await reader.readexactly(len(body)) == body
            writer.close()
    assert (len(one.heads), len(two.heads)) == (3, 1)


async def test_bodies_in_both_framings(egress: Egress) -> None:
    async with answering(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
    ) as site:
        with egress.grant("test") as grant:
            url = f"http://good.test:{site.port}/"
            headers = "Transfer-Encoding: chunked\r\n"
            data = getting(grant, url, headers, "POST") + b"5\r\nhello\r\n0\r\n\r\n"
            reader, writer = await raw(grant.port, data)
            status, head = await head_of(reader)
            assert status == 200
            assert "transfer-encoding: chunked" in head.lower()
            assert await reader.readuntil(b"0\r\n\r\n") == b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
            writer.write(getting(grant, url, "Content-Length: 3\r\nExpect: 100-continue\r\n", "PUT"))
            assert (await head_of(reader))[0] == 100
            writer.write(b"xyz")
            assert (await head_of(reader))[0] == 200
            writer.close()
    assert "expect" not in site.heads[-1].lower()
    assert site.heads[-1].endswith("xyz")


async def test_an_answer_that_ends_with_its_connection(egress: Egress) -> None:
    async def closes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nall of it")
        await writer.drain()

    async with serving(closes) as site:
        with egress.grant("test") as grant:
            reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{site.port}/"))
            _, head = await head_of(reader)
            assert "transfer-encoding: chunked" in head.lower()
            assert await reader.readuntil(b"0\r\n\r\n") == b"9\r\nall of it\r\n0\r\n\r\n"
            writer.close()


async def test_a_websocket(egress: Egress) -> None:
    async def switches(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"upgrade: websocket" in head.lower()
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX: y\r\n\r\nhi "
        )
        while data := await reader.read(100):
            writer.write(data)

    async with serving(switches) as site:
        with egress.grant("test") as grant:
            headers = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n"
            data = getting(grant, f"http://good.test:{site.port}/", headers)
            reader, writer = await raw(grant.port, data)
            status, head = await head_of(reader)
            assert status == 101
            assert "x: y" in head.lower()
            writer.write(b"\x81\x00frames")
            assert await reader.readexactly(11) == b"hi \x81\x00frames"
            writer.close()


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        pytest.param(
            "GET http://good.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400, id="two lengths"
        ),
        pytest.param("GET http://good.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n", 501, id="gzip"),
        pytest.param("GET http://good.test/ HTTP/1.1\r\nTransfer-Encoding : chunked\r\n", 400, id="space in a name"),
        pytest.param("GET http://good.test/ HTTP/1.1\r\nContent-Length: +1\r\n", 400, id="signed length"),
        pytest.param("GET http://good.test/ HTTP/1.1\r\n X: folded at once\r\n", 400, id="folded at once"),
        pytest.param("GET http://good.test/\r\n", 400, id="no version"),
        pytest.param("GET  http://good.test/ HTTP/1.1\r\n", 400, id="two spaces"),
        pytest.param("\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, id="TLS"),
        pytest.param(f"GET http://good.test/ HTTP/1.1\r\nX: {'x' * 100_000}\r\n", 431, id="huge head"),
    ],
)
async def test_requests_that_are_not_proper(egress: Egress, names: Names, request_head: str, status: int) -> None:
    got, _, body = await ask(egress, f"{request_head}Host: good.test\r\n\r\n".encode("latin-1"))
    assert got == status
    assert body.startswith(b"invalid request: ")
    assert status != 431 or body.endswith(b"the head is too large\n")
    assert not names.asked


async def test_both_framings_at_once_are_one_message(egress: Egress) -> None:
    """The classic of smuggling: what is forwarded has one framing, and the rest is a request that is checked."""
    async with answering(reply("x")) as site:
        with egress.grant("test") as grant:
            url = f"http://good.test:{site.port}/"
            headers = "Content-Length: 50\r\nTransfer-Encoding: chunked\r\n"
            smuggled = f"GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n{shown(grant)}\r\n".encode()
            data = getting(grant, url, headers, "POST") + b"0\r\n\r\n" + smuggled
            reader, writer = await raw(grant.port, data)
            assert (await head_of(reader))[0] == 200
            await reader.readexactly(1)
            assert (await head_of(reader))[0] == 403
            writer.close()
    (sent,) = site.heads
    assert "content-length" not in sent.lower()
    assert "transfer-encoding: chunked" in sent.lower()


async def test_a_server_with_two_framings(egress: Egress) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    async with answering(answer) as site:
        with egress.grant("test") as grant:
            reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{site.port}/"))
            _, head = await head_of(reader)
            assert "content-length" not in head.lower()
            assert await reader.readuntil(b"0\r\n\r\n") == b"5\r\nhello\r\n0\r\n\r\n"
            writer.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
        b"",
    ],
    ids=["SSH", "two lengths", "huge head", "nothing"],
)
async def test_servers_that_speak_something_else(egress: Egress, answer: bytes) -> None:
    async def speaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    async with serving(speaks) as site:
        with egress.grant("test") as grant:
            status, head, body = await ask(egress, getting(grant, f"http://good.test:{site.port}/"))
    assert status == 502
    assert "forebay-egress: " in head.lower()
    words = b"good.test does not speak HTTP" if answer else b"the server closed the connection before it responded"
    assert words in body


async def test_an_answer_that_breaks_off_is_seen_to(egress: Egress) -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        await writer.drain()

    async with serving(breaks) as site:
        with egress.grant("test") as grant:
            reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{site.port}/"))
            await head_of(reader)
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readuntil(b"0\r\n\r\n")
            writer.close()


async def test_a_refused_upload_still_hears_why(egress: Egress) -> None:
    with egress.grant("test") as grant:
        data = getting(grant, "http://bad.test/", "Content-Length: 500000\r\n", "POST") + bytes(500_000)
        status, _, body = await ask(egress, data)
        assert (status, body) == (403, b"bad.test has no public address; %b\n" % HINT)


async def test_heads_that_trickle_in(egress: Egress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.services.egress.proxy._HEAD_S", 0.05)
    reader, writer = await raw(egress.describe()["port"], b"GET http://good.test/ HTTP/1.1\r\n")
    trickling = asyncio.create_task(_trickle(writer))
    assert (await head_of(reader))[0] == 408
    assert await reader.readline() == b"the request did not arrive within 0.05 s\n"
    trickling.cancel()
    writer.close()
    reader, writer = await raw(egress.describe()["port"], b"")
    assert await reader.read() == b""  # who says nothing is told nothing
    writer.close()


async def _trickle(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"X")
        await asyncio.sleep(0.001)


async def test_clients_that_leave(egress: Egress) -> None:
    """Nothing of them stays, wherever they are when they do."""
    asked = asyncio.Event()
    left = asyncio.Event()

    async def waits(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        try:
            while await reader.read(1000):
                pass
        finally:
            left.set()

    async with serving(waits) as site:
        with egress.grant("test") as grant:
            place = f"good.test:{site.port}"
            for data in (connecting(grant, place), getting(grant, f"http://{place}/")):
                asked.clear()
                left.clear()
                _, writer = await raw(grant.port, data)
                await asked.wait()
                writer.transport.abort()
                await left.wait()
            await until(lambda: egress.describe()["open_connections"] == 0)


async def test_more_clients_than_there_is_room_for(egress: Egress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress._proxy, "most", 2)
    port = egress.describe()["port"]
    held = [await raw(port, b"") for _ in range(2)]
    await until(lambda: egress.describe()["open_connections"] == 2)
    reader, writer = await raw(port, b"")
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    for each in (writer, *(writer for _, writer in held)):
        each.close()
