"""The pipeline of bookmarks.

    screenshot ∥ metadata → images → ocr ∥ caption
                         ↘ favicon

Each step writes its result into the bookmark in the transaction that settles it, and is retried separately. A login,
captcha or error page is recorded as such and never mistaken for the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.limited import limited
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import ConfigError, DataError, StepError
from forebay.intake.receiving import is_last
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks import page_rows
from forebay.pipelines.bookmarks.settings import BookmarksSettings
from forebay.pipelines.bookmarks.step_names import StepName
from forebay.pipelines.image_tools import READ_IMAGE_TEXT, READ_PICTURE, store_thumbnails
from forebay.pipelines.page_tools import StepPageTools
from forebay.services import caption as captions
from forebay.services import images as pictures
from forebay.services.egress import UrlNotFound
from forebay.services.pages import fetching
from forebay.services.pages.fetching import FetchedPage, PageFetcher
from forebay.types import Done, NotFound, Skip

if TYPE_CHECKING:
    from forebay.services.browser import Capture
    from forebay.storage import Blobs, Stored
    from forebay.types import Statement

P = ParamSpec("P")
Ended = TypeVar("Ended", bound="Done[Any] | Skip | NotFound")

log = get_logger("bookmarks")

UNOWNED = "unowned"  # owner of old messages without a user

_IMAGE_BYTES = 20 << 20
_ICON_BYTES = 2 << 20
_IMAGE_SECONDS, _ICON_SECONDS = 120.0, 60.0  # seconds for all candidates together, less than the step's timeout
_ONE_SECONDS = 30.0
_CANDIDATES = 4  # images that are tried
_GONE = Skip("the bookmark was deleted", item=True)
_PATIENT = Retry(attempts=4, base=5.0, cap=900.0)

SHRINK = limited(pictures.jpeg, memory_mb=512, timeout=30, needs=pictures.PACKAGES)


class Link(BaseModel):
    """The input for one bookmark, compatible with messages of the earlier queue."""

    model_config = ConfigDict(populate_by_name=True)

    bookmark_id: Annotated[int, Field(alias="bookmarkId", ge=1, le=2**63 - 1)]
    url: Annotated[str, Field(min_length=1, max_length=8192)]
    user_id: Annotated[str | None, Field(alias="userId", max_length=200)] = None
    favicon: Annotated[str | None, Field(alias="favIcon", max_length=8192)] = None
    is_image: Annotated[bool, Field(alias="isImage", strict=True)]
    only: tuple[StepName, ...] | None = None  # run these steps, skip the others


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


@dataclass(frozen=True, slots=True)
class _Bookmark:
    """The bookmark of a task, after its owner has been checked."""

    id: int
    owner_id: int
    etag: str | None
    modified: str | None
    is_unrendered: bool
    body_hash: bytes | None


bookmarks = Pipeline("bookmarks", Link, reference="bookmarkId", noun="bookmark")


def _of_bookmark(
    *needed_by: StepName,
) -> Callable[
    [Callable[Concatenate[Context, Link, _Bookmark, P], Coroutine[Any, Any, Ended]]],
    Callable[Concatenate[Context, Link, P], Coroutine[Any, Any, Ended | Skip]],
]:
    """Give a step its bookmark, and record with the bookmark how the step has ended.

    The step is skipped if the bookmark is gone, or if neither this step nor one in `needed_by` is requested.
    """

    def declared(
        fn: Callable[Concatenate[Context, Link, _Bookmark, P], Coroutine[Any, Any, Ended]],
    ) -> Callable[Concatenate[Context, Link, P], Coroutine[Any, Any, Ended | Skip]]:
        step = cast("StepName", fn.__name__)

        @wraps(fn)
        async def run(ctx: Context, link: Link, /, *args: P.args, **kwargs: P.kwargs) -> Ended | Skip:
            mark = await _wanted(ctx, link, step, *needed_by)
            if isinstance(mark, Skip):
                return mark
            ended = partial(rows.write_step, mark.id, mark.owner_id, step, ctx.job_id)
            try:
                outcome = await fn(ctx, link, mark, *args, **kwargs)
            except StepError as error:
                if is_last(ctx, bookmarks.steps[step].retry, error):
                    error.writing(*error.writes, ended("FAILED", str(error)))
                raise
            if isinstance(outcome, Done):
                record = ended("DONE", None)
            else:
                record = ended("SKIPPED" if isinstance(outcome, Skip) else "NOT_FOUND", outcome.reason)
            return replace(outcome, writes=[*outcome.writes, record])

        return run

    return declared


@bookmarks.step(timeout=180, concurrency=(1, 4), retry=_PATIENT)
@_of_bookmark()
async def screenshot(ctx: Context, link: Link, mark: _Bookmark) -> Done[Shots] | Skip | NotFound:
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


async def _shoot_page(ctx: Context, mark: _Bookmark, capture: Capture) -> Done[Shots] | Skip:
    if capture.viewport is None:
        return Skip(f"the link leads to {'an image' if capture.kind == 'image' else 'a file'}, not to a page")
    whole = capture.full_page if capture.full_page is not capture.viewport else None
    done = await _keep_shots(ctx, mark, capture.final_url, capture.viewport, whole, fetching.notes_of(capture))
    if not mark.is_unrendered:
        return done
    # The page was read without a browser, which is available now.
    return Done(done.result, [*done.writes, rows.crawl_unrendered(mark.id, mark.owner_id)])


async def _shoot_pdf(ctx: Context, link: Link, mark: _Bookmark) -> Done[Shots]:
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
    ctx: Context, mark: _Bookmark, url: str, first: _Picture, whole: _Picture | None, notes: list[str]
) -> Done[Shots]:
    ctx.progress(note="storing the screenshots")
    blobs = await ctx.get(resources.blobs)
    kept = [await _keep(blobs, mark, first.data, "screenshot", first.media_type)]
    if whole is not None:
        kept.append(await _keep(blobs, mark, whole.data, "full page", whole.media_type))
    ids = [*(stored.file_id for stored in kept), None]
    written = [
        *(_file(mark, stored) for stored in kept),
        *await _thumbnails(ctx, blobs, kept[0], first.data),
        rows.write_screenshots(mark.id, mark.owner_id, ids[0], ids[1], notes),
    ]
    return Done(Shots(first=ids[0], whole=ids[1], url=url), written)


async def _thumbnails(ctx: Context, blobs: Blobs, stored: Stored, data: bytes) -> list[Statement]:
    """Thumbnails of a screenshot; without them it is shown in full size."""
    try:
        return [await store_thumbnails(blobs, stored, await ctx.call(READ_PICTURE, data))]
    except (ConfigError, DataError) as error:
        log.warning("no_thumbnails", job=ctx.job_id, error=str(error))
        return []


@bookmarks.step(timeout=180, concurrency=(2, 32), retry=_PATIENT)
@_of_bookmark("images", "favicon", "ocr", "caption")
async def metadata(ctx: Context, link: Link, mark: _Bookmark) -> Done[Found] | Skip | NotFound:
    """Read the metadata and the readable text of the page."""
    known = (None, None) if link.only is not None else (mark.etag, mark.modified)
    try:
        page = await _fetcher(ctx, "metadata").fetch(link.url, etag=known[0], modified=known[1])
        if page is None:
            same = Found(kind="page", url=link.url, is_unchanged=True)
            return Done(same, [rows.write_unchanged(mark.id, mark.owner_id)])
        page_rows.check(page, mark.id, mark.owner_id)
        written = await page_rows.write_page(ctx, page, mark.id, mark.owner_id, mark.body_hash)
        if page.failure is not None:
            raise page.failure.writing(written)
    except UrlNotFound as error:
        gone = rows.write_no_page(mark.id, mark.owner_id, "error", str(error), error.status)
        return NotFound(str(error), error.writes or [gone])
    except StepError as error:
        if not error.writes and not isinstance(error, ConfigError):
            error.writing(rows.write_trouble(mark.id, mark.owner_id, str(error)))
        raise
    found = Found(kind=page.kind, url=page.url, title=page.title, images=page.images, icons=page.icons)
    return Done(found, [written])


@bookmarks.step(after=metadata, timeout=180, concurrency=(1, 16), retry=_PATIENT)
@_of_bookmark("ocr", "caption")
async def images(ctx: Context, link: Link, mark: _Bookmark, found: Found | None) -> Done[Image] | Skip:
    """Store the main image of the page, with its size and a blurhash."""
    if found is None or found.is_unchanged:
        return Skip("the page has not changed")
    urls = [found.url] if found.kind == "image" else found.images[:_CANDIDATES]
    best = await _first_picture(ctx, urls, "bookmarks.images", _IMAGE_BYTES, _IMAGE_SECONDS)
    if best is None:
        return Skip("the page names no image" if not urls else "none of the page's images could be read")
    url, data, picture = best
    facts, blobs = picture.facts, await ctx.get(resources.blobs)
    stored = await _keep(blobs, mark, data, "image", facts.media_type)
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
    written = rows.write_image(mark.id, mark.owner_id, stored.file_id, about)
    return Done(image, [_file(mark, stored), thumbnails, written])


@bookmarks.step(after=metadata, timeout=120, concurrency=(1, 16), retry=Retry(attempts=3, base=5.0))
@_of_bookmark()
async def favicon(ctx: Context, link: Link, mark: _Bookmark, found: Found | None) -> Done[str] | Skip:
    """Store the best icon of the site."""
    if found is None or found.is_unchanged:
        return Skip("the page has not changed")
    urls = [link.favicon, *found.icons] if link.favicon else found.icons
    best = await _first_picture(ctx, urls, "bookmarks.favicon", _ICON_BYTES, _ICON_SECONDS)
    if best is None:
        return Skip("the site has no icon that could be read")
    url, data, picture = best
    blobs = await ctx.get(resources.blobs)
    stored = await _keep(blobs, mark, data, "icon", picture.facts.media_type)
    thumbnails = await store_thumbnails(blobs, stored, picture)
    return Done(url, [_file(mark, stored), thumbnails, rows.write_favicon(mark.id, mark.owner_id, stored.file_id)])


@bookmarks.step(after=images, optional=True, timeout=240, concurrency=(1, 2))
@_of_bookmark()
async def ocr(ctx: Context, link: Link, mark: _Bookmark, image: Image | None) -> Done[int] | Skip:
    """Read the text in the main image."""
    if image is None:
        return Skip("the page has no image")
    try:
        async with (await ctx.get(resources.blobs)).local(image.sha256) as path:
            read = await ctx.call(READ_IMAGE_TEXT, path)
    except ConfigError as error:
        return Skip(str(error))  # the other steps work without it
    return Done(len(read.text), [rows.write_ocr(mark.id, mark.owner_id, read.text or None)])


@bookmarks.step(after=images, optional=True, timeout=120, concurrency=(1, 4), retry=_PATIENT)
@_of_bookmark()
async def caption(ctx: Context, link: Link, mark: _Bookmark, image: Image | None) -> Done[str] | Skip:
    """Describe the main image in words, if a caption service is configured."""
    service = captions.caption_service(await ctx.get(resources.settings))
    if service is None:
        return Skip(captions.OFF)
    if image is None:
        return Skip("the page has no image")
    async with (await ctx.get(resources.blobs)).local(image.sha256) as path:
        small = await ctx.call(SHRINK, path, 1024)
    text = await captions.describe(await ctx.get(resources.http), service, small, "bookmarks.caption")
    return Done(text, [rows.write_caption(mark.id, mark.owner_id, text)])


# Shared by the steps.


def _fetcher(ctx: Context, step: StepName) -> PageFetcher:
    return PageFetcher(StepPageTools(ctx), f"bookmarks.{step}")


async def _wanted(ctx: Context, link: Link, step: StepName, *needed_by: StepName) -> _Bookmark | Skip:
    """The bookmark, if it still exists and this step, or one that needs it, is requested.

    A bookmark of another owner counts as missing.

    Raises: DataError when the job names no owner and no fallback owner is configured.
    """
    if link.only is not None and {step, *needed_by}.isdisjoint(link.only):
        return Skip("not requested")
    row = await rows.read_crawl(await ctx.get(resources.database), link.bookmark_id, ctx.owner_id)
    if row is None:
        return _GONE
    if link.user_id is None:
        fallback = (await ctx.get(resources.settings)).of(BookmarksSettings).fallback_owner
        if not fallback:
            raise DataError("userId: is missing; FOREBAY_BOOKMARKS_FALLBACK_OWNER can name an owner for such jobs")
        is_owner = fallback == row["owner"] and row["job_owner"] in (UNOWNED, fallback)
    else:
        is_owner = link.user_id == row["owner"] and ctx.owner_id == row["owner_id"]
    if not is_owner:
        # Only logged: submitters must not find out which ids others have.
        log.warning("bookmark_of_another_owner", bookmark=link.bookmark_id, job=ctx.job_id, owner=row["job_owner"])
        return _GONE
    return _Bookmark(
        link.bookmark_id,
        row["owner_id"],
        row["etag"],
        row["last_modified"],
        row["unrendered"],
        row["body_hash"],
    )


def _file(mark: _Bookmark, stored: Stored) -> Statement:
    """The statement that adds a stored file, unless the bookmark was deleted."""
    return rows.write_file(mark.id, mark.owner_id, stored.file_id, stored.sha256, stored.name, stored.media_type)


async def _keep(blobs: Blobs, mark: _Bookmark, data: bytes, what: str, media_type: str) -> Stored:
    kind = media_type.partition("/")[2]
    return await blobs.put(data, owner_id=mark.owner_id, name=f"{what}.{kind}", media_type=media_type)


async def _first_picture(
    ctx: Context, urls: list[str], purpose: str, max_bytes: int, seconds: float
) -> tuple[str, bytes, pictures.Picture] | None:
    """The first URL that is an image, within a time limit for all. A temporary error is raised if no other works."""
    later: StepError | None = None
    http = await ctx.get(resources.http)
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    for url in urls:
        left = min(_ONE_SECONDS, ends - loop.time())
        if left <= 0:
            break
        try:
            fetched = await http.get(url, purpose=purpose, max_bytes=max_bytes, timeout=left)
            return url, fetched.content, await ctx.call(READ_PICTURE, fetched.content)
        except StepError as error:
            if isinstance(error, ConfigError):
                raise
            if fetching.may_work_later(error):
                later = error
    if later is not None:
        raise later
    return None
