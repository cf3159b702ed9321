"""Bookmarks: saved, read, found, tagged, deleted and taken back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from playwright.sync_api import expect

from forebay.engine.work.worker import Worker
from forebay.pipelines.bookmarks.imports import bookmark_imports
from tests.api._service import admin_of
from tests.corpus.site import serving
from tests.pipelines._crawl import HOST
from tests.sql._db import Db
from tests.web._marks import read, save
from tests.web.conftest import Site


def test_a_link_is_saved_fills_in_is_tagged_and_comes_back_from_the_trash(site: Site) -> None:
    page = site.person().open("/bookmarks")
    with serving() as corpus:
        url = f"http://{HOST}:{corpus.port}/article"
        box = page.get_by_role("textbox", name="Save a link, or search")
        box.fill(url)
        box.press("Enter")
        marks = page.get_by_role("list", name="Bookmarks").get_by_role("listitem")
        expect(marks).to_have_count(1)
        expect(marks.get_by_role("img", name="Title and text: waiting")).to_be_visible()
        read(site, corpus)
        expect(marks.get_by_role("link", name="How a water mill works")).to_be_visible()  # nobody has reloaded
        expect(marks.get_by_role("img", name="Title and text: done")).to_be_visible()

        page.get_by_role("heading", name="Bookmarks", level=1).click()
        for key in ("j", "x", "t"):
            page.keyboard.press(key)
        tags = page.get_by_role("dialog", name="Tags of 1 bookmark")
        tags.get_by_role("combobox", name="Add a tag").fill("mills")
        tags.get_by_role("button", name="Save the tags").click()
        expect(page.get_by_role("button", name="mills 1")).to_be_visible()  # counted among the facets

        page.keyboard.press("#")
        expect(page.get_by_role("heading", name="No bookmarks yet")).to_be_visible()
        expect(page.get_by_text("1 bookmark moved to the trash.")).to_be_visible()
        assert site.api().get("/api/bookmarks?trash=true").json()["bookmarks"][0]["url"] == url
        page.keyboard.press("u")
        expect(marks.get_by_role("link", name="How a water mill works")).to_be_visible()

        marks.get_by_role("link").click()
        expect(page.get_by_role("article")).to_contain_text("wheel")
        page.keyboard.press("5")
        page.get_by_role("button", name="Again: Title and text").click()
        expect(page.get_by_text("Title and text: it runs again")).to_be_visible()
        read(site, corpus)
        steps = page.get_by_role("list", name="Steps").get_by_role("listitem")
        expect(steps.filter(has_text="Title and text").filter(has_text="Done")).to_have_count(1)
        expect(steps.filter(has_text="Icon")).to_contain_text("The site has no icon that could be read.")  # as before


def test_tags_are_renamed_and_merged(site: Site) -> None:
    save(site, "https://example.org/a", "mill")
    save(site, "https://example.org/b", "mills", "mill")
    page = site.person().open("/bookmarks/tags")
    page.get_by_role("button", name="Rename mill", exact=True).click()
    dialog = page.get_by_role("dialog", name="Rename mill")
    dialog.get_by_role("textbox", name="Name").fill("mills")
    dialog.get_by_role("button", name="Merge in 2 bookmarks").click()
    expect(page.get_by_role("list", name="Tags").get_by_role("listitem")).to_have_count(1)
    assert site.api().get("/api/bookmarks/tags").json()["tags"] == [{"tag": "mills", "bookmarks": 2}]


def test_the_page_of_the_bookmarklet_saves_what_it_was_given(site: Site) -> None:
    page = site.person().open("/save#url=https%3A%2F%2Fexample.org%2Fmill&title=Mill&note=chosen")
    expect(page.get_by_role("textbox", name="Address")).to_have_value("https://example.org/mill")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Show it").click()
    expect(page.get_by_role("heading", name="Mill", level=1)).to_be_visible()
    (saved,) = site.api().get("/api/bookmarks").json()["bookmarks"]
    assert (saved["url"], saved["title"], saved["note"]) == ("https://example.org/mill", "Mill", "chosen")
    page.get_by_role("tab", name="Facts").click()
    page.get_by_role("textbox", name="Title").fill("The old mill")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="The old mill", level=1)).to_be_visible()
    (changed,) = site.api().get("/api/bookmarks").json()["bookmarks"]
    assert (changed["title"], changed["note"]) == ("The old mill", "chosen")  # only what was changed is sent


async def _work_off(site: Site) -> None:
    """A worker imports until nothing is open."""
    worker = Worker(site.service.dsn, [bookmark_imports])
    running = asyncio.create_task(worker.run())
    async with asyncio.timeout(60), admin_of(site.service.dsn) as conn:
        while await conn.fetchval(  # noqa: ASYNC110 - the database has no event for it
            "select 1 from forebay.jobs where pipeline = 'bookmark_imports' and finished_at is null"
        ):
            await asyncio.sleep(0.05)
    worker.stop()
    await running


def test_500_links_are_counted_imported_and_followed_to_the_bad_one(site: Site) -> None:
    save(site, "https://0.example/")
    links = [f'<DT><A HREF="https://{n}.example/">Link {n}</A>' for n in (*range(497), 7, 8)]
    file = f'<DL><DT><H3>Rivers</H3><DL>{"".join(links)}<DT><A HREF="https://a b/">Bad</A></DL>'
    ann = site.person()
    ann.ignores_shift = True  # the job begins and ends: its counters and buttons come and go
    page = ann.open("/bookmarks/import")
    page.get_by_label("Bookmarks file").set_input_files(
        {"name": "bookmarks.html", "mimeType": "text/html", "buffer": file.encode()}
    )
    section = page.get_by_role("region", name="Import", exact=True)
    expect(section).to_contain_text(
        "500 links496 new1 already yours2 more than once in the file1 cannot be saved1 folder, a category"
    )
    page.get_by_role("button", name="Import 500").click()
    page.wait_for_url("**/jobs/*")
    tray = page.get_by_role("list", name="Activities")
    expect(tray).to_have_count(0)  # this is its page
    page.keyboard.press("g")
    page.keyboard.press("b")
    expect(tray).to_contain_text("Import of bookmarks.html0 of 500 links")
    page.reload()
    expect(tray).to_contain_text("Import of bookmarks.html0 of 500 links")
    ann.axe()
    site.run(_work_off(site))
    expect(tray).to_contain_text("1 link failed.")
    tray.get_by_role("link", name="Import of bookmarks.html").click()
    expect(page.get_by_role("link", name="499 done", exact=True)).to_be_visible()
    page.get_by_role("link", name="1 failed", exact=True).click()
    expect(page.get_by_role("region", name="Items")).to_contain_text("contains a space")
    assert site.api().get("/api/bookmarks/facets").json()["total"] == 497


def test_all_that_match_are_archived_after_the_exact_number_was_confirmed(site: Site) -> None:
    for n in range(61):  # one more than a page of the list
        save(site, f"https://example.org/{n}", "old")
    save(site, "https://example.org/new")
    page = site.person().open("/bookmarks?tag=old")
    expect(page.get_by_text("61 bookmarks", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Load more")).to_be_visible()
    page.keyboard.press("*")
    expect(page.get_by_text("60 selected")).to_be_visible()
    page.get_by_role("button", name="Select all 61 that match").click()
    page.keyboard.press("t")
    tags = page.get_by_role("dialog", name="Tags of 61 bookmarks")
    tags.get_by_role("combobox", name="Add a tag").fill("read")
    tags.get_by_role("button", name="Save the tags").click()
    expect(page.get_by_text("61 bookmarks changed.")).to_be_visible()
    assert site.api().get("/api/bookmarks/facets?tag=read").json()["total"] == 61
    page.keyboard.press("e")
    page.get_by_role("button", name="Archive 61 bookmarks").click()
    expect(page.get_by_role("heading", name="No bookmark matches")).to_be_visible()
    (kept,) = site.api().get("/api/bookmarks").json()["bookmarks"]
    assert kept["url"] == "https://example.org/new"


def test_a_table_is_in_the_order_of_its_heading_and_has_the_keys_of_the_list(site: Site) -> None:
    for n in range(3):
        save(site, f"https://example.org/{n}", "old")
    ann = site.person()
    page = ann.open("/bookmarks?view=table")
    table = page.get_by_role("table")
    expect(table.get_by_role("link")).to_have_text([f"example.org/{n}" for n in (2, 1, 0)])
    table.get_by_role("button", name="Saved").click()
    expect(table.get_by_role("link")).to_have_text([f"example.org/{n}" for n in (0, 1, 2)])
    expect(table.get_by_role("columnheader", name="Saved")).to_have_attribute("aria-sort", "ascending")
    assert "sort=oldest" in page.url
    for key in "jxjX":
        page.keyboard.press(key)
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="example.org/1")).to_be_visible()
    page.get_by_role("button", name="is:").click()
    expect(page.get_by_role("option", name="is:duplicate")).to_be_visible()
    ann.axe()


def test_what_is_read_first_is_followed_among_many_that_wait(site: Site) -> None:
    """The newest are shown first, and the oldest are read first."""
    for n in range(45):
        save(site, f"https://example.org/{n}")
    page = site.person().open("/bookmarks?view=list")
    oldest = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="example.org/0", exact=True))
    expect(oldest.get_by_role("img", name="Title and text: waiting")).to_be_visible()

    async def end_a_step() -> None:
        async with admin_of(site.service.dsn) as conn:
            db = Db(conn, site.service.dsn)
            db.now = datetime.now(UTC)
            await db.settle(await db.claim("metadata", 1))

    site.run(end_a_step())
    expect(oldest.get_by_role("img", name="Title and text: done")).to_be_visible()
