"""Files of rows at the door: kept in the store first, then their reading is submitted. A file may come in pieces."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Annotated, Any

from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, Field, ValidationError
from starlette.datastructures import UploadFile

from forebay.api.models import Submission, sent
from forebay.api.problems import Problem
from forebay.engine.db import control
from forebay.engine.submit.options import checked_text
from forebay.errors import DataError
from forebay.log import get_logger
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.db.sheets import NewSheet, Piece
from forebay.pipelines.sheets.intake import piece_key
from forebay.pipelines.sheets.reading import SheetOptions
from forebay.pipelines.sheets.routes.sources import find_source
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.sources import ASKED
from forebay.services.sources.names import checked_path
from forebay.services.spreadsheets import detect
from forebay.storage.names import file_name
from forebay.storage.spool import spooled
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.datastructures import FormData, State

    from forebay.api.auth.authentication import Principal
    from forebay.api.file_access import FileAccess
    from forebay.api.idempotency import Idempotency
    from forebay.api.models import NewJob
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.pipelines.sheets.db.sheets import Added
    from forebay.settings import Settings

log = get_logger("api")

PIPELINE = "sheets"
PIECE_BYTES = 64 << 20  # of an upload that come at a time are safe when the next begin
_READ = 1 << 20


class UploadedSheet(Submission):
    """A file of rows, or of pictures."""

    file: Annotated[str, Field(min_length=1, max_length=500)]
    options: Annotated[SheetOptions, BeforeValidator(sent)] = Field(
        default=SheetOptions(), description="as JSON: what is known about the file"
    )


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came with a form."""

    about: UploadedSheet
    file: IO[bytes]
    size: int


async def uploaded(form: FormData, settings: Settings) -> Upload:
    """The file of rows that a form brings.

    Raises: Problem, or RequestValidationError that names the field.
    """
    if not settings.of(SheetsSettings).enabled:
        raise Problem(404, "is switched off here: FOREBAY_SHEETS_ENABLED", field="pipeline")
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise Problem(422, "must be a file: CSV, XLSX, a picture, or a ZIP of pictures", field="file")
    values = {name: value for name, value in form.items() if name != "file"}
    about = described({**values, "file": (file.filename or "upload")[:500]})
    size = await asyncio.to_thread(file.file.seek, 0, 2)
    await asyncio.to_thread(_check, file.file)
    return Upload(about, file.file, size)


def described(values: dict[str, Any]) -> UploadedSheet:
    """What is said about a file, checked.

    Raises: RequestValidationError that names the field.
    """
    try:
        about = UploadedSheet.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error
    about = about.model_copy(update={"file": file_name(about.file)})
    if about.run_at is not None:
        raise Problem(422, "files are read at once: use options.paused, and resume the job later", field="runAt")
    return about


def _checked_path(path: str) -> str:
    """A path within a source, as sources take it."""
    try:
        return "/".join(checked_path(checked_text("file", path, 500)))
    except DataError as error:
        raise Problem(422, str(error), field="file") from error


def _check(file: IO[bytes]) -> None:
    """What is neither a table nor a picture is refused at once."""
    try:
        found = detect(file)
    except DataError as error:
        raise Problem(422, str(error), field="file") from error
    if found.kind == "unknown":
        raise Problem(422, found.reason, field="file")
    file.seek(0)


async def take(state: State, who: Principal, idempotent: Idempotency, upload: Upload) -> tuple[int, dict[str, Any]]:
    """Keep the file and submit its reading; answers when the file is safe."""
    pools: RolePools = state.pools
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return known.status, known.body
    about = upload.about
    if about.key is None and idempotent.key is not None:
        about = about.model_copy(update={"key": f"upload {idempotent.key}"})
    added = await begin(state, who, about, upload.size)
    await _store(state, who, added, upload)
    answer = _answer(added)
    status = 201 if added.created else 200
    async with pools.own(who) as conn:
        if await idempotent.answer(conn, who) is None:
            await idempotent.keep(conn, who, status, answer)
    return status, answer


