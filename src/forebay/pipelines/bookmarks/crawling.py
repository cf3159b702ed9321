"""Reading what a link leads to: a page, a PDF, a picture, some other file, or something that stands in front of it."""

from __future__ import annotations

import hashlib
import posixpath
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from forebay.engine.declare.limited import limited
from forebay.errors import ConfigError, PermanentError, ResourceError, StepError, ThrottledError, TransientError
from forebay.pipelines import resources
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.links import page_hash
from forebay.services import egress, pages, pdf
from forebay.services.egress import UrlNotFound
from forebay.services.egress.statuses import status_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from forebay.engine.declare.context import Context
    from forebay.services.browser import Capture
    from forebay.services.download.resuming import Downloaded
    from forebay.services.egress import Fetched, Http, Wanted
    from forebay.services.pages import PageFacts
    from forebay.types import Statement

PDF_BYTES = 64 << 20
_PAGE_BYTES, _PAGE_SECONDS = 6 << 20, 20.0  # of HTML more is not looked at
_FILE_BYTES = 1 << 20  # of what is no page: enough to tell what it is
_BODY = 400_000  # characters of text that are kept
_REFRESHES = 3
_NOTE = 500  # characters
UNRENDERED = "unrendered"  # among the facts: it is to be read again once there is a browser
_SOON = 10.0  # seconds: a page that leads on after that is one to be read

READ_PAGE = limited(pages.read_page, memory_mb=768, timeout=60, needs=("selectolax", "trafilatura", "htmldate"))
READ_TEXT = limited(pages.read_text, memory_mb=256, timeout=30)
READ_PDF = limited(pdf.first_page, memory_mb=768, timeout=60, needs=("PIL", "pypdfium2"))


@dataclass(frozen=True, slots=True)
class Page:
    """What was found; `images` and `icons` are addresses, the best first."""

    kind: str
    url: str
    status: int
    reason: str = ""
    title: str | None = None
    images: list[str] = field(default_factory=list[str])
    icons: list[str] = field(default_factory=list[str])
    said: dict[str, Any] = field(default_factory=dict[str, Any])  # the columns of the bookmark
    body: str = ""
    notes: list[str] = field(default_factory=list[str])  # what its owner should know, though the page was read
    failure: StepError | None = None  # why there is less of it than there should be: to be raised

    def write(self, bookmark_id: int, owner_id: int) -> Statement:
        canonical = self.said.get("canonical_url")
        told = {"kind": self.kind, "http_status": self.status, "title": self.title, **self.said}
        told["body"] = self.body[:_BODY] or None
        told["notes"] = self.notes
        body_hash = hashlib.sha256(f"{self.title}\n{self.body}".encode("utf-8", "replace")).digest()
        hashed = page_hash(canonical or self.url)
        return rows.write_page(bookmark_id, owner_id, told, body_hash, hashed)


async def read(ctx: Context, url: str, *, etag: str | None, modified: str | None) -> Page | None:
    """What the link leads to; None when it is still what `etag` and `modified` stand for.

    Raises: UrlNotFound, and what else the way out raises.
    """
    http = await ctx.get(resources.http)
    hops = 0
    while True:
        ctx.progress(note="reading the page")
        wanted = _wanted(url, etag, modified)
        fetched = await _begin(http, wanted)
        if fetched.is_unchanged:
            return None
        page, leads_to = await _understand(ctx, fetched, wanted)
        if hops or fetched.is_cut:  # what a later crawl would ask with is not about this
            page.said.update(etag=None, last_modified=None)
        if leads_to is None or hops == _REFRESHES:
            return page
        url, etag, modified, hops = leads_to, None, None, hops + 1


def _wanted(url: str, etag: str | None = None, modified: str | None = None) -> Wanted:
    return egress.Wanted(
        url, "bookmarks.metadata", PDF_BYTES, 60.0, etag, modified, {"accept": _ACCEPTED}, cookies=True,
        raise_for_status=False,
    )  # fmt: skip


async def _begin(http: Http, wanted: Wanted) -> Fetched:
    """The beginning of a page, however long it is, or endless; of other things what tells what they are."""
    async with http.stream(wanted) as answer:
        most = _PAGE_BYTES if answer.media_type in _HTML else _FILE_BYTES
        return await answer.read_beginning(most, _PAGE_SECONDS)


