"""Media in the browser: a link becomes a file that plays, what is said in it is read and followed."""
# demands: S1-02, S1-05

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forebay.pipelines.media.steps import media
from tests.pipelines.media._bed import media_bed
from tests.pipelines.media._samples import make_samples, needs_ffmpeg
from tests.pipelines.media._server import ranged, serving_media
from tests.web._looks_media import SAID, add_recording
from tests.web.conftest import Site

pytestmark = [needs_ffmpeg, pytest.mark.timeout(300)]


def test_a_link_is_saved_downloaded_and_played(serve: Callable[..., Site], tmp_path: Path) -> None:
    site = serve(media)
    clip = make_samples(tmp_path).clip

    async def download(url_of: Callable[[str], None]) -> None:
        async with (
            serving_media() as origin,
            media_bed(site.service.dsn, site.service.app.state.settings.data_dir) as bed,
        ):
            url_of(origin.put("/films/The%20mill.mp4", ranged(clip)))
            await bed.bed.finish()

    ann = site.person()
    page = ann.open("/media")

    def save(url: str) -> None:
        answer = site.api().post("/api/shares", json={"url": url})
        assert answer.status_code == 201, answer.text

    page.get_by_label("Links to videos, sound, pictures or playlists").fill("no link")
    page.get_by_role("button", name="Download", exact=True).click()
    page.get_by_text("“no” is not a link.").wait_for()
    site.run(download(save))
    card = page.get_by_role("link", name="The mill")
    card.wait_for()
    card.click()
    page.get_by_role("heading", name="The mill", level=1).wait_for()
    film = page.locator("video")
    film.wait_for()
    page.wait_for_function("() => document.querySelector('video').duration > 1.5")
    page.get_by_text("h264, aac").wait_for()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('video').currentTime > 1")


def test_the_transcript_follows_is_searched_and_leads_to_its_second(site: Site) -> None:
    share = add_recording(site)
    ann = site.person()
    page = ann.open(f"/media/{share}?t=4")
    line = page.get_by_role("button", name=SAID[2])
    line.wait_for()
    page.wait_for_function("() => document.querySelector('audio').currentTime >= 4")
    page.get_by_role("button", name=SAID[1]).click()
    page.locator("[data-line='1'][aria-current]").wait_for()
    page.get_by_label("Search what is said").fill("TURBINE")
    page.get_by_text("1 line").wait_for()
    assert page.locator("mark").all_inner_texts() == ["turbine"]
    ann.axe()


def test_what_is_deleted_can_be_brought_back_and_is_not_the_other_owners(site: Site) -> None:
    share = add_recording(site)
    ann, bob = site.person(), site.person("bob")
    bob.allowed.add(404)
    bob.open(f"/media/{share}").get_by_text("It is not here").wait_for()
    page = ann.open(f"/media/{share}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("link", name="What a forebay is for").wait_for()
    assert site.api().get(f"/api/shares/{share}").status_code == 200
