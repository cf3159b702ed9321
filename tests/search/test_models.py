"""Another model is built in the background while the former one is searched; then all searches use it, or go back."""

# demands: S4-60, S4-69, S4-89, S4-126

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from forebay.errors import ConfigError
from forebay.pipelines.housekeeping.steps import ChoreRun, housekeeping
from forebay.pipelines.indexing.reindexing import reindex
from forebay.pipelines.indexing.steps import index as index_pipeline
from forebay.search import db
from forebay.search.documents import Document, put_document
from forebay.services.egress import Http, open_egress, open_http
from forebay.services.embeddings.remote import RemoteModel
from forebay.services.openai.service import Service as RemoteService
from forebay.settings import Settings
from forebay.testing import Testbed, testbed
from tests.search._index import Index
from tests.services.openai._stub import MODEL, Stub, serving_openai

KEY = "sk-hunter2"


def remote(stub: Stub, data_dir: Path) -> Settings:
    return Settings(
        data_dir=data_dir,
        embedding_url=stub.url,
        embedding_model=MODEL,
        embedding_key=SecretStr(KEY),
        embedding_dimensions=2,
    )


async def states(bed: Testbed) -> dict[str, str]:
    return {row["name"]: row["state"] for row in await db.list_models(bed.pool)}


async def run_chore(dsn: str, settings: Settings) -> None:
    """The chore, by a worker that does nothing else."""
    async with testbed(dsn, [housekeeping], settings=settings, migrated=True) as bed:
        await bed.submit(housekeeping, ChoreRun(what="complete index"))
        await bed.run()
        errors = await bed.pool.fetch("select last_error from forebay.jobs where pipeline = 'housekeeping'")
        assert [row["last_error"] for row in errors if row["last_error"] is not None] == []


async def test_a_new_model_is_built_then_searched_and_the_former_can_come_back(index: Index, data_dir: Path) -> None:
    await index.put_all("ann")
    async with serving_openai(KEY) as stub:
        name = f"{MODEL} of 127.0.0.1"
        async with testbed(
            index.service.dsn, [index_pipeline, reindex], settings=remote(stub, data_dir), migrated=True
        ) as bed:
            await run_chore(index.service.dsn, remote(stub, data_dir))
            assert await states(bed) == {"all-MiniLM-L6-v2": "active", name: "building"}
            async with index.service.client("ann") as ann:
                assert (await index.refs(ann, "pets that purr", mode="meaning"))[0] == "cats"
            job = await bed.pool.fetchrow("select * from forebay.jobs where pipeline = 'reindex'")
            assert job is not None
            assert (job["state"], job["priority"], job["total"]) == ("QUEUED", -20, 1)
            await run_chore(index.service.dsn, remote(stub, data_dir))  # changes nothing while the job is open
            assert await bed.pool.fetchval("select count(*) from forebay.jobs where pipeline = 'reindex'") == 1
            await bed.finish()
            assert await states(bed) == {name: "active", "all-MiniLM-L6-v2": "old"}
            assert stub.wrong == []
            assert await bed.pool.fetchval("select count(*) from forebay.search_chunk where model_id = 2") == 5
            assert await db.activate_model(bed.pool, 1) == 0
            assert await states(bed) == {"all-MiniLM-L6-v2": "active", name: "old"}
            assert await db.activate_model(bed.pool, 2) == 0
            assert await db.drop_model(bed.pool, 1)
            assert not await db.drop_model(bed.pool, 2)
            assert await states(bed) == {name: "active"}


async def test_a_model_that_lacks_documents_is_not_searched(index: Index, data_dir: Path) -> None:
    await index.put_all("ann")
    async with serving_openai(KEY) as stub:
        stub.status, stub.body = 400, b'{"error": {"message": "not this text"}}'
        async with testbed(
            index.service.dsn, [index_pipeline, reindex], settings=remote(stub, data_dir), migrated=True
        ) as bed:
            await run_chore(index.service.dsn, remote(stub, data_dir))
            await bed.finish()
            assert (await states(bed))["all-MiniLM-L6-v2"] == "active"
            error = await bed.pool.fetchval("select last_error::text from forebay.jobs where pipeline = 'reindex'")
            said = "5 documents could not be embedded, so that the former model is still searched: reprocess this job"
            assert said in error
            # A document that is written meanwhile is embedded by both, as far as possible.
            stub.status, stub.body = 200, None
            async with bed.pool.acquire() as conn, conn.transaction():
                put = await put_document(conn, await index.owner("ann"), Document("note", "new", "New", "A new text."))
            await bed.finish()
            rows = await bed.pool.fetch("select model_id from forebay.search_indexed where document_id = $1", put.id)
            assert sorted(row["model_id"] for row in rows) == [1, 2]


async def test_a_missing_model_parks_the_step(dsn: str, data_dir: Path) -> None:
    settings = Settings(data_dir=data_dir, embedding_model="unknown")
    async with testbed(dsn, [index_pipeline], settings=settings) as bed:
        async with bed.pool.acquire() as conn, conn.transaction():
            owner = await conn.fetchval("select forebay.owner_id('ann')")
            await put_document(conn, owner, Document("note", "1", "A", "Text."))
        bed.clock.advance(5)
        await bed.run()
        parked = await bed.pool.fetchval("select parked from forebay.queue where name = 'index.embed'")
        assert "this machine has only all-MiniLM-L6-v2" in parked


async def test_without_a_model_documents_are_found_by_words(dsn: str, data_dir: Path) -> None:
    settings = Settings(data_dir=data_dir, embedding_model="")
    async with testbed(dsn, [index_pipeline], settings=settings) as bed:
        async with bed.pool.acquire() as conn, conn.transaction():
            owner = await conn.fetchval("select forebay.owner_id('ann')")
            await put_document(conn, owner, Document("note", "1", "A", "Text."))
        await bed.finish()
        assert await bed.pool.fetchval("select status from forebay.items") == "DONE"
        assert await db.list_models(bed.pool) == []


@pytest.fixture
async def http(data_dir: Path) -> Any:
    async with open_egress(Settings(data_dir=data_dir)) as egress, open_http(egress) as opened:
        yield opened


async def test_vectors_of_another_length_are_a_setting_to_change(http: Http) -> None:
    async with serving_openai(KEY) as stub:
        service = RemoteService("embedding service", "FOREBAY_EMBEDDING", stub.url, MODEL, SecretStr(KEY))
        model = RemoteModel(http, service, dimensions=3, max_tokens=100)
        assert model.count_tokens(["four", ""]) == [2, 0]
        with pytest.raises(ConfigError, match="answers vectors of 2 numbers: set FOREBAY_EMBEDDING_DIMENSIONS"):
            await model.embed(["one"])
        vectors = await RemoteModel(http, service, dimensions=2, max_tokens=100).embed(["one", "three"])
        assert vectors[1] == pytest.approx([0.995, 0.0995], abs=1e-3)


async def test_the_dimensions_of_a_model_never_change(index: Index) -> None:
    await db.open_model(index.bed.pool, "some", 4)
    with pytest.raises(Exception, match="of the model 'some' are 4 in the index, not 5"):
        await db.open_model(index.bed.pool, "some", 5)
