"""Look-ups at providers: asked in order, as much as they take, and never held up by the one that cannot answer."""

# demands: S5-67, S5-72, S5-92

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.provider_stub import KEY, ProviderStub, declaration
from forebay.errors import ConfigError, TransientError
from forebay.pipelines.sheets.catalogue_provider import CatalogueProvider
from forebay.services.products import Candidate, Query
from forebay.testing import Testbed
from forebay.types import ItemRecord
from tests.pipelines._catalogue import Sought, load, seek, shopping, sought


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", KEY)


@asynccontextmanager
async def stubs(folder: Path, *moods: ProviderStub, **limits: float) -> AsyncIterator[None]:
    """Providers a, b …, declared in this order."""
    async with asyncio.TaskGroup() as group:
        stop = asyncio.Event()

        async def serve(stub: ProviderStub, ready: asyncio.Event) -> None:
            async with stub.serving():
                ready.set()
                await stop.wait()

        for name, stub in zip("abc", moods, strict=False):
            ready = asyncio.Event()
            group.create_task(serve(stub, ready))
            await ready.wait()
            (folder / f"{name}.toml").write_text(declaration(stub.port, name, **limits))
        try:
            yield
        finally:
            stop.set()


def quick(**options: Any) -> ProviderStub:
    return ProviderStub(seconds=0.0, **options)


def _by_sku(port: int) -> str:
    return f'sku = "http://127.0.0.1:{port}/products?q={{sku}}"'


async def _attempts(bed: Testbed) -> list[tuple[str, int]]:
    rows = await bed.pool.fetch("select outcome::text, attempt from forebay.attempt order by ended_at, token")
    return [tuple(row) for row in rows]


def _reason(item: ItemRecord) -> str:
    assert item.error is not None
    return str(item.error["reason"])


async def test_a_declared_provider_in_the_intranet_is_asked(dsn: str, tmp_path: Path) -> None:
    """Its addresses are the operator's: no network has to be opened for it."""
    stub = quick()
    async with stubs(tmp_path, stub), shopping(dsn, tmp_path) as bed:
        found = (await seek(bed, title="Kettle blue")).result["find"]
        assert found == {
            "title": "Kettle blue", "provider": "a", "id": "Kettle blue", "score": 1.0, "strategy": "title",
            "reasons": "titles 100 % alike",
        }  # fmt: skip
        assert (await seek(bed, title="no such thing")).status == "NOT_FOUND"
    assert stub.wrong == []


