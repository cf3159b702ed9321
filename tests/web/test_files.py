"""Files as a browser shows them: pictures, sound and text yes, programs no."""

from __future__ import annotations

import io
import wave

import pytest
from playwright.sync_api import Error, Page

from tests.api._service import Service, admin_of, put_file
from tests.cli._run import until
from tests.services._files import picture, saved
from tests.web.conftest import Site

SCRIPT = b"<html><body>some words<script>document.title = 'it ran'; window.ran = 1</script></body></html>"


def _link(site: Site, data: bytes, name: str, media_type: str | None = None) -> str:
    """A link to a file of ann's."""

    async def put() -> int:
        async with admin_of(site.service.dsn) as conn:
            service = Service(site.service.app, site.service.dsn, conn, site.service.tokens)
            return (await put_file(service, "ann", data, name, media_type)).file_id

    path: str = site.api().get(f"/api/files/{site.run(put())}").json()["url"]
    return path


def _until(page: Page, condition: str) -> None:
    until(lambda: page.evaluate(f"Boolean({condition})"), page.content)


def test_a_program_is_saved_instead_of_shown(site: Site) -> None:
    page = site.visitor().page
    for name in ("page.html", "page.svg", "page.xhtml"):
        with page.expect_download() as download, pytest.raises(Error, match="Download is starting"):
            page.goto(f"{site.url}{_link(site, SCRIPT, name)}")
        assert download.value.path().read_bytes() == SCRIPT
        assert page.url == "about:blank"


def test_a_program_that_says_it_is_text_is_shown_as_text(site: Site) -> None:
    page = site.visitor().open(_link(site, SCRIPT, "page.html", "text/plain"))
    _until(page, "document.body.innerText.includes('<script>')")
    assert (page.evaluate("window.ran"), page.title()) == (None, "")
    assert page.evaluate("window.origin") == "null"  # a sandbox: nothing of the site is within reach


def test_pictures_are_shown_and_sound_is_played(site: Site) -> None:
    visitor = site.visitor()
    page = visitor.open(_link(site, saved(picture(), "PNG"), "a.png"))
    _until(page, "document.images.length && document.images[0].naturalWidth === 120")
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(32000))
    visitor.open(_link(site, sound.getvalue(), "a.wav", "audio/wav"))
    _until(page, "document.querySelector('video,audio')?.duration === 2")
    visitor.complaints.clear()  # the viewers of the browser have styles and scripts, which the sandbox forbids


def test_pages_of_ours_may_embed_them(site: Site) -> None:
    link = _link(site, saved(picture(), "WEBP"), "a.webp")
    page = site.visitor().open("/healthz")
    page.evaluate("link => { document.body.appendChild(document.createElement('img')).src = link }", link)
    _until(page, "document.images[0].naturalWidth === 120")
