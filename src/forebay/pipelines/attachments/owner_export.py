"""What an owner gets of attachments besides their jobs and files: the instances with their forms, and the file list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pipelines.attachments import db
from forebay.pipelines.attachments.models import detail_of, file_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from forebay.hooks import Connect

_PAGE = 50


def owner_export(connect: Connect, owner_id: int) -> Mapping[str, AsyncIterator[str]]:
    return {"attachments.jsonl": _instances(connect)}


async def _instances(connect: Connect) -> AsyncGenerator[str]:
    before: int | None = None
    while True:
        async with connect() as conn:
            page = await db.instances(conn, before, _PAGE)
            lines: list[str] = []
            for each in page:
                if (row := await db.instance(conn, each["id"])) is not None:
                    files = [file_of(file) for file in await db.files_of(conn, each["id"])]
                    lines.append(f"{detail_of(row, files, [], None).model_dump_json(by_alias=True)}\n")
        yield "".join(lines)
        if len(page) < _PAGE:
            return
        before = page[-1]["id"]
