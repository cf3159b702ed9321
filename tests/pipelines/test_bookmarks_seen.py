"""Bookmarks with a real browser: pictures of pages, of PDFs, of pages that write themselves, and what is not shown."""

# demands: S2-04, S2-63, S2-64, S2-65, S2-67

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from forebay import resources
from forebay.engine.declare.resources import Resources, resource
from forebay.services.browser import Browser, find_browser, open_browser
from forebay.services.images import inspect
from forebay.settings import Settings
from tests._children import kept_for_others
from tests.corpus.site import Site
from tests.pipelines._crawl import Crawl, crawling

needs_browser = pytest.mark.skipif(find_browser(Settings()) is None, reason="no Chromium is installed")
pytestmark = needs_browser


@pytest_asyncio.fixture(loop_scope="session")
async def crawl(dsn: str, site: Site, tmp_path: Path) -> AsyncIterator[Crawl]:
    async with crawling(dsn, site, tmp_path, browser_path=None) as crawl:
        yield crawl


async def test_a_page_is_pictured_as_one_sees_it_and_whole(crawl: Crawl) -> None:
    mark = await crawl.crawled("/infinite")
    assert (await crawl.item(mark["id"]))["status"] == "DONE"
    first = inspect((await crawl.file(mark["screenshot_id"]))[1])
    whole = inspect((await crawl.file(mark["full_page_id"]))[1])
    assert (first.width, first.height, whole.width) == (1280, 800, 1280)
    assert whole.height > first.height


async def test_a_pdf_shows_its_first_page(crawl: Crawl) -> None:
    mark = await crawl.crawled("/paper.pdf")
    assert (await crawl.item(mark["id"]))["status"] == "DONE"
    media_type, picture = await crawl.file(mark["screenshot_id"])
    assert (media_type, inspect(picture).width) == ("image/webp", 1280)


async def test_a_page_that_its_scripts_write_is_read_as_they_have_written_it(crawl: Crawl) -> None:
    mark = await crawl.crawled("/spa")
    assert mark["kind"] == "page"
    assert mark["words"] > 5
    assert mark["screenshot_id"] is not None


@pytest.mark.parametrize("path", ["/wall", "/captcha/challenge", "/forbidden"])
async def test_no_picture_of_a_login_passes_for_the_page(crawl: Crawl, path: str) -> None:
    mark = await crawl.crawled(path)
    assert mark["screenshot_id"] is mark["title"] is None
    item = await crawl.item(mark["id"])
    assert item["status"] == "ERROR"
    assert {"screenshot", "metadata"} <= set(item["dead"])


async def test_files_and_pictures_need_no_browser(crawl: Crawl) -> None:
    for path in ("/photo.png", "/text", "/download"):
        mark = await crawl.crawled(path)
        assert "screenshot" in (await crawl.item(mark["id"]))["done"], path


async def test_the_browser_gets_no_further_than_the_guard(crawl: Crawl) -> None:
    mark = await crawl.crawled("http://bad.test/")
    item = await crawl.item(mark["id"])
    assert item["class"] == "permanent"
    letters = await crawl.conn.fetch("select step, reason from forebay.dead_letters")
    assert {row["step"] for row in letters} >= {"screenshot", "metadata"}
    assert all("10.0.0.1" in row["reason"] or "refused" in row["reason"] for row in letters)


async def test_a_killed_browser_costs_only_the_screenshot_another_attempt(dsn: str, site: Site, tmp_path: Path) -> None:
    killed: list[int] = []

    @resource
    async def browser(given: Resources) -> AsyncGenerator[Browser]:
        """Kills its own Chromium in the middle of the first capture."""
        async with open_browser(given.settings, await given.get(resources.egress)) as opened:
            capture = opened.capture

            async def deadly(url: str, **options: object) -> object:
                if not killed:
                    await opened.check()
                    below = set(psutil.Process().children(recursive=True))
                    chromium = [child for child in below - kept_for_others(below) if "chrom" in child.name()]
                    killed.extend(child.pid for child in chromium)
                    for child in chromium:
                        child.kill()
                return await capture(url, **options)  # type: ignore[arg-type]

            opened.capture = deadly  # type: ignore[assignment, method-assign]
            yield opened

    async with crawling(dsn, site, tmp_path, browser_path=None, resources={resources.browser: browser}) as crawl:
        mark = await crawl.add("/article")
        await crawl.bed.finish()
        item = await crawl.item(mark)
        assert item["status"] == "DONE", item
        attempts = await crawl.conn.fetch(
            """select s.name, count(*) as n from forebay.attempt a join forebay.step s on s.id = a.step_id
               group by s.name"""
        )
    assert killed
    assert {row["name"]: row["n"] for row in attempts if row["n"] > 1}.keys() <= {"screenshot"}
