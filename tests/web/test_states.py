"""Every page while it loads for the first time, and when its data cannot be loaded."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from tests.cli._run import until
from tests.web._browser import Watched, forward_until_seen
from tests.web._pages import waiting_job
from tests.web.conftest import Site

PICTURES = os.environ.get("FOREBAY_PICTURES")

_PATHS = (
    "/",
    "/bookmarks",
    "/bookmarks/tags",
    "/sheets",
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
# Pages of the same components as others: looked at for the contact sheet only.
_ALIKE = (
    "/bookmarks/trash",
    "/sheets/providers",
    "/sheets/sources",
    "/ops/queues",
    "/ops/lanes",
    "/ops/limits",
    "/ops/schedules",
    "/ops/attempts",
    "/ops/storage",
    "/admin/invitations",
    "/admin/owners",
    "/account?tab=tokens",
    "/sheets/catalogues",
    "/pending",
)


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


def test_pages_load_and_say_what_could_not_be_loaded(site: Site) -> None:
    values = waiting_job(site)
    root = site.person("root")
    root.allowed, root.ignores_shift = {0}, True
    page = root.page
    page.clock.install()
    for path in (*_PATHS, *(_ALIKE if PICTURES else ())):
        line = _Line(page)
        root.open(path.format(**values))
        expect(page.locator("main h1")).to_be_attached()
        page.clock.fast_forward(1000)
        expect(page.locator("main [role=status], main [class*=skeleton]").first).to_be_attached()
        _picture(page, path, "first load")
        line.cut()
        wrong = page.locator("main").get_by_text(re.compile("could not be loaded|There is no answer")).first
        forward_until_seen(page, wrong, step_ms=16_000)
        _picture(page, path, "error")
        page.unroute_all(behavior="wait")
        until(lambda: _is_retried(page), partial(str, path))
    root.axe()


def _is_retried(page: Page) -> bool:
    """Each part of a page that failed has its own button."""
    again = page.locator("main").get_by_role("button", name="Try again")
    if again.count() == 0:
        return True
    again.first.click()
    page.clock.fast_forward(16_000)
    return False


def _picture(page: Page, path: str, state: str) -> None:
    if PICTURES:
        name = f"{path.strip('/').replace('/', '-') or 'home'} {state} 1440 light.png"
        page.screenshot(path=Path(PICTURES) / name, animations="disabled")


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
