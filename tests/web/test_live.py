"""Events reach the pages: through one stream for all tabs, and after the stream was gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.web._browser import Watched
from tests.web.conftest import Site


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    found = serve()
    if not found.has_topics():
        pytest.skip("this API has no topics of events yet")
    return found


def _submit(site: Site) -> str:
    made = site.api().post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "one"}, {"title": "two"}]})
    return str(made.json()["jobId"])


def _streams(person: Watched) -> list[str]:
    return [each for each in person.requests if each.startswith("GET /api/events")]


def test_a_job_is_seen_to_begin_and_to_end(site: Site) -> None:
    ann = site.person()
    page = ann.open("/")
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    _submit(site)
    running = page.get_by_role("list", name="Running jobs")
    expect(running.get_by_text("0 of 2 items")).to_be_visible()
    site.run(site.service.work())
    expect(running.get_by_text("2 of 2 items")).to_be_visible()
    expect(running.get_by_text("Done")).to_be_visible()
    assert _streams(ann)


def test_two_tabs_share_one_stream_and_one_goes_on_when_the_other_closes(site: Site) -> None:
    first = site.person()
    page = first.open("/")
    expect(page.get_by_role("button", name="Live")).to_be_visible()
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


def test_updates_stop_when_asked_and_catch_up(site: Site) -> None:
    page = site.person().open("/")
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    page.get_by_role("button", name="Live").click()
    expect(page.get_by_role("button", name="Paused by you")).to_be_visible()
    _submit(site)
    page.get_by_role("button", name="Paused by you").click()
    expect(page.get_by_role("list", name="Running jobs").get_by_text("0 of 2 items")).to_be_visible()