async def test_a_function_gets_no_further_than_the_public_network(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "our_stock.py").write_text(
        "from forebay.services.products import ProviderRequest\n"
        "async def find(query, fetch):\n"
        "    await fetch(ProviderRequest('http://127.0.0.1/', {}))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "f.toml").write_text('name = "f"\nfunction = "our_stock:find"\nstrategies = ["title"]\n')
    async with shopping(dsn, tmp_path) as bed:
        item = await seek(bed, title="Kettle")
        assert item.status == "ERROR"
        assert "127.0.0.1 is this machine" in _reason(item)


async def test_the_one_that_cannot_answer_holds_up_nobody(dsn: str, tmp_path: Path) -> None:
    """All others are asked; it is only waited for when nobody else has what fits."""
    throttled, down, well = quick(mood="throttling", retry_after=40), quick(mood="broken"), quick()
    async with stubs(tmp_path, throttled, down, well), shopping(dsn, tmp_path) as bed:
        item = await seek(bed, title="Kettle blue")
        assert (item.status, item.result["find"]["provider"]) == ("DONE", "c")
        assert await _attempts(bed) == [("DONE", 1)]

        job = await bed.submit(sought, Sought(fields={"title": "no such kettle"}))
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        assert (await _attempts(bed))[1:] == [("THROTTLED", 1)]
        throttled.mood = down.mood = "well"
        await bed.finish()
        assert (await bed.item(job)).status == "NOT_FOUND"  # said only now that all have answered
        assert (await _attempts(bed))[2:] == [("NOT_FOUND", 1), ("NOT_FOUND", 2), ("NOT_FOUND", 3)]


async def test_a_key_that_is_refused_stops_only_who_needs_it(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Rows that others can answer go on, by all their strategies; the rest wait, and no step is parked."""
    monkeypatch.setenv("STUB_KEY", "expired")
    stub = quick()
    async with stubs(tmp_path, stub), shopping(dsn, tmp_path) as bed:
        declared = tmp_path / "a.toml"
        declared.write_text(declared.read_text().replace("[queries]", "[queries]\n" + _by_sku(stub.port)))
        await load(bed, [{"title": "Kettle blue"}])
        known = await bed.submit(sought, Sought(fields={"sku": "K-1", "title": "Kettle blue"}, attempts=3), owner="ann")
        lacking = await bed.submit(sought, Sought(fields={"sku": "K-2", "title": "Lamp"}, attempts=3), owner="ann")
        await bed.run()
        assert (await bed.item(known)).result["find"]["provider"] == "catalogue"
        assert (await bed.item(lacking)).status == "PENDING"
        assert len(stub.wrong) <= 2  # as many as were on their way
        assert await bed.pool.fetchval("select parked from forebay.queue where name = 'sought.find'") is None
        assert set(await _attempts(bed)) == {("DONE", 1), ("THROTTLED", 1)}
        await bed.worker.report_status()
        stats = json.loads(await bed.pool.fetchval("select stats -> 'shared' -> 'providers' from forebay.worker"))
        assert stats["a"]["problem"] == "a answered 401. Check STUB_KEY"
        assert stats["a"]["closed_because"] == "a cannot be called until its key or its declaration is fixed"
        assert stats["catalogue"]["problem"] is None
        assert caplog.text.count("provider_refused") == 1

        monkeypatch.setenv("STUB_KEY", KEY)
        await bed.finish()
        assert (await bed.item(lacking)).result["find"]["provider"] == "a"
        assert (await _attempts(bed))[-2:] == [("NOT_FOUND", 1), ("DONE", 2)]  # by its number first, as undisturbed
        await bed.worker.report_status()
        stats = json.loads(await bed.pool.fetchval("select stats -> 'shared' -> 'providers' from forebay.worker"))
        assert (stats["a"]["problem"], stats["a"]["closed_s"]) == (None, 0)


async def test_the_step_is_parked_when_nobody_can_be_asked(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find(_self: CatalogueProvider, _query: Query, _owner_id: int) -> Sequence[Candidate]:
        raise ConfigError("catalogue: an extension is missing")

    monkeypatch.setattr(CatalogueProvider, "find", find)
    monkeypatch.setenv("STUB_KEY", "expired")
    async with stubs(tmp_path, quick()), shopping(dsn, tmp_path) as bed:
        job = await bed.submit(sought, Sought(fields={"title": "Kettle"}))
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        parked = await bed.pool.fetchval("select parked from forebay.queue where name = 'sought.find'")
        assert parked == "catalogue: an extension is missing"


async def test_patience_is_for_all_and_spends_no_attempt(dsn: str, tmp_path: Path) -> None:
    stub = quick(mood="throttling", retry_after=60)
    async with stubs(tmp_path, stub), shopping(dsn, tmp_path) as bed:
        rows = [Sought(fields={"title": f"thing number {n} box"}) for n in range(50)]
        job = await sought.submit_many(bed.pool, rows)
        await bed.run()
        asked = stub.asked.total()
        assert asked <= 2  # as many as were on their way when the first answer came
        assert (await bed.job(job)).open == 50
        stub.mood = "well"
        await bed.finish()
        assert (await bed.job(job)).done == 50
        assert {attempt for _, attempt in await _attempts(bed)} == {1}
        assert stub.asked.total() == asked + 50


async def test_an_outage_does_not_use_up_the_attempts(dsn: str, tmp_path: Path) -> None:
    """After a few failures in a row the provider is left alone, and rows wait."""
    stub = quick(mood="broken")
    async with stubs(tmp_path, stub), shopping(dsn, tmp_path) as bed:
        rows = [Sought(fields={"title": f"thing number {n} box"}) for n in range(100)]
        job = await sought.submit_many(bed.pool, rows)
        await bed.run()
        assert stub.answered[500] < 20
        counts = [outcome for outcome, _ in await _attempts(bed)]
        assert counts.count("THROTTLED") > 80
        stub.mood = "well"
        await bed.finish()
        assert (await bed.job(job)).done == 100
        reasons = await bed.pool.fetch("select distinct reason from forebay.attempt where outcome = 'THROTTLED'")
        assert "a does not answer" in {row["reason"] for row in reasons}


async def test_the_same_question_is_asked_once(dsn: str, tmp_path: Path) -> None:
    stub = quick()
    async with stubs(tmp_path, stub), shopping(dsn, tmp_path) as bed:
        job = await sought.submit_many(bed.pool, [Sought(fields={"title": "Kettle blue"}) for _ in range(30)])
        await bed.run()
        assert (await bed.job(job)).done == 30
        assert stub.asked == {"Kettle blue": 1}
        await seek(bed, title="Kettle blue", turn=1)  # who has it done again wants it asked again
        assert stub.asked == {"Kettle blue": 2}
        bed.clock.advance(61)
        await seek(bed, title="Kettle blue")
        assert stub.asked == {"Kettle blue": 3}


@pytest.mark.parametrize("there", [{"gtin": "4006381333931"}, {"title": "Boss 70", "brand": "Stabilo"}])
@pytest.mark.parametrize("failing", [[1], [1, 2], [1, 3]])
async def test_an_attempt_that_failed_has_asked_nothing(
    dsn: str, monkeypatch: pytest.MonkeyPatch, failing: list[int], there: dict[str, str]
) -> None:
    """Whichever questions fail, what is there is found, by its number and by its title."""
    undisturbed, at = CatalogueProvider.find, iter(range(1, 1000))

    async def find(self: CatalogueProvider, query: Query, owner_id: int) -> Sequence[Candidate]:
        if next(at) in failing:
            raise TransientError("a moment")
        return await undisturbed(self, query, owner_id)

    async with shopping(dsn) as bed:
        await load(bed, [there])
        monkeypatch.setattr(CatalogueProvider, "find", find)
        row = Sought(fields={"gtin": "4006381333931", "brand": "Stabilo", "title": "Boss 70"}, attempts=3)
        job = await bed.submit(sought, row, owner="ann")
        await bed.finish()
        assert (await bed.item(job)).status == "DONE"
        assert "ERROR" in {outcome for outcome, _ in await _attempts(bed)}


async def test_who_is_done_again_is_asked_about_from_the_first_strategy_on(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    undisturbed = CatalogueProvider.find

    async def find(self: CatalogueProvider, query: Query, owner_id: int) -> Sequence[Candidate]:
        asked.append(query.strategy)
        return await undisturbed(self, query, owner_id)

    monkeypatch.setattr(CatalogueProvider, "find", find)
    async with shopping(dsn) as bed:
        row = Sought(fields={"gtin": "4006381333931", "brand": "Stabilo", "title": "Boss 70"}, attempts=3)
        job = await bed.submit(sought, row, owner="ann")
        await bed.finish()
        assert asked == ["gtin", "title_brand", "title"]  # one an attempt; fuzzy words would be those of the title
        await bed.pool.execute("select forebay.reprocess($1)", job.job_id)
        await bed.finish()
        assert asked == ["gtin", "title_brand", "title"] * 2
        await bed.pool.execute("select forebay.reprocess($1, reset_attempts => false)", job.job_id)
        await bed.run()
        assert (await bed.item(job)).status == "NOT_FOUND"
        assert asked == ["gtin", "title_brand", "title"] * 3  # all in the only attempt


async def test_who_is_asked_first(dsn: str, tmp_path: Path) -> None:
    first, second = quick(), quick()
    async with stubs(tmp_path, first, second), shopping(dsn, tmp_path) as bed:
        await load(bed, [{"title": "Kettle blue"}])
        by_turn = [(await seek(bed, title="Kettle blue", turn=n)).result["find"]["provider"] for n in range(4)]
        assert by_turn == ["catalogue", "a", "b", "catalogue"]
        chosen = await seek(bed, title="Kettle blue", priority=["b", "a"])
        assert chosen.result["find"]["provider"] == "b"


async def test_what_the_worker_tells_of_its_providers(dsn: str, tmp_path: Path) -> None:
    stub = quick(mood="throttling", retry_after=30)
    async with stubs(tmp_path, stub, concurrency=7), shopping(dsn, tmp_path) as bed:
        job = await bed.submit(sought, Sought(fields={"title": "Kettle blue"}))
        await bed.run()
        await bed.worker.report_status()
        stats = await bed.pool.fetchval("select stats -> 'shared' -> 'providers' from forebay.worker")
        told = json.loads(stats)["a"]
        assert (told["asked"], told["throttled"], told["answered"], told["most"]) == (1, 1, 0, 7)
        assert told["throttle_ratio"] == 0.02
        assert (told["closed_s"], told["closed_because"]) == (30.0, "a is rate limiting us")
        stub.mood = "well"
        await bed.finish()
        assert (await bed.item(job)).status == "DONE"
        assert KEY not in stats


async def test_a_declaration_by_the_name_of_the_catalogue(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(declaration(1, "catalogue"))
    async with shopping(dsn, tmp_path) as bed:
        job = await bed.submit(sought, Sought(fields={"title": "Kettle"}))
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        parked = await bed.pool.fetchval("select parked from forebay.queue where name = 'sought.find'")
        assert parked == "provider catalogue is built in: choose another name for the declared one"


async def test_a_bad_day_of_a_provider(dsn: str, tmp_path: Path) -> None:
    """It throttles, then breaks down, then is well again: every row is found, and no attempt went into waiting."""
    stub = quick()
    async with stubs(tmp_path, stub), shopping(dsn, tmp_path) as bed:
        numbers = iter(range(10_000))

        async def more(rows: int) -> int:
            given = [Sought(fields={"title": f"thing number {next(numbers)} box"}) for _ in range(rows)]
            job = await sought.submit_many(bed.pool, given)
            await bed.run()
            return job.job_id

        await more(40)
        for mood in ("throttling", "broken", "throttling", "well"):
            stub.mood = mood
            await more(40)
            bed.clock.advance(1.5)
            await bed.run()
        await bed.finish()
        counts = await bed.pool.fetchrow("select sum(done) as done, sum(error) as error from forebay.job")
        assert counts is not None
        assert (counts["done"], counts["error"]) == (200, 0)
        spent = await bed.pool.fetchval("select count(*) from forebay.attempt where outcome = 'ERROR'")
        assert spent == stub.answered[500] < 40  # only what was really asked, and failed, counts
    assert stub.wrong == []


async def test_rates_are_those_of_all_workers(dsn: str, tmp_path: Path) -> None:
    """A start a minute: the second question waits for its turn, and is told when that is."""
    stub = quick()
    async with stubs(tmp_path, stub, rate_per_s=1 / 60), shopping(dsn, tmp_path) as bed:
        job = await sought.submit_many(bed.pool, [Sought(fields={"title": f"thing number {n} box"}) for n in range(3)])
        await bed.run()
        assert stub.asked.total() == 1
        reasons = await bed.pool.fetch("select distinct reason, class from forebay.attempt where outcome = 'THROTTLED'")
        assert [tuple(row) for row in reasons] == [("limit provider a is reached", None)]
        names = await bed.pool.fetch("select name from forebay.rate_limit")  # none that a step may declare
        assert [row["name"] for row in names] == ["forebay:provider a"]
        bed.clock.advance(61)
        await bed.run()
        assert stub.asked.total() == 2
        await bed.finish()
        assert (await bed.job(job)).done == 3
        assert await bed.pool.fetchval("select max(attempt) from forebay.attempt") == 1
