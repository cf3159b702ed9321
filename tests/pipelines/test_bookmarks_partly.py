"""What a bookmark shows when things go partly wrong: what was found all the same, and why the rest is missing."""

# demands: S2-25, S2-40

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from forebay import resources
from forebay.engine.declare.limited import limited
from forebay.engine.declare.resources import Resource, Resources, resource
from forebay.errors import ConfigError, TransientError
from forebay.pipelines import page_tools
from forebay.services.browser.captures import Capture, CaptureKind, Shot
from forebay.services.egress import Refusal, UrlNotFound
from forebay.services.pdf import PdfFacts
from tests.corpus import making
from tests.corpus.site import Page, Site, corpus
from tests.pipelines._crawl import Crawl, crawling

SCRIPTED = "<title>Weather</title><div id=root></div><script>later()</script>"
WRITTEN = "<html lang=en><title>The weather on the weir</title><body><p>" + "Rain, and more water than in spring. " * 9
MISSING = "no Chromium was found: install it, or name it in FOREBAY_BROWSER_PATH"


class Stub:
    """A browser that does as it is told."""

    def __init__(self) -> None:
        self.fails: Exception | None = None
        self.shows: dict[str, Any] = {}
        self.asked: list[str] = []

    async def capture(self, url: str, *, full_page: bool, purpose: str) -> Capture:
        self.asked.append(purpose)
        if self.fails is not None:
            raise self.fails
        shot = Shot(making.png(), 8, 8, "image/png")
        given: dict[str, Any] = {
            "url": url, "final_url": url, "status": 200, "kind": CaptureKind.PAGE, "reason": "",
            "media_type": "text/html", "headers": {}, "title": "", "html": WRITTEN, "html_is_cut": False,
            "viewport": shot,
            "full_page": shot if full_page else None, "full_page_is_cut": False, "notes": [], "refusals": [],
            "bytes_down": 0,
        }  # fmt: skip
        return Capture(**(given | self.shows))


@pytest.fixture
def stub() -> Stub:
    return Stub()


Open = Callable[..., AbstractAsyncContextManager[Crawl]]


@pytest.fixture
def opened(dsn: str, site: Site, tmp_path: Path, stub: Stub) -> Open:
    @resource
    async def browser(_: Resources) -> AsyncGenerator[Any]:
        yield stub

    replaced: dict[Resource[Any], Resource[Any]] = {resources.browser: browser}
    return lambda **settings: crawling(dsn, site, tmp_path, resources=replaced, **settings)


@pytest.fixture
def put() -> Iterator[Callable[..., None]]:
    """Puts pages into the corpus for one test."""
    added: list[str] = []

    def put(path: str, body: str, **other: Any) -> None:
        corpus()[path] = Page(path, body=body, **other)
        added.append(path)

    yield put
    for path in added:
        corpus().pop(path, None)


async def test_a_page_for_which_there_is_no_browser_says_so_and_is_read_once_there_is_one(
    opened: Open, stub: Stub, put: Any
) -> None:
    put("/app", SCRIPTED)
    stub.fails = ConfigError(MISSING)
    async with opened() as crawl:
        mark = await crawl.crawled("/app")
        assert (mark["kind"], mark["title"], mark["body"]) == ("page", "Weather", None)
        assert mark["kind_reason"] == f"the page is rendered by its scripts, which need a browser: {MISSING}"
        assert json.loads(mark["notes"]) == {"metadata": [mark["kind_reason"]]}
        assert (await crawl.item(mark["id"]))["status"] == "PENDING"  # the screenshot waits for a browser
        stub.fails = None
        crawl.bed.clock.advance(31)  # the parked queue is tried again
        await crawl.bed.run()
        read = await crawl.row(mark["id"])
        assert (read["title"], read["kind_reason"], read["notes"]) == ("The weather on the weir", None, "{}")
        assert read["words"] > 20
        assert read["screenshot_id"] is not None
        assert read["job_id"] != mark["job_id"]
        assert (await crawl.item(mark["id"]))["status"] == "DONE"
        before = len(stub.asked)
        await crawl.bed.run()
        assert len(stub.asked) == before  # once


async def test_a_page_whose_scripts_cannot_be_run_is_no_success(opened: Open, stub: Stub, put: Any) -> None:
    put("/app", SCRIPTED)
    stub.fails = TransientError("the page crashed its tab, perhaps by using too much memory")
    async with opened() as crawl:
        mark = await crawl.add("/app")
        await crawl.bed.finish()
        item, row = await crawl.item(mark), await crawl.row(mark)
    assert (item["status"], item["class"]) == ("ERROR", "transient")
    assert {"metadata", "screenshot"} <= set(item["dead"])
    assert row["title"] == "Weather"  # what it says without them
    assert row["kind_reason"] == f"the page is rendered by its scripts, which could not be run: {stub.fails}"


