"""What an owner gets of the sheets besides their jobs, items and files: mapping of columns, layout and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.models import sheet_info

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from forebay.hooks import Connect

_PAGE = 100


def owner_export(connect: Connect, owner_id: int) -> Mapping[str, AsyncIterator[str]]:
    return {"sheets.jsonl": _sheets(connect, owner_id)}


async def _sheets(connect: Connect, owner_id: int) -> AsyncGenerator[str]:
    before: int | None = None
    while True:
        async with connect() as conn:
            page = await sheets.page(conn, owner_id, before, _PAGE)
            found = [await sheets.get(conn, sheet_id=row["id"]) for row in page]
        yield "".join(f"{sheet_info(sheet).model_dump_json(by_alias=True)}\n" for sheet in found if sheet is not None)
        if len(page) < _PAGE:
            return
        before = page[-1]["id"]
