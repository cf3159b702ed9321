"""Clients of the proxy are as polite as we are: to the host of their page, and to all others that they reach."""

# demands: S5-67

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from forebay.errors import ThrottledError
from forebay.services.egress import Egress, Grant, Http
from tests.services.egress._world import Names, answering, raw, reply, until
from tests.services.egress.test_proxy import ask, connecting, echoing, getting, head_of

PAGE = "http://page.test/"
LIMITED = reply("slow down", status="429 Too Many Requests", Retry_After=77)


@pytest.fixture
async def cdn(names: Names) -> AsyncIterator[int]:
    """A host beside that of the page; its port sends back what it gets."""
    for name in ("page.test", "cdn.test"):
        names.put(name, "127.0.0.1")
    async with echoing() as port:
        yield port


async def _connected(grant: Grant, port: int) -> tuple[int, str, asyncio.StreamWriter]:
    reader, writer = await raw(grant.port, connecting(grant, f"cdn.test:{port}"))
    status, head = await head_of(reader)
    return status, head, writer


def _running(http: Http, host: str) -> float | None:
    return http.politeness.describe_one(host)["running"]


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_a_host_that_rate_limits_is_closed_and_that_of_the_page_is_not(
    egress: Egress, http: Http, cdn: int, status: str
) -> None:
    async with answering(reply("slow down", status=status, Retry_After=77)) as site, http.visiting(PAGE) as visit:
        with egress.grant("test", visit=visit) as grant:
            url = f"http://cdn.test:{site.port}/"
            assert (await ask(egress, getting(grant, url)))[0] == int(status[:3])
            again, head, _ = await ask(egress, getting(grant, url))
            assert (again, "forebay-egress: busy" in head.lower()) == (503, True)
            through_a_tunnel, head, writer = await _connected(grant, cdn)
            assert (through_a_tunnel, "cdn.test is rate limiting us" in head) == (503, True)
            writer.close()
        assert visit.refused is not None
        assert 0 < visit.refused.retry_after <= 77
        assert len(site.heads) == 1
    with pytest.raises(ThrottledError):
        http.politeness.check_open("cdn.test")
    http.politeness.check_open("page.test")


async def test_a_visit_has_one_slot_at_a_host_while_it_is_connected(egress: Egress, http: Http, cdn: int) -> None:
    async with http.visiting(PAGE) as visit:
        with egress.grant("test", visit=visit) as grant:
            held = [await _connected(grant, cdn) for _ in range(3)]
            assert [status for status, _, _ in held] == [200] * 3
            assert (_running(http, "cdn.test"), _running(http, "page.test")) == (1, 1)
            for _, _, writer in held:
                writer.close()
            await until(lambda: not _running(http, "cdn.test"))
            assert _running(http, "page.test") == 1
    assert _running(http, "page.test") == 0


async def test_others_wait_for_a_slot_of_the_host(egress: Egress, http: Http, cdn: int) -> None:
    http.politeness._host("cdn.test").limit.begin_again()  # one at a time
    short, long = replace(egress.limits, connect_s=0.05), replace(egress.limits, connect_s=60.0)
    async with http.visiting(PAGE) as first, http.visiting(PAGE) as second:
        with egress.grant("test", visit=first) as one, egress.grant("test", short, visit=second) as two:
            _, _, held = await _connected(one, cdn)
            status, head, writer = await _connected(two, cdn)
            assert (status, "enough requests to cdn.test are under way already" in head) == (503, True)
            assert second.refused is not None
            assert second.refused.ours
            writer.close()
            with egress.grant("test", long, visit=second) as patient:
                waiting = asyncio.create_task(_connected(patient, cdn))
                await until(lambda: http.politeness.describe_one("cdn.test")["waiting"])
                held.close()
                status, _, writer = await waiting
                assert status == 200
                assert next(iter(second._refused), None) is None
                writer.close()


async def test_a_client_that_leaves_does_not_wait_any_more(egress: Egress, http: Http, cdn: int) -> None:
    http.politeness._host("cdn.test").limit.begin_again()
    async with http.visiting(PAGE) as first, http.visiting(PAGE) as second:
        with egress.grant("test", visit=first) as one, egress.grant("test", visit=second) as two:
            _, _, held = await _connected(one, cdn)
            _, writer = await raw(two.port, connecting(two, f"cdn.test:{cdn}"))
            await until(lambda: http.politeness.describe_one("cdn.test")["waiting"])
            writer.close()
            await until(lambda: not http.politeness.describe_one("cdn.test")["waiting"])
            held.close()
            await until(lambda: not _running(http, "cdn.test"))


async def test_a_host_that_is_not_reached_is_asked_less_often(
    egress: Egress, http: Http, cdn: int, unused_tcp_port: int
) -> None:
    async with http.visiting(PAGE) as visit:
        with egress.grant("test", visit=visit) as grant:
            status, _, writer = await _connected(grant, unused_tcp_port)
            assert status == 502
            writer.close()
    assert http.politeness.describe()["cdn.test"]["delay_s"] == 0.5


async def test_a_host_that_answers_is_asked_more(egress: Egress, http: Http, cdn: int) -> None:
    limit = http.politeness.describe_one("cdn.test")["limit"]
    async with answering(reply("here")) as site, http.visiting(PAGE) as first, http.visiting(PAGE) as second:
        with egress.grant("test", visit=first) as one, egress.grant("test", visit=second) as two:
            _, _, held = await _connected(one, cdn)  # with it, all slots of a new host are in use
            for _ in range(2):
                assert (await ask(egress, getting(two, f"http://cdn.test:{site.port}/")))[0] == 200
            held.close()
    described = http.politeness.describe_one("cdn.test")
    assert described["latency_ms"]
    assert limit is not None
    assert (described["limit"] or 0) > limit


async def test_what_a_client_tells_of_encrypted_connections_counts(egress: Egress, http: Http, cdn: int) -> None:
    async with http.visiting(PAGE) as visit:
        visit.told("cdn.test", 429, {"retry-after": "77"}, 0.1)  # it has no connection there
        http.politeness.check_open("cdn.test")
        with egress.grant("test", visit=visit) as grant:
            _, _, writer = await _connected(grant, cdn)
            for seconds in (0.1, 0.1):
                visit.told("cdn.test", 200, {}, seconds)
            latency = http.politeness.describe_one("cdn.test")["latency_ms"]
            assert latency is not None
            assert 0 < latency <= 100  # less what the first one waited for its slot
            visit.told("cdn.test", 500, {}, 0.1)
            assert http.politeness.describe()["cdn.test"]["delay_s"] == 0.5
            visit.told("cdn.test", 429, {"retry-after": "77"}, 0.1)
            writer.close()
    with pytest.raises(ThrottledError, match=r"cdn\.test is rate limiting us"):
        http.politeness.check_open("cdn.test")
