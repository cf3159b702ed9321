"""Pages and streams: what yt-dlp finds is downloaded in the sandbox, or by ourselves where that is possible."""

# demands: S1-10, S1-09

from __future__ import annotations

import json

from tests.pipelines.media._bed import MediaBed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, Request, plain, ranged
from tests.pipelines.media._slots import InspectionSlots

pytestmark = needs_ffmpeg

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
