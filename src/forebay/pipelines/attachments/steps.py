"""The pipelines of attachments.

attachments        read → download_all → voucher → alert
attachment_files   download, for each file
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.map import Map
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.engine.limits.client import LimitReached
from forebay.errors import StepError, classify_error
from forebay.intake.receiving import is_last, reason_of
from forebay.log import get_logger
from forebay.pipelines.attachments import alerts, db, vouchers
from forebay.pipelines.attachments.fetching import Wanted, files
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.services.egress.errors import UrlNotFound
from forebay.types import Done, ErrorClass, Mapped, Skip

if TYPE_CHECKING:
    from forebay.pipelines.attachments.db import DownloadTask, Work
    from forebay.settings import Settings
    from forebay.types import Statement

log = get_logger("attachments")

_PATIENT = Retry(attempts=6, base=2.0, cap=120.0)
_GONE = Skip("the instance was deleted", item=True)
_WAITED = (ErrorClass.CONFIG, ErrorClass.RESOURCE, ErrorClass.THROTTLED)  # these do not count as attempts


class Announcement(BaseModel):
    """An instance that a sender has announced."""

    instance_id: Annotated[int, Field(ge=1)]


class FileRef(BaseModel):
    """A file of an instance. Its address and the token for it are found when it is downloaded."""

    attachment_id: Annotated[int, Field(ge=1)]
    name: str = ""


class Read(BaseModel):
    """How many files an instance has, and how many its form names without saying where they are."""

    files: int
    skipped: int = 0


class Voucher(BaseModel):
    """How the files have ended, and the file with the voucher."""

    state: str
    file_id: int | None
    failed: int


attachments = Pipeline(
    "attachments", Announcement, internal=True, reference="instance_id", noun="instance", needs_database=True
)
attachment_files = Pipeline(
    "attachment_files",
    FileRef,
    internal=True,
    title="Files of attachments",
    reference="attachment_id",
    noun="file",
    needs_database=True,
)


# Files.


@attachment_files.step(timeout=900, concurrency=(2, 32))
async def download(ctx: Context, given: FileRef) -> Done[int] | Skip:
    """Download a file, or continue an earlier attempt, and store it."""
    task = await db.task(await ctx.get(resources.database), given.attachment_id)
    if task is None or task.owner_id != ctx.owner_id:
        return Skip("the file was deleted")
    if task.status == "DOWNLOADED":
        return Skip("the file is there already")
    try:
        return await _download(ctx, task)
    except LimitReached:
        raise  # it was not tried: it waits for its turn
    except StepError as error:
        error.writing(_failed(ctx, task, error))
        raise
    except Exception as error:
        if not is_last(ctx, download.retry, error):
            raise
        raise StepError(reason_of(error)).writing(_failed(ctx, task, error)) from error


async def _download(ctx: Context, task: DownloadTask) -> Done[int]:
    began = time.monotonic()
    sender = (await ctx.get(files)).of(task.source)
    blobs = await ctx.get(resources.blobs)
    async with resources.partial_file(ctx) as partial:
        report = resources.reporting(ctx, f"downloading {task.name}")
        fresh = ctx.attempt > 1 or task.last_attempt_at is not None
        done = await sender.fetch(Wanted(task, fresh, partial, report))
        stored = await blobs.adopt(
            done.path, owner_id=ctx.owner_id, name=task.name, media_type=done.media_type, sha256=done.sha256
        )
        partial.discard()
    log.info(
        "attachment_downloaded",
        attachment=task.id,
        instance=task.instance_id,
        source=task.source,
        bytes=stored.size,
        seconds=round(time.monotonic() - began, 3),
        attempt=ctx.attempt,
    )
    written = db.write_downloaded(
        task.id, stored.file_id, stored.size, stored.sha256, stored.media_type, (ctx.job_id, ctx.n)
    )
    return Done(stored.size, [stored.write(), written])


def _failed(ctx: Context, task: DownloadTask, error: Exception) -> Statement:
    """The row of a failed attempt: the next one is scheduled, or the file has failed for good."""
    last = is_last(ctx, download.retry, error)
    about = {"attachment": task.id, "instance": task.instance_id, "source": task.source, "attempt": ctx.attempt}
    counts = classify_error(error) not in _WAITED
    if counts:
        event = "attachment_missing" if isinstance(error, UrlNotFound) else "attachment_failed"
        log.warning(event, **about, is_last=last, error=str(error))
    else:
        log.debug("attachment_waits", **about, error=str(error))
    return db.write_attempt(task.id, reason_of(error), (ctx.job_id, ctx.n), is_last=last, counts=counts)


# Instances.


@attachments.step(timeout=120, concurrency=(2, 16), retry=_PATIENT)
async def read(ctx: Context, given: Announcement) -> Done[Read] | Skip:
    """Read the form of the instance, and add its files."""
    work = await _work(ctx, given)
    if work is None:
        return _GONE
    if work.source != "lark":  # the delivery has named its files
        return Done(Read(files=0), [db.write_seen(work)])
    try:
        form = await (await ctx.get(files)).form(work.key)
    except StepError as error:
        if is_last(ctx, _PATIENT, error):
            error.writing(db.write_problem(work.id, f"the form could not be read: {error}"))
        raise
    for name in form.skipped:
        log.warning("attachment_skipped", instance=work.id, name=name, reason="the form has no address for it")
    written = db.write_form(work, form.title, form.state, form.facts, form.files, len(form.skipped))
    return Done(Read(files=len(form.files), skipped=len(form.skipped)), [written])


@attachments.step(after=read, timeout=60, concurrency=(2, 16))
async def download_all(ctx: Context, given: Announcement, found: Read) -> Map[FileRef]:
    """Download the files that are pending, each as an item."""
    rows = await db.open_files(await ctx.get(resources.database), given.instance_id)
    return Map([FileRef(attachment_id=row["id"], name=row["name"]) for row in rows], attachment_files)


@attachments.step(after=download_all, timeout=300, concurrency=(1, 4), retry=_PATIENT)
async def voucher(ctx: Context, given: Announcement, downloaded: Mapped) -> Done[Voucher] | Skip:
    """Make the voucher, once all files are downloaded or have failed."""
    work = await _work(ctx, given)
    if work is None:
        return _GONE
    left = await _left(ctx, downloaded)
    made = await vouchers.make(ctx, work, left)
    return Done(Voucher(state=made.state, file_id=made.file_id, failed=made.failed), made.writes)


async def _left(ctx: Context, downloaded: Mapped) -> dict[int, str]:
    """Files whose items have ended without a row that says so: cancelled, or lost with too many workers."""
    left: dict[int, str] = {}
    async for item in ctx.children(downloaded):
        if item.status != "DONE":
            reason = (item.error or {}).get("reason") or "its download was cancelled"
            left[int(item.input["attachment_id"])] = str(reason)
    return left


@attachments.step(after=voucher, optional=True, timeout=120, concurrency=(1, 4), retry=_PATIENT)
async def alert(ctx: Context, given: Announcement, made: Voucher) -> Done[int] | Skip:
    """Send an e-mail about files that have failed, if a server is configured."""
    if not made.failed:
        return Skip("no file has failed")
    own = (await ctx.get(resources.settings)).of(AttachmentsSettings)
    if not own.has_alerts:
        return Skip(alerts.OFF)
    work = await _work(ctx, given)
    if work is None:
        return _GONE
    rows = await db.voucher_files(await ctx.get(resources.database), work.id)
    failed = [row for row in rows if row["status"] == "FAILED"]
    await alerts.send(own, alerts.message(own, work, failed, ctx.key))
    return Done(len(failed), [db.write_alerted(work.id)])


async def _work(ctx: Context, given: Announcement) -> Work | None:
    """The instance; None if it was deleted, or is another owner's."""
    work = await db.work(await ctx.get(resources.database), given.instance_id)
    return work if work is not None and work.owner_id == ctx.owner_id else None


@attachment_files.tuning
def _tune(settings: Settings) -> None:
    own = settings.of(AttachmentsSettings)
    download.retry = Retry(attempts=own.max_retries, base=own.base_backoff_s, cap=own.max_backoff_s)
    download.timeout = own.timeout_s * 3 + 600