async def refer(state: State, who: Principal, idempotent: Idempotency, body: NewJob) -> tuple[int, dict[str, Any]]:
    """Take a file of a declared source, which is fetched in the background.

    Raises: Problem, RequestValidationError or NotFoundError that names the field.
    """
    name, _, path = (body.file or "").partition(":")
    if not path or body.items is not None or "input" in body.model_fields_set:
        raise Problem(
            422, "names a file of a source, as drop:march.csv, and goes without `input` and `items`", field="file"
        )
    given: dict[str, Any] = {
        "file": _checked_path(path),
        "options": body.options or {},
        "runAt": body.run_at,
    }
    about = described({"pipeline": PIPELINE, **given})
    source = find_source(who, state.settings, name)
    options = about.options.model_dump(by_alias=True, exclude_defaults=True)
    new = NewSheet(path, None, options, source.name, path, f"{ASKED}{secrets.token_hex(8)}")
    pools: RolePools = state.pools
    async with pools.of(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return known.status, known.body
        (await state.quotas.of(pools.owners, who.owner_id)).admit()
        added = await sheets.take_from_source(
            conn,
            source.owner,
            new,
            paused=about.options.paused,
            actor=who.actor,
            key=body.key,
            priority=body.priority,
            meta=body.meta,
        )
        answer = _answer(added)
        await idempotent.keep(conn, who, 201 if added.created else 200, answer)
    return 201 if added.created else 200, answer


def _answer(added: Added) -> dict[str, Any]:
    return {"jobId": str(added.job_id), "sheetId": str(added.id), "created": added.created, "items": 0}


async def _store(state: State, who: Principal, added: Added, upload: Upload) -> None:
    """Keeps the file, or what is missing of it, when this is not the first time that it is sent."""
    start, pieces = 0, Pieces(state, who, added.id)
    if not added.created:
        async with state.pools.own(who) as conn:
            sheet = await sheets.get(conn, sheet_id=added.id)
        if sheet is None or sheet.intake_job_id is not None:
            return
        if sheet.size != upload.size:
            why = f"is that of an upload of {sheet.size} bytes that is not complete; this file has {upload.size}"
            raise Problem(409, why, field="key")
        start = await asyncio.to_thread(upload.file.seek, sheet.received)
    while start < upload.size:
        start += await pieces.add(_chunks(upload.file), start, upload.size)


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, _READ):
        yield chunk


async def begin(state: State, who: Principal, about: UploadedSheet, size: int) -> Added:
    """Open the job of a file's rows, before the first of its bytes is stored."""
    pools: RolePools = state.pools
    quotas: Quotas = state.quotas
    settings: Settings = state.settings
    if not 0 < size <= settings.api_max_upload_bytes:
        what = f"has {size} bytes; 1 to {settings.api_max_upload_bytes} are allowed"
        raise Problem(422 if size == 0 else 413, what, field="file")
    quota = await quotas.of(pools.owners, who.owner_id)
    quota.admit()
    new = NewSheet(about.file, size, about.options.model_dump(by_alias=True, exclude_defaults=True))
    with submitting(PIPELINE) as now:
        async with pools.own(who) as conn:
            added = await sheets.add(
                conn, who.owner_id, new, key=about.key, priority=about.priority, meta=about.meta, trace=now.trace
            )
            if added.created and about.options.paused:
                await control.pause(conn, added.job_id, who.actor)
        now.made(added.job_id)
    if added.created:
        log.info("sheet_added", sheet=added.id, job=added.job_id, owner=who.owner, bytes=size)
    return added


class Pieces:
    """The parts of one upload, each of which is safe once it is counted."""

    def __init__(self, state: State, who: Principal, sheet_id: int) -> None:
        self._pools: RolePools = state.pools
        self._file_access: FileAccess = state.file_access
        self._who = who
        self._sheet_id = sheet_id

    async def add(self, chunks: AsyncIterator[bytes], start: int, size: int) -> int:
        """Store the next piece, as much as comes of it; the last submits the reading. Answers how many bytes came.

        Raises: Problem 409 when another request goes on with the same upload, or it is complete.
        """
        async with self._pools.own(self._who) as conn:
            name = await sheets.begin_piece(conn, self._sheet_id, start)
        if name is None:
            raise Problem(409, "the upload is complete, or was given up")
        store = self._file_access.store
        try:
            async with spooled(_at_most(chunks, min(PIECE_BYTES, size - start)), store.spool) as spool:
                came = spool.size
                if came:
                    await store.put(piece_key(self._sheet_id, name), spool, "application/octet-stream")
            counted = came > 0 and await self._count(Piece(start, came, name), size)
        except BaseException:
            await self._drop(start, name)
            raise
        if not counted:
            await self._drop(start, name)
        if came and not counted:
            raise Problem(409, "another request goes on with the same upload", headers={"Retry-After": "1"})
        return came

    async def _count(self, piece: Piece, size: int) -> bool:
        async with self._pools.own(self._who) as conn:
            counted = await sheets.end_piece(conn, self._sheet_id, piece)
            if counted and piece.start + piece.size == size:
                await begin_reading(conn, self._sheet_id)
            return counted

    async def _drop(self, start: int, name: str) -> None:
        """What is left of it is deleted now, or else by the housekeeping."""
        with suppress(Exception):
            await self._file_access.store.delete(piece_key(self._sheet_id, name))
            async with self._pools.own(self._who) as conn:
                await sheets.drop_piece(conn, self._sheet_id, start, name)


async def begin_reading(conn: Connection, sheet_id: int) -> None:
    with submitting("sheet_intake") as now:
        now.made(await sheets.begin_intake(conn, sheet_id, now.trace))


async def _at_most(chunks: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """No more than so many bytes; what comes at once is not divided, so that it may be a little less."""
    left = size
    while left > 0:
        try:
            chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        left -= len(chunk)
        yield chunk
