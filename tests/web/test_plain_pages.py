"""The pages beside the web app: the API with its forms, and the sign-in page."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.conftest import Site


def test_the_api_can_be_tried_and_found_by_words(site: Site) -> None:
    ann = site.person()
    ann.ignores_shift = True
    page = ann.open("/api/docs")
    expect(page.get_by_text("/api/bookmarks/categories/{category_id}").first).to_be_visible()
    paths = site.api().get("/api/openapi.json").json()["paths"]
    text = page.locator("body").inner_text()
    assert [path for path in paths if path not in text] == []
    page.get_by_label("Find").fill("get /api/me")
    shown = page.locator("#groups > section > details:visible")
    for words in shown.evaluate_all("found => found.map(each => each.dataset.words)"):
        assert "get" in words, words
        assert "/api/me" in words
    me = page.locator("details[data-words^='get /api/me ']")
    me.locator("summary").click()
    expect(me.get_by_text("curl -H")).to_be_visible()
    me.get_by_role("button").first.click()
    expect(me.get_by_text('"name": "ann"')).to_be_visible()


def test_on_a_phone_nothing_hangs_over_the_edge(site: Site) -> None:
    for path in ("/api/docs", "/sign-in"):
        visitor = site.visitor(width=320, height=640, touch=True)
        visitor.ignores_shift = True
        page = visitor.open(path)
        expect(page.locator("#sign-in")).to_be_visible()
        if path == "/api/docs":
            expect(page.get_by_text("/api/jobs/{job_id}").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
