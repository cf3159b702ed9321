"""The pages of the corpus as a browser shows them."""

from __future__ import annotations

import asyncio

import pytest

from forebay import errors
from forebay.services.browser import Browser, Capture, Shot
from tests.corpus.site import Page, Site, corpus
from tests.services.browser.conftest import Opened

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOWN = [page for page in corpus().values() if page.shows is not None]
_NEVER_DONE = ("/endless", "/silent")


async def captured(browser: Browser, site: Site, path: str, **options: float) -> Capture:
    return await browser.capture(f"http://good.test:{site.port}{path}", **{"timeout": 60.0} | options)  # type: ignore[arg-type]


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.path)
async def test_what_is_shown(browser: Browser, site: Site, page: Page) -> None:
    expected = dict(page.shows or {})
    timeout = 5.0 if page.path in _NEVER_DONE else 60.0
    if "fails" in expected:
        with pytest.raises(getattr(errors, expected["fails"]), match=expected["says"]):
            await captured(browser, site, page.path, timeout=timeout)
        return
    seen = await captured(browser, site, page.path, timeout=timeout)
    for part in expected.pop("has", []):
        assert part in seen.html
    if ends_at := expected.pop("ends_at", None):
        assert seen.final_url == f"http://good.test:{site.port}{ends_at}"
    if note := expected.pop("notes", None):
        assert any(note in each for each in seen.notes)
    if retry_after := expected.pop("retry_after", None):
        assert seen.headers["retry-after"] == retry_after
    assert {name: getattr(seen, name) for name in expected} == expected
    is_shown = seen.kind.is_shown and seen.status == 200
    assert (seen.viewport is not None) == (seen.full_page is not None) == is_shown


async def test_the_corpus_is_shown(browser: Browser) -> None:
    assert len(SHOWN) >= 40


def size(shot: Shot | None) -> tuple[int, int]:
    """Width and height as the file says."""
    assert shot is not None
    assert (shot.data[:4], shot.data[8:16], shot.media_type) == (b"RIFF", b"WEBPVP8X", "image/webp")
    found = int.from_bytes(shot.data[24:27], "little") + 1, int.from_bytes(shot.data[27:30], "little") + 1
    assert found == (shot.width, shot.height)
    return found


async def test_pictures_of_a_page(browser: Browser, site: Site) -> None:
    seen = await captured(browser, site, "/article")
    assert size(seen.viewport) == (1280, 800)
    width, height = size(seen.full_page)
    assert (width, height > 800, seen.full_page_is_cut) == (1280, True, False)
    small = await browser.capture(f"http://good.test:{site.port}/article", viewport=(390, 844), full_page=False)
    assert (size(small.viewport), small.full_page) == ((390, 844), None)


async def test_a_short_page_has_one_picture(browser: Browser, site: Site) -> None:
    seen = await captured(browser, site, "/plain")
    assert seen.full_page is seen.viewport


async def test_a_page_without_end_is_cut(browser: Browser, site: Site) -> None:
    seen = await captured(browser, site, "/infinite")
    assert size(seen.full_page) == (1280, 10_000)
    assert seen.full_page_is_cut


@pytest.mark.parametrize(("path", "kept"), [("/banner", 'id="plan"'), ("/overlay", 'id="bar"')])
async def test_cookie_banners_are_hidden_and_never_answered(browser: Browser, site: Site, path: str, kept: str) -> None:
    seen = await captured(browser, site, path)
    assert any("cookie banner" in note for note in seen.notes)
    assert kept in seen.html
    assert "ookies" not in seen.html.partition("<body")[2]
    assert seen.title in ("Garden plans", "Gartenpläne")  # pressing the button would change it
    assert size(seen.full_page)[1] > 1200  # it can be scrolled again


async def test_windows_and_questions(browser: Browser, site: Site) -> None:
    seen = await captured(browser, site, "/popups")
    assert "it opened a window, which was closed" in seen.notes
    assert "notify:granted" not in seen.html
    assert "located " not in seen.html.replace("unlocated ", "")


async def test_one_capture_leaves_nothing_for_the_next(browser: Browser, site: Site) -> None:
    await captured(browser, site, "/spa")
    process = browser.process
    assert process is not None
    assert (await process.devtools.call("Target.getBrowserContexts"))["browserContextIds"] == []


async def test_captures_run_side_by_side(browser: Browser, site: Site) -> None:
    paths = ["/article", "/plain", "/spa", "/missing", "/members", "/banner"]
    seen = await asyncio.gather(*(captured(browser, site, path) for path in paths))
    assert [each.status for each in seen] == [200, 200, 200, 404, 200, 200]
    assert [each.final_url.partition("test:")[2].partition("/")[2] for each in seen[:2]] == ["article", "plain"]


async def test_a_bomb_is_too_large(browser: Browser, site: Site) -> None:
    with pytest.raises(errors.DataError, match="more than 16 MB of HTML"):
        await captured(browser, site, "/bomb")


async def test_a_page_that_never_rests(browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # The page uses a processor until the end; most of the time is for its response, which must come on a busy machine.
    monkeypatch.setattr("forebay.services.browser.browser._SLACK_S", 0.5)
    with pytest.raises(errors.TransientError, match="kept the browser busy"):
        await captured(browser, site, "/busy-loop", timeout=4.0)
    monkeypatch.undo()
    assert (await captured(browser, site, "/plain")).title == "Plain words"


@pytest.mark.parametrize("port", ["expired", "other-host", "unknown"])
async def test_broken_certificates(browser: Browser, site: Site, port: str) -> None:
    with pytest.raises(errors.PermanentError, match="certificate"):
        await browser.capture(f"https://good.test:{site.tls_ports[port]}/plain")


async def test_a_good_certificate(browser: Browser, site: Site) -> None:
    seen = await browser.capture(f"https://good.test:{site.tls_ports['good']}/article")
    assert (seen.kind, seen.status) == ("page", 200)


async def test_it_looks_like_any_visitor(browser: Browser, site: Site) -> None:
    site.visits.clear()
    await captured(browser, site, "/plain")
    (headers,) = [headers for path, headers in site.visits if path == "/plain"]
    assert "Chrome/" in headers["user-agent"]
    assert "Headless" not in headers["user-agent"]
    assert not {"cookie", "authorization", "proxy-authorization"} & set(headers)


async def test_captures_are_counted(opened: Opened, site: Site) -> None:
    async with opened() as browser:
        assert browser.describe() == {"captures": 0, "failures": 0, "seconds": 0.0, "running": 0, "starts": 0}
        await captured(browser, site, "/article")
        with pytest.raises(errors.PermanentError):
            await browser.capture("http://bad.test/")
        seen = browser.describe()
    assert {name: seen[name] for name in ("captures", "failures", "running", "starts")} == {
        "captures": 2,
        "failures": 1,
        "running": 0,
        "starts": 1,
    }
    assert seen["seconds"] > 0
