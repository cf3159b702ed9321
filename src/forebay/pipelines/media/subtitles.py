"""Subtitles that a site offers, or that are in the file, which are better than a transcript of our own: those of people
before those of machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import BaseModel, TypeAdapter, ValidationError

from forebay import resources
from forebay.engine.declare.limited import limited
from forebay.errors import ConfigError, StepError
from forebay.log import get_logger
from forebay.pipelines.media import transcripts
from forebay.services import av_files
from forebay.services.egress import FetchRequest
from forebay.services.speech.subtitles import reading, tracks

if TYPE_CHECKING:
    from pathlib import Path

    from forebay.engine.declare.context import Context
    from forebay.pipelines.media.step_share import Share
    from forebay.services.speech.transcript import Transcript

log = get_logger("media")

_READ_TRACK = limited(tracks.read_track, memory_mb=512, timeout=900, needs=av_files.PACKAGES)
READ_SUBTITLES = limited(reading.read_subtitles, memory_mb=512, timeout=60)
_FETCH_S = 60.0
_ORIGINAL = "-orig"  # how YouTube marks automatic captions that are not translated


class Offer(BaseModel):
    """Subtitles in one language."""

    language: str
    url: str
    source: Literal["people", "machine"] = "people"

    @property
    def code(self) -> str:
        """The language without a region."""
        return self.language.lower().partition("-")[0]


class FoundSubtitles(NamedTuple):
    transcript: Transcript
    name: str


_OFFERS = TypeAdapter(list[Offer])


async def read_subtitles(ctx: Context, share: Share) -> FoundSubtitles | None:
    """The subtitles of the site; None if there are none of what is said, or if they cannot be used.

    Raises: ConfigError.
    """
    spoken, offered = await transcripts.offered_subtitles(await ctx.get(resources.database), share.id, share.owner_id)
    for offer in chosen(_read(offered), spoken):
        try:
            http = await ctx.get(resources.http)
            wanted = FetchRequest(offer.url, "media.transcribe", reading.MAX_BYTES, _FETCH_S, cookies=True)
            fetched = await http.fetch(wanted)
            found = await ctx.call(READ_SUBTITLES, fetched.content, offer.code)
        except StepError as error:
            if isinstance(error, ConfigError):
                raise
            log.warning("no_subtitles", share=share.id, job=ctx.job_id, language=offer.language, error=str(error))
            continue
        return FoundSubtitles(found, f"{offer.language} by {offer.source}")
    return None


async def read_track(ctx: Context, share: Share, path: Path) -> Transcript | None:
    """The subtitles inside a file; None if there are none of what is said, or if they cannot be used.

    Raises: ConfigError.
    """
    try:
        return await ctx.call(_READ_TRACK, path, share.language)
    except StepError as error:
        if isinstance(error, ConfigError):
            raise
        log.warning("no_subtitles", share=share.id, job=ctx.job_id, language=share.language, error=str(error))
        return None


def _read(offered: str | None) -> list[Offer]:
    try:
        return [] if offered is None else _OFFERS.validate_json(offered)
    except ValidationError:
        return []


def chosen(offers: list[Offer], spoken: str | None) -> list[Offer]:
    """Subtitles in the language that is spoken, the best first; translations are not what is said."""
    language = (spoken or "").lower().partition("-")[0] or _original(offers)
    if language is None:
        return [offer for offer in offers if offer.source == "people"][:1]
    suitable = [offer for offer in offers if offer.code == language]
    suitable.sort(key=lambda offer: (offer.source != "people", not offer.language.lower().endswith(_ORIGINAL)))
    return suitable[:2]


def _original(offers: list[Offer]) -> str | None:
    """The language of captions that a machine has heard; it translates into all others."""
    machines = [offer for offer in offers if offer.source == "machine"]
    marked = [offer for offer in machines if offer.language.lower().endswith(_ORIGINAL)]
    if marked:
        return marked[0].code
    return machines[0].code if len({offer.code for offer in machines}) == 1 else None
