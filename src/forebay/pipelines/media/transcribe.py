"""Writes down what is said in a share: the subtitles of its site or in its file, or a transcript of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from forebay import resources
from forebay.errors import StepError, TransientError
from forebay.intake.receiving import is_last, reason_of
from forebay.log import get_logger
from forebay.pipelines import speech_tools
from forebay.pipelines.media import transcripts
from forebay.pipelines.media.subtitles import read_subtitles, read_track
from forebay.types import Done, Skip

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.retry import Retry
    from forebay.pipelines.media.downloading import Downloaded
    from forebay.pipelines.media.kinds import TranscriptStatus
    from forebay.pipelines.media.step_share import Share
    from forebay.services.speech.transcript import Transcript

log = get_logger("media")

_SPOKEN = ("video", "audio")
_SILENT = "nothing is said in it"


class Transcribed(BaseModel):
    """What the result of the step says; the text is in the transcript."""

    source: Literal["subtitles", "speech"]
    language: str | None
    model: str
    segments: int


async def transcribe_share(
    ctx: Context, share: Share, file: Downloaded | None, retry: Retry
) -> Done[Transcribed] | Skip:
    """Transcribe the file of a share, unless it has subtitles. If it fails, the share says why.

    Raises: ConfigError if this machine has no model: it says how to get one; what `speech_tools.transcribe` raises.
    """
    if file is None or file.kind not in _SPOKEN:
        return _skipped(share, "there is nothing to transcribe")
    await transcripts.begin(await ctx.get(resources.database), share)
    try:
        return await _transcribed(ctx, share, file)
    except Exception as error:
        known = error if isinstance(error, StepError) else TransientError(reason_of(error))
        status: TranscriptStatus = "failed" if is_last(ctx, retry, error) else "pending"
        written = transcripts.write_status(share, status, reason_of(error))
        raise known.writing(*known.writes, written) from error


async def _transcribed(ctx: Context, share: Share, file: Downloaded) -> Done[Transcribed] | Skip:
    subtitles = await read_subtitles(ctx, share)
    if subtitles is not None:
        return _done(ctx, share, subtitles.transcript, "subtitles", subtitles.name)
    store = transcripts.SharePieces(await ctx.get(resources.database), share, ctx.job_id, file.sha256)
    async with (await ctx.get(resources.blobs)).local(file.sha256) as path:
        if file.has_subtitles and (inside := await read_track(ctx, share, path)) is not None:
            return _done(ctx, share, inside, "subtitles", f"{inside.language or 'subtitles'} in the file")
        spoken = await speech_tools.transcribe(ctx, path, store, "media.transcribe")
    if not spoken.transcript.segments:
        return _skipped(share, _SILENT)
    return _done(ctx, share, spoken.transcript, "speech", spoken.model)


def _skipped(share: Share, reason: str) -> Skip:
    return Skip(reason, writes=[transcripts.write_status(share, "skipped", reason)])


def _done(
    ctx: Context, share: Share, found: Transcript, source: Literal["subtitles", "speech"], model: str
) -> Done[Transcribed]:
    about = Transcribed(source=source, language=found.language, model=model, segments=len(found.segments))
    log.info("share_transcribed", share=share.id, job=ctx.job_id, source=source, segments=about.segments)
    return Done(about, [transcripts.write_transcript(share, found, source, model)])
