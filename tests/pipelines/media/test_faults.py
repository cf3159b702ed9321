"""Servers that stall, break off, lie, change their minds or refuse: the right end, and never a wrong file."""

# demands: S1-16, S1-29, S1-30, S1-31, S1-38, S1-40, S1-46, S1-59, S1-66, S1-111, S1-113, S1-114

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from forebay.pipelines.media.settings import MediaSettings
from tests.pipelines.media._bed import MediaBed, media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg, padded
from tests.pipelines.media._server import MediaServer, Request, etag, plain, ranged
from tests.services.egress._world import Names, answering, reply

pytestmark = needs_ffmpeg

SIZE = 3 << 20
CUT = 1 << 20
_FLAKY = 50  # downloads


@pytest.fixture(scope="module")
def film(samples: Samples) -> bytes:
    return padded(samples.clip, SIZE)


async def test_a_truncated_file_is_continued_where_it_broke_off(
    bed: MediaBed, origin: MediaServer, film: bytes
) -> None:
    asked: list[int] = []

    async def cutting(request: Request) -> None:
        asked.append(request.start)
        part = film[request.start :]
        if not request.start:
            await request.head("200 OK", ETag=etag(film), Content_Type="video/mp4", Content_Length=len(film))
            await request.body(part[:CUT])
            return
        await ranged(film)(request)

    share = await bed.finished(origin.put("/cut.mp4", cutting))
    assert await bed.content(share) == film
    assert asked[0] == asked[1] == 0  # the probe reads the beginning
    assert asked[2:] == [CUT]
    assert await bed.conn.fetchval("select count(*) from forebay.blob where media_type = 'video/mp4'") == 1


async def test_content_that_changes_between_two_parts_is_fetched_anew(
    bed: MediaBed, origin: MediaServer, film: bytes
) -> None:
    other = film[:-1000] + bytes(1000)

    async def changing(request: Request) -> None:
        if request.number < 3:
            await request.head("200 OK", ETag=etag(film), Content_Type="video/mp4", Content_Length=len(film))
            await request.body(film[:CUT])
        else:
            await ranged(other)(request)

    share = await bed.finished(origin.put("/changing.mp4", changing))
    assert await bed.content(share) == other


async def test_a_server_that_says_too_much_is_not_believed(bed: MediaBed, origin: MediaServer, film: bytes) -> None:
    async def lying(request: Request) -> None:
        await request.head("200 OK", Content_Type="video/mp4", Content_Length=len(film) + 1000)
        await request.body(film)

    share = await bed.finished(origin.put("/lying.mp4", lying))
    assert (share["download_status"], share["download_attempts"], share["file_id"]) == ("failed", 3, None)
    assert f"received {SIZE} bytes, expected {SIZE + 1000}" in share["download_error"]
    assert (await bed.item(share["id"]))["status"] == "ERROR"


@pytest.mark.parametrize(
    ("status", "ends", "attempts", "item"),
    [
        ("404 Not Found", "failed", 0, "NOT_FOUND"),
        ("410 Gone", "failed", 0, "NOT_FOUND"),
        ("500 Internal Server Error", "failed", 0, "ERROR"),
        ("451 Unavailable", "failed", 0, "ERROR"),
    ],
)
async def test_a_link_that_leads_nowhere(
    bed: MediaBed, origin: MediaServer, status: str, ends: str, attempts: int, item: str
) -> None:
    share = await bed.finished(origin.put("/gone.mp4", lambda request: request.reply("no", status=status)))
    assert (share["download_status"], share["download_attempts"], share["file_id"]) == (ends, attempts, None)
    assert status[:3] in share["download_error"]
    assert (await bed.item(share["id"]))["status"] == item


async def test_a_server_that_is_rate_limiting_is_left_alone(
    bed: MediaBed, origin: MediaServer, samples: Samples
) -> None:
    async def throttling(request: Request) -> None:
        if request.number < 3:
            await request.reply("slow down", status="429 Too Many Requests", Retry_After="77")
        else:
            await ranged(samples.clip)(request)

    share_id = await bed.add(origin.put("/busy.mp4", throttling))
    await bed.bed.run()
    share = await bed.row(share_id)
    assert (share["download_status"], "rate limiting" in share["download_error"]) == ("retry", True)
    await bed.bed.finish()
    share = await bed.row(share_id)
    assert (share["download_status"], share["download_error"]) == ("completed", None)
    assert await bed.content(share) == samples.clip


