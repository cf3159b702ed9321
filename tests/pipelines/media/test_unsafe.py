"""What strangers write stays text: titles, templates, playlists that name files, options, links, plugins."""

# demands: S1-112

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from forebay.errors import PermanentError, ThrottledError, TransientError
from forebay.pipelines.media import extractor, extractor_child
from forebay.pipelines.media.extracted import entries_of, found_of, plain_file
from forebay.pipelines.media.extractor import _failure
from forebay.pipelines.media.links import shared_url
from forebay.pipelines.media.settings import MediaSettings
from forebay.services.egress import AccessDenied, InvalidUrl, UrlNotFound
from forebay.settings import Settings
from tests.pipelines.media._bed import MediaBed, media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, plain, ranged

URL = "http://example.org/page"
ORDER = {"output": "/output", "download": True, "url": URL, "maxBytes": 1, "maxEntries": 2, "maxHeight": 3, "stallS": 4}


def test_the_options_of_the_extractor_are_fixed() -> None:
    given = extractor_child.params(ORDER, ["generic"])
    assert given["outtmpl"] == {"default": "/output/media.%(ext)s"}
    assert (given["usenetrc"], given["cachedir"], given["enable_file_urls"]) == (False, False, False)
    assert given["postprocessors"] == []
    names = {"exec_cmd", "external_downloader", "netrc_cmd", "netrc_location", "cookiefile", "cookiesfrombrowser"}
    names |= {"config_locations", "plugin_dirs", "load_info_filename", "download_archive", "ffmpeg_location"}
    assert names.isdisjoint(given)


@needs_ffmpeg
async def test_a_title_never_becomes_a_path(bed: MediaBed, origin: MediaServer, samples: Samples) -> None:
    title = "../../../etc/%(id)s $(touch /tmp/owned) \x1b[31m.exe"
    origin.put("/film.mp4", ranged(samples.clip))
    page = f'<html><title>{title}</title><video src="/film.mp4"></video></html>'
    share = await bed.shared(origin.put("/page", plain(page.encode(), "text/html")))
    assert share["title"].startswith("../../../etc/%(id)s $(touch /tmp/owned)")
    assert await bed.conn.fetchval("select name from forebay.file where id = $1", share["file_id"]) == "media.mp4"


@needs_ffmpeg
async def test_a_playlist_that_names_files_of_this_machine_gets_none(bed: MediaBed, origin: MediaServer) -> None:
    lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXTINF:2,", "file:///etc/passwd", "#EXT-X-ENDLIST", ""]
    url = origin.put("/files.m3u8", plain("\n".join(lines).encode(), "application/vnd.apple.mpegurl"))
    share = await bed.finished(url)
    assert (share["download_status"], share["file_id"]) == ("failed", None)
    # The same as a file: nothing that refers to other files is opened.
    share = await bed.finished(origin.put("/list.mp4", plain(b"ffconcat version 1.0\nfile /etc/passwd\n", "video/mp4")))
    # Without our options FFmpeg would take it for a list, and say that it must not open such a name.
    assert share["download_error"] == "is not media that can be played: Invalid argument"


@needs_ffmpeg
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("media.mp4", "the download ended with 0 files instead of one"),
        ("info.json", "yt-dlp said nothing about the page"),
    ],
)
async def test_a_link_that_an_extractor_leaves_is_not_followed(
    bed: MediaBed, origin: MediaServer, samples: Samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    name: str, error: str
) -> None:  # fmt: skip
    command, program = extractor._command, Path(__file__).with_name("_linking.py").read_text()

    def of_the_other(order: extractor.Order, own: MediaSettings) -> list[str]:
        python, isolated, _, given = command(order, own)
        return [python, isolated, "-c", program, given]

    monkeypatch.setattr(extractor, "_command", of_the_other)
    secret = tmp_path / "secret"
    secret.write_bytes(samples.clip if name == "media.mp4" else b'{"title": "of this machine"}')
    url = origin.put(f"/{name}", plain(b"#EXTM3U\n", "application/vnd.apple.mpegurl"))
    share = await bed.finished(f"{url}?{secret}")
    assert (share["download_status"], share["file_id"]) == ("failed", None)
    assert (share["download_error"], share["title"] == "of this machine") == (error, False)
    assert secret.exists()


_PLUGIN = "raise SystemExit('a plugin was loaded')\n"


