"""A webhook from its request to its job: a package of somebody else has the route, the database is real."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import Request
from pydantic import SecretStr

from forebay.api.middleware.guards import MAX_BODY
from forebay.errors import ConfigError
from forebay.webhooks.receiving import read_body
from forebay.webhooks.signatures import GITHUB, WebhookSource
from tests._packages import installed, write_package
from tests.api._service import Service, serving
from tests.webhooks.test_signatures import github

ROUTES = """
from fastapi import APIRouter, Request
from pydantic import SecretStr
from forebay.api.auth.authentication import Principal
from forebay.api.deps import RolePoolsDep
from forebay.webhooks.db import claim
from forebay.webhooks.receiving import read_delivery
from forebay.webhooks.signatures import GITHUB, WebhookSource
from tests.api._service import Page, pages

router = APIRouter(prefix="/api")
SECRETS = [SecretStr("It's a Secret to Everybody")]
SOURCES = {
    "shop": WebhookSource("shop", GITHUB, SECRETS, max_bytes=1000),
    "bare": WebhookSource("bare", GITHUB, [], max_bytes=1000),
    "large": WebhookSource("large", GITHUB, SECRETS, max_bytes=100_000),
    "undeclared": WebhookSource("undeclared", GITHUB, SECRETS, max_bytes=100_000),
}
ANN = Principal("service", 1, "ann", "user", frozenset({"write"}))

@router.post("/webhooks/{name}")
async def receive(name: str, request: Request, pools: RolePoolsDep) -> dict[str, bool]:
    delivery = await read_delivery(request, SOURCES[name])
    async with pools.own(ANN) as conn:
        is_new = await claim(conn, ANN.owner_id, delivery)
        if is_new:
            await pages.submit(conn, Page(title=delivery.body.decode()[:40]), owner=ANN.owner)
            if b"fails" in delivery.body:
                raise RuntimeError("after the insert")
    return {"isNew": is_new}
"""


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    larger = 'larger_bodies={"POST /api/webhooks/large": 100_000}'
    write_package(tmp_path, f'routes=("routes",), {larger}', routes=ROUTES)
    with installed(tmp_path):
        async with serving(dsn) as running:
            yield running


async def test_each_delivery_is_submitted_once(service: Service) -> None:
    async with service.client() as sender:

        async def send(body: bytes, name: str = "shop", **headers: str) -> httpx.Response:
            return await sender.post(f"/api/webhooks/{name}", content=body, headers={**github(body), **headers})

        answers = await asyncio.gather(*(send(b"order 1") for _ in range(5)))
        assert sorted(answer.json()["isNew"] for answer in answers) == [False] * 4 + [True]
        assert (await send(b"order 2")).json() == {"isNew": True}

        # The claim is undone with the insert, so that the sender's next try counts.
        assert (await send(b"order 3 fails")).status_code == 500
        assert await service.admin.fetchval("select count(*) from forebay.webhook_delivery") == 2
        assert await service.admin.fetchval("select count(*) from forebay.job") == 2

        rejected = await send(b"order 4", **{"x-hub-signature-256": f"sha256={'0' * 64}"})
        assert rejected.status_code == 401
        assert rejected.json()["detail"] == "the signature does not fit: check the secret of the webhook source shop"
        large = await send(b"x" * 1001)
        assert (large.status_code, large.json()["detail"]) == (413, "the body has more than 1000 bytes")
        bare = await send(b"x", "bare")
        assert bare.status_code == 503
        assert await service.admin.fetchval("select count(*) from forebay.job") == 2


async def test_bodies_as_large_as_the_source_says(service: Service) -> None:
    async with service.client() as sender:

        async def send(size: int, name: str) -> httpx.Response:
            body = b"x" * size
            return await sender.post(f"/api/webhooks/{name}", content=body, headers=github(body))

        assert (await send(90_000, "large")).json() == {"isNew": True}
        too_large = await send(100_001, "large")
        assert (too_large.status_code, too_large.json()["detail"]) == (413, "the request has more than 100000 bytes")
        # It is told with the first delivery, however small, and not only with the first that is large.
        assert (await send(10, "undeclared")).status_code == 503


async def test_a_source_that_accepts_more_than_the_api_says_what_to_declare() -> None:
    scope = {"type": "http", "method": "POST", "path": "/api/hook", "headers": [], MAX_BODY: 65536, "query_string": b""}
    source = WebhookSource("shop", GITHUB, [SecretStr("x")], max_bytes=100_000)
    with pytest.raises(ConfigError) as raised:
        await read_body(Request({**scope, "server": ("forebay.test", 80)}), source)
    assert str(raised.value) == (
        "the webhook source shop accepts 100000 bytes, but the API accepts 65536 at POST /api/hook: declare "
        "larger_bodies={'POST /api/hook': 100000} in the PipelinePackage, or lower max_bytes of the source"
    )


async def test_deliveries_without_a_signed_time_are_known_for_ever(service: Service) -> None:
    """GitHub signs the body only: whoever has seen a delivery could send it again after any time."""
    body = b"order 1"
    async with service.client() as sender:
        for is_new in (True, False):
            answer = await sender.post("/api/webhooks/shop", content=body, headers=github(body))
            assert answer.json() == {"isNew": is_new}
            await service.admin.execute("select forebay.tidy_deliveries(now() + interval '10 years')")
