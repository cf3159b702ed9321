"""Pages and streams: what yt-dlp finds is downloaded in the sandbox, or by ourselves where that is possible."""

# demands: S1-10, S1-09

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from forebay.pipelines.media import oembed, probing
from tests.pipelines.media._bed import MediaBed, media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, Request, plain, ranged
from tests.pipelines.media._slots import InspectionSlots
from tests.services.egress._world import Names

pytestmark = needs_ffmpeg

# As TikTok has answered for https://www.tiktok.com/@scout2015/video/6718335390845095173.
TIKTOK = {
    "version": "1.0",
    "type": "video",
    "title": "Scramble up ur name & I\u2019ll try to guess it\U0001f60d\u2764\ufe0f #foryoupage #petsoftiktok",
    "author_url": "https://www.tiktok.com/@scout2015",
    "author_name": "Scout, Suki & Stella",
    "width": "100%",
    "height": "100%",
    "html": '<blockquote class="tiktok-embed"></blockquote><script async src="https://www.tiktok.com/embed.js"></script>',
    "thumbnail_width": 720,
    "thumbnail_height": 1280,
    "thumbnail_url": "https://p16.muscdn.com/obj/tos-maliva-p-0068/06kv6rfcesljdjr45ukb0000d844090v0200010605",
    "provider_url": "https://www.tiktok.com",
    "provider_name": "TikTok",
}
PAGE = """<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"""


async def test_a_stream_in_parts_becomes_one_file(
    bed: MediaBed, origin: MediaServer, samples: Samples, slots: InspectionSlots
) -> None:
    slots.free.set()
    origin.put_all("/hls", samples.files("hls"))
    origin.put_all("/dash", samples.files("dash"))
    taken = 0
    for place, inspections in (("/hls/index.m3u8", 2), ("/dash/index.mpd", 1)):  # 2: it gets another container
        share = await bed.shared(origin.url(place))
        assert share["download_status"] == "completed", share["download_error"]
        assert (share["kind"], share["video_codec"], share["audio_codec"]) == ("video", "h264", "aac")
        assert (share["width"], share["container"]) == (160, "mp4")
        assert abs(share["duration_s"] - 2) < 0.3
        assert share["poster_id"] is not None
        await bed.content(share)
        taken += inspections
        assert slots.taken == taken


async def test_the_video_of_a_page_is_fetched_by_ourselves(
    bed: MediaBed, origin: MediaServer, samples: Samples
) -> None:
    origin.put("/film.mp4", ranged(samples.clip))
    about = {"title": "Told", "author_name": "Ada Weir", "provider_name": "Mills", "html": "<script>"}
    origin.put("/oembed", plain(json.dumps(about).encode(), "application/json"))
    head = '<link rel="alternate" type="application/json+oembed" href="/oembed?a=1&amp;b=2">'
    page = PAGE.format(title="The mill", head=head, body='<video src="/film.mp4"></video>')
    share = await bed.shared(origin.put("/page", plain(page.encode(), "text/html")))
    assert await bed.content(share) == samples.clip
    assert (share["download_status"], share["title"]) == ("completed", "The mill")
    assert json.loads(share["platform_data"])["oembed"] == {"provider_name": "Mills"}
    assert share["author"] == "Ada Weir"
    assert origin.hits["/oembed?a=1&b=2"] == 1
    assert {head.headers["referer"] for head in origin.heads if head.path == "/film.mp4"} == {share["url"]}


async def test_a_signed_url_that_is_denied_is_extracted_again(
    bed: MediaBed, origin: MediaServer, samples: Samples
) -> None:
    async def page(request: Request) -> None:
        body = f'<video src="/film.mp4?token={request.number}"></video>'
        await request.reply(PAGE.format(title="Signed", head="", body=body))

    async def film(request: Request) -> None:
        # The token of the last extraction is good; those before have expired, and it is asked for the first time.
        if not request.path.endswith(f"={max(3, origin.hits['/signed'])}"):
            await request.reply("expired", status="403 Forbidden")
        else:
            await ranged(samples.clip)(request)

    origin.put("/film.mp4", film)
    share = await bed.shared(origin.put("/signed", page))
    assert await bed.content(share) == samples.clip
    assert share["download_attempts"] == 1


async def test_tiktok_is_asked_by_oembed_first(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, site = Names(), "www.tiktok.com"
    names.put(site, "127.0.0.1")
    monkeypatch.setattr(probing, "is_known_site", lambda _: False)  # its extractor needs the site itself
    monkeypatch.setitem(oembed._KNOWN, "tiktok.com", origin.url("/oembed?url=", site))  # without TLS
    origin.put("/oembed", plain(json.dumps(TIKTOK).encode(), "application/json; charset=utf-8"))
    origin.put("/film.mp4", ranged(samples.clip))
    body = PAGE.format(title="TikTok - Make Your Day", head="", body='<video src="/film.mp4"></video>')
    origin.put("/@scout2015/video/6718335390845095173", plain(body.encode(), "text/html"))
    async with media_bed(dsn, tmp_path, names=names) as bed:
        share = await bed.shared(origin.url("/@scout2015/video/6718335390845095173", site))
        assert share["download_status"] == "completed", share["download_error"]
        assert await bed.content(share) == samples.clip
    paths = [head.path.partition("?")[0] for head in origin.heads]
    assert paths.index("/oembed") < paths.index("/film.mp4")
    assert share["author"] == "Scout, Suki & Stella"
    kept = ("type", "provider_name", "author_url", "thumbnail_url")
    assert json.loads(share["platform_data"])["oembed"] == {name: TIKTOK[name] for name in kept}


async def test_oembed_that_does_not_answer_in_time_is_left_out(
    bed: MediaBed, origin: MediaServer, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence = asyncio.Event()

    async def silent(_: Request) -> None:
        await silence.wait()

    monkeypatch.setattr(oembed, "_TIMEOUT_S", 0.2)
    origin.put("/oembed", silent)
    origin.put("/film.mp4", ranged(samples.clip))
    head = '<link rel="alternate" type="application/json+oembed" href="/oembed">'
    page = PAGE.format(title="The mill", head=head, body='<video src="/film.mp4"></video>')
    share = await bed.shared(origin.put("/page", plain(page.encode(), "text/html")))
    assert (origin.hits["/oembed"], share["download_attempts"], share["title"]) == (1, 1, "The mill")
    assert await bed.content(share) == samples.clip
    assert "oembed" not in json.loads(share["platform_data"])
