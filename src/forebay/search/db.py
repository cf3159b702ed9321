"""Typed calls for the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.db.statements import statements

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection, Pool

load = statements("forebay.search")


async def put(conn: Connection, values: Sequence[object]) -> asyncpg.Record:
    row = await fetch_row(conn, load("put_document"), *values)
    assert row is not None  # noqa: S101 - a function that returns one row
    return row


async def delete(conn: Connection, owner_id: int, kind: str, ref: str) -> bool:
    return bool(await fetch_value(conn, load("delete_document"), owner_id, kind, ref))


async def has_vectors(conn: Connection | Pool) -> bool:
    return bool(await fetch_value(conn, load("has_vectors")))


async def read_documents(conn: Connection | Pool, ids: Sequence[int], model_id: int) -> list[asyncpg.Record]:
    """The documents with these ids, each with the version that the model has."""
    return await fetch(conn, load("read_documents"), list(ids), model_id)


async def read_hashes(conn: Connection | Pool, ids: Sequence[int], model_id: int) -> dict[int, set[bytes]]:
    """The hashes of the chunks that a model has of documents, by document."""
    found: dict[int, set[bytes]] = {number: set() for number in ids}
    for row in await fetch(conn, load("read_hashes"), list(ids), model_id):
        found[row["document_id"]].add(row["hash"])
    return found


async def note_words(conn: Connection | Pool, ids: Sequence[int]) -> None:
    await execute(conn, load("note_words"), list(ids))


async def open_model(conn: Connection | Pool, name: str, dimensions: int) -> asyncpg.Record:
    """Find or add a model: `id`, `state`, and whether it is new."""
    row = await fetch_row(conn, load("open_model"), name, dimensions)
    assert row is not None  # noqa: S101 - a function that returns one row
    return row


async def list_models(conn: Connection | Pool) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_models"))


async def list_ranges(conn: Connection | Pool, model_id: int, size: int) -> list[tuple[int, int]]:
    """Ranges of ids with up to `size` documents each that a model does not have in their present version."""
    return [(row["first"], row["last"]) for row in await fetch(conn, load("list_ranges"), model_id, size)]


async def list_missing(conn: Connection | Pool, model_id: int, first: int, last: int) -> list[int]:
    return [row["id"] for row in await fetch(conn, load("list_missing"), model_id, first, last)]


async def index_forgotten(conn: Connection | Pool, model_id: int, before: datetime, most: int) -> int:
    """Submit jobs for documents that changed before this time and that a model does not have; returns how many."""
    return int(await fetch_value(conn, load("index_forgotten"), model_id, before, most))


async def note_model_job(conn: Connection | Pool, model_id: int, job_id: int) -> None:
    await execute(conn, load("note_model_job"), model_id, job_id)


async def activate_model(conn: Connection | Pool, model_id: int, *, anyway: bool = False) -> int:
    """Search with this model from now on, unless it lacks documents; returns how many it lacks."""
    return int(await fetch_value(conn, load("activate_model"), model_id, anyway))


async def drop_model(conn: Connection | Pool, model_id: int) -> bool:
    """Delete a model and its vectors, unless it is active or building."""
    return bool(await fetch_value(conn, load("drop_model"), model_id))


# What searches read: each sees the documents of the owner that the connection acts for.


async def find_by_words(conn: Connection, words: str, given: str, most: int, *, some: bool = False) -> list[int]:
    """Documents with all words, or with some, the best first."""
    return [row["id"] for row in await fetch(conn, load("find_by_words"), words, some, given, most)]


async def find_by_meaning(
    conn: Connection, model_id: int, vector: Sequence[float], given: str, most: int
) -> list[asyncpg.Record]:
    """Documents with the distance and the place of their nearest chunk, the nearest first."""
    return await fetch(conn, load("find_by_meaning"), model_id, vector, given, most)


async def similar_words(conn: Connection, words: Sequence[str]) -> dict[str, str]:
    """Words that occur, by those of these that do not."""
    rows = await fetch(conn, load("similar_words"), list(words))
    return {row["word"]: row["similar_word"] for row in rows}


async def find_document(conn: Connection, kind: str, ref: str) -> asyncpg.Record | None:
    return await fetch_row(conn, load("find_document"), kind, ref)


async def document_vector(conn: Connection, document_id: int, model_id: int) -> list[float] | None:
    found: list[float] | None = await fetch_value(conn, load("document_vector"), document_id, model_id)
    return found


async def show(
    conn: Connection, ids: Sequence[int], words: str, model_id: int | None, chunks: Sequence[tuple[int, int] | None]
) -> list[asyncpg.Record]:
    """What a list of hits shows of documents, in this order."""
    starts, stops = ([None if each is None else each[side] for each in chunks] for side in (0, 1))
    return await fetch(conn, load("show_documents"), list(ids), words, model_id, starts, stops)


async def count_by_kind(conn: Connection, ids: Sequence[int]) -> dict[str, int]:
    return {row["kind"]: row["count"] for row in await fetch(conn, load("count_by_kind"), list(ids))}


async def list_saved(conn: Connection, owner_id: int) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_saved"), owner_id)


async def save(conn: Connection, owner_id: int, name: str, question: str) -> asyncpg.Record:
    """Save a search, or replace the one of this name."""
    row = await fetch_row(conn, load("save_search"), owner_id, name, question)
    assert row is not None  # noqa: S101 - either inserted or updated
    return row


async def delete_saved(conn: Connection, search_id: int) -> bool:
    return await fetch_row(conn, load("delete_saved"), search_id) is not None


async def set_feed(conn: Connection, search_id: int, token_hash: bytes | None) -> bool:
    return await fetch_row(conn, load("set_feed"), search_id, token_hash) is not None


async def find_feed(conn: Connection, token_hash: bytes) -> asyncpg.Record | None:
    """The saved search whose feed has a token with this hash."""
    return await fetch_row(conn, load("find_feed"), token_hash)


# The backfill.


async def lock_backfill(conn: Connection, kind: str) -> asyncpg.Record | None:
    """How far a kind has been added; None while another transaction adds some of it."""
    return await fetch_row(conn, load("lock_backfill"), kind)


async def note_backfill(conn: Connection, kind: str, position: str | None) -> None:
    await execute(conn, load("note_backfill"), kind, position)


async def forget_backfill(conn: Connection | Pool) -> None:
    await execute(conn, load("forget_backfill"))


# What operators see.


async def has_schema(conn: Connection) -> bool:
    return bool(await fetch_value(conn, load("has_schema")))


async def count_documents(conn: Connection) -> list[asyncpg.Record]:
    return await fetch(conn, load("count_documents"))


async def count_missing(conn: Connection) -> list[asyncpg.Record]:
    """By model in use: how many documents it does not have in their present version."""
    return await fetch(conn, load("count_missing"))