async def test_what_is_too_large_too_long_or_no_media_is_refused(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, film: bytes
) -> None:
    own = MediaSettings(transcripts=False, max_bytes=CUT, max_duration_s=1.0)
    async with media_bed(dsn, tmp_path, packages=[own]) as bed:
        large = await bed.finished(origin.put("/large.mp4", ranged(film)))
        assert large["download_status"] == "failed"
        assert large["download_error"].endswith(f"has {SIZE} bytes; at most {CUT} are allowed")

        async def endless(request: Request) -> None:
            await request.head("200 OK", Content_Type="video/mp4")
            while True:
                await request.body(bytes(1 << 18))

        endless_one = await bed.finished(origin.put("/endless.mp4", endless))
        assert endless_one["download_error"].endswith(f"has more than {CUT} bytes, the maximum")
        long = await bed.finished(origin.put("/long.mp4", plain(samples.clip)))
        assert long["download_error"] == "lasts 2 s; FOREBAY_MEDIA_MAX_DURATION_S allows 1 s"
        text = await bed.finished(origin.put("/text.mp4", plain(b"not a film" * 100, "video/mp4")))
        assert text["download_error"].startswith("is not media that can be played: ")
        assert {(await bed.item(each["id"]))["class"] for each in (large, endless_one, long, text)} == {"data"}
        assert await bed.conn.fetchval("select count(*) from forebay.file") == 0


async def test_a_server_that_stalls_is_given_up_in_time(
    dsn: str, tmp_path: Path, origin: MediaServer, film: bytes
) -> None:
    hanging = asyncio.Event()

    async def stalling(request: Request) -> None:
        if request.start:
            await ranged(film)(request)
            return
        await request.head("200 OK", ETag=etag(film), Content_Type="video/mp4", Content_Length=len(film))
        await request.body(film[:CUT])
        if request.number > 1:
            await hanging.wait()

    own = MediaSettings(transcripts=False, stall_s=1)
    async with media_bed(dsn, tmp_path, packages=[own]) as bed:
        share_id = await bed.add(origin.put("/stalling.mp4", stalling))
        await bed.bed.run()
        share = await bed.row(share_id)
        assert share["download_error"] == "no byte was received for 1 s (FOREBAY_MEDIA_STALL_S)"
        with capture_logs() as logs:
            await bed.bed.finish()
        share = await bed.row(share_id)
        logged = next(each for each in logs if each["event"] == "download_completed")
        assert (logged["resumed_from"], logged["attempt"]) == (origin.heads[-1].start, 2)
        assert logged["resumed_from"] > 0
        rate = (SIZE - logged["resumed_from"]) / logged["bytes_per_s"]
        assert (logged["size"], logged["seconds"]) == (SIZE, pytest.approx(rate, rel=0.05, abs=0.002))
        assert hashlib.sha256(await bed.content(share)).digest() == hashlib.sha256(film).digest()
        assert share["download_attempts"] == 2


def _fault(request: Request) -> str | None:
    """What goes wrong with this request: the same in every run."""
    chances = random.Random(f"{request.path} {request.number}")
    is_probe = request.number == 1
    return chances.choice(["reset", "cut", "silence", "stall"]) if not is_probe and chances.random() < 0.1 else None


async def test_retries_bring_a_failure_rate_of_real_networks_to_zero(
    dsn: str,
    tmp_path: Path,
    origin: MediaServer,
    samples: Samples,
    record_property: Callable[[str, object], None],
) -> None:
    hit, never = set[str](), asyncio.Event()  # paths whose first download met a fault

    async def flaky(request: Request) -> None:
        fault, data = _fault(request), samples.sound
        if fault is None:
            await ranged(data, "audio/mp4")(request)
            return
        if request.number == 2:
            hit.add(request.path)
        if fault in ("cut", "stall"):
            await request.head("200 OK", ETag=etag(data), Content_Type="audio/mp4", Content_Length=len(data))
            await request.body(data[: len(data) // 2])
        if fault in ("silence", "stall"):
            await never.wait()
        request.writer.transport.abort()

    own = MediaSettings(transcripts=False, stall_s=1)
    async with media_bed(dsn, tmp_path, packages=[own]) as bed:
        ids = [await bed.add(origin.put(f"/clip/{number}.m4a", flaky)) for number in range(_FLAKY)]
        await bed.bed.finish()
        shares = [await bed.row(share) for share in ids]
    failed = [share["download_error"] for share in shares if share["download_status"] != "completed"]
    record_property("failure rate at first", len(hit) / _FLAKY)
    record_property("failure rate in the end", len(failed) / _FLAKY)
    assert 0.05 <= len(hit) / _FLAKY <= 0.1
    assert failed == []


async def test_a_redirect_into_the_network_behind_is_refused(dsn: str, tmp_path: Path, origin: MediaServer) -> None:
    names = Names()
    async with answering(reply(b"secret", Content_Type="video/mp4"), host="127.0.0.2") as canary:
        names.put("inside.test", "127.0.0.2")
        own = MediaSettings(transcripts=False)
        inside = f"http://inside.test:{canary.port}/film.mp4"

        async def leading_in(request: Request) -> None:
            await request.reply("", status="302 Found", Location=inside)

        async def naming(request: Request) -> None:
            await request.reply(f'<video src="{inside}"></video>')

        async with media_bed(dsn, tmp_path, names=names, packages=[own], egress_allow_networks="127.0.0.1/32") as bed:
            names.put("inside.test", "127.0.0.2")
            for place, answer in (("/redirect.mp4", leading_in), ("/page", naming)):
                share = await bed.finished(origin.put(place, answer))
                assert (share["download_status"], share["file_id"]) == ("failed", None)
                assert "inside.test has no public address" in share["download_error"]
        assert canary.connections == 0
