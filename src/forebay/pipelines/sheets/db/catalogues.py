"""Catalogues: products put into them, found again, listed and dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from forebay.db.calls import fetch, fetch_row, fetch_value
from forebay.pipelines.sheets.db.sql import load
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import asyncpg

    from forebay.db.pool import Connection, Pool


async def find_gtin(pool: Pool, owner_id: int, gtin: str, most: int) -> list[asyncpg.Record]:
    """Products with this number of 14 digits."""
    return await _find(pool, "find_products_by_gtin", owner_id, gtin, most)


async def find_sku(pool: Pool, owner_id: int, sku: str, most: int) -> list[asyncpg.Record]:
    """Products with this article number, as it is compared."""
    return await _find(pool, "find_products_by_sku", owner_id, sku, most)


async def find_mpn(pool: Pool, owner_id: int, mpn: str, most: int) -> list[asyncpg.Record]:
    """Products with this number of their maker's, as it is compared."""
    return await _find(pool, "find_products_by_mpn", owner_id, mpn, most)


async def find_text(
    pool: Pool, owner_id: int, words: Sequence[str], most: int, *, is_fuzzy: bool
) -> list[asyncpg.Record]:
    """Products with these words, or if `is_fuzzy` with some of them, and else those that are spelled alike."""
    return await _find(pool, "find_products_by_text", owner_id, list(dict.fromkeys(words)), is_fuzzy, most)


async def _find(pool: Pool, statement: str, *args: Any) -> list[asyncpg.Record]:
    return await fetch(pool, load(statement), *args)


async def loading(pool: Pool, job_id: int) -> tuple[str | None, str | None]:
    """The mapping of a sheet's columns, and the catalogue that its rows go into."""
    row = await fetch_row(pool, load("read_loading"), job_id)
    return (None, None) if row is None else (row["mapping"], row["catalogue"])


def write_product(  # noqa: PLR0913 - each is a column
    owner_id: int,
    catalogue: str,
    key: str,
    *,
    gtin: str | None,
    sku: str | None,
    mpn: str | None,
    words: Sequence[str],
    fields: Mapping[str, object],
    row: tuple[int, int],  # its job, and its number there
) -> Statement:
    """A product into a catalogue of the owner's, which is made when there is none; of two rows the later counts."""
    distinct = list(dict.fromkeys(words))
    given = (owner_id, catalogue, key, gtin, sku, mpn, distinct, to_json(dict(fields)).decode(), *row)
    return Statement(load("write_product"), given)


async def find(conn: Connection, owner_id: int | None) -> list[asyncpg.Record]:
    """The catalogues of an owner and those that are shared, or with None all that the caller sees."""
    return await fetch(conn, load("list_catalogues"), owner_id)


async def drop(conn: Connection, owner_id: int, name: str) -> bool:
    """Delete one with all that is in it; tells whether it was there."""
    return await fetch_value(conn, load("drop_catalogue"), owner_id, name) is not None


async def share(conn: Connection, owner_id: int, name: str, *, shared: bool) -> bool:
    """Let everybody look things up in it, or no longer; tells whether it was there."""
    return await fetch_value(conn, load("share_catalogue"), owner_id, name, shared) is not None
