"""Instances, their files, deliveries and the quota in the database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.db.statements import statements
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection, Pool
    from forebay.webhooks.signatures import Delivery

load = statements("forebay.pipelines.attachments")

_NEWEST = 2**63 - 1


class AnnouncedFile(NamedTuple):
    """A file that a sender names; `key` identifies it within its instance."""

    key: str
    name: str
    url: str | None = None  # None: only a fresh read of the form tells
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Announced:
    """What a delivery says about an instance; None: it does not say."""

    key: str
    title: str | None = None
    state: str | None = None
    facts: Sequence[dict[str, str]] | None = None
    files: Sequence[AnnouncedFile] | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """A verified request; `announced`: None if it says nothing that concerns us."""

    source: str
    announced: Announced | None
    event: str | None
    size: int
    ip: str | None


@dataclass(frozen=True, slots=True)
class Work:
    """An instance, as its job needs it."""

    id: int
    owner_id: int
    source: str
    key: str
    title: str | None
    state: str | None
    facts: list[dict[str, str]]
    skipped: int
    received_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DownloadTask:
    """A file to download: a snapshot, which no attempt changes. It has no token: that is obtained when it is used."""

    id: int
    owner_id: int
    instance_id: int
    key: str
    name: str
    url: str | None
    expected_size: int | None
    expected_sha256: bytes | None
    status: str
    file_id: int | None
    attempts: int
    last_attempt_at: datetime | None
    created_at: datetime
    source: str
    instance_key: str


# Deliveries.


async def receive(
    conn: Connection, owner_id: int, delivery: Delivery, given: Received, trace: str | None = None
) -> asyncpg.Record:
    """Note a delivery, and submit the job of its instance; `is_new` is false for one that is known."""
    announced = given.announced
    about = announced or Announced("")
    row = await fetch_row(
        conn,
        load("receive_attachments"),
        owner_id,
        given.source,
        delivery.key,
        delivery.known_for_s,
        given.event,
        given.size,
        given.ip,
        announced.key if announced else None,
        about.title,
        about.state,
        None if about.facts is None else json.dumps(about.facts),
        None if about.files is None else files_json(about.files),
        trace,
    )
    assert row is not None  # noqa: S101 - the function always answers one row
    return row


async def reject(
    conn: Connection, owner_id: int, source: str, verdict: str, reason: str | None, size: int, ip: str | None
) -> None:
    """Note a request that is not a delivery."""
    await execute(conn, load("reject_attachments"), owner_id, source, verdict, reason, size, ip)


def files_json(files: Sequence[AnnouncedFile]) -> str:
    return json.dumps([each._asdict() for each in {each.key: each for each in files}.values()])


async def deliveries(
    conn: Connection,
    before: int | None,
    most: int,
    source: str | None = None,
    verdict: str | None = None,
    instance_id: int | None = None,
) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_deliveries"), before or _NEWEST, most, source, verdict, instance_id)


# Instances and files.


async def instances(
    conn: Connection,
    before: int | None,
    most: int,
    source: str | None = None,
    status: str | None = None,
    text: str | None = None,
) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_instances"), before or _NEWEST, most, source, status, text)


async def instance(conn: Connection, instance_id: int) -> asyncpg.Record | None:
    return await fetch_row(conn, load("get_instance"), instance_id)


async def files_of(conn: Connection, instance_id: int) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_attachments_of"), instance_id)


async def file(conn: Connection, attachment_id: int) -> asyncpg.Record | None:
    return await fetch_row(conn, load("get_attachment"), attachment_id)


async def get_pending(
    conn: Connection | Pool, most: int = 10, *, after: int = 0, owner_id: int | None = None
) -> list[asyncpg.Record]:
    """Files that are to be downloaded, the oldest first."""
    return await in_state(conn, "PENDING", most, after=after, owner_id=owner_id)


async def get_failed(
    conn: Connection | Pool, most: int = 10, *, after: int = 0, owner_id: int | None = None
) -> list[asyncpg.Record]:
    """Files that could not be downloaded, the oldest first."""
    return await in_state(conn, "FAILED", most, after=after, owner_id=owner_id)


async def in_state(
    conn: Connection | Pool, status: str, most: int, *, after: int = 0, owner_id: int | None = None
) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_attachments"), status, after, most, owner_id)


async def retry(conn: Connection, *, instance_id: int | None = None, attachment_id: int | None = None) -> list[int]:
    """Make failed files pending again, and submit the jobs of their instances; returns the jobs, one per file.

    Call it in a transaction.
    """
    jobs: list[int] = []
    for row in await fetch(conn, load("retry_attachments"), instance_id, attachment_id):
        job = await fetch_value(conn, load("submit_attachments"), row["owner"], row["instance_id"])
        jobs += [job] * row["files"]
    return jobs


async def counts(conn: Connection, owner_id: int | None) -> dict[str, int]:
    """Files by status; at most 100,000 of each are counted."""
    return {row["status"]: row["files"] for row in await fetch(conn, load("count_attachments"), owner_id)}


async def last(conn: Connection, owner_id: int | None) -> asyncpg.Record:
    """When a file was last tried, the newest error, and since when a file is pending."""
    row = await fetch_row(conn, load("last_attachments"), owner_id)
    assert row is not None  # noqa: S101 - it is one row
    return row


# The quota.


async def take_quota(pool: Pool, app: str, most: int, now: datetime | None = None) -> datetime | None:
    """Count a request; a time: it must not be sent before."""
    until: datetime | None = await fetch_value(pool, load("take_quota"), app, most, now)
    return until


async def quota(conn: Connection) -> dict[str, tuple[int, datetime]]:
    """By app: requests within the last 24 hours, and the hour of the oldest."""
    return {row["app"]: (row["used"], row["since"]) for row in await fetch(conn, load("read_quota"))}


# Steps.


async def work(pool: Pool, instance_id: int) -> Work | None:
    row = await fetch_row(pool, load("read_work"), instance_id)
    return None if row is None else Work(**{**dict(row), "facts": json.loads(row["facts"])})


async def task(pool: Pool, attachment_id: int) -> DownloadTask | None:
    row = await fetch_row(pool, load("read_task"), attachment_id)
    return None if row is None else DownloadTask(**dict(row))


async def open_files(pool: Pool, instance_id: int) -> list[asyncpg.Record]:
    return await fetch(pool, load("list_open"), instance_id)


async def voucher_files(pool: Pool, instance_id: int) -> list[asyncpg.Record]:
    return await fetch(pool, load("list_voucher_files"), instance_id)


def write_form(instance: Work, title: str | None, state: str | None, facts: Any, files: Any, skipped: int) -> Statement:
    args = (instance.id, title, state, json.dumps(facts), files_json(files), skipped, instance.received_at)
    return Statement(load("write_form"), args)


def write_seen(instance: Work) -> Statement:
    return Statement(load("write_seen"), (instance.id, instance.received_at))


def write_downloaded(
    attachment_id: int, file_id: int, size: int, sha256: str, media_type: str, place: tuple[int, int]
) -> Statement:
    args = (attachment_id, file_id, size, bytes.fromhex(sha256), media_type, *place)
    return Statement(load("write_downloaded"), args)


def write_attempt(
    attachment_id: int, error: str, place: tuple[int, int], *, is_last: bool, counts: bool = True
) -> Statement:
    return Statement(load("write_attempt"), (attachment_id, error, is_last, *place, int(counts)))


def fail_left(instance_id: int, failed: dict[int, str]) -> Statement:
    return Statement(load("fail_left"), (instance_id, list(failed), list(failed.values())))


def write_voucher(instance_id: int, voucher: str, file_id: int | None, problem: str | None) -> Statement:
    return Statement(load("write_voucher"), (instance_id, voucher, file_id, problem))


def write_problem(instance_id: int, problem: str) -> Statement:
    return Statement(load("write_problem"), (instance_id, problem))


def write_alerted(instance_id: int) -> Statement:
    return Statement(load("write_alerted"), (instance_id,))


# Chores.


async def clean_old(pool: Pool, before: datetime, most: int) -> int:
    return int(await fetch_value(pool, load("clean_old"), before, most))


async def clean_over(pool: Pool, most_bytes: int, most: int) -> int:
    return int(await fetch_value(pool, load("clean_over_quota"), most_bytes, most))


async def tidy(pool: Pool, before: datetime) -> tuple[int, int]:
    """Returns deleted deliveries and submitted jobs."""
    row = await fetch_row(pool, load("tidy_attachments"), before)
    assert row is not None  # noqa: S101 - the function always answers one row
    return row["deleted"], row["submitted"]


# Jobs and suggestions.


async def of_jobs(conn: Connection, job_ids: Sequence[int]) -> list[asyncpg.Record]:
    return await fetch(conn, load("instances_of_jobs"), list(job_ids))


async def suggested(conn: Connection, owner_id: int, text: str, most: int) -> list[asyncpg.Record]:
    return await fetch(conn, load("suggest_instances"), owner_id, text, most)
