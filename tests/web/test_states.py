"""Every page while it loads for the first time, when its data cannot be loaded, and when the network is gone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.cli._run import until
from tests.web._articles import CATS, write
from tests.web._browser import Watched, forward_until_seen
from tests.web._looks_attachments import add_instance
from tests.web._looks_media import add_recording
from tests.web._marks import unread
from tests.web._pages import route_of, routes, waiting_job
from tests.web._sheets import sheet_with_rows
from tests.web.conftest import Site
from tests.web.test_pages import SIZES

PICTURES = os.environ.get("FOREBAY_PICTURES")

_PATHS = (
    "/",
    "/bookmarks",
    "/bookmarks/tags",
    "/sheets",
    "/articles",
    "/media",
    "/attachments",
    "/search",
    "/jobs",
    "/jobs/{job}",
    "/jobs/{job}/items/1",
    "/dead-letters",
    "/ops",
    "/ops/flow",
    "/ops/workers",
    "/ops/audit",
    "/admin/users",
    "/admin/settings",
    "/account?tab=sessions",
)
# Pages of the same components as others: looked at for the contact sheet and by `make soak`.
_ALIKE = (
    "/bookmarks/trash",
    "/bookmarks/{mark}",
    "/sheets/{sheet}",
    "/sheets/catalogues",
    "/sheets/providers",
    "/sheets/sources",
    "/articles/{article}",
    "/articles/embeddings",
    "/media/{share}",
    "/attachments/{instance}",
    "/attachments/deliveries",
    "/attachments/status",
    "/pending",
    "/pipelines/pages",
    "/ops/queues",
    "/ops/lanes",
    "/ops/workers/mill:1",
    "/ops/controllers",
    "/ops/limits",
    "/ops/schedules",
    "/ops/attempts",
    "/ops/storage",
    "/ops/pipelines/pages",
    "/admin",
    "/admin/invitations",
    "/admin/owners",
    "/account?tab=tokens",
)
# They load nothing before a person has given something.
_FORMS = ("/save", "/sheets/new", "/bookmarks/import", "/articles/new", "/articles/import")


class _Line:
    """The way to the API: its requests wait until it is cut, or pass."""

    def __init__(self, page: Page) -> None:
        self._waiting: list[Route] = []
        self._is_cut = False
        page.route(re.compile(r"/api/(?!app$|events)"), self._meet)

    def _meet(self, route: Route) -> None:
        if self._is_cut:
            route.abort("connectionfailed")
        else:
            self._waiting.append(route)

    def cut(self) -> None:
        self._is_cut = True
        for route in self._waiting:
            route.abort("connectionfailed")


def test_every_route_is_looked_at_while_it_loads_and_fails() -> None:
    assert set(routes()) == {route_of(path) for path in (*_PATHS, *_ALIKE, *_FORMS)}


def test_pages_load_and_say_what_could_not_be_loaded(site: Site) -> None:
    values = waiting_job(site)
    root = site.person("root")
    root.allowed, root.ignores_shift = {0}, True
    root.page.clock.install()
    for path in _PATHS:
        _load_and_fail(root, path.format(**values))
    root.axe()


@pytest.mark.soak
@pytest.mark.parametrize("dark", [False, True], ids=("light", "dark"))
@pytest.mark.parametrize(("width", "height"), SIZES, ids=("wide", "narrow"))
def test_each_page_loads_fails_and_is_offline(site: Site, width: int, height: int, dark: bool) -> None:
    values = waiting_job(site) | unread(site) | {"sheet": sheet_with_rows(site, 2000)}
    values |= {"article": write(site, "House cats", CATS), "share": add_recording(site)}
    values |= {"instance": str(add_instance(site, "81D31358-93AF", "Pump for the lower basin"))}
    ann, root = (
        site.person(name, width=width, height=height, dark=dark, touch=width < 900) for name in ("ann", "root")
    )
    for person in (ann, root):
        person.allowed, person.ignores_shift = {0, 404}, True
        person.page.clock.install()
    kept = partial(_keep, f"{width} {'dark' if dark else 'light'}.png")
    for path in (*_PATHS, *_ALIKE):
        person = ann if "{" in path else root
        _load_and_fail(person, path.format(**values), partial(kept, person, path))
    for path in (*_PATHS, *_ALIKE, *_FORMS):
        person = ann if "{" in path else root
        page = person.open(path.format(**values))
        expect(page.locator("main h1")).to_be_attached()
        expect(page.locator("[role=status]:has-text('Loading'), [class*=skeleton]")).to_have_count(0)
        page.context.set_offline(True)
        expect(page.get_by_text(re.compile(r"Offline since \d\d:\d\d")).locator("visible=true").first).to_be_visible()
        kept(person, path, "offline")
        page.context.set_offline(False)
        expect(page.get_by_text(re.compile(r"Offline since"))).to_have_count(0)


def _keep(name: str, person: Watched, path: str, state: str) -> None:
    person.axe()
    assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, state)
    if PICTURES:
        place = path.strip("/").replace("/", "-") or "home"
        person.page.screenshot(path=Path(PICTURES) / f"{place} {state} {name}", animations="disabled")


def _load_and_fail(person: Watched, path: str, look: Callable[[str], None] = lambda state: None) -> None:
    """Open a page whose data do not come, then cannot be loaded, and then are loaded again."""
    page = person.page
    line = _Line(page)
    person.open(path)
    expect(page.locator("main h1")).to_be_attached()
    page.clock.fast_forward(1000)
    expect(page.locator("main [role=status], main [class*=skeleton]").first).to_be_attached()
    look("first load")
    line.cut()
    wrong = page.locator("main").get_by_text(re.compile("could not be loaded|There is no answer")).first
    forward_until_seen(page, wrong, step_ms=16_000)
    look("error")
    page.unroute_all(behavior="wait")
    until(lambda: _is_retried(page), partial(str, path))


def _is_retried(page: Page) -> bool:
    """Each part of a page that failed has its own button."""
    again = page.locator("main").get_by_role("button", name="Try again")
    if again.count() == 0:
        return True
    again.evaluate_all("buttons => buttons[0]?.click()")  # it may be gone by itself
    page.clock.fast_forward(16_000)
    return False


def test_old_data_stay_with_their_time(site: Site) -> None:
    waiting_job(site)
    ann: Watched = site.person()
    ann.allowed = {0}
    page = ann.page
    page.clock.install()
    ann.open("/jobs")
    jobs = page.get_by_role("list", name="Jobs")
    expect(jobs.get_by_text("0 of 40 items")).to_be_visible()
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    with site.stopped():
        told = page.get_by_text(re.compile(r"As of \d\d:\d\d: newer data could not be loaded"))
        forward_until_seen(page, told, step_ms=10_000)
        expect(jobs.get_by_text("0 of 40 items")).to_be_visible()
    until(partial(_is_gone, page, told))


def _is_gone(page: Page, words: Locator) -> bool:
    page.clock.fast_forward(10_000)
    return words.count() == 0