async def test_what_the_browser_notes_reaches_the_bookmark(opened: Open, stub: Stub) -> None:
    stub.shows = {
        "notes": ["it was still loading when it was captured"],
        "full_page": Shot(making.png(), 8, 12000, "image/png"),
        "full_page_is_cut": True,
        "html_is_cut": True,
        "refusals": [Refusal("10.0.0.1", 80, "address", "10.0.0.1 is private"), Refusal("b.test", 80, "address", "")],
    }
    async with opened() as crawl:
        mark = await crawl.crawled("/plain")
        notes = json.loads(mark["notes"])
        stub.shows = {}
        again = await crawl.again(mark["id"])
        pictures = await crawl.conn.fetch("select file_id, widths from forebay.picture")
    assert (again["screenshot_id"], [160, 320]) in [
        tuple(row) for row in pictures
    ]  # the first has gone with its thumbnail
    assert mark["screenshot_id"] not in [row["file_id"] for row in pictures]
    assert notes == {
        "screenshot": [
            "it was still loading when it was captured",
            "the page is very long; only its beginning was read",
            "the screenshot of the full page ends after 12000 pixels",
            "the SSRF guard refused 2 requests of the page: 10.0.0.1, b.test",
        ]
    }
    assert again["notes"] == "{}"


async def test_a_screenshot_that_has_no_thumbnails_is_kept_all_the_same(opened: Open, stub: Stub) -> None:
    stub.shows = {"viewport": Shot(b"no picture", 8, 8, "image/png")}
    async with opened() as crawl:
        mark = await crawl.crawled("/plain")
        assert (await crawl.file(mark["screenshot_id"]))[1] == b"no picture"
        known = "select count(*) from forebay.picture where file_id = $1"
        assert await crawl.conn.fetchval(known, mark["screenshot_id"]) == 0


async def test_a_dead_host_is_not_found_from_every_step(opened: Open, stub: Stub) -> None:
    stub.fails = UrlNotFound("the host site19.invalid does not exist")
    async with opened() as crawl:
        mark = await crawl.crawled("http://site19.invalid/page")
        item = await crawl.item(mark["id"])
        letters = await crawl.conn.fetchval("select count(*) from forebay.dead_letters where class <> 'not_found'")
    assert (item["status"], item["reason"]) == ("NOT_FOUND", "the host site19.invalid does not exist")
    assert mark["kind_reason"] == "the host site19.invalid does not exist"
    assert letters == 0
    assert stub.asked == ["bookmarks.screenshot"]  # not four times


async def test_what_is_said_to_be_an_image_gets_no_screenshot_and_nobody_asks(
    opened: Open, stub: Stub, put: Any
) -> None:
    put("/photo.jpg", WRITTEN)  # whatever it is in truth
    async with opened() as crawl:
        mark = await crawl.crawled("/photo.jpg")
        assert (mark["kind"], mark["screenshot_id"], stub.asked) == ("page", None, [])
        assert "screenshot" in (await crawl.item(mark["id"]))["done"]


@pytest.mark.parametrize("charset", ["punycode", "zlib", "rot13", "nothing-of-that-name", "unicode_escape"])
async def test_a_charset_that_no_page_has_is_not_used(opened: Open, put: Any, charset: str) -> None:
    put("/notes.txt", "Grüße vom Wehr -\\x41", type=f"text/plain; charset={charset}")
    async with opened() as crawl:
        mark = await crawl.crawled("/notes.txt")
    assert (mark["kind"], mark["body"]) == ("file", "Grüße vom Wehr -\\x41")


def where_it_is(path: Path) -> PdfFacts:
    """Stands in for the reader, and tells what it was given."""
    told = f"{path} {path.read_bytes()[:5].decode()}"
    return PdfFacts(pages=1, title=None, author=None, text=told, image=making.png(), width=8, height=8)


async def test_a_pdf_is_read_from_a_file_that_does_not_stay(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_tools, "READ_PDF", limited(where_it_is, memory_mb=512, sandbox=False))
    async with opened() as crawl:
        mark = await crawl.crawled("/paper.pdf")
        spool = crawl.blobs.store.spool
    path, _, begins = mark["body"].partition(" ")
    assert (Path(path).is_relative_to(spool / "partial"), begins) == (True, "%PDF-")
    assert [each for each in spool.rglob("*") if each.is_file()] == []


async def test_icons_have_a_budget(opened: Open, put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    links = "".join(f'<link rel="icon" href="/nothing{n}.png" sizes="{n}x{n}">' for n in range(20, 30))
    put("/icons", f"<title>Icons</title>{links}<p>{'Water falls. ' * 20}")
    monkeypatch.setattr(sys.modules["forebay.pipelines.bookmarks.steps"], "_ICON_SECONDS", 0.0)
    async with opened() as crawl:
        mark = await crawl.crawled("/icons")
        item = await crawl.item(mark["id"])
    assert (item["status"], mark["favicon_id"]) == ("DONE", None)
    assert "favicon" in item["done"]
