"""Bookmarks in the states that their pages show: read from pages of the corpus, waiting, failed, deleted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.corpus.site import Page, corpus, serving
from tests.corpus.site import Site as Corpus
from tests.pipelines._crawl import HOST, crawling

if TYPE_CHECKING:
    from tests.web.conftest import Site


_PICTURED = """<html lang="en"><title>The water wheel, and what it turns</title>
<meta property="og:image" content="/photo.png"><link rel="icon" href="/photo.png"><body><p>The miller opens the gate,
and the water of the forebay falls onto the wheel, which turns the stone.</p></body></html>"""


def save(site: Site, url: str, *tags: str) -> str:
    answer = site.api().post("/api/bookmarks", json={"url": url, "tags": list(tags)})
    assert answer.status_code in {200, 201}, answer.text
    bookmark_id: str = answer.json()["bookmark"]["id"]
    return bookmark_id


def read(site: Site, pages: Corpus) -> None:
    """Do all that there is to do for bookmarks, without a browser: screenshots wait."""

    async def crawl() -> None:
        folder = Path(site.service.app.state.settings.data_dir)
        async with crawling(site.service.dsn, pages, folder) as crawl:
            await crawl.bed.run()

    site.run(crawl())


def collection(site: Site) -> dict[str, str]:
    """Some that were read, one that is not there, one that waits; tags, a category, the archive and the trash."""
    corpus()["/pictured"] = Page("/pictured", body=_PICTURED)
    with serving() as pages:
        base = f"http://{HOST}:{pages.port}"
        pictured = save(site, f"{base}/pictured")
        mark = save(site, f"{base}/article", "mills", "water power")
        save(site, f"{base}/plain", "reading")
        save(site, f"{base}/generic-share", "mills")
        save(site, f"{base}/not-in-the-corpus")
        archived, deleted = save(site, f"{base}/xhtml"), save(site, f"{base}/zipped")
        read(site, pages)
    del corpus()["/pictured"]
    category = site.api().post("/api/bookmarks/categories", json={"name": "Rivers"}).json()["id"]
    change(site, mark, "category", categoryId=category)
    change(site, archived, "archive")
    change(site, deleted, "delete")
    save(site, "https://example.org/a/rather/long/address/that/waits/to/be/read")
    return {"mark": mark, "pictured": pictured}


def unread(site: Site) -> dict[str, str]:
    """One that waits, and one in the trash."""
    change(site, save(site, "https://example.org/deleted"), "delete")
    return {"mark": save(site, "https://example.org/mill", "mills", "water power")}


def change(site: Site, mark: str, action: str, **more: str) -> None:
    answer = site.api().post("/api/bookmarks/bulk", json={"ids": [mark], "do": action, **more})
    assert answer.status_code == 200, answer.text
