"""Transcripts in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from pydantic_core import to_json

from forebay.db.calls import execute, fetch, fetch_row
from forebay.pipelines.media.db import load
from forebay.services.speech.transcript import Piece, Segment
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    import asyncpg

    from forebay.db.pool import Connection, Pool
    from forebay.pipelines.media.kinds import TranscriptStatus
    from forebay.pipelines.media.step_share import Share
    from forebay.services.speech.transcript import Transcript

_SEGMENTS = TypeAdapter(tuple[Segment, ...])
MAX_MATCHES = 200


def segments_of(stored: str) -> tuple[Segment, ...]:
    return _SEGMENTS.validate_json(stored)


# Of requests.


async def read(conn: Connection, share_id: int) -> asyncpg.Record | None:
    return await fetch_row(conn, load("read_transcript"), share_id)


async def search(conn: Connection, share_id: int, words: str) -> list[asyncpg.Record]:
    """The segments in which words or a text occur: n, start, end, text."""
    return await fetch(conn, load("search_transcript"), share_id, words, MAX_MATCHES)


# Of steps.


async def offered_subtitles(pool: Pool, share_id: int, owner_id: int) -> tuple[str | None, str | None]:
    """The language of a share, and the subtitles that its site offers, as JSON."""
    row = await fetch_row(pool, load("list_subtitles"), share_id, owner_id)
    return (None, None) if row is None else (row["language"], row["subtitles"])


async def begin(pool: Pool, share: Share) -> None:
    written = write_status(share, "processing", None)
    await execute(pool, written.sql, *written.args)


def write_status(share: Share, status: TranscriptStatus, error: str | None) -> Statement:
    return Statement(load("write_transcript_status"), (share.id, share.owner_id, status, error))


def write_transcript(share: Share, found: Transcript, source: Literal["subtitles", "speech"], model: str) -> Statement:
    """The statement that makes it the transcript of the share, and deletes its pieces."""
    given = (share.id, share.owner_id, found.language, source, model, _json(found.segments), found.text)
    return Statement(load("write_transcript"), given)


class SharePieces:
    """Stores the pieces of the file of a share until the transcript is complete."""

    def __init__(self, pool: Pool, share: Share, job_id: int, sha256: str) -> None:
        self._pool, self._share, self._job_id, self._sha256 = pool, share, job_id, bytes.fromhex(sha256)

    async def load(self, model: str) -> list[Piece]:
        given = (self._share.id, self._share.owner_id, self._sha256, model)
        return [
            Piece(
                start_ms=row["start_ms"],
                end_ms=row["end_ms"],
                is_last=row["is_last"],
                language=row["language"],
                segments=segments_of(row["segments"]),
            )
            for row in await fetch(self._pool, load("list_transcript_pieces"), *given)
        ]

    async def save(self, model: str, piece: Piece) -> None:
        """Has no effect if the share was deleted, or if another job works on it."""
        await execute(
            self._pool,
            load("save_transcript_piece"),
            self._share.id,
            self._share.owner_id,
            self._job_id,
            self._sha256,
            model,
            piece.start_ms,
            piece.end_ms,
            piece.is_last,
            piece.language,
            _json(piece.segments),
        )


def _json(segments: Sequence[Segment]) -> str:
    """A NUL character cannot be stored."""
    return to_json(segments).decode().replace("\\u0000", "")
