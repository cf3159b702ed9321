"""What all downloads of a worker receive together has one limit, whoever receives it."""

# demands: S1-23

from __future__ import annotations

from pathlib import Path

import pytest

from forebay.pipelines.media.settings import MediaSettings
from forebay.services.egress.byte_rate import ByteRate
from tests.pipelines.media._bed import media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, ranged

RATE = 64 << 20


@needs_ffmpeg
async def test_the_bytes_of_files_and_of_streams_count(
    dsn: str, tmp_path: Path, origin: MediaServer, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[tuple[ByteRate, int]] = []
    taking = ByteRate.take

    def take(self: ByteRate, size: int) -> float:
        counted.append((self, size))
        return taking(self, size)

    monkeypatch.setattr(ByteRate, "take", take)
    origin.put_all("/hls", samples.files("hls"))
    segments = sum(len(data) for name, data, _ in samples.files("hls") if name.endswith(".ts"))
    own = MediaSettings(transcripts=False, download_bytes_per_s=RATE)
    async with media_bed(dsn, tmp_path, packages=[own]) as bed:
        for url, least in ((origin.put("/clip.mp4", ranged(samples.clip)), len(samples.clip)),
                           (origin.url("/hls/index.m3u8"), segments)):  # fmt: skip
            counted.clear()
            share = await bed.shared(url)
            assert share["download_status"] == "completed", share["download_error"]
            assert sum(size for _, size in counted) >= least
            assert {rate.per_second for rate, _ in counted} == {RATE}
            assert len({id(rate) for rate, _ in counted}) == 1
