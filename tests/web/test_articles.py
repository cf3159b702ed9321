"""Articles in a browser: written, found by what they mean, changed by two, compared, restored, deleted and imported."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web._articles import change, embed, searchable, write
from tests.web.conftest import PIPELINES, Site

if TYPE_CHECKING:
    from tests.conftest import NewDatabase


@pytest.fixture(scope="module")
def shared(new_database: NewDatabase, browser: Browser, run_folder: Path) -> Iterator[Site]:
    """One server for the file: each test has articles of its own."""
    with ExitStack() as stack:
        yield Site(stack.enter_context(new_database()), PIPELINES, browser, stack, run_folder / "models")


def _fill(page: Page, title: str, text: str) -> None:
    page.get_by_role("textbox", name="Title").fill(title)
    page.get_by_role("textbox", name="Text, in Markdown").fill(text)


def test_an_article_is_written_and_found_by_its_meaning_a_moment_later(shared: Site) -> None:
    ann = shared.person()
    page = ann.open("/articles/new")
    _fill(page, "House cats", "## Days\n\nKittens **sleep** most of the day. <b>no HTML</b>")
    preview = page.get_by_role("region", name="Preview")
    expect(preview.get_by_role("heading", name="Days")).to_be_visible()
    expect(preview.get_by_text("<b>no HTML</b>")).to_be_visible()
    expect(page.get_by_text(re.compile("Kept as a draft"))).to_be_visible()
    page.reload()  # the draft is found by its name in the URL
    expect(page.get_by_role("textbox", name="Title")).to_have_value("House cats")
    page.keyboard.press("Control+s")
    page.wait_for_url(re.compile(r"/articles/\d+$"))
    expect(page.get_by_text("Waiting", exact=True)).to_be_visible()
    assert shared.api().get("/api/articles/drafts").json()["drafts"] == []
    embed(shared)
    expect(page.get_by_text("Fresh", exact=True)).to_be_visible()  # by an event
    searchable(shared, "young animals that rest")
    ann.ignores_shift = True  # one page after the other: its own test measures each
    page.goto(f"{shared.url}/search?q=young+animals+that+rest&mode=meaning")
    hit = page.get_by_role("list", name="Found").get_by_role("link", name="House cats", exact=True)
    hit.click()
    expect(page.get_by_role("heading", name="House cats", level=1)).to_be_visible()
    ann.axe()


def test_of_two_that_change_an_article_neither_loses_a_text(shared: Site) -> None:
    article = write(shared, "Mills", "one\ntwo\nthree\n")
    ann = shared.person()
    ann.allowed = {412}
    page = ann.open(f"/articles/{article}?tab=edit")
    page.get_by_role("textbox", name="Text, in Markdown").fill("one\nmine\nthree\n")
    change(shared, article, content="one\ntheirs\nthree\n", message="Theirs")
    page.get_by_role("button", name=re.compile("Save")).first.click()
    expect(page.get_by_text("Version 2 was saved after you began with version 1.")).to_be_visible()
    page.get_by_role("button", name="Compare both").click()
    both = page.get_by_role("region", name="From version 2 to your text")
    expect(both.get_by_text("-theirs")).to_be_visible()
    expect(both.get_by_text("+mine")).to_be_visible()
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("Saved as version 3.")).to_be_visible()
    page.get_by_role("tab", name="Versions").click()
    page.get_by_role("button", name=re.compile("Version 2")).click()
    expect(page.get_by_text("+theirs")).to_be_visible()
    page.get_by_role("button", name="Restore version 2").click()
    expect(page.get_by_role("button", name=re.compile(r"Version 4 \(now\)"))).to_be_visible()
    assert shared.api().get(f"/api/articles/{article}").json()["content"] == "one\ntheirs\nthree\n"


def test_a_deleted_article_comes_back_by_undo_and_is_gone_without(shared: Site) -> None:
    article = write(shared, "Not needed", "A text.")
    ann = shared.person()
    ann.ignores_shift = True  # the list changes on purpose
    page = ann.open(f"/articles/{article}")
    page.get_by_role("button", name="Delete").click()
    listed = page.get_by_role("list", name="Articles").get_by_text("Not needed")
    expect(page.get_by_role("heading", name="Articles", level=1)).to_be_visible()
    expect(listed).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(listed).to_be_visible()
    assert shared.api().get(f"/api/articles/{article}").status_code == 200
    listed.click()
    page.get_by_role("button", name="Delete").click()
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        expect(page.get_by_text("is deleted.")).to_be_visible()
    assert shared.api().get(f"/api/articles/{article}").status_code == 404


def test_a_zip_becomes_articles_and_all_that_need_it_are_embedded_on_a_phone(shared: Site) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("notes/bread.md", "# Bread\n\nKnead the dough.")
        files.writestr("notes/tyre.txt", "Patch the hole.")
        files.writestr("notes/broken.pdf", "no PDF")
    ann = shared.person(width=360, height=780, touch=True)
    page = ann.open("/articles/import")
    page.get_by_label("Files with articles").set_input_files(
        {"name": "notes.zip", "mimeType": "application/zip", "buffer": packed.getvalue()}
    )
    expect(page.get_by_text("Being read")).to_be_visible()
    embed(shared)
    expect(page.get_by_text("2 new articles, 0 changed, 0 unchanged")).to_be_visible()
    expect(page.get_by_text(re.compile("broken.pdf: "))).to_be_visible()
    ann.ignores_shift = True  # one page after the other: its own test measures each
    shared.sql("update forebay.article set embedding = 'stale', embedded_version = null")
    shared.sql("delete from forebay.search_indexed")
    page.goto(f"{shared.url}/articles/embeddings")
    page.get_by_role("button", name="Embed all that need it").click()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    ann.axe()
