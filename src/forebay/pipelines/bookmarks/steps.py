"""The pipeline of bookmarks.

    screenshot ∥ metadata → images → ocr ∥ caption
                         ↘ favicon

Each step writes its result into the bookmark in the transaction that settles it, and is retried separately. A login,
captcha or error page is recorded as such and never mistaken for the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.limited import limited
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import ConfigError, StepError
from forebay.pipelines.bookmarks import page_rows, step_writes
from forebay.pipelines.bookmarks.step_bookmark import Bookmark, Link, of_bookmark
from forebay.pipelines.bookmarks.step_files import first_picture, keep_file, shot_thumbnails, write_file
from forebay.pipelines.image_tools import READ_IMAGE_TEXT, store_thumbnails
from forebay.pipelines.page_tools import StepPageTools
from forebay.services import caption as captions
from forebay.services import images as pictures
from forebay.services.egress import UrlNotFound
from forebay.services.pages import fetching
from forebay.services.pages.fetching import FetchedPage, PageFetcher
from forebay.types import Done, NotFound, Skip

if TYPE_CHECKING:
    from forebay.pipelines.bookmarks.step_names import StepName
    from forebay.services.browser import Capture

_IMAGE_BYTES = 20 << 20
_ICON_BYTES = 2 << 20
_IMAGE_SECONDS, _ICON_SECONDS = 120.0, 60.0  # seconds for all candidates together, less than the step's timeout
_CANDIDATES = 4  # images that are tried
_PATIENT = Retry(attempts=4, base=5.0, cap=900.0)

SHRINK = limited(pictures.jpeg, memory_mb=512, timeout=30, needs=pictures.PACKAGES)


class Found(BaseModel):
    """The facts of a page that later steps need; the others are in the bookmark."""

    kind: str
    url: str
    title: str | None = None
    images: list[str] = []
    icons: list[str] = []
    is_unchanged: bool = False


class Shots(BaseModel):
    """The screenshots of a page: the first screen and the full page."""

    first: int | None
    whole: int | None
    url: str


class Image(BaseModel):
    """The main image of a page."""

    sha256: str
    url: str
    media_type: str
    width: int
    height: int
    blurhash: str


bookmarks = Pipeline("bookmarks", Link, reference="bookmarkId", noun="bookmark", needs_database=True)


@bookmarks.step(timeout=180, concurrency=(1, 4), retry=_PATIENT)
@of_bookmark(bookmarks)
async def screenshot(ctx: Context, link: Link, mark: Bookmark) -> Done[Shots] | Skip | NotFound:
    """Take screenshots of the first screen and the full page; of a PDF, its first page."""
    if link.is_image:
        return Skip("the link leads to an image, which needs no screenshot")
    ctx.progress(note="opening the page")
    try:
        capture = await _fetcher(ctx, "screenshot").capture(link.url)
        if capture.kind == "pdf":
            return await _shoot_pdf(ctx, link, mark)
        fetching.raise_passing(capture.final_url, capture.status, capture.headers)
        seen = FetchedPage(capture.kind, capture.final_url, capture.status, capture.reason)
        page_rows.check(seen, mark.id, mark.owner_id, only_seen=True)
    except UrlNotFound as error:
        return NotFound(str(error), error.writes)
    return await _shoot_page(ctx, mark, capture)


async def _shoot_page(ctx: Context, mark: Bookmark, capture: Capture) -> Done[Shots] | Skip:
    if capture.viewport is None:
        return Skip(f"the link leads to {'an image' if capture.kind == 'image' else 'a file'}, not to a page")
    whole = capture.full_page if capture.full_page is not capture.viewport else None
    done = await _keep_shots(ctx, mark, capture.final_url, capture.viewport, whole, fetching.notes_of(capture))
    if not mark.is_unrendered:
        return done
    # The page was read without a browser, which is available now.
    return Done(done.result, [*done.writes, step_writes.crawl_unrendered(mark.id, mark.owner_id)])


async def _shoot_pdf(ctx: Context, link: Link, mark: Bookmark) -> Done[Shots]:
    async with _fetcher(ctx, "screenshot").pdf(link.url) as (fetched, page):
        return await _keep_shots(ctx, mark, fetched.url, _Shot(page.image), None, [])


class _Picture(Protocol):
    """A screenshot of the browser, or a rendered page."""

    @property
    def data(self) -> bytes: ...
    @property
    def media_type(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Shot:
    data: bytes
    media_type: str = "image/webp"


async def _keep_shots(
    ctx: Context, mark: Bookmark, url: str, first: _Picture, whole: _Picture | None, notes: list[str]
) -> Done[Shots]:
    ctx.progress(note="storing the screenshots")
    blobs = await ctx.get(resources.blobs)
    kept = [await keep_file(blobs, mark, first.data, "screenshot", first.media_type)]
    if whole is not None:
        kept.append(await keep_file(blobs, mark, whole.data, "full page", whole.media_type))
    ids = [*(stored.file_id for stored in kept), None]
    written = [
        *(write_file(mark, stored) for stored in kept),
        *await shot_thumbnails(ctx, blobs, kept[0], first.data),
        step_writes.write_screenshots(mark.id, mark.owner_id, ids[0], ids[1], notes),
    ]
    return Done(Shots(first=ids[0], whole=ids[1], url=url), written)


@bookmarks.step(timeout=180, concurrency=(2, 32), retry=_PATIENT)
@of_bookmark(bookmarks, "images", "favicon", "ocr", "caption")
async def metadata(ctx: Context, link: Link, mark: Bookmark) -> Done[Found] | Skip | NotFound:
    """Read the metadata and the readable text of the page."""
    known = (None, None) if link.only is not None else (mark.etag, mark.modified)
    try:
        page = await _fetcher(ctx, "metadata").fetch(link.url, etag=known[0], modified=known[1])
        if page is None:
            same = Found(kind="page", url=link.url, is_unchanged=True)
            return Done(same, [step_writes.write_unchanged(mark.id, mark.owner_id)])
        page_rows.check(page, mark.id, mark.owner_id)
        written = await page_rows.write_page(ctx, page, mark.id, mark.owner_id, mark.body_hash)
        if page.failure is not None:
            raise page.failure.writing(written)
    except UrlNotFound as error:
        gone = step_writes.write_no_page(mark.id, mark.owner_id, "error", str(error), error.status)
        return NotFound(str(error), error.writes or [gone])
    except StepError as error:
        if not error.writes and not isinstance(error, ConfigError):
            error.writing(step_writes.write_trouble(mark.id, mark.owner_id, str(error)))
        raise
    found = Found(kind=page.kind, url=page.url, title=page.title, images=page.images, icons=page.icons)
    return Done(found, [written])


@bookmarks.step(after=metadata, timeout=180, concurrency=(1, 16), retry=_PATIENT)
@of_bookmark(bookmarks, "ocr", "caption")
async def images(ctx: Context, link: Link, mark: Bookmark, found: Found | None) -> Done[Image] | Skip:
    """Store the main image of the page, with its size and a blurhash."""
    if found is None or found.is_unchanged:
        return Skip("the page has not changed")
    urls = [found.url] if found.kind == "image" else found.images[:_CANDIDATES]
    best = await first_picture(ctx, urls, "bookmarks.images", _IMAGE_BYTES, _IMAGE_SECONDS)
    if best is None:
        return Skip("the page names no image" if not urls else "none of the page's images could be read")
    url, data, picture = best
    facts, blobs = picture.facts, await ctx.get(resources.blobs)
    stored = await keep_file(blobs, mark, data, "image", facts.media_type)
    image = Image(
        sha256=stored.sha256,
        url=url,
        media_type=facts.media_type,
        width=facts.width,
        height=facts.height,
        blurhash=facts.blurhash,
    )
    about = image.model_dump(exclude={"sha256", "media_type"})
    thumbnails = await store_thumbnails(blobs, stored, picture)
    written = step_writes.write_image(mark.id, mark.owner_id, stored.file_id, about)
    return Done(image, [write_file(mark, stored), thumbnails, written])


@bookmarks.step(after=metadata, timeout=120, concurrency=(1, 16), retry=Retry(attempts=3, base=5.0))
@of_bookmark(bookmarks)
async def favicon(ctx: Context, link: Link, mark: Bookmark, found: Found | None) -> Done[str] | Skip:
    """Store the best icon of the site."""
    if found is None or found.is_unchanged:
        return Skip("the page has not changed")
    urls = [link.favicon, *found.icons] if link.favicon else found.icons
    best = await first_picture(ctx, urls, "bookmarks.favicon", _ICON_BYTES, _ICON_SECONDS)
    if best is None:
        return Skip("the site has no icon that could be read")
    url, data, picture = best
    blobs = await ctx.get(resources.blobs)
    stored = await keep_file(blobs, mark, data, "icon", picture.facts.media_type)
    thumbnails = await store_thumbnails(blobs, stored, picture)
    return Done(
        url, [write_file(mark, stored), thumbnails, step_writes.write_favicon(mark.id, mark.owner_id, stored.file_id)]
    )


@bookmarks.step(after=images, optional=True, timeout=240, concurrency=(1, 2))
@of_bookmark(bookmarks)
async def ocr(ctx: Context, link: Link, mark: Bookmark, image: Image | None) -> Done[int] | Skip:
    """Read the text in the main image."""
    if image is None:
        return Skip("the page has no image")
    try:
        async with (await ctx.get(resources.blobs)).local(image.sha256) as path:
            read = await ctx.call(READ_IMAGE_TEXT, path)
    except ConfigError as error:
        return Skip(str(error))  # the other steps work without it
    return Done(len(read.text), [step_writes.write_ocr(mark.id, mark.owner_id, read.text or None)])


@bookmarks.step(after=images, optional=True, timeout=120, concurrency=(1, 4), retry=_PATIENT)
@of_bookmark(bookmarks)
async def caption(ctx: Context, link: Link, mark: Bookmark, image: Image | None) -> Done[str] | Skip:
    """Describe the main image in words, if a caption service is configured."""
    service = captions.caption_service(await ctx.get(resources.settings))
    if service is None:
        return Skip(captions.OFF)
    if image is None:
        return Skip("the page has no image")
    async with (await ctx.get(resources.blobs)).local(image.sha256) as path:
        small = await ctx.call(SHRINK, path, 1024)
    text = await captions.describe(await ctx.get(resources.http), service, small, "bookmarks.caption")
    return Done(text, [step_writes.write_caption(mark.id, mark.owner_id, text)])


def _fetcher(ctx: Context, step: StepName) -> PageFetcher:
    return PageFetcher(StepPageTools(ctx), f"bookmarks.{step}")
