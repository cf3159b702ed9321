"""The responses of the routes of attachments."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from forebay.api.models import FromJson, Id, Model, Next

if TYPE_CHECKING:
    import asyncpg

FileStatus = Literal["PENDING", "DOWNLOADED", "FAILED"]
VoucherState = Literal["WAITING", "READY", "PARTIAL", "WITHHELD", "NONE"]
Verdict = Literal["ACCEPTED", "DUPLICATE", "IGNORED", "CHALLENGE", "REJECTED"]


class FileCounts(Model):
    """The files of an instance by status."""

    pending: int
    downloaded: int
    failed: int


class Instance(Model):
    """What a sender has announced: an approval, a release …"""

    id: Id
    source: str
    key: str = Field(description="what the sender calls it, such as the code of an approval")
    title: str | None
    state: str | None = Field(description="as the sender says, such as APPROVED")
    files: FileCounts
    bytes: int = Field(description="of its downloaded files")
    skipped: int = Field(description="files that the form names without an address")
    voucher: VoucherState = Field(
        description="PARTIAL: some files have failed; WITHHELD: that is why there is none; NONE: there are no files"
    )
    voucher_id: Id | None = Field(description="the file")
    problem: str | None
    job_id: Id | None
    created_at: datetime
    received_at: datetime = Field(description="the newest delivery about it")
    read_at: datetime | None
    settled_at: datetime | None = Field(description="when all files had been downloaded or had failed")


class InstancePage(Model):
    items: list[Instance]
    next: Next


class Fact(Model):
    """A field of the form."""

    name: str
    value: str


class AttachmentFile(Model):
    """A file of an instance."""

    id: Id
    instance_id: Id
    name: str
    status: FileStatus
    attempts: int
    error: str | None
    size: int | None
    sha256: str | None
    media_type: str | None
    file_id: Id | None = Field(description="the stored file; null before it is downloaded, and after it was cleaned up")
    job_id: Id | None = Field(description="the job in which it was last tried, and its item there")
    n: int | None
    created_at: datetime
    last_attempt_at: datetime | None
    next_retry_at: datetime | None
    downloaded_at: datetime | None
    removed_at: datetime | None


class FilePage(Model):
    items: list[AttachmentFile]
    next: Next


class Delivery(Model):
    """A request of a sender, and what was thought of it."""

    id: Id
    source: str
    verdict: Verdict
    reason: str | None = Field(description="why it was rejected")
    key: str | None = Field(description="identifies it: a second one is a duplicate")
    event: str | None
    bytes: int
    ip: str | None
    instance_id: Id | None
    received_at: datetime


class DeliveryPage(Model):
    items: list[Delivery]
    next: Next


class InstanceDetail(Instance):
    facts: list[Fact]
    all_files: list[AttachmentFile]
    deliveries: list[Delivery] = Field(description="the newest twenty")
    voucher_url: str | None = Field(description="a link to the voucher, which expires")
    why: str | None = Field(description="why there is no voucher yet")
    waiting_job_id: Id | None = Field(description="the job to ask for reasons: /api/jobs/ID/why")


class RetriedFiles(Model):
    """Files that are downloaded again."""

    files: int
    job_ids: list[Id]


class AttachmentStatus(Model):
    """The state of the downloads of the caller; of all owners, for administrators."""

    is_running: bool = Field(description="whether a worker that downloads files is alive")
    last_processed: datetime | None = Field(description="when a file was last tried")
    pending_count: int
    processed_count: int = Field(description="downloaded files; at most 100,000 are counted, as of the others")
    failed_count: int
    up_since_seconds: float | None = Field(description="for how long the oldest such worker has been running")
    is_healthy: bool = Field(
        description="false if files are pending and no worker runs, or none was tried for FOREBAY_ATTACHMENTS_STUCK_S"
    )
    last_error: str | None


class Quota(Model):
    """The requests for files that a sender allows."""

    source: str
    per_second: float | None
    per_day: int | None = Field(description="in any 24 hours")
    used: int = Field(description="within the last 24 hours")
    left: int | None
    next_at: datetime | None = Field(description="when the oldest requests stop counting; null if none count")


class SenderInfo(Model):
    """A sender of webhooks."""

    name: str
    kind: Literal["lark", "declared"]
    path: str = Field(description="the path of its webhook")
    owner: str
    is_ready: bool = Field(description="whether its secrets are set")
    problem: str | None = Field(description="what to set")


def instance_of(row: asyncpg.Record) -> Instance:
    return Instance(**_instance(row))


def _instance(row: asyncpg.Record) -> dict[str, Any]:
    counts = FileCounts(pending=row["pending"], downloaded=row["downloaded"], failed=row["failed"])
    plain = ("id", "source", "key", "title", "state", "bytes", "skipped", "voucher", "problem", "created_at")
    times = ("received_at", "read_at", "settled_at")
    ids = {name: None if row[name] is None else str(row[name]) for name in ("voucher_id", "job_id")}
    return {**{name: row[name] for name in (*plain, *times)}, **ids, "files": counts}


def file_of(row: asyncpg.Record) -> AttachmentFile:
    ids = {name: None if row[name] is None else str(row[name]) for name in ("file_id", "job_id")}
    return AttachmentFile.model_validate({**dict(row), **ids})


def delivery_of(row: asyncpg.Record) -> Delivery:
    instance = None if row["instance_id"] is None else str(row["instance_id"])
    return Delivery.model_validate({**dict(row), "instance_id": instance})


class _Facts(Model):
    facts: FromJson


def detail_of(
    row: asyncpg.Record, files: list[AttachmentFile], deliveries: list[Delivery], voucher_url: str | None
) -> InstanceDetail:
    facts = _Facts(facts=row["facts"]).facts
    why = None if row["voucher"] in ("READY", "PARTIAL") else _why(row, files)
    waiting = next((each.job_id for each in files if each.status == "PENDING" and each.job_id), None)
    job_id = None if row["job_id"] is None else str(row["job_id"])
    return InstanceDetail(
        **_instance(row),
        facts=[Fact(**each) for each in facts],
        all_files=files,
        deliveries=deliveries,
        voucher_url=voucher_url,
        why=why,
        waiting_job_id=(waiting or job_id) if why else None,
    )


def _why(row: asyncpg.Record, files: list[AttachmentFile]) -> str:
    """In one sentence."""
    if row["problem"]:
        return str(row["problem"])
    state = row["job_state"]
    if state in ("CANCELLED", "FAILED"):
        return f"job {row['job_id']} is {state}: retry it"
    if row["read_at"] is None:
        return "the form has not been read yet"
    if row["voucher"] == "NONE":
        return "there are no files"
    pending = [each for each in files if each.status == "PENDING"]
    if not pending:
        return "the voucher is being made"
    soonest = min((each.next_retry_at for each in pending if each.next_retry_at), default=None)
    later = f"; the next try is at {soonest:%H:%M:%S} UTC" if soonest else ""
    errors = next((f": {each.error}" for each in pending if each.error), "")
    are = "is" if len(pending) == 1 else "are"
    return f"{len(pending)} of {len(files)} files {are} not downloaded yet{later}{errors}"
