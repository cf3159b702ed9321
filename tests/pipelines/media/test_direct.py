"""Files of media that links lead to: downloaded, inspected, stored."""

from __future__ import annotations

import json

from tests.pipelines.media._bed import MediaBed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, ranged

pytestmark = needs_ffmpeg


async def test_a_video_is_downloaded_and_inspected(bed: MediaBed, origin: MediaServer, samples: Samples) -> None:
    share = await bed.shared(origin.put("/films/The%20mill.mp4", ranged(samples.clip)))
    assert await bed.content(share) == samples.clip
    assert (share["download_status"], share["kind"], share["title"]) == ("completed", "video", "The mill")
    assert (share["width"], share["height"], share["duration_s"]) == (160, 120, 2.0)
    assert (share["video_codec"], share["audio_codec"], share["container"]) == ("h264", "aac", "mp4")
    assert json.loads(share["platform_data"]) == {
        "originalMediaUrl": share["url"],
        "downloadMetadata": {"size": len(samples.clip), "duration": 2.0, "storageType": "blob"},
    }
    assert share["poster_id"] is not None
    assert (await bed.item(share["id"]))["status"] == "DONE"
