"""Files of media that links lead to: downloaded, inspected, stored."""

# demands: S1-01, S1-03, S1-05, S1-08, S1-18, S1-27, S1-28, S1-51, S1-52, S1-54, S1-55, S1-56
# demands: S1-57, S1-58, S1-64, S1-67

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


async def test_sound_and_pictures_are_media_too(bed: MediaBed, origin: MediaServer, samples: Samples) -> None:
    sound = await bed.shared(origin.put("/tone.m4a", ranged(samples.sound, "audio/mp4")))
    assert await bed.content(sound) == samples.sound
    assert (sound["kind"], sound["video_codec"], sound["audio_codec"], sound["width"]) == ("audio", None, "aac", None)
    picture = await bed.shared(origin.put("/picture", ranged(samples.picture, "application/octet-stream")))
    assert await bed.content(picture) == samples.picture
    assert (picture["kind"], picture["width"], picture["container"]) == ("image", 160, "jpeg")
    name = await bed.conn.fetchval("select name from forebay.file where id = $1", picture["file_id"])
    assert name == "media.jpg"
