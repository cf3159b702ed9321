"""All articles of an owner, with their current texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from forebay.pipelines.articles import db as rows

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    import asyncpg

    from forebay.hooks import Connect

_PAGE = 50


def owner_export(connect: Connect, owner_id: int) -> Mapping[str, AsyncIterator[str]]:
    return {"articles.jsonl": _articles(connect, owner_id)}


async def _articles(connect: Connect, owner_id: int) -> AsyncGenerator[str]:
    after = 0
    while True:
        async with connect() as conn:
            page = await rows.export(conn, owner_id, after, _PAGE)
        yield "".join(f"{_line(row)}\n" for row in page)
        if len(page) < _PAGE:
            return
        after = page[-1]["id"]


def _line(row: asyncpg.Record) -> str:
    names = ("slug", "title", "version", "message", "content")
    values = {"id": str(row["id"]), **{name: row[name] for name in names}, "skipEmbedding": row["skip_embedding"]}
    times = {"createdAt": row["created_at"].isoformat(), "updatedAt": row["updated_at"].isoformat()}
    return json.dumps(values | times, ensure_ascii=False)
