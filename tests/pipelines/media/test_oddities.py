"""What goes wrong rarely: pages that change, extractors that say nothing, files that are gone."""

# demands: S1-53

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forebay.db.pool import translating_errors
from forebay.errors import ConfigError, ConflictError, DataError, TransientError
from forebay.pipelines.media import downloading, extractor, probing
from tests.pipelines.media._bed import MediaBed
from tests.pipelines.media._samples import needs_ffmpeg
from tests.pipelines.media._server import MediaServer, Request, plain

PAGE = b"<html><title>Nothing</title><p>words</p></html>"


def test_an_extractor_that_says_nothing(tmp_path: Path) -> None:
    with pytest.raises(TransientError, match="yt-dlp said nothing about the page"):
        extractor._read_info(tmp_path)
    (tmp_path / "info.json").write_text("null")
    with pytest.raises(DataError, match="there is no media on the page"):
        extractor._read_info(tmp_path)


async def test_pages_wait_for_the_extractor_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractor, "find_spec", lambda name: None)
    with pytest.raises(ConfigError) as raised:
        async with extractor.compiled_extractor.opened(None):  # type: ignore[arg-type]
            pass
    assert str(raised.value) == "pages with media need a package that is not installed: pip install 'forebay[media]'"


async def test_a_playlist_without_entries_and_a_download_without_files(
    bed: MediaBed, origin: MediaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def empty(*_: Any) -> tuple[dict[str, Any], list[Path]]:
        return {"_type": "playlist", "entries": []}, []

    async def stream(*_: Any) -> tuple[dict[str, Any], list[Path]]:
        return {"protocol": "m3u8_native", "vcodec": "h264"}, []

    monkeypatch.setattr(probing, "run_extractor", empty)
    share = await bed.shared(origin.put("/page", plain(PAGE, "text/html")))
    assert share["download_error"] == "the playlist has no entry that can be downloaded"
    monkeypatch.setattr(probing, "run_extractor", stream)
    monkeypatch.setattr(downloading, "run_extractor", stream)
    share = await bed.shared(origin.url("/page"))
    assert share["download_error"] == "the download ended with 0 files instead of one"


@needs_ffmpeg
async def test_a_page_that_changes_meanwhile(bed: MediaBed, origin: MediaServer) -> None:
    async def page(request: Request) -> None:
        await request.reply("<html><video src='/a.mp4'></video></html>" if request.number == 1 else PAGE)

    share = await bed.shared(origin.put("/page", page))
    assert share["download_error"] == "the page does not name its media any more"


async def test_a_playlist_in_a_playlist_is_not_followed(bed: MediaBed, origin: MediaServer) -> None:
    inner = b"<html><video src='/a.mp4'></video><video src='/b.mp4'></video></html>"
    outer = b"<html><video src='/inner'></video><video src='/gone.mp4'></video></html>"
    origin.put("/inner", plain(inner, "text/html"))
    share = await bed.finished(origin.put("/outer", plain(outer, "text/html")))
    query = "select download_error from forebay.share where playlist_id = $1 and playlist_index = 1"
    reason = "is a playlist in a playlist, which is not followed: share it by itself"
    assert await bed.conn.fetchval(query, share["id"]) == reason


async def test_an_upload_that_is_gone(bed: MediaBed) -> None:
    share = await bed.conn.fetchval(
        "insert into forebay.share (owner_id, title) values (forebay.owner_id('ann'), 'mine') returning id"
    )
    with pytest.raises(ConflictError, match=f"share {share} is an upload that is not there any more: upload it again"):
        async with translating_errors():
            await bed.conn.fetchval("select forebay.retry_share($1)", share)
    await bed.conn.execute("select forebay.submit_share(owner_id, id, null, 0) from forebay.share where id = $1", share)
    await bed.bed.run()
    assert (await bed.row(share))["download_error"] == "the uploaded file is not there any more: upload it again"
