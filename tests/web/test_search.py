"""The search in a browser: while somebody types, by kind, as a feed, and nothing for a second owner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.web._articles import embed, write
from tests.web.conftest import PIPELINES, Site

if TYPE_CHECKING:
    from tests.conftest import NewDatabase


@pytest.fixture(scope="module")
def shared(new_database: NewDatabase, browser: Browser, run_folder: Path) -> Iterator[Site]:
    """One server with a few things of ann, found by their words: no model is opened."""
    with ExitStack() as stack:
        site = Site(stack.enter_context(new_database()), PIPELINES, browser, stack, run_folder / "models")
        write(site, "Water mills", "The wheel turns the quagga stone.", skipEmbedding=True)
        write(site, "Turbines", "A turbine needs a quagga forebay.", skipEmbedding=True)
        embed(site)
        yield site


def test_it_answers_while_somebody_types_and_cancels_what_was_asked_before(shared: Site) -> None:
    ann = shared.person()
    page = ann.open("/search")
    field = page.get_by_role("searchbox", name="Search everything")
    field.press_sequentially("quagga", delay=20)
    found = page.get_by_role("list", name="Found")
    expect(found.get_by_role("link", name="Turbines", exact=True)).to_be_visible()
    expect(found.locator("mark", has_text="quagga").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=quagga"))
    assert len([each for each in ann.requests if "/api/search?" in each]) < len("quagga")
    page.get_by_role("tab", name=re.compile(r"article.*2", re.IGNORECASE)).click()
    expect(page).to_have_url(re.compile("kind=article"))
    page.get_by_role("tab", name=re.compile("All")).click()
    page.get_by_role("button", name="Words", exact=True).click()
    expect(page).to_have_url(re.compile("mode=words"))
    found.get_by_role("link", name="Turbines", exact=True).click()
    expect(page.get_by_role("heading", name="Turbines", level=1)).to_be_visible()
    page.go_back()
    expect(field).to_have_value("quagga")


def test_the_box_answers_on_every_page_also_by_keys(shared: Site) -> None:
    page = shared.person().open("/jobs")
    box = page.get_by_role("textbox", name="Save a link, or search")
    box.fill("turbine")
    answers = page.get_by_role("group", name="Answers")
    expect(answers.get_by_role("link", name=re.compile("Turbines"))).to_be_visible()
    box.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Turbines", level=1)).to_be_visible()
    expect(answers).to_have_count(0)
    box.fill("quagga")
    box.press("Enter")
    page.wait_for_url("**/search?q=quagga")
    expect(page.get_by_role("list", name="Found").get_by_role("listitem").first).to_be_visible()


def test_a_saved_search_is_a_feed_until_it_ends(shared: Site) -> None:
    ann = shared.person()
    page = ann.open("/search?q=quagga&mode=words")
    page.get_by_role("button", name="Save this search").click()
    dialog = page.get_by_role("dialog", name="Save this search")
    dialog.get_by_role("textbox", name="Name").fill("Quaggas")
    ann.axe()
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    page.get_by_role("searchbox", name="Search everything").fill("")
    page.get_by_role("button", name="Feed of Quaggas", exact=True).click()
    address = page.get_by_role("dialog").locator("code").inner_text()
    assert "Turbines" in httpx.get(address).text
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="End the feed of Quaggas").click()
    expect(page.get_by_text("The address of the feed is not valid any more.")).to_be_visible()
    assert httpx.get(address).status_code == 404


def test_a_second_owner_finds_nothing_of_the_first(shared: Site) -> None:
    bob = shared.person("bob", width=360, height=780, touch=True)
    bob.allowed = {404}
    page = bob.open("/search?q=quagga&mode=words")
    expect(page.get_by_role("heading", name="Nothing is found")).to_be_visible()
    bob.ignores_shift = True  # one page after the other: its own test measures each
    for path in (
        "/articles",
        "/articles/1",
        "/articles/1?tab=versions",
        "/articles/embeddings",
        "/search?like=article:1",
    ):
        page.goto(f"{shared.url}{path}")
        expect(page.locator("main h1")).to_be_attached()
        expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading')")).to_have_count(0)
        assert not re.search("quagga|turbine|water mills", page.locator("main").inner_text(), re.IGNORECASE), path
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
