"""What operators use: the backfill, the commands, the findings of doctor, the metrics; and saved searches."""

# demands: S4-119

from __future__ import annotations

import asyncio
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from forebay.cli import cli
from forebay.hooks import Finding
from forebay.pipelines.housekeeping.steps import ChoreRun, housekeeping
from forebay.pipelines.indexing import checks
from forebay.pipelines.indexing.checks import check_search
from forebay.pipelines.indexing.metrics import METRICS
from forebay.search import db
from forebay.services.embeddings import model_file
from forebay.settings import Settings
from forebay.testing import testbed
from tests.search._index import Index
from tests.services.openai._stub import MODEL, serving_openai

ATOM = "{http://www.w3.org/2005/Atom}"


async def add_bookmark(index: Index, owner: str, url: str, title: str, body: str) -> int:
    """A bookmark as it was crawled before there was an index."""
    number: int = await index.service.admin.fetchval(
        "insert into forebay.bookmark (owner_id, url, page_hash, title, body, crawled_at, ocr)"
        " values ($1, $2, sha256(convert_to($2, 'UTF8')), $3, $4, now(), 'read from an image') returning id",
        await index.owner(owner), url, title, body,
    )  # fmt: skip
    return number


async def test_what_was_there_before_is_added_and_what_changes_is_changed(index: Index, data_dir: Path) -> None:
    mark = await add_bookmark(index, "ann", "https://example.org/mill", "Mills", "Water drives the wheel.")
    async with testbed(index.service.dsn, [housekeeping], settings=Settings(data_dir=data_dir), migrated=True) as bed:
        await bed.submit(housekeeping, ChoreRun(what="complete index"))
        await bed.run()
        states = await bed.pool.fetch("select kind, finished_at is not null as done from forebay.search_backfill")
        assert {row["kind"]: row["done"] for row in states} == {"bookmark": True, "sheet": True, "share": True}
    await index.bed.finish()
    async with index.service.client("ann") as ann, index.service.client("bob") as bob:
        hit = (await index.search(ann, "hydropower", mode="meaning"))["hits"][0]
        assert (hit["kind"], hit["ref"], hit["path"]) == ("bookmark", str(mark), f"/bookmarks/{mark}")
        assert (hit["url"], hit["isStale"]) == ("https://example.org/mill", False)
        assert await index.refs(ann, "image", mode="words") == [str(mark)]
        answer = await ann.patch(f"/api/bookmarks/{mark}", json={"note": "a zebra by the weir"})
        assert answer.status_code == 200, answer.text
        assert await index.refs(ann, "zebra", mode="words") == [str(mark)]
        assert await index.refs(bob, "zebra") == []
        await ann.delete(f"/api/bookmarks/{mark}")
        assert await index.refs(ann, "zebra") == []
        await ann.post(f"/api/bookmarks/{mark}/restore")
        assert await index.refs(ann, "zebra", mode="words") == [str(mark)]
        await ann.delete(f"/api/bookmarks/{mark}", params={"purge": "true"})
        assert await index.refs(ann, "zebra") == []


async def test_a_sheet_is_found_by_the_values_of_its_rows(index: Index) -> None:
    admin, owner = index.service.admin, await index.owner("ann")
    await admin.execute(
        "insert into forebay.item (job_id, n, owner_id, pipeline_id, input)"
        " select 77, n, $1, 1, jsonb_build_object('name', 'Kettle ' || n, 'colour', 'crimson')"
        " from generate_series(1, 3) n",
        owner,
    )
    await admin.execute("insert into forebay.sheet (owner_id, job_id, name) values ($1, 77, 'Goods.csv')", owner)
    await admin.execute("update forebay.sheet set read_at = now()")
    async with index.service.client("ann") as ann:
        found = await index.search(ann, "crimson kettle")
        assert [(hit["kind"], hit["ref"], hit["path"]) for hit in found["hits"]] == [("sheet", "77", "/sheets/77")]
    await index.bed.finish()
    await admin.execute("delete from forebay.sheet")
    assert await admin.fetchval("select count(*) from forebay.search_document") == 0


async def test_a_saved_search_is_a_feed_until_its_address_is_revoked(index: Index) -> None:
    await index.put("ann", "1", "Old <mill>", "A mill & its weir.", url="https://example.org/1")
    async with index.service.client("ann") as ann, index.service.client("bob") as bob, index.service.client() as reader:
        saved = await ann.post("/api/search/saved", json={"name": "Mills", "question": {"q": "mill", "mode": "words"}})
        assert saved.status_code == 201, saved.text
        number = saved.json()["id"]
        assert saved.json()["hasFeed"] is False
        assert (await bob.get("/api/search/saved")).json() == []
        for method, path in (("post", "/feed"), ("delete", "/feed"), ("delete", "")):
            answer = await getattr(bob, method)(f"/api/search/saved/{number}{path}")
            assert answer.json()["detail"] == f"searchId: there is no saved search {number}"
        url = (await ann.post(f"/api/search/saved/{number}/feed")).json()["url"]
        feed = await reader.get(url)
        assert feed.headers["content-type"].startswith("application/atom+xml")
        root = ET.fromstring(feed.content)
        assert [each.text for each in root.iter(f"{ATOM}title")] == ["Mills", "Old <mill>"]
        assert [each.get("href") for each in root.iter(f"{ATOM}link")] == ["https://example.org/1"]
        assert [row["hasFeed"] for row in (await ann.get("/api/search/saved")).json()] == [True]
        assert (await ann.delete(f"/api/search/saved/{number}/feed")).status_code == 204
        gone = await reader.get(url)
        assert gone.status_code == 404
        assert gone.json()["detail"] == "token: there is no such feed, or its address was revoked"
        assert (await ann.delete(f"/api/search/saved/{number}")).status_code == 204


