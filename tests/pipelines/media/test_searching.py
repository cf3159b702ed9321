"""What is said in a share is found by the one search, at its second, by its owner only."""

# demands: S1-06

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest_asyncio

from forebay.pipelines.media import step_writes, transcripts
from forebay.pipelines.media.search import backfill
from forebay.pipelines.media.step_share import Share
from forebay.pipelines.media.steps import media
from forebay.services.speech.transcript import Segment, Transcript
from forebay.types import Statement
from tests.api._service import Service, serving

SAID = Transcript(
    language="en",
    segments=(
        Segment(start=1.5, end=9.0, text="Good evening 🎬 and welcome to the mill."),
        Segment(start=75.25, end=80.0, text="The heron stands below the sluice gate."),
        Segment(start=90.0, end=99.0, text="Now the wheel begins to turn."),
    ),
)
FACTS = {"kind": "video", "title": "Twilight", "author": "Ann", "description": "About Größe and otters.\nPart one."}


@pytest_asyncio.fixture(loop_scope="session")
async def service(dsn: str) -> AsyncIterator[Service]:
    async with serving(dsn, media) as running:
        yield running


async def _write(conn: asyncpg.Connection[Any], *writes: Statement) -> None:
    async with conn.transaction():
        for write in writes:
            await conn.execute(write.sql, *write.args)


async def _settled(service: Service) -> Share:
    """A share, as the steps leave it."""
    async with service.client("ann") as client:
        added = (await client.post("/api/shares", json={"url": "https://example.org/film.mp4"})).json()["shares"][0]
    owner = await service.admin.fetchval("select owner_id from forebay.share where id = $1", int(added["id"]))
    share = Share(int(added["id"]), owner, added["url"], *(None,) * 9, is_entry=False)
    await _write(service.admin, step_writes.write_facts(share, FACTS))
    await _write(service.admin, transcripts.write_transcript(share, SAID, "speech", "tiny.en"))
    await _write(service.admin, step_writes.write_spoken(share))
    return share


async def _found(service: Service, q: str, who: str = "ann") -> list[dict[str, Any]]:
    async with service.client(who) as client:
        answer = await client.get("/api/search", params={"q": q})
        assert answer.status_code == 200, answer.text
        hits: list[dict[str, Any]] = answer.json()["hits"]
        return hits


async def test_a_spoken_phrase_is_found_at_its_second(service: Service) -> None:
    share = await _settled(service)
    for phrase, second in (('"sluice gate"', 75.25), ("wheel", 90.0), ('"evening and welcome"', 1.5)):
        (hit,) = await _found(service, phrase)
        assert (hit["kind"], hit["ref"], hit["second"]) == ("share", str(share.id), second), phrase
        assert hit["path"] == f"/media/{share.id}?t={int(second)}"
    for phrase in ("otters", "twilight"):  # in the description and in the title, which have no second
        (hit,) = await _found(service, phrase)
        assert (hit["second"], hit["path"]) == (None, f"/media/{share.id}"), phrase
    assert await _found(service, '"sluice gate"', "bob") == []


async def test_what_is_known_of_a_share_is_embedded(service: Service) -> None:
    """It is among the documents that the index embeds."""
    share = await _settled(service)
    query = "select embeds, title, body from forebay.search_document where (kind, ref) = ('share', $1)"
    document = await service.admin.fetchrow(query, str(share.id))
    assert document is not None
    assert (document["embeds"], document["title"]) == (True, "Twilight")
    assert "otters" in document["body"]
    assert "sluice gate" in document["body"]


async def test_a_new_transcript_replaces_the_former_one(service: Service) -> None:
    share = await _settled(service)
    later = [segment.model_copy(update={"start": segment.start + 5}) for segment in SAID.segments]
    again = Transcript(language="en", segments=tuple(later))  # the same words at other times
    await _write(
        service.admin,
        transcripts.write_transcript(share, again, "subtitles", "en"),
        step_writes.write_spoken(share),
        step_writes.write_facts(share, {"title": "A night"}),
    )
    (hit,) = await _found(service, "heron")
    assert (hit["second"], [part["text"] for part in hit["title"]]) == (80.25, ["A night"])


async def test_a_deleted_share_is_not_found_any_more(service: Service) -> None:
    share = await _settled(service)
    entry = await service.admin.fetchval(
        "insert into forebay.share (owner_id, url, playlist_id) values ($1, 'https://example.org/2', $2) returning id",
        share.owner_id,
        share.id,
    )
    await service.admin.execute("update forebay.share set kind = 'audio', title = 'Kingfisher' where id = $1", entry)
    assert [hit["ref"] for hit in await _found(service, "kingfisher")] == [str(entry)]
    async with service.client("ann") as client:
        assert (await client.delete(f"/api/shares/{share.id}")).status_code == 204
    assert await service.admin.fetchval("select count(*) from forebay.search_document") == 0


async def test_shares_that_were_there_before_are_added(service: Service) -> None:
    share, other = await _settled(service), await _settled(service)
    await service.admin.execute("insert into forebay.share (owner_id, url) values ($1, 'https://example.org/new')", 1)
    await service.admin.execute("delete from forebay.search_document")
    position = await backfill(service.admin, None, 1)
    assert position == str(share.id)
    assert await backfill(service.admin, position, 10) is None
    found = {(hit["ref"], hit["second"]) for hit in await _found(service, "heron")}
    assert found == {(str(share.id), 75.25), (str(other.id), 75.25)}
    assert await service.admin.fetchval("select count(*) from forebay.search_document") == 2  # one is not known yet
