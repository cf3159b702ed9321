"""Catalogues: rows of a file become products, and rows of other files are found among them."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from forebay.pipelines.sheets.db import catalogues
from forebay.services.products import Columns
from forebay.testing import Testbed
from tests.pipelines._catalogue import Row, load, seek, shopping

STOCK: list[Row] = [
    {
        "sku": "KT-100",
        "gtin": "4006381333931",
        "title": "Kettle Aurora 1.7 l steel",
        "brand": "Bergwerk",
        "price": "49.90",
    },
    {"sku": "KT-101", "mpn": "AU-12/B", "title": "Kettle Aurora 1.2 l black", "brand": "Bergwerk", "price": "39.90"},
    {"sku": "TS-7", "title": "Toaster Morgenrot two slices red", "brand": "Bergwerk", "price": "35"},
    {"sku": "LM-3", "title": "Desk lamp Polaris LED dimmable", "brand": "Lumina", "price": "59.00"},
]


@pytest.mark.parametrize(
    ("asked", "sku", "strategy"),
    [
        ({"gtin": "4006381333931"}, "KT-100", "gtin"),
        ({"gtin": "04006381333931", "title": "Wasserkocher", "brand": "Bergwerk"}, "KT-100", "gtin"),
        ({"mpn": "au 12 b", "brand": "bergwerk"}, "KT-101", "mpn_brand"),
        ({"sku": "ts7", "title": "toaster"}, "TS-7", "sku"),
        ({"title": "Toaster Morgenrot red, two slices", "brand": "Bergwerk"}, "TS-7", "title_brand"),
        ({"title": "AURORA kettle 1,7 L steel"}, "KT-100", "title"),
        ({"title": "Desk lamp Polariss LED dimable"}, "LM-3", "title"),
        ({"title": "NEW! Polaris lamp (free shipping) LED, dimmable, for your desk"}, "LM-3", "title"),
    ],
)
async def test_rows_are_found(dsn: str, asked: dict[str, str], sku: str, strategy: str) -> None:
    async with shopping(dsn) as bed:
        await load(bed, STOCK)
        item = await seek(bed, "ann", turn=0, priority=(), **asked)
        assert item.status == "DONE", item
        found = item.result["find"]
        assert (found["sku"], found["provider"], found["strategy"]) == (sku, "catalogue", strategy)
        assert found["score"] >= 0.7


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"title": "Garden hose 20 m"}, "no match at catalogue"),
        ({"gtin": "4006381333948"}, "no match at catalogue"),
        ({"title": "Kettle Aurora 1.9 l"}, "no match at catalogue; closest: 'Kettle Aurora 1"),
        (
            {"price": "3.50"},
            "no provider could be queried: the row has no title and no number that a provider supports",
        ),
        ({"title": "it's \\ ' & | ! <-> :* ()"}, "no match at catalogue"),
    ],
)
async def test_rows_that_are_not_there(dsn: str, asked: dict[str, str], reason: str) -> None:
    async with shopping(dsn) as bed:
        await load(bed, STOCK)
        item = await seek(bed, "ann", turn=0, priority=(), **asked)
        assert item.status == "NOT_FOUND"
        assert item.error is not None
        assert item.error["reason"].startswith(reason)
        attempts = await bed.pool.fetchval("select count(*) from forebay.attempt where outcome = 'NOT_FOUND'")
        assert (attempts == 1) == reason.startswith("no provider"), "what cannot be queried is not tried again"


async def test_loading_again_changes_what_is_there(dsn: str) -> None:
    async with shopping(dsn) as bed:
        await load(bed, STOCK)
        cheaper = STOCK[0] | {"price": "44.90", "gtin": ""}
        nameless = {"title": "Mug blue", "brand": "Bergwerk", "price": "5"}
        items = await load(bed, [cheaper, nameless, nameless | {"price": "6"}, STOCK[0] | {"sku": ""}])
        assert [item.status for item in items] == ["DONE"] * 4
        rows = await bed.pool.fetch("select fields ->> 'price' as price, gtin from forebay.product order by key")
        assert [row["price"] for row in rows] == ["49.90", "6.00", "44.90", "39.90", "59.00", "35.00"]
        assert (await seek(bed, title="kettle aurora 1.7 l steel")).result["find"]["price"] == "44.90"


async def test_of_two_rows_about_a_product_the_later_counts(dsn: str) -> None:
    async with shopping(dsn) as bed:
        owner = await bed.pool.fetchval("select forebay.owner_id('ann')")
        for row, price in (((7, 2), "6"), ((7, 1), "5"), ((6, 9), "4"), ((7, 2), "6")):
            write = catalogues.write_product(
                owner, "stock", "k", gtin=None, sku=None, mpn=None, words=["mug"], fields={"price": price}, row=row
            )
            await bed.pool.execute(write.sql, *write.args)
        assert await bed.pool.fetchval("select fields ->> 'price' from forebay.product") == "6"


async def test_rows_that_cannot_be_kept(dsn: str) -> None:
    async with shopping(dsn) as bed:
        items = await load(bed, [{"title": "", "gtin": "123", "price": "4"}, {"title": "Mug", "gtin": "", "price": ""}])
        assert [item.status for item in items] == ["ERROR", "DONE"]
        assert items[0].error is not None
        assert items[0].error["reason"] == (
            "line 2: has no title, gtin, sku or mpn; gtin '123' has 3 digits; GTINs have 8, 12, 13 or 14"
        )


async def test_a_mapping_names_the_columns(dsn: str) -> None:
    async with shopping(dsn) as bed:
        columns = Columns(fields={"title": "Bezeichnung", "price": "Preis"}, decimal_mark=",", currency="EUR")
        await load(bed, [{"Bezeichnung": "Tasse blau", "Preis": "1.234,50"}], mapping=columns)
        found = (await seek(bed, title="tasse blau")).result["find"]
        assert (found["price"], found["currency"], found["title"]) == ("1234.50", "EUR", "Tasse blau")
        assert "gtin" not in found


async def test_a_job_without_a_sheet(dsn: str) -> None:
    from forebay.pipelines.sheets.catalogue_rows import CatalogueLine, catalogue_rows

    async with shopping(dsn) as bed:
        job = await bed.submit(catalogue_rows, CatalogueLine(line=1, row={"title": "Mug"}))
        await bed.run()
        item = await bed.item(job)
        assert item.error is not None
        assert item.error["reason"] == (
            f"job {job.job_id} has no sheet with a mapping and a catalogue: load one by `forebay ingest`"
        )


async def _names(bed: Testbed, **settings: Any) -> list[str]:
    """The catalogues that the API's role sees for ann."""
    async with bed.pool.acquire() as conn, conn.transaction():
        owner = await conn.fetchval("select forebay.owner_id('ann')")
        await conn.execute("set local role forebay_api")
        await conn.fetchval("select forebay.act_for($1, null)", owner)
        return [row["name"] for row in await catalogues.find(conn, None)]


