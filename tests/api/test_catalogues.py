"""Catalogues and providers, as their owners and administrators see them."""

# demands: S5-85, S5-101

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.pipelines.sheets.settings import SheetsSettings
from tests.api._service import Service
from tests.api.test_metrics import scraped

_PUT = "select forebay.put_product(forebay.owner_id($1), $2, $3, null, null, null, array['mug'], '{}')"
SHOP = """
name = "shop"
[secrets]
key = "SHOP_KEY"
[headers]
Authorization = "Bearer {secret.key}"
[queries]
gtin = "https://api.shop.example/?ean={gtin}"
[response]
items = "$[*]"
fields = { title = "$.name" }
"""
ABOUT: dict[str, Any] = {
    "asked": 10, "answered": 6, "not_found": 1, "throttled": 2, "failed": 1, "remembered": 3, "limit": 4,
    "closed_s": 0.0, "closed_because": None, "seconds": 0.25, "throttle_ratio": 0.2,
}  # fmt: skip


@pytest.fixture
async def stocked(service: Service) -> Service:
    for owner, name, key in (("ann", "stock", "a"), ("ann", "stock", "b"), ("bob", "bobs", "a"), ("root", "all", "a")):
        await service.admin.execute(_PUT, owner, name, key)
    return service


async def _worker(conn: asyncpg.Connection[Any], name: str, **providers: dict[str, Any]) -> None:
    await conn.execute(
        "insert into forebay.worker (name, started_at, seen_at, stats) values ($1, now(), now(), $2)",
        name,
        json.dumps({"shared": {"providers": providers}}),
    )


async def test_catalogues_are_their_owners_until_they_are_shared(stocked: Service) -> None:
    async with stocked.client("ann") as ann, stocked.client("root") as root:
        (mine,) = (await ann.get("/api/catalogues")).json()["catalogues"]
        assert (mine["name"], mine["owner"], mine["products"], mine["shared"]) == ("stock", "ann", 2, False)
        assert len((await root.get("/api/catalogues")).json()["catalogues"]) == 3
        assert (await ann.post("/api/catalogues/stock/share")).status_code == 403
        assert (await root.post("/api/catalogues/all/share")).status_code == 204
        seen = (await ann.get("/api/catalogues")).json()["catalogues"]
        assert [(each["name"], each["owner"], each["products"]) for each in seen] == [
            ("all", None, 1),
            ("stock", "ann", 2),
        ]
        assert (await ann.delete("/api/catalogues/all")).status_code == 404
        assert (await root.post("/api/catalogues/all/unshare")).status_code == 204
        assert len((await ann.get("/api/catalogues")).json()["catalogues"]) == 1
        answer = await root.post("/api/catalogues/bobs/share")
        assert (answer.status_code, answer.json()["detail"]) == (
            404,
            "catalogue: you have no catalogue 'bobs'",
        )


async def test_dropping(stocked: Service) -> None:
    async with stocked.client("ann") as ann:
        assert (await ann.delete("/api/catalogues/bobs")).status_code == 404
        assert (await ann.delete("/api/catalogues/stock")).status_code == 204
        assert (await ann.delete("/api/catalogues/stock")).status_code == 404
    assert await stocked.admin.fetchval("select count(*) from forebay.product") == 2


@pytest.fixture
async def folder(service: Service, tmp_path: Path) -> AsyncIterator[Path]:
    before = service.app.state.settings
    service.app.state.settings = before.including(SheetsSettings(providers=tmp_path))
    yield tmp_path
    service.app.state.settings = before


async def test_providers_as_workers_see_them(service: Service, folder: Path) -> None:
    (folder / "shop.toml").write_text(SHOP)
    (folder / "old.toml").write_text(SHOP.replace('"shop"', '"old"').replace("[secrets]", "enabled = false\n[secrets]"))
    closed = ABOUT | {"closed_s": 12.5, "closed_because": "shop has asked for patience"}
    await _worker(service.admin, "one", shop=ABOUT)
    await _worker(service.admin, "two", shop=closed)
    async with service.client("ann") as ann:
        answer = (await ann.get("/api/providers")).json()
    told = {each["name"]: each for each in answer["providers"]}
    assert list(told) == ["catalogue", "old", "shop"]
    assert (told["catalogue"]["builtIn"], told["catalogue"]["state"]) == (True, "unused")
    assert (told["old"]["enabled"], told["old"]["state"]) == (False, "disabled")
    shop = told["shop"]
    assert (shop["state"], shop["closedBecause"], shop["closedSeconds"]) == (
        "closed",
        "shop has asked for patience",
        12.5,
    )
    assert (shop["asked"], shop["throttled"], shop["concurrencyLimit"], shop["seconds"]) == (20, 4, 8, 0.25)
    assert (shop["strategies"], shop["throttleRatio"]) == (["gtin"], 0.2)
    assert "SHOP_KEY" not in json.dumps(answer)


async def test_administrators_see_what_has_to_be_fixed(service: Service, folder: Path) -> None:
    (folder / "shop.toml").write_text(SHOP)
    why = "shop cannot be called until its key or its declaration is fixed"
    refused = {"closed_s": 50.0, "closed_because": why, "problem": "shop answered 401. Check SHOP_KEY"}
    await _worker(service.admin, "one", shop=ABOUT)
    await _worker(service.admin, "two", shop=ABOUT | refused)
    problems: dict[str, Any] = {}
    for name in ("ann", "root"):
        async with service.client(name) as client:
            answer = (await client.get("/api/providers")).json()
        shop = next(each for each in answer["providers"] if each["name"] == "shop")
        assert (shop["state"], shop["closedBecause"]) == ("closed", why)
        problems[name] = shop["problem"]
    assert problems == {"ann": None, "root": "shop answered 401. Check SHOP_KEY"}


async def test_declarations_that_are_wrong_are_for_administrators(service: Service, folder: Path) -> None:
    (folder / "shop.toml").write_text('name = "Shop"')
    async with service.client("ann") as ann, service.client("root") as root:
        assert (await ann.get("/api/providers")).json()["problem"] is None
        assert (
            (await root.get("/api/providers"))
            .json()["problem"]
            .startswith("declarations of providers are invalid:\nshop")
        )


async def test_metrics_of_providers(service: Service) -> None:
    await _worker(service.admin, "one", shop=ABOUT)
    found = await scraped(service)
    labels = frozenset({("worker", "one"), ("provider", "shop")})
    assert found["forebay_provider_throttle_ratio"][labels] == 0.2
    assert found["forebay_provider_concurrency_limit"][labels] == 4
    assert found["forebay_provider_asks_total"][labels | {("outcome", "throttled")}] == 2
