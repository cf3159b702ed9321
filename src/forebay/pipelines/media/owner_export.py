"""What an owner gets of the shares besides their jobs, items and files: what is known about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pipelines.media import db
from forebay.pipelines.media.models import share_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from forebay.hooks import Connect

_PAGE = 200


def owner_export(connect: Connect, owner_id: int) -> Mapping[str, AsyncIterator[str]]:
    return {"shares.jsonl": _shares(connect, owner_id)}


async def _shares(connect: Connect, owner_id: int) -> AsyncGenerator[str]:
    after = 0
    while True:
        async with connect() as conn:
            ids = await db.export(conn, owner_id, after, _PAGE)
            found = await db.show(conn, ids)
        yield "".join(f"{share_of(row, {}).model_dump_json(by_alias=True)}\n" for row in found)
        if len(ids) < _PAGE:
            return
        after = ids[-1]
