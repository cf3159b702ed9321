"""The search over everything: its page, and the answers of the box."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web._articles import library, searchable
from tests.web._pages import Look

if TYPE_CHECKING:
    from tests.web._browser import Watched
    from tests.web.conftest import Site


def saved(site: Site) -> dict[str, str]:
    """A library that can be searched by meaning, and two saved searches, one of them a feed."""
    values = library(site)
    searchable(site, "water")
    api = site.api()
    for name, question in (("Mills", {"q": "water mills"}), ("New about bread", {"q": "bread", "mode": "words"})):
        made = api.post("/api/search/saved", json={"name": name, "question": question})
        assert made.status_code == 201, made.text
    assert api.post(f"/api/search/saved/{made.json()['id']}/feed").status_code == 201
    return values


def make_feed(page: Watched) -> None:
    page.page.get_by_role("button", name=re.compile("^(Feed|New feed address) of Mills")).click()
    page.page.get_by_role("dialog", name="The address of the feed").wait_for()


def type_into_box(page: Watched) -> None:
    page.page.get_by_role("textbox", name="Save a link, or search").fill("water")
    expect(page.page.get_by_role("list", name="Found").get_by_role("link").first).to_be_visible()


LOOKS = [
    Look("/search", "empty", "Search"),
    Look("/search", "saved", "Search", saved),
    Look("/search", "feed", "Search", saved, after=make_feed),
    Look("/search?q=water", "found", "Search", saved),
    Look("/search?q=qqqq&mode=words", "nothing", "Search", saved),
    Look("/search?q=rivers", "no vectors", "Search"),
    Look("/search?like=article:{article}", "similar", "Search", saved),
    Look("/jobs", "answers", "Jobs", saved, after=type_into_box),
]
