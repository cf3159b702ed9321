"""Sockets through the proxy for what is not HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from forebay.services.egress import Egress, Limits, Refused, Unreachable
from forebay.services.egress.grants import Grant, TrafficCounts
from forebay.services.egress.tunnels import open_tunnel
from tests.services.egress._world import serving


async def test_the_server_speaks_first(egress: Egress) -> None:
    """Nothing of what it says is taken for the proxy's."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 Hello\r\n")
        writer.write((await reader.readline()).upper())

    async with serving(greet) as site:
        with egress.grant("test") as grant:
            sock = await open_tunnel(grant, "good.test", site.port)
            reader, writer = await asyncio.open_connection(sock=sock)
            assert await reader.readline() == b"220 Hello\r\n"
            writer.write(b"who is there\n")
            assert await reader.readline() == b"WHO IS THERE\n"
            writer.close()


async def test_refusals(egress: Egress) -> None:
    with egress.grant("test") as grant:
        with pytest.raises(Refused, match=r"bad\.test has no public address") as refused:
            await open_tunnel(grant, "bad.test", 8000)
        assert refused.value.code == "address"
        with pytest.raises(Refused, match="FOREBAY_EGRESS_PORTS"):
            await open_tunnel(grant, "good.test", 22)
        with pytest.raises(Unreachable, match=r"the host gone\.test does not exist") as unreachable:
            await open_tunnel(grant, "gone.test", 8000)
        assert unreachable.value.code == "no_such_host"


async def test_a_pass_that_is_over(egress: Egress) -> None:
    with egress.grant("test") as grant:
        pass
    with pytest.raises(Unreachable) as told:
        await open_tunnel(grant, "good.test", 8000)
    assert told.value.code == "credentials"


async def test_a_proxy_that_is_none(unused_tcp_port: int) -> None:
    def grant(port: int) -> Grant:
        return Grant("test", replace(Limits(), connect_s=-4.8), "127.0.0.1", port, "p1", TrafficCounts())

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()

    with pytest.raises(Unreachable, match="the egress proxy closed the connection: Connection refused"):
        await open_tunnel(grant(unused_tcp_port), "good.test", 8000)
    async with serving(silent) as site:
        with pytest.raises(Unreachable, match=r"the egress proxy did not connect to good\.test in time"):
            await open_tunnel(grant(site.port), "good.test", 8000)
    async with serving(closing) as site:
        with pytest.raises(Unreachable, match="the egress proxy closed the connection: no response"):
            await open_tunnel(grant(site.port), "good.test", 8000)
