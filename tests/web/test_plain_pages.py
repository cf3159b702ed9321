"""The pages beside the web app: the API with its forms, and the sign-in page."""

from __future__ import annotations

from playwright.sync_api import Route, expect

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


def test_an_old_browser_is_told_what_to_do(site: Site) -> None:
    """It knows neither the syntax of the app's script, nor layers, nor what the app asks its style sheet for."""
    ann = site.person()

    def old_style(route: Route) -> None:
        text = route.fetch().text()
        assert "anchor-name" in text
        route.fulfill(
            content_type="text/css", body=text.replace("@layer", "@unknown").replace("anchor-name", "unknown")
        )

    ann.page.route("**/assets/*.css", old_style)
    ann.page.route("**/assets/*.js", lambda route: route.fulfill(content_type="text/javascript", body="a ?.?. b"))
    page = ann.open("/jobs")
    expect(page.get_by_role("heading", name="forebay does not run in this browser")).to_be_visible()
    expect(page.get_by_text("Firefox from 147")).to_be_visible()
    assert ann.complaints.pop().startswith("error: Unexpected token")
    expect(page.get_by_role("link", name="sign in")).to_have_attribute("href", "/sign-in")


def test_a_browser_that_runs_the_app_never_shows_that_it_cannot(site: Site) -> None:
    ann = site.person()
    ann.page.route("**/assets/*.js", lambda route: route.fulfill(content_type="text/javascript", body=""))
    page = ann.open("/jobs")
    expect(page.get_by_text("Firefox from 147")).to_be_hidden()
    ann.complaints.clear()


def test_on_a_phone_nothing_hangs_over_the_edge(site: Site) -> None:
    for path in ("/api/docs", "/sign-in"):
        visitor = site.visitor(width=320, height=640, touch=True)
        visitor.ignores_shift = True
        page = visitor.open(path)
        expect(page.locator("#sign-in")).to_be_visible()
        if path == "/api/docs":
            expect(page.get_by_text("/api/jobs/{job_id}").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
