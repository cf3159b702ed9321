"""Events reach the pages: through one stream for all tabs, and after the stream was gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.cli._run import until
from tests.web._browser import Watched
from tests.web._pages import waiting_job
from tests.web.conftest import Site


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    return serve()


def _submit(site: Site) -> str:
    made = site.api().post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "one"}, {"title": "two"}]})
    return str(made.json()["jobId"])


def _opened(person: Watched, path: str = "/") -> Page:
    """The page, once its stream is open: before that, the line says that it is live because nothing is known to it."""
    with person.page.expect_response(lambda response: "/api/events" in response.url):
        page = person.open(path)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    return page


def _streams(person: Watched) -> list[str]:
    return [each for each in person.requests if each.startswith("GET /api/events")]


def _asked_for_jobs(requests: list[str]) -> list[str]:
    """Without the stream, and without why a job waits, which no event says."""
    known = ("GET /api/events", "GET /api/why?", "GET /assets/")
    return [each for each in requests if not each.startswith(known)]


def test_a_job_is_seen_to_begin_and_to_end_without_a_request(site: Site) -> None:
    ann = site.person()
    page = _opened(ann)
    before = len(ann.requests)
    _submit(site)
    running = page.get_by_role("list", name="Running jobs")
    expect(running.get_by_text("0 of 2 items")).to_be_visible()
    site.run(site.service.work())
    expect(running.get_by_text("2 of 2 items")).to_be_visible()
    expect(running.get_by_text("Done")).to_be_visible()
    assert _streams(ann)
    assert _asked_for_jobs(ann.requests[before:]) == []


def test_lists_of_jobs_and_their_numbers_follow_events_without_a_request(site: Site) -> None:
    ann = site.person()
    page = _opened(ann, "/jobs")
    expect(page.get_by_text("No jobs yet")).to_be_visible()
    before = len(ann.requests)
    _submit(site)
    jobs = page.get_by_role("list", name="Jobs")
    expect(jobs.get_by_text("0 of 2 items")).to_be_visible()
    for _ in range(3):
        site.api().post("/api/jobs", json={"pipeline": "pages", "input": {"title": "one"}})
    expect(jobs.get_by_text("3 items")).to_be_visible()  # jobs of one item are counted together
    queued = page.get_by_role("button", name="Queued")
    expect(queued).to_contain_text("4")
    site.run(site.service.work())
    expect(page.get_by_role("button", name="Done")).to_contain_text("4")
    expect(queued).not_to_contain_text("4")
    assert _asked_for_jobs(ann.requests[before:]) == []


def test_two_tabs_share_one_stream_and_one_goes_on_when_the_other_closes(site: Site) -> None:
    first = site.person()
    page = _opened(first)
    second = first.another_tab()
    other = second.open("/")
    expect(other.get_by_role("button", name="Live")).to_be_visible()
    _submit(site)
    expect(other.get_by_role("list", name="Running jobs").get_by_text("0 of 2 items")).to_be_visible()
    assert _streams(second) == []
    page.close()
    site.run(site.service.work())
    expect(other.get_by_role("list", name="Running jobs").get_by_text("2 of 2 items")).to_be_visible()
    assert _streams(second) != []


def test_what_changes_before_the_stream_begins_is_shown(site: Site) -> None:
    _submit(site)
    ann = site.person()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ann.page.route("**/api/events?*", hold)
    with ann.page.expect_request("**/api/events?*items*"):
        page = ann.open("/")
    running = page.get_by_role("list", name="Running jobs")
    expect(running.get_by_text("0 of 2 items")).to_be_visible()
    site.run(site.service.work())
    held[-1].continue_()
    expect(running.get_by_text("2 of 2 items")).to_be_visible()


def test_updates_stop_when_asked_and_catch_up(site: Site) -> None:
    page = _opened(site.person())
    page.get_by_role("button", name="Live").click()
    expect(page.get_by_role("button", name="Paused by you")).to_be_visible()
    _submit(site)
    page.get_by_role("button", name="Paused by you").click()
    expect(page.get_by_role("list", name="Running jobs").get_by_text("0 of 2 items")).to_be_visible()


def test_a_page_without_events_is_live_again_after_a_pause_and_a_cut(site: Site) -> None:
    ann = site.person()
    ann.allowed = {0}
    page = ann.open("/bookmarks/tags")
    page.get_by_role("button", name="Live").click()
    page.get_by_role("button", name="Paused by you").click()
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    page.context.set_offline(True)
    expect(page.get_by_role("button", name="Offline since")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_role("button", name="Live")).to_be_visible()


# Some words of the live line stand for half a second only.
_NOTE_WORDS = """() => {
  const line = document.querySelector("button[aria-keyshortcuts=l]");
  window.said = [];
  new MutationObserver(() => window.said.push(line.textContent)).observe(line, {subtree: true, characterData: true});
}"""


def test_nothing_is_missing_after_a_restart_of_the_server(site: Site) -> None:
    ann = site.person()
    page = _opened(ann)
    _submit(site)
    running = page.get_by_role("list", name="Running jobs")
    expect(running.get_by_text("0 of 2 items")).to_be_visible()
    ann.allowed = {0}
    page.evaluate(_NOTE_WORDS)
    with site.stopped():
        site.run(site.service.work())
        expect(page.get_by_role("button", name="Polling every 5 s")).to_be_visible()
        expect(running.get_by_text("0 of 2 items")).to_be_visible()  # what was known stays
    expect(running.get_by_text("2 of 2 items")).to_be_visible()
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    assert "after=" in _streams(ann)[-1]  # it goes on behind the last event
    said = page.evaluate("window.said")
    assert "Catching up" in said[: said.index("Polling every 5 s")]
    assert said[-2:] == ["Catching up", "Live"]


def test_a_laptop_that_slept_shows_what_has_happened_since(site: Site) -> None:
    ann = site.person()
    ann.page.clock.install()
    page = _opened(ann)
    _submit(site)
    running = page.get_by_role("list", name="Running jobs")
    expect(running.get_by_text("0 of 2 items")).to_be_visible()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    ann.allowed = {0}
    with site.stopped():  # its connections are gone, and no timer runs that would open new ones
        site.run(site.service.work())
    page.clock.fast_forward("08:00:00")
    page.clock.resume()
    expect(running.get_by_text("2 of 2 items")).to_be_visible()
    expect(page.get_by_role("button", name="Live")).to_be_visible()


_HIDE = """hidden => {
  Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
  Object.defineProperty(document, "visibilityState", {configurable: true, get: () => hidden ? "hidden" : "visible"});
  document.dispatchEvent(new Event("visibilitychange", {bubbles: true}));
}"""


class _Asked:
    """Requests beside the stream, and whether one is under way."""

    def __init__(self, page: Page) -> None:
        self.paths: list[str] = []
        self._open: set[Request] = set()
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)

    def _began(self, request: Request) -> None:
        if "/api/events" not in request.url:
            self.paths.append(request.url)
            self._open.add(request)

    def _ended(self, request: Request) -> None:
        self._open.discard(request)

    def during(self, page: Page, seconds: int) -> list[str]:
        """Those of a while, in which each answer comes before the page asks again."""
        self._wait(page)
        before = len(self.paths)
        for _ in range(seconds // 5):
            page.clock.run_for(5000)
            self._wait(page)
        return self.paths[before:]

    def _wait(self, page: Page) -> None:
        until(lambda: page.evaluate("true") and not self._open, lambda: self._open)


def test_a_page_that_is_idle_asks_rarely_and_a_hidden_one_never(site: Site) -> None:
    job = waiting_job(site)["job"]
    root = site.person("root")
    root.page.clock.install()
    asked = _Asked(root.page)
    paths = ("/", "/bookmarks", "/sheets", "/jobs", f"/jobs/{job}", f"/jobs/{job}/items/2", "/ops", "/ops/flow")
    for path in (*paths, "/ops/workers", "/ops/limits"):
        page = root.open(path)
        expect(page.locator("main h1")).to_be_attached()
        expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading')")).to_have_count(0)
        if path == f"/jobs/{job}":
            expect(page.get_by_label("Steps of the job").first).to_be_visible()  # its tabs come after the page
        asked.during(page, 5)  # what belongs to the opening, and comes late on a busy machine
        assert len(minute := asked.during(page, 60)) <= 4, minute
    page = _opened(root, "/ops")
    page.evaluate(_HIDE, True)
    asked.during(page, 120)  # it gives its stream up after a minute
    before = len(root.requests)
    asked.during(page, 300)
    assert root.requests[before:] == []
    with page.expect_response(lambda response: "/api/events" in response.url):
        page.evaluate(_HIDE, False)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    assert any("/api/overview" in each for each in root.requests[before:])
