"""What pipelines call: put and delete documents, on a connection or as statements that settle a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from forebay.search import db
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from forebay.db.pool import Connection


@dataclass(frozen=True, slots=True)
class Document:
    """A document of an owner: `kind` and `ref` identify it, `ref` is what the package calls it.

    `marks` are pairs of an offset in the text and a second of the recording. `details` is what a hit needs to be
    linked. With a `source_version`, a call with an older one than that of the index changes nothing. `embed` False: it
    is found by its words only.
    """

    kind: str
    ref: str
    title: str
    text: str
    url: str | None = None
    language: str | None = None
    tags: Sequence[str] = ()
    written_at: datetime | None = None
    marks: Sequence[tuple[int, float]] = ()
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source_version: int | None = None
    embed: bool = True


@dataclass(frozen=True, slots=True)
class IndexJob:
    """When the job that indexes a document runs: `delay` after the last change, at most `max_wait` after the first.

    `submits` False: no job, because the caller embeds the document itself, with `embedding.embed_documents`.
    """

    delay: timedelta = timedelta(seconds=1)
    max_wait: timedelta = timedelta(seconds=15)
    priority: int = 0
    submits: bool = True


@dataclass(frozen=True, slots=True)
class Put:
    """The id of a document, the version of its text, and whether that has changed."""

    id: int
    version: int
    changed: bool


_USUAL = IndexJob()


async def put_document(conn: Connection, owner_id: int, document: Document, when: IndexJob = _USUAL) -> Put:
    """Add or change a document in the caller's transaction; it is found by its words when that commits."""
    row = await db.put(conn, _values(owner_id, document, when))
    return Put(row["id"], row["version"], row["changed"])


def write_document(owner_id: int, document: Document, when: IndexJob = _USUAL) -> Statement:
    """The statement that does the same in the transaction that settles a step."""
    return Statement(db.load("put_document"), _values(owner_id, document, when))


async def delete_document(conn: Connection, owner_id: int, kind: str, ref: str) -> bool:
    """Delete a document in the caller's transaction; returns whether it was there."""
    return await db.delete(conn, owner_id, kind, ref)


def write_deleted(owner_id: int, kind: str, ref: str) -> Statement:
    """The statement that does the same in the transaction that settles a step."""
    return Statement(db.load("delete_document"), (owner_id, kind, ref))


def _values(owner_id: int, document: Document, when: IndexJob) -> tuple[object, ...]:
    return (
        owner_id,
        document.kind,
        document.ref,
        _storable(document.title),
        _storable(document.text),
        document.url,
        document.language,
        list(document.tags),
        document.written_at,
        to_json(document.marks).decode() if document.marks else None,
        to_json(document.details).decode() if document.details else None,
        document.source_version,
        document.embed,
        when.submits,
        when.delay,
        when.max_wait,
        when.priority,
    )


def _storable(text: str) -> str:
    """Without what PostgreSQL cannot store."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
