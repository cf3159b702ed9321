"""What yt-dlp asks, and what it is answered, counts for the limits of the hosts that it reaches."""

# demands: S1-10, X-07

from __future__ import annotations

import asyncio
import json
import ssl
from typing import Any

import pytest
import trustme

from forebay.pipelines.media import extractor_child
from tests.pipelines.media._bed import MediaBed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, Request, plain
from tests.services.egress._world import answering, certified, reply

ORDER = {"url": "", "output": "", "download": False, "maxBytes": 1000, "maxEntries": 10, "maxHeight": 720, "stallS": 30}


@needs_ffmpeg
async def test_a_host_of_segments_that_rate_limits_is_left_alone_by_all(
    bed: MediaBed, origin: MediaServer, samples: Samples
) -> None:
    """Only the host that says so: others are asked as before."""

    async def throttling(request: Request) -> None:
        await request.reply("slow down", status="429 Too Many Requests", Retry_After="77")

    files = {name: data for name, data, _ in samples.files("hls")}
    playlist = files.pop("index.m3u8").decode()
    first = min(files)
    lines = [line if line.startswith("#") or not line else origin.url(f"/cdn/{line}", "cdn.test") for line in
             playlist.splitlines()]  # fmt: skip
    for name, data in files.items():
        origin.put(f"/cdn/{name}", throttling if name == first else plain(data, "video/mp2t"))
    stream = origin.put("/film/index.m3u8", plain("\n".join(lines).encode(), "application/vnd.apple.mpegurl"))
    clip = origin.put("/clip.mp4", plain(samples.clip))

    share_id, other_id = await bed.add(stream), await bed.add(clip)
    await bed.bed.run()
    waiting = await bed.row(share_id)
    assert (waiting["download_status"], waiting["download_attempts"]) == ("retry", 1)
    assert "cdn.test is rate limiting us" in waiting["download_error"] or "429" in waiting["download_error"]
    assert origin.hits[f"/cdn/{first}"] == 1  # yt-dlp asks again by itself; the proxy does not let it
    assert (await bed.row(other_id))["download_status"] == "completed"


async def test_the_child_tells_what_the_proxy_cannot_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    yt_dlp: Any = pytest.importorskip("yt_dlp")

    def ask(*urls: str) -> None:
        given: Any = extractor_child.params(ORDER, ["generic"]) | {"nocheckcertificate": True}
        with yt_dlp.YoutubeDL(given) as client:
            extractor_child.tell_answers(client)
            for url in urls:
                try:
                    client.urlopen(url).close()
                except yt_dlp.networking.exceptions.HTTPError as error:
                    error.close()

    limited = reply("slow down", status="429 Too Many Requests", Retry_After=77)
    trust: ssl.SSLContext = certified(trustme.CA(), "127.0.0.1")
    async with answering(reply("here"), limited, trust=trust) as hidden, answering(reply("here")) as open_:
        secret = f"https://127.0.0.1:{hidden.port}/"
        await asyncio.to_thread(ask, secret, secret, f"http://127.0.0.1:{open_.port}/")
    lines = [line.removeprefix(extractor_child.MARK) for line in capsys.readouterr().out.splitlines()]
    told = [json.loads(line) for line in lines]
    assert [(each["host"], each["status"], each["retryAfter"]) for each in told] == [
        ("127.0.0.1", 200, None),
        ("127.0.0.1", 429, "77"),
    ]
    assert all(each["seconds"] >= 0 for each in told)
