"""A webhook from its request to its job: a package of somebody else has the route, the database is real."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

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
SOURCE = WebhookSource("shop", GITHUB, [SecretStr("It's a Secret to Everybody")], max_bytes=1000)
ANN = Principal("service", 1, "ann", "user", frozenset({"write"}))

@router.post("/webhooks/{name}")
async def receive(name: str, request: Request, pools: RolePoolsDep) -> dict[str, bool]:
    source = SOURCE if name == "shop" else WebhookSource("bare", GITHUB, [])
    delivery = await read_delivery(request, source)
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
    write_package(tmp_path, 'routes=("routes",)', routes=ROUTES)
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
