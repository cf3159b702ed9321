"""Transcripts over HTTP: with times, as files, searched, and nobody else's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from pydantic_core import to_json

from forebay.pipelines.media import transcripts
from forebay.pipelines.media.steps import media
from forebay.services.speech.transcript import Segment, Word
from tests.api._service import Service, serving

_WORDS = (Word(start=1.0, end=1.4, text="The"), Word(start=1.4, end=2.0, text="mill"))
SEGMENTS = (
    Segment(start=1.0, end=2.0, text="The mill", words=_WORDS),
    Segment(start=2.5, end=4.0, text="is turning 100 % faster & <better>."),
    Segment(start=9.0, end=10.0, text="All mills turn."),
)


@pytest_asyncio.fixture(loop_scope="session")
async def service(dsn: str) -> AsyncIterator[Service]:
    async with serving(dsn, media) as running:
        yield running


async def _shared(service: Service, *, with_transcript: bool = True) -> str:
    async with service.client("ann") as client:
        answer = await client.post("/api/shares", json={"url": "https://example.org/film.mp4", "title": 'The "mill"'})
        share: dict[str, Any] = answer.json()["shares"][0]
    if with_transcript:
        await service.admin.execute(
            """insert into forebay.transcript (share_id, owner_id, language, source, model, segments, text)
               select id, owner_id, 'en', 'speech', 'tiny.en', $2::jsonb, 'x' from forebay.share where id = $1""",
            int(share["id"]),
            to_json(SEGMENTS).decode(),
        )
    return str(share["id"])


async def test_a_transcript_has_segments_and_words(service: Service) -> None:
    share = await _shared(service)
    async with service.client("ann") as client:
        found = (await client.get(f"/api/shares/{share}/transcript")).json()
        linked = (await client.get(f"/api/shares/{share}")).json()["transcript"]
    assert linked == f"/api/shares/{share}/transcript"
    assert (found["shareId"], found["language"], found["source"], found["model"]) == (share, "en", "speech", "tiny.en")
    assert found["segments"][0] == {
        "start": 1.0,
        "end": 2.0,
        "text": "The mill",
        "words": [{"start": 1.0, "end": 1.4, "text": "The"}, {"start": 1.4, "end": 2.0, "text": "mill"}],
    }


async def test_a_transcript_is_a_file(service: Service) -> None:
    share = await _shared(service)
    async with service.client("ann") as client:
        files = {form: await client.get(f"/api/shares/{share}/transcript.{form}") for form in ("srt", "vtt", "txt")}
        assert (await client.get(f"/api/shares/{share}/transcript.exe")).status_code == 422
    assert files["srt"].text.startswith("1\n00:00:01,000 --> 00:00:02,000\nThe mill\n\n2\n")
    assert "is turning 100 % faster &amp; &lt;better&gt;." in files["vtt"].text
    assert files["txt"].text == "The mill is turning 100 % faster & <better>.\nAll mills turn.\n"
    assert files["vtt"].headers["content-type"] == "text/vtt; charset=utf-8"
    assert files["srt"].headers["content-disposition"].startswith("attachment; filename")


async def test_a_transcript_is_searched(service: Service) -> None:
    share = await _shared(service)

    async def matches(words: str) -> list[int]:
        async with service.client("ann") as client:
            answer = await client.get(f"/api/shares/{share}/transcript/search", params={"q": words})
            return [match["n"] for match in answer.json()["matches"]]

    assert await matches("mills") == [0, 2]  # by its stem
    assert await matches("turn") == [1, 2]
    assert await matches("100 % f") == [1]  # as it is written
    assert await matches("turn -mill") == [1]
    assert await matches("tractor") == []
    async with service.client("ann") as client:
        assert (await client.get(f"/api/shares/{share}/transcript/search")).status_code == 422


async def test_only_the_owner_sees_it(service: Service) -> None:
    share, other = await _shared(service), await _shared(service, with_transcript=False)
    paths = ["transcript", "transcript.srt", "transcript/search?q=x"]
    async with service.client("bob") as bob, service.client("ann") as ann, service.client() as nobody:
        for path in paths:
            assert (await bob.get(f"/api/shares/{share}/{path}")).status_code == 404
            assert (await nobody.get(f"/api/shares/{share}/{path}")).status_code == 401
            missing = await ann.get(f"/api/shares/{other}/{path}")
            assert (missing.status_code, missing.json()["detail"]) == (
                404,
                f"transcript: share {other} has no transcript",
            )


async def test_the_transcript_goes_with_its_share(service: Service) -> None:
    share = await _shared(service)
    await service.admin.execute(
        """insert into forebay.transcript_piece
               (share_id, owner_id, start_ms, end_ms, sha256, model, is_last, segments)
           select id, owner_id, 0, 1, '\\x00', 'tiny.en', false, '[]' from forebay.share where id = $1""",
        int(share),
    )
    async with service.client("ann") as client:
        assert (await client.delete(f"/api/shares/{share}")).status_code == 204
    for table in ("transcript", "transcript_piece"):
        left = await service.admin.fetchval(f"select count(*) from forebay.{table} where share_id = $1", int(share))
        assert left == 0


def test_a_nul_character_is_not_stored() -> None:
    assert (
        transcripts._json([Segment(start=0, end=1, text="a\0b")]) == '[{"start":0.0,"end":1.0,"text":"ab","words":[]}]'
    )
