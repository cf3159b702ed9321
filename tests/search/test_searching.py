"""Searches by words, by meaning and by both, as the API answers them."""

from __future__ import annotations

from tests.search._index import Index, text_of


async def test_words_and_meaning_find_what_belongs_together(index: Index) -> None:
    await index.put_all("ann")
    async with index.service.client("ann") as ann:
        both = await index.search(ann, "pets that purr")
        assert both["hits"][0]["ref"] == "cats"
        assert both["mode"] == "both"
        assert both["notes"] == []
        assert (await index.refs(ann, "how to repair a puncture"))[0] == "bicycle"
        assert (await index.refs(ann, "access control for records", mode="meaning"))[0] == "database"
        assert await index.refs(ann, "purring", mode="words") == ["cats"]
        words = await index.search(ann, "dough", mode="words")
        assert text_of(words["hits"][0]["snippet"]).startswith("Knead the [dough], let it rise")
        assert words["kinds"] == [{"kind": "note", "title": "note", "count": 1}]


async def test_what_has_all_words_stays_near_the_top_before_it_is_embedded(index: Index) -> None:
    await index.put_all("ann")
    await index.put("ann", "order", "Delivery", "Parcel ZX4711 left the depot.")
    await index.put("ann", "other", "Delivery", "A parcel is at the depot.")
    async with index.service.client("ann") as ann:
        assert "order" in (await index.refs(ann, "ZX4711"))[:4]
        found = await index.refs(ann, "parcel ZX4711")
        assert "order" in found[:4]
        assert found.index("order") < found.index("other")


async def test_another_owner_sees_nothing(index: Index) -> None:
    await index.put_all("ann")
    await index.put("bob", "own", "Cats of mine", "My cat purrs.")
    await index.bed.finish()
    async with index.service.client("bob") as bob:
        for mode in ("words", "meaning", "both"):
            assert await index.refs(bob, "cat", mode=mode) == ["own"]
        similar = await bob.get("/api/search/similar", params={"ofKind": "note", "ref": "cats"})
        assert similar.status_code == 404
        assert similar.json()["detail"] == "ref: there is no note 'cats' in the index"


async def test_phrases_exclusions_and_filters(index: Index) -> None:
    await index.put("ann", "1", "One", "The red car stands in the old garage.", tags=["cars"])
    await index.put("ann", "2", "Two", "The car is old, and red it is not.", tags=["cars", "old"], kind="page")
    await index.put("ann", "3", "Three", "A garage has an old red door.")
    await index.bed.finish()
    async with index.service.client("ann") as ann:
        for mode in ("words", "both"):
            assert await index.refs(ann, '"red car"', mode=mode) == ["1"]
            assert set(await index.refs(ann, "old -door", mode=mode)) == {"1", "2"}
            assert await index.refs(ann, "old", mode=mode, tag=["old"]) == ["2"]
            assert await index.refs(ann, "old", mode=mode, kind="page") == ["2"]
            assert await index.refs(ann, "old", mode=mode, since="2100-01-01T00:00:00Z") == []
        counted = await index.search(ann, "old", mode="words", kind="page")
        assert {each["kind"]: each["count"] for each in counted["kinds"]} == {"note": 2, "page": 1}


async def test_typing_errors_are_corrected(index: Index) -> None:
    await index.put_all("ann")
    async with index.service.client("ann") as ann:
        found = await index.search(ann, "kneed the douhg", mode="words")
        assert [hit["ref"] for hit in found["hits"]] == ["bread"]
        found = await index.search(ann, "postgrsql", mode="words")
        assert (found["corrected"], [hit["ref"] for hit in found["hits"]]) == ("postgresql", ["database"])


async def test_titles_and_snippets_are_text_never_markup(index: Index) -> None:
    text = "A mill <img src=x onerror=alert(1)> & \x02more\x03 of the mill"
    await index.put("ann", "x", "<b>bold</b> \x02title\x03", text)
    async with index.service.client("ann") as ann:
        hit = (await index.search(ann, "mill", mode="words"))["hits"][0]
    assert text_of(hit["snippet"]) == "[mill] <img src=x onerror=alert(1)> & more of the [mill]"
    assert text_of(hit["title"]) == "<b>bold</b> title"


