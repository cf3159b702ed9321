"""Catalogues and their products in the database."""

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
    """Products with this GTIN of 14 digits."""
    return await _find(pool, "find_products_by_gtin", owner_id, gtin, most)


async def find_sku(pool: Pool, owner_id: int, sku: str, most: int) -> list[asyncpg.Record]:
    """Products with this normalized article number."""
    return await _find(pool, "find_products_by_sku", owner_id, sku, most)


async def find_mpn(pool: Pool, owner_id: int, mpn: str, most: int) -> list[asyncpg.Record]:
    """Products with this normalized manufacturer part number."""
    return await _find(pool, "find_products_by_mpn", owner_id, mpn, most)


async def find_text(
    pool: Pool, owner_id: int, words: Sequence[str], most: int, *, is_fuzzy: bool
) -> list[asyncpg.Record]:
    """Products with these words, or if `is_fuzzy` with some of them, else those with a similar spelling."""
    return await _find(pool, "find_products_by_text", owner_id, list(dict.fromkeys(words)), is_fuzzy, most)


async def _find(pool: Pool, statement: str, *args: Any) -> list[asyncpg.Record]:
    return await fetch(pool, load(statement), *args)


async def loading(pool: Pool, job_id: int) -> tuple[str | None, str | None]:
    """The column mapping of a sheet, and the catalogue for its rows."""
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
    row: tuple[int, int],  # the job and the number of the item
) -> Statement:
    """The statement that stores a product in a catalogue, which is created if needed; the later row wins."""
    distinct = list(dict.fromkeys(words))
    given = (owner_id, catalogue, key, gtin, sku, mpn, distinct, to_json(dict(fields)).decode(), *row)
    return Statement(load("write_product"), given)


async def find(conn: Connection, owner_id: int | None) -> list[asyncpg.Record]:
    """The catalogues of an owner and shared ones, or with None all that the caller may see."""
    return await fetch(conn, load("list_catalogues"), owner_id)


async def drop(conn: Connection, owner_id: int, name: str) -> bool:
    """Delete a catalogue and its products; returns whether it existed."""
    return await fetch_value(conn, load("drop_catalogue"), owner_id, name) is not None


async def share(conn: Connection, owner_id: int, name: str, *, shared: bool) -> bool:
    """Share a catalogue with all owners, or stop sharing it; returns whether it existed."""
    return await fetch_value(conn, load("share_catalogue"), owner_id, name, shared) is not None