async def test_requests_that_cannot_be_answered(index: Index) -> None:
    async with index.service.client("ann") as ann, index.service.client() as nobody:
        assert (await nobody.get("/api/search", params={"q": "x"})).status_code == 401
        wrong = await ann.get("/api/search", params={"q": "a\0"})
        assert wrong.json()["errors"] == [{"field": "query.q", "reason": "must not contain a NUL character"}]
        found = await index.search(ann, "anything")
        assert (found["mode"], found["notes"]) == ("words", ["nothing is embedded yet"])


async def test_the_metrics_count_documents_and_what_is_missing(index: Index) -> None:
    await index.put_all("ann")
    await index.put("ann", "new", "New", "Not embedded yet.")
    assert METRICS.from_database is not None
    samples = await METRICS.from_database(index.service.admin)
    assert {(each.metric.name, each.labels): each.value for each in samples} == {
        ("forebay_search_documents", ("note",)): 6,
        ("forebay_search_documents", ("article",)): 0,
        ("forebay_search_documents", ("bookmark",)): 0,
        ("forebay_search_documents", ("sheet",)): 0,
        ("forebay_search_documents", ("share",)): 0,
        ("forebay_search_missing_documents", ("all-MiniLM-L6-v2", "active")): 1,
    }


async def test_commands_list_choose_and_delete_models(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    await index.put_all("ann")
    await db.open_model(index.bed.pool, "other", 4)
    monkeypatch.setenv("FOREBAY_DATABASE_URL", index.service.dsn)

    async def told(*words: str) -> str:
        result = await asyncio.to_thread(CliRunner().invoke, cli, ["search", *words])
        return " ".join(f"{result.output} {result.exception}".split())

    assert '"missing": 5' in await told("models", "--json")
    assert "building" in await told("models")
    assert "the model other lacks 5 documents: add --anyway to search with it" in await told("use", "other")
    assert "the index has no model 'none': `forebay search models` lists them" in await told("use", "none")
    assert "searches use other now" in await told("use", "other", "--anyway")
    assert "the model other is in use: configure and build another one first" in await told("forget", "other")
    assert "the model all-MiniLM-L6-v2 is deleted" in await told("forget", "all-MiniLM-L6-v2")
    assert "the index has everything" in await told("fill", "--again")


async def test_doctor_says_what_searching_by_meaning_needs(
    index: Index, monkeypatch: pytest.MonkeyPatch, pg15_dsn: str, bare_dsn: str
) -> None:
    async def found(dsn: str, **given: str) -> list[tuple[str, str]]:
        return [(each.level, each.text) for each in await check_search(Settings(database_url=dsn, **given))]  # type: ignore[arg-type]

    await index.put_all("ann")
    model = ("OK", "the model is all-MiniLM-L6-v2")
    assert await found(index.service.dsn) == [model, ("OK", "vectors of all-MiniLM-L6-v2")]
    assert await found(bare_dsn) == [model, ("OK", "the database has no index yet")]
    missing = "the database has no extension `vector`: searches are by words only"
    assert await found(pg15_dsn) == [model, ("WARN", missing)]
    assert await found(pg15_dsn, embedding_model="") == [("OK", "by words only: FOREBAY_EMBEDDING_MODEL is empty")]
    monkeypatch.setattr(model_file, "PACKAGE", "no_such_package")
    assert ("WARN", "the model cannot be used, so that new texts are found by words only") in await found(bare_dsn)


async def test_doctor_says_whether_the_embedding_service_answers(
    bare_dsn: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(**given: object) -> Finding:
        usual = {"database_url": bare_dsn, "data_dir": data_dir, "embedding_model": MODEL, "embedding_dimensions": 2}
        return (await check_search(Settings(**usual | {"embedding_key": "sk-1"} | given)))[0]  # type: ignore[arg-type]

    async with serving_openai("sk-1") as stub:
        ok = await found(embedding_url=stub.url)
        assert (ok.level, ok.text) == ("OK", f"the embedding service answers: {MODEL} of 127.0.0.1")
        assert [each.question["input"] for each in stub.asked] == [["test"]]
        stub.status, stub.body = 503, b'{"error": {"message": "overloaded"}}'
        down = await found(embedding_url=stub.url)
        said = "the embedding service is not available: the embedding service answered 503: overloaded"
        assert (down.level, down.text) == ("WARN", said)
        assert down.fix == "check FOREBAY_EMBEDDING_URL and the service; texts are embedded when it answers again"
        stub.status, stub.body = 200, None
        wrong = await found(embedding_url=stub.url, embedding_dimensions=3)
        assert (wrong.level, wrong.text) == (
            "WARN",
            "the model cannot be used, so that new texts are found by words only",
        )
        assert "answers vectors of 2 numbers: set FOREBAY_EMBEDDING_DIMENSIONS" in (wrong.fix or "")
        gone = stub.url
    assert (await found(embedding_url=gone)).text.startswith("the embedding service is not available: ")
    async with serving_openai("sk-1") as silent:
        silent.events, silent.may_go_on = [b"{}"], asyncio.Event()
        monkeypatch.setattr(checks, "_ANSWER_S", 0.2)
        late = await found(embedding_url=silent.url)
        silent.may_go_on.set()
        assert late.text == "the embedding service is not available: no answer within 0.2 s"
