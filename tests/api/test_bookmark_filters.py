"""Bookmarks by filters and operators: listed, counted, changed together, thrown away and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from forebay.errors import InvalidField
from forebay.pipelines.bookmarks.query import parse
from forebay.pipelines.bookmarks.routes import bulk
from tests.api._service import Service
from tests.api.test_bookmarks import added, found, listed, registered

__all__ = ["registered"]  # the fixture


async def several(service: Service, client: httpx.AsyncClient) -> dict[str, str]:
    """Ids by name."""
    rivers = (await client.post("/api/bookmarks/categories", json={"name": "Rivers"})).json()["id"]
    dam = await added(client, "https://www.example.org/dam", tags=["water", "work"], categoryId=rivers)
    mill = await added(client, "https://mill.test/a", tags=["water"])
    paper = await added(client, "https://example.org/paper.pdf", tags=["two words"])
    old = await added(client, "https://mill.test/old", tags=["work"])
    await found(service, dam["id"], kind="page", title="A dam of stone")
    await found(service, mill["id"], kind="page", title="A mill below the dam")
    await found(service, paper["id"], kind="pdf", title="Paper about dams", duplicate_of=int(mill["id"]))
    await client.post(f"/api/bookmarks/{old['id']}/archive")
    return {"dam": dam["id"], "mill": mill["id"], "paper": paper["id"], "old": old["id"], "rivers": rivers}


async def names(client: httpx.AsyncClient, **query: Any) -> list[str]:
    return [url.rpartition("/")[2] for url in await listed(client, **query)]


async def test_filters_go_together(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        marks = await several(service, ann)
        assert await names(ann) == ["paper.pdf", "a", "dam"]
        assert await names(ann, sort="oldest") == ["dam", "a", "paper.pdf"]
        assert await names(ann, tag=["water", "work"]) == ["dam"]
        assert await names(ann, kind=["pdf", "page"], site="example.org") == ["paper.pdf", "dam"]
        assert await names(ann, site="www.EXAMPLE.org", tag="water") == ["dam"]
        assert await names(ann, q="dam", kind="page") == ["a", "dam"]
        assert await names(ann, q="paper", duplicates=True) == ["paper.pdf"]
        assert await names(ann, categoryId=marks["rivers"]) == ["dam"]
        now = datetime.now(UTC)
        assert await names(ann, since=(now + timedelta(hours=1)).isoformat()) == []
        assert await names(ann, until=(now - timedelta(hours=1)).isoformat(), everything=True) == []
        assert (await ann.get("/api/bookmarks", params={"since": "2026-01-01T00:00:00"})).json()["errors"] == [
            {"field": "query.since", "reason": "needs a time zone, for example Z"}
        ]
        assert await names(bob, site="mill.test", everything=True) == []
        oldest = (await ann.get("/api/bookmarks", params={"sort": "oldest", "pageSize": 2})).json()
        rest = await names(ann, sort="oldest", pageSize=2, after=oldest["next"])
        assert rest == ["paper.pdf"]


async def test_a_status_is_searched_in_bounded_pages(service: Service) -> None:
    async with service.client("ann") as ann:
        marks = await several(service, ann)
        await service.admin.execute(
            """update forebay.item i set status = 'ERROR', verdict = 'ERROR' from forebay.bookmark b
               where b.id = $1 and i.job_id = b.job_id""",
            int(marks["dam"]),
        )
        assert await names(ann, status="ERROR") == ["dam"]
        assert await names(ann, status=["PENDING", "ERROR"]) == ["paper.pdf", "a", "dam"]
        assert await names(ann, q="dam is:error") == ["dam"]
        assert await names(ann, q="is:pending") == ["paper.pdf", "a"]
        assert await names(ann, q="-is:error", pageSize=1) == ["paper.pdf"]
    ann_id = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    async with service.admin.transaction():
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", ann_id)
        given = '{"archived": false, "statuses": ["ERROR"]}'
        ask = f"select ids, next_after from forebay.match_bookmarks('{given}', $2, $1, 9, 2)"
        first = await service.admin.fetchrow(ask, None, False)
        assert first is not None
        assert (first["ids"], first["next_after"]) == ([], int(marks["mill"]))
        second = await service.admin.fetchrow(ask, first["next_after"], False)
        assert second is not None
        assert (second["ids"], second["next_after"]) == ([int(marks["dam"])], None)
        oldest = await service.admin.fetchrow(ask, None, True)
        assert oldest is not None
        assert (oldest["ids"], oldest["next_after"]) == ([int(marks["dam"])], int(marks["mill"]))


async def test_operators_of_a_query(service: Service) -> None:
    async with service.client("ann") as ann:
        await several(service, ann)
        assert await names(ann, q="tag:water") == ["a", "dam"]
        assert await names(ann, q="tag:water -tag:work") == ["a"]
        assert await names(ann, q='tag:"two words" kind:pdf') == ["paper.pdf"]
        assert await names(ann, q="site:example.org dam -kind:pdf") == ["dam"]
        assert await names(ann, q="-site:mill.test") == ["paper.pdf", "dam"]
        assert await names(ann, q="is:archived") == ["old"]
        assert await names(ann, q="-is:archived", everything=True) == ["paper.pdf", "a", "dam"]
        assert await names(ann, q="is:duplicate") == ["paper.pdf"]
        assert await names(ann, q='"below the dam"') == ["a"]
        assert await names(ann, q="category:rivers") == ["dam"]
        wrong = await ann.get("/api/bookmarks", params={"q": "category:Lakes"})
        assert wrong.json()["errors"] == [{"field": "query.q", "reason": "there is no category 'Lakes'"}]
        assert wrong.status_code == 422


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tag:", "tag: needs a value, as in tag:news"),
        ('site:""', "site: needs a value, as in site:example.org"),
        ("kind:film", "there is no kind 'film'; the kinds are page, pdf, image, file, login, captcha, error"),
        ("is:red", "there is no is:red; there are archived, duplicate, pending, error"),
        ("-category:Rivers", "category: cannot be negated"),
    ],
)
def test_operators_that_cannot_be(text: str, reason: str) -> None:
    with pytest.raises(InvalidField) as caught:
        parse(text)
    assert (caught.value.field, caught.value.reason) == ("query.q", reason)


def test_what_is_no_operator_is_a_word() -> None:
    assert (
        parse('https://example.org/a re:invent "tag:x" -"b c"').words
        == 'https://example.org/a re:invent "tag:x" -"b c"'
    )


async def test_counts_of_what_matches(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        marks = await several(service, ann)

        async def facets(client: httpx.AsyncClient = ann, **query: Any) -> dict[str, Any]:
            answer = (await client.get("/api/bookmarks/facets", params=query)).raise_for_status().json()
            return {
                name: {each["value"]: each["bookmarks"] for each in value} if isinstance(value, list) else value
                for name, value in answer.items()
            }

        assert await facets() == {
            "total": 3,
            "isExact": True,
            "kinds": {"page": 2, "pdf": 1},
            "tags": {"water": 2, "work": 1, "two words": 1},
            "categories": {marks["rivers"]: 1},
            "sites": {"example.org": 2, "mill.test": 1},
            "statuses": {"PENDING": 3},
            "archived": 0,
            "duplicates": 1,
        }
        assert (await facets(everything=True))["archived"] == 1
        some = await facets(q="dam tag:water")
        assert (some["total"], some["sites"]) == (2, {"example.org": 1, "mill.test": 1})
        assert (await facets(status="DONE"))["total"] == 0
        assert (await facets(bob, everything=True))["total"] == 0
        monkeypatch.setattr(bulk, "_COUNTED", 2)
        assert ((await facets())["isExact"], (await facets(kind="pdf"))["isExact"]) == (False, True)


# Many at once.


async def bulk_change(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post("/api/bookmarks/bulk", json=body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def test_many_are_changed_at_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        marks = await several(service, ann)
        ids = [marks["dam"], marks["mill"]]
        assert await bulk_change(ann, ids=ids, do="tag", tags=["water", "new "]) == {
            "matched": 2,
            "changed": 2,
            "next": None,
        }
        assert await bulk_change(ann, ids=ids, do="tag", tags=["new"]) == {"matched": 2, "changed": 0, "next": None}
        assert await names(ann, tag="new") == ["a", "dam"]
        assert (await bulk_change(ann, filter={"tags": ["new"]}, do="untag", tags=["new", "work"]))["changed"] == 2
        assert (await ann.get(f"/api/bookmarks/{marks['dam']}")).json()["tags"] == ["water"]
        counted = await bulk_change(ann, filter={"q": "site:example.org"}, do="archive", dryRun=True)
        assert counted == {"matched": 2, "changed": 0, "next": None}
        assert (await bulk_change(ann, filter={"sites": ["example.org"]}, do="archive"))["changed"] == 2
        assert await names(ann) == ["a"]
        everything = {"archived": None}
        assert (await bulk_change(ann, filter=everything, do="unarchive"))["changed"] == 3
        moved = await bulk_change(ann, filter=everything, do="category", categoryId=marks["rivers"])
        assert (moved["matched"], moved["changed"]) == (4, 3)
        assert (await bulk_change(ann, filter={"q": "dam"}, do="category"))["changed"] == 2
        crawled = await bulk_change(ann, ids=[marks["mill"]], do="crawl", only=["images"])
        assert crawled["changed"] == 1
        job = (await ann.get(f"/api/bookmarks/{marks['mill']}")).json()["jobId"]
        assert (await ann.get(f"/api/jobs/{job}/items/1")).json()["input"]["only"] == ["images"]
        monkeypatch.setattr(bulk, "_CHANGED", 3)
        first = await bulk_change(ann, filter={}, do="tag", tags=["all"])
        second = await bulk_change(ann, filter={}, do="tag", tags=["all"], after=first["next"])
        assert (first["changed"], second["changed"], second["next"]) == (3, 1, None)
        for do in ("tag", "delete", "crawl"):
            other = await bulk_change(bob, ids=ids, do=do, **({"tags": ["his"]} if do == "tag" else {}))
            assert other == {"matched": 0, "changed": 0, "next": None}


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({"do": "archive"}, "ids", "send either `ids` or `filter`"),
        ({"do": "archive", "ids": ["1"], "filter": {}}, "ids", "send either `ids` or `filter`"),
        ({"do": "tag", "ids": ["1"]}, "tags", "is needed for tag and untag, and only for these"),
        ({"do": "archive", "ids": ["1"], "tags": ["a"]}, "tags", "is needed for tag and untag, and only for these"),
        ({"do": "archive", "ids": ["1"], "categoryId": "1"}, "categoryId", "is only for category"),
        ({"do": "category", "ids": ["1"], "categoryId": "99"}, "categoryId", "there is no category 99"),
        ({"do": "archive", "ids": ["1"], "only": ["ocr"]}, "only", "is only for crawl"),
    ],
)
async def test_changes_that_cannot_be(service: Service, body: dict[str, Any], field: str, reason: str) -> None:
    async with service.client("ann") as ann:
        answer = await ann.post("/api/bookmarks/bulk", json=body)
    assert answer.status_code in (404, 422)
    assert answer.json()["errors"] == [{"field": field, "reason": reason}]


# The trash.


async def test_what_is_deleted_can_be_taken_back(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        marks = await several(service, ann)
        path = f"/api/bookmarks/{marks['dam']}"
        assert (await ann.delete(path)).status_code == 204
        assert (await ann.delete(path)).status_code == 404
        assert await names(ann, everything=True) == ["old", "paper.pdf", "a"]
        assert await names(ann, q="stone") == []
        for method, place in (
            ("GET", path),
            ("POST", f"{path}/crawl"),
            ("POST", f"{path}/archive"),
            ("GET", f"{path}/changes"),
        ):
            assert (await ann.request(method, place)).status_code == 404, place
        assert (await ann.get("/api/bookmarks/categories")).json()["categories"][0]["bookmarks"] == 0
        tags = {use["tag"]: use["bookmarks"] for use in (await ann.get("/api/bookmarks/tags")).json()["tags"]}
        assert tags == {"water": 1, "two words": 1}
        assert "dam" not in (await ann.get("/api/bookmarks/export?format=json")).text
        (thrown,) = (await ann.get("/api/bookmarks", params={"trash": True})).json()["bookmarks"]
        assert (thrown["id"], thrown["deletedAt"] is not None) == (marks["dam"], True)
        assert await names(bob, trash=True) == []
        assert (await bob.post(f"{path}/restore")).status_code == 404
        assert (await bob.delete(path, params={"purge": True})).status_code == 404
        back = (await ann.post(f"{path}/restore")).json()
        assert (back["deletedAt"], back["tags"], back["categoryId"]) == (None, ["water", "work"], marks["rivers"])
        assert (await bulk_change(ann, filter={"archived": None}, do="delete"))["changed"] == 4
        assert (await bulk_change(ann, filter={}, do="restore"))["changed"] == 4
        await ann.delete(path)
        assert (await ann.delete(path, params={"purge": True})).status_code == 204
        assert await names(ann, trash=True) == []


async def test_a_page_that_is_saved_again_comes_back_from_the_trash(service: Service) -> None:
    async with service.client("ann") as ann:
        mark = await added(ann, "https://example.org/back", note="mine")
        await ann.delete(f"/api/bookmarks/{mark['id']}")
        again = await added(ann, "https://example.org/back")
        assert (again["id"], again["note"], again["deletedAt"]) == (mark["id"], "mine", None)
        assert await names(ann) == ["back"]


async def test_old_trash_is_deleted_for_good(service: Service) -> None:
    async with service.client("ann") as ann:
        marks = await several(service, ann)
        await bulk_change(ann, ids=[marks["dam"], marks["mill"]], do="delete")
        await service.admin.execute(
            "update forebay.bookmark set deleted_at = now() - interval '31 days' where id = $1", int(marks["dam"])
        )
        before = datetime.now(UTC) - timedelta(days=30)
        purge = "select forebay.purge_bookmarks($1, 10)"
        assert [await service.admin.fetchval(purge, before) for _ in range(2)] == [1, 0]
        assert await names(ann, trash=True) == ["a"]


async def test_filters_use_the_indexes_that_suit_them(service: Service) -> None:
    ann_id = await service.admin.fetchval("select forebay.owner_id('ann')")
    await service.admin.execute(
        """insert into forebay.bookmark (owner_id, url, page_hash, kind, tags, deleted_at, archived_at)
           select $1, 'https://site' || n % 100 || '.test/' || n, sha256(n::text::bytea),
                  case when n % 500 = 0 then 'pdf' else 'page' end, array['tag ' || n % 200],
                  case when n % 400 = 0 then now() end, case when n > 100 then now() end
           from generate_series(1, 5000) n""",
        ann_id,
    )
    await service.admin.execute("analyze forebay.bookmark")
    scans = "select pg_stat_get_xact_numscans(('forebay.bookmark_' || $1)::regclass)"
    for index, given in (
        ("newest", '{"archived": false}'),
        ("site", '{"sites": ["site7.test"]}'),
        ("kind", '{"kinds": ["pdf"]}'),
        ("tags", '{"tags": ["tag 7"]}'),
        ("trash", '{"trash": true}'),
    ):
        async with service.admin.transaction():
            await service.admin.execute("select forebay.enter('forebay_api', $1, null)", ann_id)
            await service.admin.fetch("select * from forebay.match_bookmarks($1::text::jsonb, false, null, 60)", given)
            assert await service.admin.fetchval(scans, index) == 1, index