async def test_a_hit_says_that_its_text_is_newer_than_its_vectors(index: Index) -> None:
    await index.put("ann", "1", "Mills", "A mill grinds corn.")
    async with index.service.client("ann") as ann:
        pending = await index.search(ann, "mill")
        assert [(hit["ref"], hit["isStale"], hit["indexedAt"]) for hit in pending["hits"]] == [("1", False, None)]
        await index.bed.finish()
        assert (await index.search(ann, "flour", mode="meaning"))["hits"][0]["isStale"] is False
        await index.put("ann", "1", "Mills", "A mill saws wood.")
        stale = (await index.search(ann, "grinding corn"))["hits"][0]
        assert (stale["isStale"], text_of(stale["snippet"])) == (True, "A mill saws wood.")
        await index.bed.finish()
        assert (await index.search(ann, "timber", mode="meaning"))["hits"][0]["isStale"] is False


async def test_pages_of_hits_and_what_is_similar(index: Index) -> None:
    await index.put_all("ann")
    await index.put("ann", "wolves", "Wolves", "Wolves howl in the night, and hunt in packs.")
    await index.bed.finish()
    async with index.service.client("ann") as ann:
        seen: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = await index.search(ann, "animals in the night", pageSize=2, **after)
            seen += [hit["ref"] for hit in page["hits"]]
            if page["next"] is None:
                break
            after = {"after": page["next"]}
        assert len(seen) == len(set(seen))
        assert set(seen[:2]) == {"dogs", "wolves"}
        similar = await ann.get("/api/search/similar", params={"ofKind": "note", "ref": "dogs", "pageSize": 1})
        assert [hit["ref"] for hit in similar.json()] == ["wolves"]


async def test_a_recording_has_the_second_to_jump_to(index: Index) -> None:
    said = ["First we talk about the weather.", "Then about a heron by the weir.", "Last about lunch."]
    marks = [(0, 0.0), (len(said[0]) + 1, 12.5), (len(said[0]) + len(said[1]) + 2, 30.0)]
    await index.put("ann", "r", "Talk", " ".join(said), marks=marks, kind="recording")
    async with index.service.client("ann") as ann:
        assert (await index.search(ann, "weather", mode="words"))["hits"][0]["second"] == 0.0


async def test_what_the_database_cannot_take_is_rejected(index: Index) -> None:
    nul, similar = "must not contain a NUL character", "/api/search/similar"
    async with index.service.client("ann") as ann:
        for path, params, field, reason in (
            ("/api/search", {"q": "x", "kind": "a\0"}, "query.kind", nul),
            ("/api/search", {"q": "x", "tag": "a\0"}, "query.tag", nul),
            (
                "/api/search",
                {"q": "x", "since": "2026-01-01T00:00:00"},
                "query.since",
                "needs a time zone, for example Z",
            ),
            ("/api/search", {"q": "x", "until": "0001-01-01T00:00:00+01:00"}, "query.until", "is out of range"),
            (similar, {"ofKind": "a\0", "ref": "x"}, "query.ofKind", nul),
            (similar, {"ofKind": "note", "ref": "a\0"}, "query.ref", nul),
        ):
            wrong = await ann.get(path, params=params)
            assert (wrong.status_code, wrong.json()["errors"]) == (422, [{"field": field, "reason": reason}])
        far = await ann.get("/api/search", params={"q": "x", "since": "2829-12-20T10:22:34-17:51"})
        assert far.status_code == 200, far.text
        for body in ({"name": "a\0", "question": {"q": "x"}}, {"name": "x", "question": {"q": "a\0"}}):
            unsaved = await ann.post("/api/search/saved", json=body)
            assert unsaved.status_code == 422
            assert nul in unsaved.text
