"""Everything that belongs to an owner, as files of one archive."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic_core import to_json

from forebay.api import db
from forebay.api.item_models import attempt_of
from forebay.api.models import audit_of, job_of
from forebay.api.zip_stream import ZipStream
from forebay.engine.db import lists
from forebay.engine.db.lists import AttemptFilter, AuditFilter, JobFilter
from forebay.errors import ContentMissing
from forebay.identity import db as identity
from forebay.log import get_logger
from forebay.packages import owner_exports
from forebay.storage import db as files
from forebay.storage.blobs import key_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools
    from forebay.hooks import Connect
    from forebay.storage.db import File
    from forebay.storage.store import Store

log = get_logger("api")

_PAGE = 500
_README = """\
Everything that forebay keeps for {owner}, as of {at}.

account.json     the account, with its sessions, tokens (without their secrets) and preferences
jobs.jsonl       jobs, one a line, the newest first
items.jsonl      their items: input, result and error
attempts.jsonl   the attempts that are still kept
audit.jsonl      who did what with them
files.jsonl      the files: name, type, size and SHA-256
files/           their contents, each under its id and name
Others           what the packages of pipelines add

Not here: what is in the trash, thumbnails, and what can be made again, such as the texts of saved pages.
missing.txt, if it is there, names files whose contents are lost.
"""


class OwnerArchive:
    """The archive of one caller. Each page of rows is read in a transaction of its own: a slow reader holds none."""

    def __init__(self, who: Principal, pools: RolePools, store: Callable[[], Store], connect: Connect) -> None:
        self._who, self._pools, self._store, self._connect = who, pools, store, connect
        self._at = datetime.now(UTC)
        self._missing: list[str] = []

    async def stream(self) -> AsyncGenerator[bytes]:
        """The bytes of the archive."""
        archive = ZipStream()
        async for name, content in self._texts():
            async for part in archive.add(name, _encoded(content), self._at, compress=True):
                yield part
        async for file in self._files():
            added = archive.add(_member(file), self._content(file), file.created_at, compress=_shrinks(file))
            async for part in added:
                yield part
        if self._missing:
            lines = _once("\n".join(self._missing) + "\n")
            async for part in archive.add("missing.txt", _encoded(lines), self._at, compress=True):
                yield part
        yield archive.close()

    async def _texts(self) -> AsyncGenerator[tuple[str, AsyncIterator[str]]]:
        owner_id = self._who.owner_id
        yield "README.txt", _once(_README.format(owner=self._who.owner, at=self._at.isoformat(timespec="seconds")))
        yield "account.json", _once(await self._account())
        yield "jobs.jsonl", self._jobs()
        yield "items.jsonl", self._items()
        yield "attempts.jsonl", self._attempts()
        yield "audit.jsonl", self._audit()
        yield "files.jsonl", self._file_lines()
        for export in owner_exports():
            for name, content in export(self._connect, owner_id).items():
                yield name, content

    async def _account(self) -> str:
        who = self._who
        about: dict[str, object] = {"name": who.owner, "role": who.role, "exportedAt": self._at}
        if who.account_id is not None:
            about["tokens"] = await identity.tokens(self._pools.identity, who.account_id)
            about["sessions"] = await identity.sessions(self._pools.identity, who.account_id, b"")
        async with self._connect() as conn:
            kept = await db.preferences(conn, who.owner_id)
        about["preferences"] = {} if kept is None else json.loads(kept["value"])
        return to_json(about, indent=2).decode() + "\n"

    async def _jobs(self) -> AsyncGenerator[str]:
        before: int | None = None
        while True:
            async with self._connect() as conn:
                rows, before, _ = await lists.jobs(conn, JobFilter(owner_id=self._who.owner_id), before, _PAGE)
            yield "".join(f"{job_of(row).model_dump_json(by_alias=True)}\n" for row in rows)
            if before is None:
                return

    async def _items(self) -> AsyncGenerator[str]:
        before: int | None = None
        while True:
            async with self._connect() as conn:
                jobs, before, _ = await lists.jobs(conn, JobFilter(owner_id=self._who.owner_id), before, _PAGE)
            for job in jobs:
                async for lines in self._items_of(job["id"]):
                    yield lines
            if before is None:
                return

    async def _items_of(self, job_id: int) -> AsyncGenerator[str]:
        page: lists.ItemsPage | None = lists.FIRST_ITEMS
        while page is not None:
            async with self._connect() as conn:
                found, page = await lists.full_items_page(conn, job_id, page, None)
            yield "".join(
                f'{{"jobId": "{job_id}", "itemId": "{item.n}", "status": "{item.status}", '
                f'"key": {json.dumps(item.key)}, "input": {item.input}, '
                f'"result": {item.result or "null"}, "error": {item.error or "null"}}}\n'
                for item in found
            )

    async def _attempts(self) -> AsyncGenerator[str]:
        before: lists.AttemptKey | None = None
        while True:
            async with self._connect() as conn:
                rows, before = await lists.attempts(conn, AttemptFilter(owner_id=self._who.owner_id), before, _PAGE)
            yield "".join(f"{attempt_of(row).model_dump_json(by_alias=True)}\n" for row in rows)
            if before is None:
                return

    async def _audit(self) -> AsyncGenerator[str]:
        before: int | None = None
        while True:
            async with self._connect() as conn:
                rows, before, _ = await lists.audit(conn, AuditFilter(owner_id=self._who.owner_id), before, _PAGE)
            yield "".join(f"{audit_of(row).model_dump_json(by_alias=True)}\n" for row in rows)
            if before is None:
                return

    async def _files(self) -> AsyncGenerator[File]:
        after = 0
        while True:
            async with self._connect() as conn:
                found = await files.page(conn, self._who.owner_id, after, _PAGE)
            for file in found:
                yield file
            if len(found) < _PAGE:
                return
            after = found[-1].id

    async def _file_lines(self) -> AsyncGenerator[str]:
        async for file in self._files():
            about = {"path": _member(file), "mediaType": file.media_type, "size": file.size}
            about |= {"sha256": file.object.sha256.hex(), "createdAt": file.created_at}
            yield f"{to_json(about).decode()}\n"

    async def _content(self, file: File) -> AsyncGenerator[bytes]:
        try:
            async for chunk in await self._store().open(key_of(file.object)):
                yield chunk
        except ContentMissing:
            log.warning("content_missing", file=file.id)
            self._missing.append(_member(file))


def _member(file: File) -> str:
    """The path in the archive: no part of it is chosen by others than the owner, and none leads out of the folder."""
    name = "".join("_" if char in '/\\:*?"<>|' or ord(char) < 32 else char for char in file.name)
    return f"files/{file.id}-{name}"


def _shrinks(file: File) -> bool:
    """Text is compressed; pictures, sound and archives are already."""
    return file.media_type.startswith("text/") or file.media_type in {"application/json", "application/xml"}


async def _once(text: str) -> AsyncGenerator[str]:
    yield text


async def _encoded(content: AsyncIterator[str]) -> AsyncGenerator[bytes]:
    async for text in content:
        yield text.encode()
