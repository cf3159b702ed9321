"""The pictures of the README and the documentation, of a server with real workers: `python scripts/web.py pictures`.

They are written into docs/pictures. Nothing compares them: fonts differ between machines.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import av
import numpy as np
from PIL import Image
from playwright.sync_api import Page, expect

from forebay.engine.work.worker import Worker
from forebay.example import demo_texts, texts
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.pipelines.sheets.catalogue_rows import catalogue_rows
from forebay.pipelines.sheets.demo import demo_catalogue, demo_sheet
from forebay.pipelines.sheets.files import FILES
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from forebay.settings import Settings
from forebay.storage import open_store
from tests.api._service import put_file
from tests.cli._run import until
from tests.corpus.site import serving
from tests.pipelines._crawl import crawling
from tests.services.egress._world import Names
from tests.web._articles import MILLS, embed, searchable, write
from tests.web._browser import Watched
from tests.web._demo_pages import ARTICLES, picture, served_articles
from tests.web._looks_attachments import lively as received
from tests.web._looks_media import SAID, add_recording
from tests.web._marks import save
from tests.web.conftest import PIPELINES, Site

FOLDER = Path(os.environ.get("FOREBAY_PICTURES", "docs/pictures"))
MOST_BYTES = 150_000
SIZE: dict[str, Any] = {"width": 1440, "height": 860}
_WORLD = "articles.example"
# While it plays: when it begins, it shows that it is loaded.
_PAUSE = """() => new Promise(resolve => {
  const video = document.querySelector("video");
  video.ontimeupdate = () => video.currentTime > 2.4 && resolve(video.pause());
})"""


def test_pictures(serve: Callable[..., Site]) -> None:
    site = serve(*PIPELINES, texts, catalogue_rows)
    FOLDER.mkdir(parents=True, exist_ok=True)
    _read_articles(site)
    sheet = _sheet(site)
    embed(site)
    ann, root = site.person("ann", **SIZE), site.person("root", **SIZE)
    ann.ignores_shift = root.ignores_shift = True
    page = ann.open("/bookmarks")
    expect(page.get_by_role("list", name="Bookmarks").get_by_role("listitem")).to_have_count(len(ARTICLES))
    _take(page, "bookmarks")
    page = ann.open(f"/sheets/{sheet}")
    expect(page.get_by_role("grid").get_by_role("row")).not_to_have_count(1)
    expect(page.locator("[role=grid] [data-row] input").first).to_be_visible()
    _take(page, "sheet")
    with _working(site, texts):
        site.sql("update forebay.worker set name = 'mill:' || id")  # else that of the machine that takes the pictures
        job = _submit_texts(site, "ann", 3000)
        page = ann.open(f"/jobs/{job}")
        expect(page.get_by_role("group", name="Steps of the job")).to_be_visible()
        until(lambda: site.api().get(f"/api/jobs/{job}").json()["counters"]["done"] > 30)
        _take(page, "job")
        page = ann.open("/")
        expect(page.get_by_role("list", name="Running jobs")).to_be_visible()
        _take(page, "home")
        _submit_texts(site, "bob", 600)
        page = root.open("/ops/flow?pipeline=texts")
        until(lambda: _are_even(site))
        expect(page.get_by_text(re.compile(r"gets 5\d %|gets 4\d %")).first).to_be_visible()
        river = page.get_by_role("figure", name=re.compile("^The river"))
        expect(river.get_by_text("Done", exact=True)).to_be_visible(timeout=90_000)  # counted by the minute
        _take(page, "river")
        assert site.api().post(f"/api/jobs/{job}/pause").status_code == 200
        page = ann.open(f"/jobs/{job}/items/3000")
        expect(page.get_by_role("region", name="Why it waits")).to_contain_text("was paused by ann")
        _take(page, "why")
    _take_content(site, ann)


def _take_content(site: Site, ann: Watched) -> None:
    """Media, attachments, articles, and the search over all of them."""
    film = _film(site)
    page = ann.open(f"/media/{film}")
    page.get_by_role("button", name=SAID[1]).click()
    expect(page.locator("[data-line='1'][aria-current]")).to_be_visible()
    page.evaluate(_PAUSE)
    _take(page, "media")
    page = ann.open(f"/attachments/{received(site)['instance']}")
    expect(page.get_by_text("No voucher yet")).to_be_visible()
    _take(page, "attachments")
    article = write(site, "How a water mill works", MILLS)
    write(site, "What the miller writes down", "The level of the water at sunrise, and the sacks of the day.")
    embed(site)
    page = ann.open(f"/articles/{article}?tab=edit")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("table")).to_be_visible()
    _take(page, "articles")
    searchable(site, "water wheel")
    page = ann.open("/search?q=water wheel")
    expect(page.locator("[data-hit]").nth(3)).to_be_visible()
    _take(page, "search")


def _film(site: Site) -> str:
    """A film with a transcript: a slow look from one end of a picture to the other."""
    drawn, out = Image.open(io.BytesIO(picture(200, (1600, 540)))), io.BytesIO()
    with av.open(out, "w", format="webm") as film:
        stream = film.add_stream("libvpx", rate=10)
        stream.width, stream.height, stream.bit_rate = 960, 540, 2_000_000
        for left in range(0, 640, 8):
            shown = drawn.crop((left, 0, left + 960, 540))
            film.mux(stream.encode(av.VideoFrame.from_ndarray(np.asarray(shown))))
        film.mux(stream.encode())
    stored = site.run(put_file(site.service, "ann", out.getvalue(), "forebay.webm", "video/webm"))
    about = {
        "kind": "video",
        "width": 960,
        "height": 540,
        "video_codec": "vp8",
        "container": "webm",
        "audio_codec": None,
    }
    return add_recording(site, stored, duration_s=8.0, **about)


def _take(page: Page, name: str) -> None:
    """WebP, because a PNG of a page with photographs has megabytes."""
    expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading')")).to_have_count(0)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    until(lambda: page.evaluate("[...document.images].every(image => image.complete)"))
    page.mouse.move(0, 0)
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    out = io.BytesIO()
    shot.convert("RGB").save(out, "WEBP", quality=88, method=6)
    assert len(out.getvalue()) <= MOST_BYTES, (name, len(out.getvalue()))
    (FOLDER / f"{name}.webp").write_bytes(out.getvalue())


def _read_articles(site: Site) -> None:
    """Bookmarks that were read by the steps of the pipeline, with a browser."""
    names = Names()
    names.put(_WORLD, "127.0.0.1")
    with served_articles() as port, serving() as nowhere:
        for article in reversed(ARTICLES):
            save(site, f"http://{_WORLD}:{port}/{article.name}", *article.tags)

        async def crawl() -> None:
            folder = Path(site.service.app.state.settings.data_dir)
            async with crawling(site.service.dsn, nowhere, folder, names=names, browser_path=None) as crawl:
                await crawl.bed.finish(limit=timedelta(hours=1))  # also what a busy machine has made fail at first

        site.run(crawl())


def _sheet(site: Site) -> str:
    """Rows that were looked up in a catalogue."""
    settings: Settings = site.service.app.state.settings
    head, *rows = demo_sheet().decode().splitlines()
    file = "\n".join([head, *(rows * 40)]).encode()

    async def submit(name: str, data: bytes, options: dict[str, Any]) -> str:
        conn = await asyncpg.connect(site.service.dsn)
        try:
            local = LocalFile(NewFile(name, len(data), options), data)
            added = await submit_file(FILES, conn, open_store(settings), "ann", local, FileTerms(name))
        finally:
            await conn.close()
        return str(added.job_id)

    with _working(site, sheet_intake, catalogue_rows, sheets):
        site.run(submit("catalogue.csv", demo_catalogue(), {"catalogue": "demo"}))
        until(lambda: sum(each["products"] for each in site.api().get("/api/catalogues").json()["catalogues"]) >= 200)
        job = site.run(submit("stock.csv", file, {}))
        until(lambda: site.api().get(f"/api/jobs/{job}").json()["state"] == "DONE")
    return job


def _submit_texts(site: Site, owner: str, count: int) -> str:
    items = [text.model_dump() for text in demo_texts(count)]
    made = site.api(owner).post("/api/jobs", json={"pipeline": "texts", "items": items})
    assert made.status_code == 201, made.text
    return str(made.json()["jobId"])


def _are_even(site: Site) -> bool:
    """Two owners of the same weight share the workers; before that, one of them was alone."""
    owners = site.api("root").get("/api/lanes?userId=all").json()["owners"]
    return len(owners) == 2 and all(abs((each["share"] or 0) - 0.5) < 0.08 for each in owners)


@contextmanager
def _working(site: Site, *pipelines: Any) -> Iterator[None]:
    """A worker in a thread of its own."""
    started, running = threading.Event(), list[tuple[Worker, asyncio.AbstractEventLoop]]()

    async def run() -> None:
        settings: Settings = site.service.app.state.settings
        worker = Worker(site.service.dsn, list(pipelines), settings=settings)
        running.append((worker, asyncio.get_running_loop()))
        task = asyncio.create_task(worker.run())
        await worker.ready_or_failed(task)
        started.set()
        await task

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert started.wait(60)
    try:
        yield
    finally:
        worker, loop = running[0]
        loop.call_soon_threadsafe(worker.stop)
        thread.join(60)
