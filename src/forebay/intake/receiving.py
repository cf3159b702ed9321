"""Receiving: a file is fetched, or joined from its parts, stored, and passed to its target.

    receive → what the target adds
            → clean_up

It is the same for uploads, folders, S3, FTP and SFTP. Each target has its own pipeline, so that no target waits for
the files of another.
"""

from __future__ import annotations

from contextlib import aclosing, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from forebay import resources
from forebay.engine.db.adapters import adapter_for
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.engine.submit.batch_size import BatchSize
from forebay.engine.submit.job_stream import JobStream
from forebay.errors import ConflictError, StepError, classify_error, one_line
from forebay.intake import db
from forebay.intake.parts import joined, part_key
from forebay.intake.sources import opened_source, version_of
from forebay.intake.target import ReceivedFile
from forebay.services.download.receiving import receive as receive_into
from forebay.types import Done, ErrorClass, Skip

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.db.pool import Pool
    from forebay.engine.declare.step import Step
    from forebay.engine.submit.job_stream import SourceRows
    from forebay.intake.db import IntakeFile
    from forebay.intake.target import IntakeTarget
    from forebay.storage import Blobs, Stored

PATIENT = Retry(attempts=5, base=2.0, cap=300.0)
LONG_S = 12 * 3600.0


class Incoming(BaseModel):
    """The target's reference of a file to receive."""

    reference: Annotated[int, Field(ge=1)]


class Received(BaseModel):
    """The stored content, and its version at the source."""

    sha256: str
    size: int
    version: str | None = None


class ReceivingPipeline(Pipeline[Incoming]):
    """The pipeline that receives the files of one target; the target may add steps after `receive`."""

    def __init__(self, target: IntakeTarget) -> None:
        super().__init__(target.receiving, Incoming, internal=True, noun="file", needs_database=True)
        self.target = target
        self.receive = self._declare_receive()
        self._declare_clean_up()

    def _declare_receive(self) -> Step[Incoming, Received]:
        # At least two files are received at a time, so that a slow one does not block all others.
        @self.step(timeout=LONG_S, concurrency=(2, 4), retry=PATIENT, max_expiries=1000)
        async def receive(ctx: Context, given: Incoming) -> Done[Received] | Skip:
            """Fetch the file, or join its parts, and store it."""
            return await _receive(ctx, self.target, given.reference)

        return receive

    def _declare_clean_up(self) -> None:
        @self.step(
            after=self.receive,
            optional=True,
            timeout=600,
            concurrency=(1, 4),
            retry=PATIENT,
            renamed_from="put_away",
        )
        async def clean_up(ctx: Context, given: Incoming, received: Received) -> bool | Skip:
            """Delete the parts, and delete or move the file at its source as declared there; false if the file has
            changed meanwhile and therefore stays."""
            return await _clean_up(ctx, self.target, given.reference, received)


@cache
def receiving_pipeline(target: IntakeTarget) -> ReceivingPipeline:
    """The pipeline that receives the files of a target; the same object in every call."""
    return ReceivingPipeline(target)


async def _receive(ctx: Context, target: IntakeTarget, reference: int) -> Done[Received] | Skip:
    database, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    file = await db.get(database, target.name, reference)
    if file is None:
        return Skip("the file was deleted", item=True)
    if file.file_id is not None and (known := await db.content(database, file.file_id)) is not None:
        return Done(Received(sha256=known[0], size=known[1]))  # it was received before
    ctx.progress(note="receiving the file")
    try:
        stored, version = await (_uploaded if file.source is None else _fetched)(ctx, target, file, blobs)
    except Exception as error:
        if is_last(ctx, PATIENT, error):
            await end_job(database, file.job_id, target.failed(file, reason_of(error)))
        if isinstance(error, StepError):
            error.writing(db.write_problem(target.name, reference, str(error)))
        raise
    made = Received(sha256=stored.sha256, size=stored.size, version=version)
    written = db.write_received(target.name, reference, stored.file_id, stored.size)
    return Done(made, [stored.write(), written, *target.complete(file, _received_file(file, stored))])


def _received_file(file: IntakeFile, stored: Stored) -> ReceivedFile:
    return ReceivedFile(
        file_id=str(stored.file_id),
        name=stored.name,
        size=stored.size,
        sha256=stored.sha256,
        media_type=stored.media_type,
        options=dict(file.options),
    )


def reason_of(error: Exception) -> str:
    """What the owner of a file is told about an error, also about an unexpected one."""
    if isinstance(error, StepError):
        return str(error)
    return f"an unexpected error, see the log of the worker ({type(error).__name__}: {one_line(error)})"


def is_last(ctx: Context, retry: Retry, error: Exception) -> bool:
    """Whether the step is not tried again after this."""
    kind = classify_error(error)
    if kind in (ErrorClass.CONFIG, ErrorClass.RESOURCE, ErrorClass.THROTTLED):
        return False
    return retry.delay_after(kind, ctx.attempt) is None


async def end_job(database: Pool, job_id: int, told: SourceRows) -> None:
    """End the job of a file that cannot be received, with a failed item that gives the reason."""
    stream = JobStream(adapter_for(database))
    await stream.reopen(job_id)
    if not stream.is_sealed:
        with suppress(ConflictError):  # it has been cancelled
            await stream.send(told, BatchSize(), seal=True)


async def _uploaded(ctx: Context, target: IntakeTarget, file: IntakeFile, blobs: Blobs) -> tuple[Stored, None]:
    """Join the parts of an upload.

    Raises: DataError if the file is incomplete or damaged.
    """
    parts = await db.parts(await ctx.get(resources.database), target.name, file.reference)
    async with aclosing(joined(blobs.store, file, parts)) as content:
        stored = await blobs.put(
            _watched(ctx, content, file.size),
            owner_id=file.owner_id,
            name=_file_name(file),
            max_bytes=target.max_bytes(await ctx.get(resources.settings)),
        )
    return stored, None


async def _fetched(ctx: Context, target: IntakeTarget, file: IntakeFile, blobs: Blobs) -> tuple[Stored, str]:
    """Fetch a file from its source, continuing an interrupted attempt; returns it with its version.

    Raises: DataError when the file has changed, or is too large.
    """
    most = target.max_bytes(await ctx.get(resources.settings))
    async with opened_source(ctx, target, file.source or "") as source, resources.partial_file(ctx) as partial_file:
        version = await version_of(source, file)
        await receive_into(
            partial_file,
            version,
            partial(source.read, file.path or "", version),
            name=file.name,
            max_bytes=most,
            total=file.size,
            report=resources.reporting(ctx, "receiving the file"),
        )
        stored = await blobs.adopt(
            partial_file.path, owner_id=file.owner_id, name=_file_name(file), sha256=partial_file.sha256
        )
        partial_file.discard()
    return stored, version


def _file_name(file: IntakeFile) -> str:
    return Path(file.name).name or file.target


async def _watched(ctx: Context, content: AsyncIterator[bytes], size: int | None) -> AsyncIterator[bytes]:
    seen = 0
    async for chunk in content:
        seen += len(chunk)
        ctx.progress(note="receiving the file", bytes_done=seen, bytes_total=size)
        yield chunk


async def _clean_up(ctx: Context, target: IntakeTarget, reference: int, received: Received) -> bool | Skip:
    database, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    for name in await db.drop_parts(database, target.name, reference):
        await blobs.store.delete(part_key(reference, name))
    file = await db.get(database, target.name, reference)
    if file is None or file.source is None or received.version is None:
        return Skip("it was uploaded, or received before")
    async with opened_source(ctx, target, file.source) as source:
        return await source.done(file.path or "", received.version)