@asynccontextmanager
async def saved(ctx: Context, wanted: Wanted) -> AsyncGenerator[Downloaded]:
    """What is at a URL, in a file for as long as the `async with` block lasts: large things are not held in memory.

    Raises: what the way out raises; what has come until then is not fetched again by the next attempt.
    """
    from forebay.services.download.resuming import download  # noqa: PLC0415 - an extra

    http = await ctx.get(resources.http)
    async with resources.partial_file(ctx) as partial:
        yield await download(http, wanted, partial, report=resources.reporting(ctx, "receiving the file"))
        partial.discard()


def _is_pdf(fetched: Fetched) -> bool:
    return fetched.status == 200 and (fetched.media_type == "application/pdf" or fetched.content[:5] == b"%PDF-")


async def capture(ctx: Context, url: str, purpose: str, *, full_page: bool = True) -> Capture:
    """The page as the browser shows it; at its turn, as with all that is asked of a host.

    Raises: what keeps it from that.
    """
    browser = await ctx.get(resources.browser)
    http = await ctx.get(resources.http)
    async with http.visiting(url) as visit:
        seen = await browser.capture(url, full_page=full_page, purpose=purpose)
        visit.answered(seen.status, seen.headers)
        return seen


async def _understand(ctx: Context, fetched: Fetched, wanted: Wanted) -> tuple[Page, str | None]:
    """The page, and where it leads on to, if it is only a signpost.

    Raises: what an answer that is no page stands for, when that may change by itself.
    """
    raise_passing(fetched.url, fetched.status, fetched.headers)
    media_type = fetched.media_type
    if _is_pdf(fetched):
        return await _of_pdf(ctx, replace(wanted, etag=None, modified=None)), None
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        return Page("image", fetched.url, fetched.status, title=_name_of(fetched.url)), None
    if media_type in _HTML or _looks_like_html(fetched):
        return await _of_html(ctx, fetched)
    body = ""
    if media_type.startswith("text/"):
        body = await ctx.call(READ_TEXT, fetched.content[: 4 * _BODY], fetched.charset)
    return Page("file", fetched.url, fetched.status, title=_name_of(fetched.url), body=body), None


def raise_passing(url: str, status: int, headers: Mapping[str, str]) -> None:
    """Raises: what an answer stands for that is no page: not there, not now, or slower."""
    error = status_error(status, headers, _place(url))
    if error is not None and (may_work_later(error) or isinstance(error, UrlNotFound)):
        raise error


async def _of_pdf(ctx: Context, wanted: Wanted) -> Page:
    ctx.progress(note="reading the PDF")
    async with saved(ctx, wanted) as fetched:
        read = await ctx.call(READ_PDF, fetched.path)
    words = len(read.text.split())
    said: dict[str, Any] = {
        "author": read.author,
        "words": words,
        "reading_minutes": _minutes(words),
        "facts": {"pages": read.pages},
        **_validators(fetched),
    }
    return Page("pdf", fetched.url, 200, title=read.title or _name_of(fetched.url), said=said, body=read.text)


async def _of_html(ctx: Context, fetched: Fetched) -> tuple[Page, str | None]:
    facts = await ctx.call(
        READ_PAGE, fetched.content, fetched.url, fetched.charset, fetched.status, dict(fetched.headers)
    )
    if facts.refresh_url and (facts.refresh_after or 0.0) <= _SOON and facts.refresh_url != fetched.url:
        return _of_facts(facts, fetched), facts.refresh_url
    if facts.kind is not pages.PageKind.EMPTY:
        page = _of_facts(facts, fetched)
        if fetched.is_cut or facts.is_cut:
            page.notes.append("the page is very long; only its beginning was read")
        return page, None
    page = await _rendered(ctx, facts, fetched)
    page.said.update(etag=None, last_modified=None)  # they are of what its scripts begin with
    return page, None


