"""`kill -9` of a worker while it transcribes a recording: the next one continues after the last piece."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.engine.db import registry
from forebay.pipelines.media.steps import media
from tests.crash._rig import Watch, Workers
from tests.pipelines.media._samples import needs_ffmpeg
from tests.pipelines.media._server import ranged, serving_media
from tests.services.openai._stub import MODEL, Asked, serving_openai
from tests.services.speech._speech import SPEECH

if TYPE_CHECKING:
    from tests.crash._rig import WorkerProcess

pytestmark = needs_ffmpeg

KEY = "sk-hunter2"
_ADD = "select id from forebay.add_share(forebay.owner_id('ann'), $1, null, 0)"


async def test_each_piece_is_transcribed_once(workers: Workers, watch: Watch, tmp_path: Path) -> None:
    """Each worker dies when it has sent a piece and waits for the answer; the service hears every piece."""
    await registry.register(await watch.conn(), media.definition())
    running: list[WorkerProcess] = []

    def kill_worker(asked: Asked) -> bool:
        is_new = asked.question["file"][2] not in heard
        heard.append(asked.question["file"][2])
        if is_new and len(heard) > 1:
            running.pop().kill()
            running.append(start())
            return True
        return False

    heard: list[bytes] = []
    async with serving_media() as origin, serving_openai(KEY) as service:
        service.body = json.dumps(
            {"text": "Words.", "language": "en", "segments": [{"start": 0.1, "end": 0.9, "text": "Words."}]}
        ).encode()
        service.before_answer = kill_worker

        def start() -> WorkerProcess:
            return workers.start(
                pipelines="forebay.pipelines",
                data_dir=str(tmp_path / "data"),
                egress_allow_networks="127.0.0.0/8",
                egress_host_shared="false",
                speech_url=service.url,
                speech_model=MODEL,
                speech_key=KEY,
                speech_piece_s="6",
            )

        origin.put("/talk.ogg", ranged(SPEECH.read_bytes(), "audio/ogg"))
        share = await watch.one(_ADD, f"http://127.0.0.1:{origin.site.port}/talk.ogg")
        running.append(start())
        await watch.until(
            "the transcript is complete", "select count(*) = 1 from forebay.transcript where share_id = $1", share
        )
    pieces = len(set(heard))
    assert pieces >= 3
    assert len(heard) == pieces + (pieces - 1)  # the first once, and each other one again after its kill
    segments = json.loads(await watch.one("select segments::text from forebay.transcript"))
    assert len(segments) == pieces
    assert segments == sorted(segments, key=lambda segment: segment["start"])
    assert len([worker for worker in workers.all if not worker.lives]) == pieces - 1
