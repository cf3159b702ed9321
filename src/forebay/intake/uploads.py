"""Uploads: first the job of a file is opened, then its parts are stored, then the job that receives it is submitted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError, create_model, field_validator

from forebay.api.models import Submission, sent
from forebay.api.problems import Problem
from forebay.engine.db import control
from forebay.intake import db
from forebay.intake.db import FilePart, FileTerms, NewFile
from forebay.intake.parts import part_key
from forebay.log import get_logger
from forebay.storage.names import file_name
from forebay.storage.spool import spooled
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.datastructures import State

    from forebay.api.auth.authentication import Principal
    from forebay.api.file_access import FileAccess
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.intake.db import AddedFile
    from forebay.intake.target import IntakeTarget
    from forebay.settings import Settings

log = get_logger("api")

NOT_FOR_FILES = "is not supported for files; leave it out"
PART_BYTES = 64 << 20  # an interrupted upload loses at most the current part


@dataclass(frozen=True, slots=True)
class Announced:
    """The validated announcement of a file."""

    name: str
    options: BaseModel
    terms: FileTerms

    @property
    def given_options(self) -> dict[str, Any]:
        return self.options.model_dump(by_alias=True, exclude_defaults=True)

    @property
    def is_paused(self) -> bool:
        return bool(getattr(self.options, "paused", False))


def check_enabled(target: IntakeTarget, settings: Settings, field: str | None = None) -> None:
    """Raises: Problem 404 if the target is disabled."""
    if not target.own_settings(settings).enabled:
        raise Problem(404, f"is switched off here: {target.settings.variable('enabled')}", field=field)


def announced(target: IntakeTarget, values: dict[str, Any]) -> Announced:
    """Validate the announcement of a file.

    Raises: RequestValidationError that names the field; Problem.
    """
    try:
        about: Any = _announcement(target).model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error
    if about.run_at is not None:
        hint = ": use options.paused, and resume the job later" if "paused" in target.options.model_fields else ""
        raise Problem(422, f"files are read at once{hint}", field="runAt")
    if about.unique is not None:
        raise Problem(422, NOT_FOR_FILES, field="unique")
    return Announced(file_name(about.file), about.options, FileTerms(about.key, about.priority, about.meta))


@cache
def _announcement(target: IntakeTarget) -> type[Submission]:
    """The fields of a submission, the name of the file, and the options of this target."""
    fields: dict[str, Any] = {
        "file": (Annotated[str, Field(min_length=1, max_length=500)], ...),
        "options": (target.options, target.options()),
    }
    validators: dict[str, Any] = {"parse_options": field_validator("options", mode="before")(sent)}  # forms send text
    return create_model("AnnouncedFile", __base__=Submission, __validators__=validators, **fields)


async def begin(target: IntakeTarget, state: State, who: Principal, about: Announced, size: int) -> AddedFile:
    """Open the job of a file, before its first byte is stored.

    Raises: Problem if the file is not accepted, or too large.
    """
    pools: RolePools = state.pools
    quotas: Quotas = state.quotas
    if why := target.check_name(state.settings, about.name):
        raise Problem(422, why, field="file")
    most = target.max_bytes(state.settings)
    if not 0 < size <= most:
        raise Problem(422 if size == 0 else 413, f"has {size} bytes; 1 to {most} are allowed", field="file")
    (await quotas.of(pools.owners, who.owner_id)).admit()
    with submitting(target.name) as now:
        terms = FileTerms(about.terms.key, about.terms.priority, about.terms.meta, now.trace)
        async with pools.own(who) as conn:
            await target.check_options(conn, state.settings, about.options)
            added = await target.add(conn, who.owner_id, NewFile(about.name, size, about.given_options), terms)
            if added.created and about.is_paused:
                await control.pause(conn, added.job_id, who.actor)
        now.made(added.job_id)
    if added.created:
        log.info(
            "file_announced",
            target=target.name,
            reference=added.reference,
            job=added.job_id,
            owner=who.owner,
            bytes=size,
        )
    return added


class PartWriter:
    """Stores the parts of one upload; a part is durable once it is recorded."""

    def __init__(self, target: IntakeTarget, state: State, who: Principal, reference: int) -> None:
        self._pools: RolePools = state.pools
        self._file_access: FileAccess = state.file_access
        self._target = target
        self._who = who
        self._reference = reference

    async def add(self, chunks: AsyncIterator[bytes], start: int, size: int) -> int:
        """Store the next part, as far as it is received; the last one submits the job that receives the file. Returns
        the number of bytes.

        Raises: Problem 409 if another request continues the same upload, or it is complete.
        """
        async with self._pools.own(self._who) as conn:
            name = await db.begin_part(conn, self._target.name, self._reference, start)
        if name is None:
            raise Problem(409, "the upload is complete or cancelled")
        store = self._file_access.store
        try:
            async with spooled(_at_most(chunks, min(PART_BYTES, size - start)), store.spool) as spool:
                came = spool.size
                if came:
                    await store.put(part_key(self._reference, name), spool, "application/octet-stream")
            counted = came > 0 and await self._count(FilePart(start, came, name, spool.sha256), size)
        except BaseException:
            await self._drop(start, name)
            raise
        if not counted:
            await self._drop(start, name)
        if came and not counted:
            raise Problem(409, "another request continues the same upload", headers={"Retry-After": "1"})
        return came

    async def _count(self, part: FilePart, size: int) -> bool:
        async with self._pools.own(self._who) as conn:
            counted = await db.end_part(conn, self._target.name, self._reference, part)
            if counted and part.start + part.size == size:
                await _begin_receiving(conn, self._target, self._reference)
            return counted

    async def _drop(self, start: int, name: str) -> None:
        """Delete a partial part; if that fails, the chore for uploads deletes it later."""
        with suppress(Exception):
            await self._file_access.store.delete(part_key(self._reference, name))
            async with self._pools.own(self._who) as conn:
                await db.drop_part(conn, self._target.name, self._reference, start, name)


async def _begin_receiving(conn: Connection, target: IntakeTarget, reference: int) -> None:
    with submitting(target.receiving) as now:
        now.made(await db.begin_receiving(conn, target.name, reference, target.receiving, now.trace))


async def _at_most(chunks: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """Chunks until `size` bytes are reached; chunks are not divided."""
    left = size
    while left > 0:
        try:
            chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        left -= len(chunk)
        yield chunk
