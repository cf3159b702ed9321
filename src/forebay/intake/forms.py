"""Files that are uploaded as a whole, with a form."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from starlette.datastructures import UploadFile

from forebay.api.problems import Problem
from forebay.errors import DataError
from forebay.intake import db, uploads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.datastructures import FormData, State

    from forebay.api.auth.authentication import Principal
    from forebay.api.idempotency import Idempotency
    from forebay.api.role_pools import RolePools
    from forebay.hooks import Answer
    from forebay.intake.db import AddedFile
    from forebay.intake.target import IntakeTarget
    from forebay.intake.uploads import Announced
    from forebay.settings import Settings

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file of a form."""

    about: Announced
    file: IO[bytes]
    size: int


async def read(target: IntakeTarget, form: FormData, settings: Settings) -> FormFile:
    """The file of a form.

    Raises: Problem, or RequestValidationError that names the field.
    """
    uploads.check_enabled(target, settings, field="pipeline")
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise Problem(422, f"must be a file: {target.file_kinds}", field="file")
    values = {name: value for name, value in form.items() if name != "file"}
    about = uploads.announced(target, {**values, "file": (file.filename or "upload")[:500]})
    size = await asyncio.to_thread(file.file.seek, 0, 2)
    await asyncio.to_thread(_check, target, file.file)
    return FormFile(about, file.file, size)


def _check(target: IntakeTarget, file: IO[bytes]) -> None:
    file.seek(0)
    try:
        target.check_content(file)
    except DataError as error:
        raise Problem(422, str(error), field="file") from error
    file.seek(0)


async def accept(
    target: IntakeTarget, state: State, who: Principal, idempotent: Idempotency, upload: FormFile
) -> Answer:
    """Store the file and submit the job that receives it; returns when the file is stored."""
    pools: RolePools = state.pools
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return known.status, known.body
    about = upload.about
    if about.terms.key is None and idempotent.key is not None:
        about = replace(about, terms=replace(about.terms, key=f"upload {idempotent.key}"))
    added = await uploads.begin(target, state, who, about, upload.size)
    await _store(target, state, who, added, upload)
    answer = answer_of(target, added)
    status = 201 if added.created else 200
    async with pools.own(who) as conn:
        if await idempotent.answer(conn, who) is None:
            await idempotent.keep(conn, who, status, answer)
    return status, answer


def answer_of(target: IntakeTarget, added: AddedFile) -> dict[str, Any]:
    """The response of `POST /api/jobs` for a file."""
    return {
        "jobId": str(added.job_id),
        target.reference_field: str(added.reference),
        "created": added.created,
        "items": 0,
    }


async def _store(target: IntakeTarget, state: State, who: Principal, added: AddedFile, upload: FormFile) -> None:
    """Store the file, or the missing rest of it if it is sent again."""
    start, writer = 0, uploads.PartWriter(target, state, who, added.reference)
    if not added.created:
        async with state.pools.own(who) as conn:
            file = await db.get(conn, target.name, added.reference)
        if file is None or file.is_whole:
            return
        if file.size != upload.size:
            why = f"is that of an upload of {file.size} bytes that is not complete; this file has {upload.size}"
            raise Problem(409, why, field="key")
        start = await asyncio.to_thread(upload.file.seek, file.received or 0)
    while start < upload.size:
        start += await writer.add(_chunks(upload.file), start, upload.size)


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, _BLOCK):
        yield chunk
