"""Five journeys on a phone of 360 px: by taps, with nothing beyond the edge."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect

from tests.web._pages import job_with_a_failure, waiting_job
from tests.web._sheets import sheet_with_rows
from tests.web.conftest import Site


def _fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, page.url


def _tab(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Main pages").get_by_role("link", name=name).tap()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_attached()


def test_five_journeys_on_a_phone(site: Site) -> None:
    job_with_a_failure(site)
    job = waiting_job(site)["job"]
    sheet_with_rows(site, 2000)
    ann = site.person(width=360, height=780, touch=True)
    ann.ignores_shift = True  # many pages, one after the other
    page = ann.open("/")
    _save(site, page)
    _read_and_go_back(page)
    _pause(site, page, job)
    _rows(page)
    _retry(site, page)


def _save(site: Site, page: Page) -> None:
    box = page.get_by_role("textbox", name="Save a link, or search")
    box.tap()
    box.fill("https://example.org/mill")
    box.press("Enter")
    expect(page.get_by_text("Saved. It fills in as its page is read.")).to_be_visible()
    _fits(page)
    assert len(site.api().get("/api/bookmarks").json()["bookmarks"]) == 1


def _read_and_go_back(page: Page) -> None:
    _tab(page, "Bookmarks")
    marks = page.get_by_role("list", name="Bookmarks").get_by_role("listitem")
    expect(marks).to_have_count(1)
    _fits(page)
    marks.get_by_role("link").first.tap()
    expect(page.get_by_role("tab", name="Facts")).to_be_visible()
    _fits(page)
    page.get_by_role("tab", name="Facts").tap()
    expect(page.get_by_role("textbox", name="Title")).to_be_visible()
    _fits(page)
    page.go_back()
    expect(marks).to_have_count(1)
    _swipe(page, marks.first, 160)
    expect(page.get_by_text("1 bookmark archived.")).to_be_visible()
    expect(marks).to_have_count(0)
    page.get_by_role("button", name="Undo").last.tap()
    expect(marks).to_have_count(1)
    _swipe(page, marks.first, -160)
    page.get_by_role("dialog", name="Tags of 1 bookmark").get_by_role("button", name="Close").first.tap()
    with _held(page, marks.first):
        expect(page.get_by_text("1 selected")).to_be_visible()
    expect(page.get_by_text("1 selected")).to_be_visible()  # the finger has gone: no link opens
    page.get_by_role("button", name="Clear the selection").tap()
    _swipe(page, marks.first, 40)  # not far enough: nothing happens, and no link opens
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(marks).to_have_count(1)


def _swipe(page: Page, row: Locator, way: int) -> None:
    """Move a finger over a row, by so many pixels to the right."""
    box = row.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 12
    touch = page.context.new_cdp_session(page)
    at = time.time()  # a finger that rests at the end: what flies on would swallow the next tap
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}], "timestamp": at})
    for place, part in enumerate((0.25, 0.5, 0.75, 1.0, 1.0, 1.0), start=1):
        moved = [{"x": x + part * way, "y": y}]
        touch.send(
            "Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": moved, "timestamp": at + 0.1 * place}
        )
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": [], "timestamp": at + 0.8})


@contextmanager
def _held(page: Page, row: Locator) -> Iterator[None]:
    """A finger rests on a row."""
    box = row.bounding_box()
    assert box is not None
    touch = page.context.new_cdp_session(page)
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
    yield
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def _pause(site: Site, page: Page, job: str) -> None:
    _tab(page, "Jobs")
    pipeline = page.get_by_role("combobox", name="Pipeline")
    expect(pipeline).to_be_hidden()  # folded, so that the jobs are in view
    page.get_by_role("button", name="Filter").tap()
    pipeline.select_option("pages")
    expect(page.get_by_role("button", name="Filter (1)")).to_be_visible()
    page.get_by_role("list", name="Jobs").get_by_role("link").filter(has_text=f"job {job}").tap()
    page.get_by_role("button", name="Pause", exact=True).tap()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    _fits(page)
    page.get_by_role("button", name="Undo").tap()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    assert site.api().get(f"/api/jobs/{job}").json()["state"] in {"QUEUED", "RUNNING"}
    page.get_by_role("tab", name="Items").tap()
    last_cell = page.get_by_role("row").nth(1).get_by_role("cell").filter(has_text="ago")
    expect(last_cell).to_be_in_viewport(ratio=1)  # a row is some lines: no cell is beyond the edge


def _rows(page: Page) -> None:
    _tab(page, "Sheets")
    _fits(page)
    page.get_by_role("link", name="stock.csv").tap()
    grid = page.get_by_role("grid")
    expect(grid.get_by_role("gridcell", name="Lamp no. 2", exact=True)).to_be_visible()
    _fits(page)
    with _held(page, grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)):
        expect(page.get_by_role("region", name="Selected rows")).to_contain_text("1 row")
    expect(page.get_by_role("region", name="Row 1", exact=True)).to_have_count(0)
    grid.get_by_role("gridcell", name="Lamp no. 2", exact=True).tap()
    expect(page.get_by_role("region", name="Row 2", exact=True)).to_contain_text("https://example.org/lamps/2")
    _fits(page)
    page.go_back()
    expect(page.get_by_role("region", name="Row 2", exact=True)).to_have_count(0)
    expect(grid.get_by_role("gridcell", name="Lamp no. 2", exact=True)).to_be_visible()  # Back has not left the sheet
    page.context.set_offline(True)
    expect(page.get_by_role("button", name="Offline since")).to_be_visible()  # there is no rail that says so
    _fits(page)
    page.context.set_offline(False)
    expect(page.get_by_role("button", name="Offline since")).to_be_hidden()


def _retry(site: Site, page: Page) -> None:
    page.get_by_role("button", name="More").tap()
    page.get_by_role("dialog", name="All pages").get_by_role("link", name="Dead letters").tap()
    expect(page.get_by_role("heading", name="Dead letters", level=1)).to_be_visible()
    _fits(page)
    page.get_by_role("button", name="Retry 1").tap()
    expect(page.get_by_text("1 item runs again.")).to_be_visible()
    page.reload()  # what is held back is sent when the page is left
    expect(page.get_by_text("The last attempt that failed ended")).to_be_visible()
