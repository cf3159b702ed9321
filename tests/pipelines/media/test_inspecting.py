"""Files are inspected a few at a time, and what an inspection costs is no fault of the download."""

from __future__ import annotations

import asyncio

import pytest

from forebay.engine.declare.limited import limited
from forebay.pipelines.media import downloading, inspecting
from forebay.services import av_files
from tests.pipelines.media import _greedy
from tests.pipelines.media._bed import MediaBed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, ranged
from tests.pipelines.media._slots import InspectionSlots

pytestmark = needs_ffmpeg


async def test_waiting_for_the_inspections_of_others_is_no_stall(
    bed: MediaBed, origin: MediaServer, samples: Samples, slots: InspectionSlots, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as waiting:
        waiting.setattr(downloading, "_STORE_S", -1.0)  # if it counted now, the download would fail at once
        sharing = asyncio.create_task(bed.shared(origin.put("/film.mp4", ranged(samples.clip))))
        asked = asyncio.create_task(slots.waiting.wait())
        await asyncio.wait({sharing, asked}, return_when=asyncio.FIRST_COMPLETED)
    slots.free.set()
    share = await sharing
    assert (share["download_status"], share["download_attempts"]) == ("completed", 1), share["download_error"]


async def test_a_poster_that_needs_too_much_costs_the_poster_only(
    bed: MediaBed, origin: MediaServer, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = limited(_greedy.read, memory_mb=512, timeout=120, releases_files=True, needs=av_files.PACKAGES)
    monkeypatch.setattr(inspecting, "_READ_MEDIA", greedy)
    share = await bed.shared(origin.put("/film.mp4", ranged(samples.clip)))
    assert (share["download_status"], share["download_attempts"]) == ("completed", 1), share["download_error"]
    assert (share["width"], share["duration_s"], share["poster_id"]) == (160, 2.0, None)
