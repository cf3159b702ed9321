"""The pipeline of media.

    probe → expand (the entries of a playlist, each of which is an item of a job of this pipeline)
          → download → transcribe → index

A step starts when the one before it has ended: nothing asks whether a file is there already. Each writes its result
into the share in the transaction that settles it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.limit import Limit
from forebay.engine.declare.map import Map
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import PermanentError
from forebay.pipelines.media import db as rows
from forebay.pipelines.media import step_writes
from forebay.pipelines.media.download_rate import download_rate
from forebay.pipelines.media.downloading import Downloaded, download_share
from forebay.pipelines.media.found import Found
from forebay.pipelines.media.probing import probe_share
from forebay.pipelines.media.settings import MediaSettings
from forebay.pipelines.media.step_share import Media, Share, of_share
from forebay.pipelines.media.transcribe import Transcribed, transcribe_share
from forebay.pipelines.media.transcripts import write_status
from forebay.services.egress import UrlNotFound, checked_url
from forebay.types import Done, NotFound, Skip

if TYPE_CHECKING:
    from forebay.settings import Settings

_TRANSCRIBING = Retry(attempts=4, base=30.0, cap=900.0)

media = Pipeline("media", Media, reference="shareId", noun="share", title="Media", needs_database=True)


def site_of(given: Media) -> str:
    """The site of a link: its host without `www.`; uploads are of none."""
    return "" if given.url is None else checked_url(given.url).host.removeprefix("www.")


@media.step(timeout=300, concurrency=(1, 16), retry=Retry(attempts=4, base=5.0, cap=900.0))
@of_share(media, fetches=True)
async def probe(ctx: Context, given: Media, share: Share) -> Done[Found] | NotFound:
    """Find out what a link leads to, without downloading it."""
    ctx.progress(note="looking at the link")
    try:
        found, entries = await probe_share(ctx, given, share)
    except UrlNotFound as error:
        return NotFound(str(error))
    writes = [step_writes.write_facts(share, found.facts())]
    if entries:
        if share.is_entry:
            raise PermanentError("is a playlist in a playlist, which is not followed: share it by itself")
        writes += [step_writes.write_entries(share, entries), step_writes.write_playlist(share)]
    return Done(found, writes)


@media.step(after=probe, concurrency=(1, 4))
@of_share(media)
async def expand(ctx: Context, given: Media, share: Share, found: Found) -> Map[Media] | Skip:
    """Let the entries of a playlist be downloaded: each is an item of one job, and a share by itself."""
    if found.kind != "playlist":
        return Skip("it is not a playlist")
    database = await ctx.get(resources.database)
    entries = await rows.take_entries(database, share.id, share.owner_id)
    return Map([Media(share_id=row["id"], url=row["url"]) for row in entries], media)


@media.step(after=probe, concurrency=(1, 1000), max_expiries=1000)
@of_share(media, fetches=True)
async def download(ctx: Context, given: Media, share: Share, found: Found) -> Done[Downloaded] | NotFound | Skip:
    """Download the media, or continue an interrupted download, and store it once it is proven to be media."""
    if found.kind == "playlist":
        return Skip("its entries are downloaded one by one")
    await ctx.get(download_rate)
    await rows.begin_download(await ctx.get(resources.database), share.id, share.owner_id)
    try:
        return await download_share(ctx, given, share, found)
    except UrlNotFound as error:
        return NotFound(str(error))


# One at a time in a worker: the model uses all processors. Pieces that are complete survive a worker, however often.
@media.step(
    after=download, optional=True, timeout=12 * 3600, concurrency=(1, 1), max_expiries=1000, retry=_TRANSCRIBING
)
@of_share(media)
async def transcribe(ctx: Context, given: Media, share: Share, file: Downloaded | None) -> Done[Transcribed] | Skip:
    """Write down what is said in the media, unless its site has subtitles."""
    if not (await ctx.get(resources.settings)).of(MediaSettings).transcripts:
        reason = "FOREBAY_MEDIA_TRANSCRIPTS is false"
        return Skip(reason, writes=[write_status(share, "skipped", reason)])
    return await transcribe_share(ctx, share, file, _TRANSCRIBING)


@media.step(after=transcribe, optional=True, timeout=60)
@of_share(media)
async def index(ctx: Context, given: Media, share: Share, spoken: Transcribed | None) -> Done[None]:
    """Make what is said in the media searchable."""
    return Done(None, [step_writes.write_spoken(share)])


@media.tuning
def tune(settings: Settings) -> None:
    """Apply the settings to the downloads."""
    own = settings.of(MediaSettings)
    download.concurrency = (own.downloads, own.downloads)  # they wait for the network; inspections are limited apart
    download.retry = Retry(attempts=own.attempts, base=5.0, cap=900.0)
    download.timeout = own.download_s + 300.0  # what is inspected and stored afterwards
    limits = [Limit("media site", concurrency=own.site_downloads, key=site_of)]
    if own.owner_downloads:
        limits.append(Limit.per_owner("media downloads", concurrency=own.owner_downloads))
    if own.owner_per_minute:
        limits.append(Limit.per_owner("media starts", rate=own.owner_per_minute, per=60.0))
    kept = [limit for limit in download.limits if not limit.name.startswith("media ")]
    download.limits = (*kept, *limits)
