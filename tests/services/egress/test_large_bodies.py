"""Large bodies of a known size are copied from one connection to the other, within all the limits."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from forebay.services.egress import Egress, Grant, Limits
from tests.services.egress._world import Handler, answering, raw, reply, serving
from tests.services.egress.test_proxy import ask, getting, head_of

BODY = random.Random(1).randbytes(3 << 20)
CUT = (ConnectionResetError, asyncio.IncompleteReadError)


def _sending(sent: bytes, size: int = len(BODY), *, stays: bool = False) -> Handler:
    """Announces `size` bytes, sends these, and stays or goes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode() + sent)
        await writer.drain()
        if stays:
            await reader.read()

    return answer


async def _get(grant: Grant, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{port}/"))
    status, head = await head_of(reader)
    assert (status, "connection: close" in head.lower()) == (200, True)
    return reader, writer


@pytest.mark.parametrize("more", [b"", b"HTTP/1.1 200 OK\r\n\r\nsmuggled"], ids=["exact", "more"])
async def test_the_body_arrives_and_nothing_that_follows_it(egress: Egress, more: bytes) -> None:
    async with serving(_sending(BODY + more, stays=True)) as site:
        with egress.grant("test") as grant:
            reader, writer = await _get(grant, site.port)
            assert await reader.read() == BODY  # and the connection ends
            writer.close()
            assert len(BODY) <= grant.bytes_down


async def test_a_body_that_breaks_off_is_not_whole(egress: Egress) -> None:
    async with serving(_sending(BODY[:-1])) as site:
        with egress.grant("test") as grant:
            reader, writer = await _get(grant, site.port)
            with pytest.raises(CUT) as cut:
                await reader.readexactly(len(BODY))
            assert not isinstance(cut.value, asyncio.IncompleteReadError) or cut.value.partial == BODY[:-1]
            writer.close()


async def test_a_body_that_stalls_is_given_up(egress: Egress) -> None:
    async with serving(_sending(BODY[: 2 << 20], stays=True)) as site:
        with egress.grant("test", Limits(idle_s=0.1)) as grant:
            reader, writer = await _get(grant, site.port)
            with pytest.raises(CUT):
                await reader.readexactly(len(BODY))
            writer.close()
            assert [failure.code for failure in grant.failures.values()] == ["timeout"]


async def test_the_limit_on_bytes_holds(egress: Egress) -> None:
    async with serving(_sending(BODY, stays=True)) as site:
        with egress.grant("test", replace(egress.limits, bytes_down=1 << 20)) as grant:
            reader, writer = await raw(grant.port, getting(grant, f"http://good.test:{site.port}/"))
            with pytest.raises(CUT):
                await reader.readexactly(len(BODY))
            writer.close()
            assert [refusal.code for refusal in grant.refusals] == ["bytes_down"]


async def test_a_head_that_announces_a_large_body_has_none(egress: Egress) -> None:
    large, small = f"HTTP/1.1 200 OK\r\nContent-Length: {2 << 20}\r\n\r\n".encode(), reply("small")
    async with answering(large, small) as site:
        with egress.grant("test") as grant:
            url = f"http://good.test:{site.port}/"
            reader, writer = await raw(grant.port, getting(grant, url, method="HEAD") + getting(grant, url))
            assert (await head_of(reader))[0] == 200
            assert (await head_of(reader))[0] == 200
            assert await reader.readexactly(5) == b"small"
            writer.close()
            assert (await ask(egress, getting(grant, url)))[2] == b"small"