async def _rendered(ctx: Context, facts: PageFacts, fetched: Fetched) -> Page:
    """The same of a page that its scripts write. Without a browser the bookmark says so, and waits for one."""
    ctx.progress(note="letting the page write itself")
    page = _of_facts(facts, fetched)
    try:
        seen = await capture(ctx, facts.url, "bookmarks.metadata", full_page=False)
    except ConfigError as error:
        page.notes.append(f"the page is written by its scripts, which need a browser: {error}")
        page.said.update(kind_reason=page.notes[-1], facts={**page.said["facts"], UNRENDERED: True})
        return page
    except StepError as error:
        page.said.update(kind_reason=f"the page is written by its scripts, which could not be run: {error}")
        return replace(page, failure=error)
    if not seen.html:
        return replace(page, notes=[*notes_of(seen), "its scripts were run, and wrote nothing"])
    read = await ctx.call(READ_PAGE, seen.html.encode(), seen.final_url, "utf-8", seen.status)
    return replace(_of_facts(read, fetched), notes=notes_of(seen))


def notes_of(seen: Capture) -> list[str]:
    """What went on while the browser had the page that its owner should know."""
    notes = [note[:_NOTE] for note in seen.notes]
    if seen.html_is_cut:
        notes.append("the page is very long; only its beginning was read")
    if seen.full_page is not None and seen.full_page_is_cut:
        notes.append(f"the picture of the whole page ends after {seen.full_page.height} pixels")
    if seen.refusals:
        hosts = ", ".join(dict.fromkeys(refused.host for refused in seen.refusals if refused.host))
        notes.append(f"{len(seen.refusals)} requests of the page were refused by the egress guard: {hosts}"[:_NOTE])
    return notes


def _of_facts(facts: PageFacts, fetched: Fetched) -> Page:
    said: dict[str, Any] = {
        "description": facts.description,
        "author": facts.author,
        "site": facts.site or urlsplit(facts.url).hostname,
        "language": facts.language,
        "canonical_url": facts.canonical,
        "published_at": facts.published,
        "modified_at": facts.modified,
        "words": facts.word_count,
        "reading_minutes": facts.reading_minutes,
        "facts": facts.model_dump(mode="json", include=_KEPT),
        **_validators(fetched),
    }
    return Page(
        "page" if facts.kind is pages.PageKind.EMPTY else facts.kind.value,
        facts.url,
        facts.status,
        facts.reason,
        facts.title,
        [picture.url for picture in facts.images],
        [icon.url for icon in facts.icons],
        said,
        facts.text,
    )


def _validators(fetched: Fetched | Downloaded) -> dict[str, str | None]:
    """What a later crawl asks with whether anything has changed."""
    return {"etag": (fetched.etag or "")[:1000] or None, "last_modified": (fetched.modified or "")[:200] or None}


_ACCEPTED = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"
_HTML = ("text/html", "application/xhtml+xml")
_KEPT = {"opengraph", "twitter", "json_ld", "feeds", "images", "canonical_hint", "charset"}


def _looks_like_html(fetched: Fetched) -> bool:
    """Some servers do not say what they send."""
    if fetched.media_type not in ("application/octet-stream", "text/plain", "application/xml", "text/xml"):
        return False
    start = fetched.content[:1024].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html"))


def _name_of(url: str) -> str | None:
    """What the last part of a path calls it."""
    return unquote(posixpath.basename(urlsplit(url).path))[:500].replace("\0", "") or None


def _minutes(words: int) -> float:
    return round(words / 220, 1)


def _place(url: str) -> str:
    """A URL without its query: those carry tokens and names."""
    return url.partition("?")[0].partition("#")[0][:200]


# What is no page.

_NO_PAGES = {
    "login": "requires a login",
    "captcha": "shows a captcha",
    "error": "answered with an error",
    "soft 404": "says that the page does not exist",
}


def check(page: Page, bookmark_id: int, owner_id: int, *, only_seen: bool = False) -> None:
    """Let only pages and files pass. What stands in front of one is recorded at the bookmark, and raised.

    Raises: UrlNotFound, PermanentError; ThrottledError and TransientError for what may pass by itself.
    """
    if page.kind not in _NO_PAGES:
        return
    reason = f"{_place(page.url)} {_NO_PAGES[page.kind]} ({page.status}{': ' + page.reason if page.reason else ''})"
    kind = page.kind.replace("soft 404", "error")
    record = rows.write_no_page(bookmark_id, owner_id, kind, reason, page.status, only_seen=only_seen)
    if page.kind == "soft 404":
        raise UrlNotFound(reason).writing(record)
    raise PermanentError(reason).writing(record)


def may_work_later(error: StepError) -> bool:
    """Whether it passes by itself."""
    return isinstance(error, TransientError | ThrottledError | ResourceError)
