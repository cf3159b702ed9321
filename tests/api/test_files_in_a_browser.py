"""Files as a browser shows them: pictures, sound and text yes, programs no."""

from __future__ import annotations

import asyncio
import io
import json
import time
import wave
from collections.abc import Iterator

import asyncpg
import httpx
import pytest

from tests.api._browser import BROWSER, PATIENCE, Page, browsing
from tests.api._live import live
from tests.api._service import Service, put_file
from tests.services._files import picture, saved

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

SCRIPT = b"<html><body>some words<script>document.title = 'it ran'; window.ran = 1</script></body></html>"


@pytest.fixture
def site(dsn: str) -> Iterator[tuple[str, Service]]:
    with live(dsn) as running:
        yield running


@pytest.fixture
def page() -> Iterator[Page]:
    with browsing() as page:
        yield page


def _link(site: tuple[str, Service], data: bytes, name: str, media_type: str | None = None) -> str:
    """A link to a file of ann's."""
    url, service = site

    async def put() -> int:
        apart = Service(service.app, service.dsn, await asyncpg.connect(service.dsn), service.tokens)
        try:
            return (await put_file(apart, "ann", data, name, media_type)).file_id
        finally:
            await apart.admin.close()

    headers = {"authorization": f"Bearer {service.tokens['ann']}"}
    found = httpx.get(f"{url}/api/files/{asyncio.run(put())}", headers=headers)
    return f"{url}{found.json()['url']}"


def _until(page: Page, condition: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not page.run(f"Boolean({condition})"):
        assert time.monotonic() < deadline, (condition, page.run("document.documentElement.outerHTML"), page.complaints)
        time.sleep(0.05)


@pytest.mark.parametrize("name", ["page.html", "page.svg", "page.xhtml"])
def test_a_program_is_not_shown(site: tuple[str, Service], page: Page, name: str) -> None:
    answer = page._ask("Page.navigate", url=_link(site, SCRIPT, name))
    assert answer["errorText"] == "net::ERR_ABORTED"  # it is saved instead
    assert page.run("location.href") == "about:blank"


def test_a_program_that_says_it_is_text_is_shown_as_text(site: tuple[str, Service], page: Page) -> None:
    page._ask("Page.navigate", url=_link(site, SCRIPT, "page.html", "text/plain"))
    _until(page, "document.body.innerText.includes('<script>')")
    assert (page.run("window.ran"), page.run("document.title")) == (None, "")
    assert page.run("window.origin") == "null"  # a sandbox: nothing of the site is within reach


def test_pictures_are_shown(site: tuple[str, Service], page: Page) -> None:
    page._ask("Page.navigate", url=_link(site, saved(picture(), "PNG"), "a.png"))
    _until(page, "document.images.length && document.images[0].naturalWidth === 120")


def test_sound_is_played(site: tuple[str, Service], page: Page) -> None:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(32000))
    page._ask("Page.navigate", url=_link(site, sound.getvalue(), "a.wav", "audio/wav"))
    _until(page, "document.querySelector('video,audio')?.duration === 2")


def test_pages_of_ours_may_embed_them(site: tuple[str, Service], page: Page) -> None:
    link = _link(site, saved(picture(), "WEBP"), "a.webp")
    page._ask("Page.navigate", url=f"{site[0]}/healthz")
    page.run(f"document.body.appendChild(document.createElement('img')).src = {json.dumps(link)}")
    _until(page, "document.images[0].naturalWidth === 120")