@needs_ffmpeg
async def test_what_the_user_of_the_worker_has_configured_is_ignored(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """yt-dlp reads netrc, configuration and plugins at home, if it is let."""
    home = tmp_path / "home"
    for place in (".config/yt-dlp", ".yt-dlp"):
        plugin = home / place / "plugins/evil/yt_dlp_plugins/extractor/evil.py"
        plugin.parent.mkdir(parents=True)
        plugin.write_text(_PLUGIN)
        (home / place / "config").write_text("--netrc\n--add-header X-Owned:1\n--exec 'touch /tmp/owned'\n")
    (home / ".netrc").write_text("machine sluice.test login ann password hunter2\n")
    (home / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PYTHONPATH", str(home / ".config/yt-dlp/plugins/evil"))
    origin.put_all("/hls", samples.files("hls"))
    async with media_bed(dsn, tmp_path / "data") as bed:
        share = await bed.shared(origin.url("/hls/index.m3u8"))
    assert share["download_status"] == "completed", share["download_error"]
    assert not [head for head in origin.heads if "authorization" in head.headers or "x-owned" in head.headers]


def test_a_known_extractor_that_is_none_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """yt-dlp names the element of a page as the extractor, but has none of this name."""
    asked: list[list[str]] = []
    extracted = extractor_child.extracted

    def counted(order: dict[str, Any], names: list[str]) -> str:
        asked.append(names)
        return "found" if "generic" in names else extracted(order, names)

    monkeypatch.setattr(extractor_child, "extracted", counted)
    assert extractor_child.found_by_any(ORDER | {"extractors": ["html5"]}) == "found"
    assert asked[0] == ["html5"]
    assert asked[1][-1] == "generic"


def test_what_an_extractor_says_is_cleaned_and_bounded() -> None:
    info = {"title": "a\x00\x1bb" + "x" * 2000, "uploader": "u\x07", "timestamp": 1e30, "vcodec": "h264",
            "subtitles": {"en": [{"ext": "vtt", "url": "http://example.org/en.vtt"}], "live_chat": [{"ext": "json"}]},
            "automatic_captions": {"de": [{"ext": "vtt", "url": "http://example.org/de.vtt"}]}}  # fmt: skip
    found = found_of(info, URL)
    assert found.title is not None
    assert (found.title[:3], len(found.title), found.author, found.published_at) == ("abx", 1000, "u", None)
    assert [(each["language"], each["source"]) for each in found.platform_data["subtitles"]] == [
        ("en", "people"),
        ("de", "machine"),
    ]
    with pytest.raises(PermanentError, match="is a live stream, which has no end: share it when it is over"):
        found_of({"is_live": True}, URL)
    with pytest.raises(PermanentError, match="is protected by DRM and cannot be downloaded"):
        found_of({"_has_drm": True}, URL)


def test_entries_that_may_not_be_fetched_are_left_out() -> None:
    settings = Settings().including(MediaSettings(allow_hosts="*.example.org,example.org"))
    entries = [{"url": text} for text in ("file:///etc/passwd", "http://169.254.169.254/", "http://other.test/a", "x")]
    good = {"url": "http://a.example.org/1", "title": "One"}
    assert [each.url for each in entries_of({"entries": [*entries, good, good, None]}, settings)] == [good["url"]]


@pytest.mark.parametrize("protocol", ["m3u8_native", "http_dash_segments", "rtmp", "file"])
def test_only_a_single_file_over_http_is_fetched_by_ourselves(protocol: str) -> None:
    assert plain_file({"url": URL, "protocol": protocol}) is None
    assert plain_file({"url": "file:///etc/passwd", "protocol": "http"}) is None
    found = plain_file({"url": URL, "protocol": "http", "http_headers": {"Cookie": "secret", "Referer": "r"}})
    assert found is not None
    assert dict(found.headers) == {"referer": "r"}


class _Grant:
    is_exhausted = False
    refusals: tuple[()] = ()


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"status": 404, "kinds": ["HTTPError"]}, UrlNotFound),
        ({"status": 403, "kinds": ["HTTPError"]}, AccessDenied),
        ({"status": 429, "kinds": ["HTTPError"], "retryAfter": "9"}, ThrottledError),
        ({"status": 503, "kinds": ["HTTPError"]}, TransientError),
        ({"kinds": ["DownloadError", "UnsupportedError"]}, PermanentError),
        ({"kinds": ["DownloadError", "ExtractorError"], "expected": True}, PermanentError),
        ({"kinds": ["DownloadError", "TransportError"]}, TransientError),
    ],
)
def test_what_the_failure_of_an_extractor_means(told: dict[str, object], kind: type[Exception]) -> None:
    failure = _failure(told | {"error": "no"}, "", _Grant(), MediaSettings())  # type: ignore[arg-type]
    assert type(failure) is kind
    if isinstance(failure, ThrottledError):
        assert failure.retry_after == 9


def test_errors_of_extractors_are_told_with_their_causes() -> None:
    class Response:
        headers = MappingProxyType({"Retry-After": "3"})

    class HTTPError(Exception):
        status, response = 429, Response()

    error = ValueError("outer")
    error.__cause__ = HTTPError("inner")
    assert extractor_child.describe(error) == {
        "error": "outer", "kinds": ["ValueError", "HTTPError"], "status": 429, "retryAfter": "3",
    }  # fmt: skip


def test_a_host_that_is_not_allowed_is_named() -> None:
    settings = Settings().including(MediaSettings(allow_hosts="example.org"))
    assert str(shared_url(URL, settings)) == URL
    with pytest.raises(InvalidUrl, match=r"other\.example is not in FOREBAY_MEDIA_ALLOW_HOSTS"):
        shared_url("http://other.example/a", settings)