async def test_what_others_have_is_theirs_until_it_is_shared(dsn: str) -> None:
    async with shopping(dsn) as bed:
        await load(bed, STOCK, name="bobs", owner="bob")
        await load(bed, STOCK[:1], name="anns", owner="ann")
        assert (await seek(bed, "ann", sku="TS-7")).status == "NOT_FOUND"
        assert await _names(bed) == ["anns"]
        async with bed.pool.acquire() as conn:
            bob = await conn.fetchval("select forebay.owner_id('bob')")
            assert await catalogues.share(conn, bob, "bobs", shared=True)
            assert not await catalogues.share(conn, bob, "none", shared=True)
        assert (await seek(bed, "ann", sku="TS-7")).result["find"]["id"].startswith("bobs/")
        assert (await seek(bed, "ann", title="toaster morgenrot two slices red")).status == "DONE"
        assert await _names(bed) == ["anns", "bobs"]
        async with bed.pool.acquire() as conn, conn.transaction():
            ann = await conn.fetchval("select forebay.owner_id('ann')")
            await conn.execute("set local role forebay_api")
            await conn.fetchval("select forebay.act_for($1, null)", ann)
            assert not await catalogues.drop(conn, bob, "bobs")  # seeing is not owning
            assert await catalogues.drop(conn, ann, "anns")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with conn.transaction():
                    await conn.execute("update forebay.catalogue set shared = true")
        assert await bed.pool.fetchval("select count(*) from forebay.product") == 4
