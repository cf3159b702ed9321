"""What is said in a share: with times, as a file, and searched."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Response

from forebay.api.auth.authentication import Reader
from forebay.api.deps import Number, RolePoolsDep
from forebay.api.files import disposition
from forebay.api.models import Id, Model
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.pipelines.media import transcripts
from forebay.services.speech.subtitles.writing import TYPES, write
from forebay.services.speech.transcript import Transcript

if TYPE_CHECKING:
    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools

router = APIRouter(prefix="/api/shares", tags=["media"], route_class=StrictRoute)


class TranscriptWord(Model):
    start: float
    end: float
    text: str


class TranscriptSegment(Model):
    """Times are seconds from the start; `words` is empty if their times are not known."""

    start: float
    end: float
    text: str
    words: list[TranscriptWord]


class ShareTranscript(Model):
    share_id: Id
    language: str | None
    source: Literal["subtitles", "speech"]
    model: str | None
    created_at: datetime
    segments: list[TranscriptSegment]


class TranscriptMatch(Model):
    """A segment; `n` is its place in the transcript, from 0."""

    n: int
    start: float
    end: float
    text: str


class TranscriptMatches(Model):
    matches: list[TranscriptMatch]


@router.get("/{share_id}/transcript")
async def read_transcript(share_id: Number, who: Reader, pools: RolePoolsDep) -> ShareTranscript:
    """The transcript of a share, with the times of segments and words."""
    row = await _row(int(share_id), who, pools)
    segments = [
        TranscriptSegment.model_validate(each.model_dump()) for each in transcripts.segments_of(row["segments"])
    ]
    return ShareTranscript(
        share_id=str(row["share_id"]),
        language=row["language"],
        source=row["source"],
        model=row["model"],
        created_at=row["created_at"],
        segments=segments,
    )


@router.get("/{share_id}/transcript/search")
async def search_transcript(
    share_id: Number,
    who: Reader,
    pools: RolePoolsDep,
    q: Annotated[str, Query(min_length=1, max_length=1000, description="words, or a part of a sentence")],
) -> TranscriptMatches:
    """The segments of a transcript in which words occur: the first 200."""
    async with pools.own(who) as conn:
        if await transcripts.read(conn, int(share_id)) is None:
            raise _missing(int(share_id))
        found = await transcripts.search(conn, int(share_id), q.replace("\0", ""))
    return TranscriptMatches(
        matches=[
            TranscriptMatch(n=row["n"], start=float(row["start"]), end=float(row["end"]), text=row["text"])
            for row in found
        ]
    )


@router.get("/{share_id}/transcript.{form}", response_class=Response)
async def download_transcript(
    share_id: Number, form: Literal["srt", "vtt", "txt"], who: Reader, pools: RolePoolsDep
) -> Response:
    """The transcript of a share as a file: subtitles (`srt`, `vtt`) or text (`txt`)."""
    row = await _row(int(share_id), who, pools)
    found = Transcript(segments=transcripts.segments_of(row["segments"]), language=row["language"])
    name = f"{(row['title'] or 'transcript')[:100]}.{form}"
    headers = {"content-disposition": disposition("attachment", name)}
    return Response(write(found, form), media_type=TYPES[form], headers=headers)


async def _row(share_id: int, who: Principal, pools: RolePools) -> asyncpg.Record:
    async with pools.own(who) as conn:
        row = await transcripts.read(conn, share_id)
    if row is None:
        raise _missing(share_id)
    return row


def _missing(share_id: int) -> NotFoundError:
    return NotFoundError("transcript", f"share {share_id} has no transcript")
