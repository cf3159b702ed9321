"""What is offered while somebody types: their own jobs, bookmarks, tags and sheets, and nobody else's."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api._service import Service
from tests.api.test_bookmarks import added, found, registered
from tests.pipelines._sheets import add_sheet

__all__ = ["registered"]  # the fixture


async def suggested(client: httpx.AsyncClient, q: str) -> list[tuple[str, str]]:
    answer = await client.get("/api/suggest", params={"q": q})
    assert answer.status_code == 200, answer.text
    return [(each["kind"], each["title"]) for each in answer.json()["suggestions"]]


async def test_things_of_all_packages_are_offered(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        mill = await added(ann, "https://example.org/mill", title="Water mills of the north", tags=["watermark"])
        page = await added(ann, "https://example.org/page")
        await found(service, page["id"], title="The water of the weir")
        await add_sheet(service.admin, ["a"], [], name="Waterworks.csv")
        job = (
            await ann.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "x"}, "key": "water job"})
        ).json()
        assert await suggested(ann, "water") == [
            ("job", "water job"),
            ("bookmark", "Water mills of the north"),
            ("sheet", "Waterworks.csv"),
            ("tag", "watermark"),
            ("bookmark", "The water of the weir"),
        ]
        assert await suggested(ann, "watter mills") == [("bookmark", "Water mills of the north")]
        assert await suggested(ann, f"#{job['jobId']}") == [("job", "water job")]
        assert await suggested(ann, "th") == [("bookmark", "The water of the weir")]
        assert await suggested(ann, "100%_\\") == []
        assert await suggested(ann, " ") == []
        for q in ("water", f"#{job['jobId']}", "wa"):
            assert await suggested(bob, q) == []
        await ann.delete(f"/api/bookmarks/{mill['id']}")
        assert ("bookmark", "Water mills of the north") not in await suggested(ann, "water")
        wrong = await ann.get("/api/suggest", params={"q": "a\0"})
        assert wrong.json()["errors"] == [{"field": "query.q", "reason": "must not contain a NUL character"}]


async def test_at_most_eight_are_offered(service: Service) -> None:
    async with service.client("ann") as ann:
        for n in range(10):
            await added(ann, f"https://example.org/{n}", title=f"River {n}", tags=[f"river {n}"])
        shown: list[Any] = await suggested(ann, "river")
        assert len(shown) == 8
        assert {kind for kind, _ in shown} == {"bookmark"}


async def test_the_index_of_titles_is_used_by_the_role_of_the_api(service: Service) -> None:
    await service.admin.execute(
        """insert into forebay.bookmark (owner_id, url, page_hash, title)
           select (select id from forebay.owner where name = 'ann'), 'https://example.org/' || n,
                  sha256(n::text::bytea), case n when 77 then 'needle' else 'hay number ' || n end
           from generate_series(1, 5000) n; analyze forebay.bookmark"""
    )
    async with service.client("ann") as ann, service.client("bob") as bob:
        assert await suggested(ann, "needle") == [("bookmark", "needle")]
        assert await suggested(bob, "needle") == []
    ann_id = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    async with service.admin.transaction():
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", ann_id)
        await service.admin.fetch("select forebay.suggest_bookmarks('needle', 8)")
        scans = "select pg_stat_get_xact_numscans('forebay.bookmark_title'::regclass)"
        assert await service.admin.fetchval(scans) > 0
