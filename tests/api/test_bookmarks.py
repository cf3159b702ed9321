"""Bookmarks through the API: saved at once, found again, changed, put away, brought in and taken out."""

# demands: S2-02, S2-08, S2-10, S2-12, S2-13

from __future__ import annotations

import asyncio
import json
from typing import Any, NoReturn

import httpx
import pytest

from forebay.engine.db import registry
from forebay.pipelines.bookmarks import files as bookmark_files
from forebay.pipelines.bookmarks.imports import bookmark_imports
from forebay.testing import testbed
from tests.api._service import Service, put_file

URL = "https://example.org/a"


@pytest.fixture(autouse=True)
async def registered(service: Service) -> None:
    """As a worker that knows the pipeline leaves it; its steps are tested elsewhere."""
    steps = [
        {"name": name, "after": after, "queue": f"bookmarks.{name}"}
        for name, after in (
            ("screenshot", []),
            ("metadata", []),
            ("images", ["metadata"]),
            ("favicon", ["metadata"]),
        )
    ]
    common = {"optional": False, "after_all": False, "max_attempts": 3, "max_expiries": 20}
    definition = {"name": "bookmarks", "max_input_bytes": 1 << 20, "steps": [step | common for step in steps]}
    await registry.register(service.admin, definition)
    await registry.register(service.admin, bookmark_imports.definition())


async def added(client: httpx.AsyncClient, url: str = URL, **given: Any) -> dict[str, Any]:
    answer = await client.post("/api/bookmarks", json={"url": url, **given})
    assert answer.status_code in (200, 201), answer.text
    bookmark: dict[str, Any] = answer.json()["bookmark"]
    return bookmark


async def listed(client: httpx.AsyncClient, **query: Any) -> list[str]:
    answer = await client.get("/api/bookmarks", params=query)
    assert answer.status_code == 200, answer.text
    return [one["url"] for one in answer.json()["bookmarks"]]


async def test_a_link_is_answered_with_its_bookmark_and_its_work_is_there(service: Service) -> None:
    async with service.client("ann") as client:
        answer = await client.post(
            "/api/bookmarks",
            json={"url": "HTTPS://Example.org/a#b", "title": "Mine", "tags": [" b", "a", "a"], "note": "why"},
        )
        assert answer.status_code == 201
        body = answer.json()
        mark = body["bookmark"]
        assert (body["created"], mark["url"], mark["title"]) == (True, "https://example.org/a#b", "Mine")
        assert (mark["tags"], mark["note"], mark["status"], mark["kind"]) == (["a", "b"], "why", "PENDING", None)
        job = (await client.get(f"/api/jobs/{mark['jobId']}")).json()
        item = (await client.get(f"/api/jobs/{mark['jobId']}/items/1")).json()
    assert (job["pipeline"], job["meta"], job["ip"]) == ("bookmarks", {"bookmarkId": mark["id"]}, "192.0.2.7")
    assert item["input"] == {
        "bookmarkId": int(mark["id"]),
        "url": "https://example.org/a#b",
        "userId": "ann",
        "isImage": False,
    }


async def test_a_job_says_which_bookmark_it_is_about(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        named, unnamed = await added(ann, title="Mine"), await added(ann, "https://example.org/b")
        theirs = await added(bob, "https://example.org/c")
        await ann.delete(f"/api/bookmarks/{unnamed['id']}")
        for client, mine in (
            (ann, [(named, "Mine"), (unnamed, "https://example.org/b")]),
            (bob, [(theirs, "https://example.org/c")]),
        ):
            page = (await client.get("/api/jobs")).json()
            subjects = {job["id"]: job["subject"] for job in page["jobs"]}
            assert subjects == {
                mark["jobId"]: {"kind": "bookmark", "id": mark["id"], "title": title} for mark, title in mine
            }
        job = (await ann.get(f"/api/jobs/{named['jobId']}")).json()
        assert (job["subject"]["title"], job["parentId"]) == ("Mine", None)


async def test_the_same_page_is_one_bookmark_and_takes_what_is_new(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        first = await added(ann, tags=["x"])
        await ann.post(f"/api/bookmarks/{first['id']}/archive")
        again = await ann.post("/api/bookmarks", json={"url": f"{URL}?utm_source=mail", "tags": ["y"]})
        assert (again.status_code, again.json()["created"]) == (200, False)
        mark = again.json()["bookmark"]
        assert (mark["id"], mark["tags"], mark["archivedAt"]) == (first["id"], ["x", "y"], None)
        assert mark["jobId"] == first["jobId"]
        assert (await added(bob))["id"] != first["id"]


async def test_twenty_at_once_are_still_one(service: Service) -> None:
    async with service.client("ann") as client:
        answers = await asyncio.gather(*(client.post("/api/bookmarks", json={"url": URL}) for _ in range(20)))
        assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
        assert await listed(client) == [URL]
    assert await service.admin.fetchval("select count(*) from forebay.job") == 1


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({}, "url", "Field required"),
        ({"url": "ftp://example.org"}, "url", "must begin with http:// or https://"),
        ({"url": "https://ann:secret@example.org"}, "url", "password"),
        ({"url": URL, "tags": ["a\u0000"]}, "tags.0", "must not contain a NUL character"),
        ({"url": URL, "categoryId": "77"}, "categoryId", "there is no category 77"),
        ({"url": URL, "colour": "red"}, "colour", "there is no such field"),
        ({"url": URL, "favicon": "javascript:alert(1)"}, "favicon", "must begin with http:// or https://"),
    ],
)
async def test_what_cannot_be_saved_is_said_and_leaves_nothing(
    service: Service, body: dict[str, Any], field: str, reason: str
) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/bookmarks", json=body)
    assert answer.status_code in (404, 422), answer.text
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert reason in error["reason"]
    assert await service.admin.fetchval("select count(*) from forebay.bookmark") == 0
    assert await service.admin.fetchval("select count(*) from forebay.job") == 0


async def test_a_repeated_request_with_a_key_is_done_once(service: Service) -> None:
    async with service.client("ann", **{"Idempotency-Key": "k1"}) as client:
        first = await client.post("/api/bookmarks", json={"url": URL})
        second = await client.post("/api/bookmarks", json={"url": URL})
        other = await client.post("/api/bookmarks", json={"url": f"{URL}/b"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert other.status_code == 422


async def test_lists_go_by_category_tag_archive_and_page(service: Service) -> None:
    async with service.client("ann") as client:
        made = await client.post("/api/bookmarks/categories", json={"name": "Rivers"})
        again = await client.post("/api/bookmarks/categories", json={"name": "Rivers"})
        assert (made.status_code, again.status_code, again.json()["id"]) == (201, 200, made.json()["id"])
        rivers = made.json()["id"]
        urls = [f"https://example.org/{n}" for n in range(5)]
        marks = [
            await added(client, url, tags=["even"] if n % 2 == 0 else [], categoryId=rivers if n < 2 else None)
            for n, url in enumerate(urls)
        ]
        await client.post(f"/api/bookmarks/{marks[4]['id']}/archive")
        assert await listed(client) == urls[3::-1]
        assert await listed(client, archived=True) == [urls[4]]
        assert await listed(client, everything=True) == urls[::-1]
        assert await listed(client, tag="even") == [urls[2], urls[0]]
        assert await listed(client, categoryId=rivers) == [urls[1], urls[0]]
        assert (await client.get("/api/bookmarks/tags")).json() == {"tags": [{"tag": "even", "bookmarks": 2}]}
        page = (await client.get("/api/bookmarks?pageSize=3")).json()
        rest = (await client.get("/api/bookmarks", params={"pageSize": 3, "after": page["next"]})).json()
        assert [one["url"] for one in page["bookmarks"] + rest["bookmarks"]] == urls[3::-1]
        assert rest["next"] is None
        await client.put(f"/api/bookmarks/categories/{rivers}", json={"name": "Lakes"})
        seas = (await client.post("/api/bookmarks/categories", json={"name": "Seas"})).json()["id"]
        taken = await client.put(f"/api/bookmarks/categories/{seas}", json={"name": "Lakes"})
        assert (taken.status_code, taken.json()["detail"]) == (409, "name: a category 'Lakes' already exists")
        await client.delete(f"/api/bookmarks/categories/{seas}")
        (category,) = (await client.get("/api/bookmarks/categories")).json()["categories"]
        assert (category["name"], category["bookmarks"]) == ("Lakes", 2)
        assert (await client.delete(f"/api/bookmarks/categories/{rivers}")).status_code == 204
        assert (await client.get(f"/api/bookmarks/{marks[0]['id']}")).json()["categoryId"] is None


async def test_what_an_owner_says_can_be_changed_and_taken_back(service: Service) -> None:
    async with service.client("ann") as client:
        mark = await added(client, title="Mine", tags=["x"])
        path = f"/api/bookmarks/{mark['id']}"
        changed = (await client.patch(path, json={"tags": ["b", "a"], "crawlEveryHours": 24})).json()
        assert (changed["title"], changed["tags"], changed["crawlEveryHours"]) == ("Mine", ["a", "b"], 24)
        assert changed["nextCrawlAt"] is not None
        changed = (await client.patch(path, json={"title": None, "crawlEveryHours": None})).json()
        assert (changed["title"], changed["crawlEveryHours"], changed["nextCrawlAt"]) == (None, None, None)
        wrong = await client.patch(path, json={"categoryId": "99"})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (404, "categoryId")
        assert (await client.patch(path, json={"crawlEveryHours": 0.1})).status_code == 422
        assert (await client.delete(path)).status_code == 204
        assert (await client.get(path)).status_code == 404


async def test_others_bookmarks_and_categories_are_not_there(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob, service.client("root") as root:
        mark = await added(ann)
        category = (await ann.post("/api/bookmarks/categories", json={"name": "Mine"})).json()["id"]
        path = f"/api/bookmarks/{mark['id']}"
        for client in (bob, root):
            for method, place in (
                ("GET", path),
                ("GET", f"{path}/changes"),
                ("DELETE", path),
                ("POST", f"{path}/archive"),
                ("POST", f"{path}/unarchive"),
                ("POST", f"{path}/crawl"),
                ("POST", f"{path}/merge"),
                ("DELETE", f"/api/bookmarks/categories/{category}"),
            ):
                assert (await client.request(method, place)).status_code == 404, (method, place)
            assert (await client.patch(path, json={"title": "His"})).status_code == 404
            taken = await client.post("/api/bookmarks", json={"url": URL, "categoryId": category})
            assert taken.status_code == 404
            assert await listed(client) == []


async def found(service: Service, bookmark_id: str, **columns: Any) -> None:
    """What a crawl leaves at a bookmark."""
    names = ", ".join(f"{name} = ${place}" for place, name in enumerate(columns, 2))
    await service.admin.execute(
        f"update forebay.bookmark set {names}, crawled_at = now() where id = $1", int(bookmark_id), *columns.values()
    )


async def test_words_are_found_in_title_text_and_picture_in_any_form(service: Service) -> None:
    async with service.client("ann") as client, service.client("bob") as bob:
        dam, mill, fluss, other = [
            await added(client, f"https://example.org/{name}") for name in ("dam", "mill", "fluss", "x")
        ]
        await found(service, dam["id"], title="Building dams", body="Water is held back. " * 30, language="en")
        await found(service, mill["id"], title="A mill", body="It stands below the dam at the river.", language="en")
        await found(service, fluss["id"], title="Flüsse", body="Viele Häuser am Wasser", language="de")
        await found(service, other["id"], title="Nothing", ocr="SALE of dams", language="en")
        hits = (await client.get("/api/bookmarks?q=dam")).json()["bookmarks"]
        assert [hit["title"] for hit in hits] == ["Building dams", "A mill", "Nothing"]
        assert "**dam**" in hits[1]["snippet"]
        assert await listed(client, q="haus") == ["https://example.org/fluss"]
        assert await listed(client, q='"dam at the river" -water') == ["https://example.org/mill"]
        assert await listed(client, q="dam", tag="none") == []
        assert await listed(client, q="dam -rivers") == ["https://example.org/dam", "https://example.org/x"]
        await client.patch(f"/api/bookmarks/{other['id']}", json={"tags": ["Machine Learning"]})
        assert await listed(client, q="machine learning") == ["https://example.org/x"]
        assert await listed(bob, q="dam") == []
        first = (await client.get("/api/bookmarks", params={"q": "dam", "pageSize": 2})).json()
        rest = (await client.get("/api/bookmarks", params={"q": "dam", "pageSize": 2, "after": first["next"]})).json()
        assert [hit["title"] for hit in rest["bookmarks"]] == ["Nothing"]
        for odd in ("'", "((", "a:*b", "\\", "<->", "!", "  "):
            assert (await client.get("/api/bookmarks", params={"q": odd})).status_code == 200
        assert (await client.get("/api/bookmarks", params={"q": "a\0"})).status_code == 422
        assert await listed(client, q="dam", duplicates=True) == []


async def test_a_duplicate_is_merged_into_the_first(service: Service) -> None:
    async with service.client("ann") as client:
        first = await added(client, f"{URL}/print", tags=["a"], note="one")
        second = await added(client, f"{URL}/amp", tags=["b"], note="two")
        await found(service, second["id"], duplicate_of=int(first["id"]))
        assert await listed(client, duplicates=True) == [f"{URL}/amp"]
        refused = await client.post(f"/api/bookmarks/{first['id']}/merge")
        assert refused.json()["detail"] == f"bookmark {first['id']} is not a duplicate"
        kept = (await client.post(f"/api/bookmarks/{second['id']}/merge")).json()
        assert (kept["id"], kept["tags"], kept["note"]) == (first["id"], ["a", "b"], "one\n\ntwo")
        assert await listed(client) == [f"{URL}/print"]


async def test_later_looks_find_duplicates_of_those_before_and_merges_keep_what_points_there(service: Service) -> None:
    async with service.client("ann") as client:
        marks = [await added(client, f"{URL}/{name}") for name in ("a", "b", "c")]
        ids = [int(mark["id"]) for mark in marks]
        await found(service, marks[1]["id"], duplicate_of=ids[0], note="x" * 60_000)
        await found(service, marks[2]["id"], duplicate_of=ids[1])
        await found(service, marks[0]["id"], note="y" * 60_000)
        kept = (await client.post(f"/api/bookmarks/{ids[1]}/merge")).json()
        assert (kept["id"], len(kept["note"])) == (str(ids[0]), 100_000)
        assert (await client.get(f"/api/bookmarks/{ids[2]}")).json()["duplicateOf"] == str(ids[0])


async def test_the_indexes_of_words_and_tags_are_used_by_the_role_of_the_api(service: Service) -> None:
    """Row-level security would keep them from it."""
    await service.admin.execute(
        """insert into forebay.bookmark (owner_id, url, page_hash, title, tags)
           select (select id from forebay.owner where name = 'ann'), 'https://example.org/' || n,
                  sha256(n::text::bytea), case n when 77 then 'needle' else 'hay number ' || n end,
                  array[case n when 78 then 'rare' else 'common' end]
           from generate_series(1, 5000) n; analyze forebay.bookmark"""
    )
    async with service.client("ann") as client, service.client("bob") as bob:
        assert await listed(client, q="needle") == ["https://example.org/77"]
        assert await listed(client, tag="rare") == ["https://example.org/78"]
        assert await listed(bob, q="needle") == []
        assert await listed(bob, tag="rare") == []
    ann = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    async with service.admin.transaction():
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", ann)
        await service.admin.fetch("select forebay.search_bookmarks('needle', false, null, null, null, null, 9)")
        await service.admin.fetch("select forebay.find_bookmarks(null, false, null, 'rare', null, false, 9)")
        scans = "select pg_stat_get_xact_numscans(('forebay.bookmark_' || $1)::regclass)"
        assert [await service.admin.fetchval(scans, index) for index in ("search", "tags")] == [1, 1]


async def test_nobody_else_may_call_what_runs_without_row_level_security(service: Service) -> None:
    open_to_all = await service.admin.fetch(
        """select p.proname from pg_proc p where p.pronamespace = 'forebay'::regnamespace and p.prosecdef
           and p.prorettype <> 'trigger'::regtype and has_function_privilege('public', p.oid, 'execute')"""
    )
    assert [row["proname"] for row in open_to_all] == []


async def test_a_page_is_crawled_again_when_told_to(service: Service) -> None:
    async with service.client("ann") as client:
        mark = await added(client)
        answer = await client.post(f"/api/bookmarks/{mark['id']}/crawl")
        assert answer.status_code == 201
        job_id = answer.json()["jobId"]
        assert job_id != mark["jobId"]
        assert (await client.get(f"/api/bookmarks/{mark['id']}")).json()["jobId"] == job_id
        assert (await client.get(f"/api/bookmarks/{mark['id']}/changes")).json() == {"changes": [], "next": None}
        await service.admin.execute(
            "insert into forebay.bookmark_change (bookmark_id, owner_id, title, words, difference)"
            " select id, owner_id, 'Morning', 2, '-title: Morning' from forebay.bookmark where id = $1",
            int(mark["id"]),
        )
        (change,) = (await client.get(f"/api/bookmarks/{mark['id']}/changes")).json()["changes"]
        del change["at"]
        assert change == {"title": "Morning", "words": 2, "difference": "-title: Morning"}


FILE = json.dumps(
    [
        {"url": "https://example.org/1", "title": "One", "tags": ["a"], "category": "Rivers", "addedAt": "2020-01-01"},
        {"url": "https://example.org/2", "archived": True},
        {"url": "https://example.org/1#again", "tags": ["b"]},
        {"url": "not a link"},
        {"title": "nowhere \ud800"},
    ]
)


async def test_a_file_is_brought_in_as_a_job_and_taken_out_the_same(service: Service) -> None:
    async with service.client("ann") as client:
        given = {"file": ("marks.json", FILE)}
        preview = {"links": 5, "known": 0, "repeated": 1, "invalid": 2, "folders": 1}
        assert (await client.post("/api/bookmarks/import/preview", files=given)).json() == preview
        answer = await client.post("/api/bookmarks/import", files=given)
        assert answer.status_code == 201, answer.text
        assert answer.json()["items"] == 5
        async with testbed(service.dsn, [bookmark_imports], migrated=True) as bed:
            await bed.finish()
        job = (await client.get(f"/api/jobs/{answer.json()['jobId']}")).json()
        assert (job["file"], job["counters"]["done"], job["counters"]["error"]) == ("marks.json", 3, 2)
        assert (await client.post("/api/bookmarks/import/preview", files=given)).json() == preview | {"known": 2}
        async with service.client("bob") as bob:
            assert (await bob.post("/api/bookmarks/import/preview", files=given)).json() == preview
        bad = (await client.get(f"/api/jobs/{job['id']}/items/4")).json()
        assert bad["error"]["reason"] == "url: contains a space: remove it, or write it percent-encoded"
        (one,) = (await client.get("/api/bookmarks")).json()["bookmarks"]
        assert (one["title"], one["tags"], one["createdAt"][:10]) == ("One", ["a", "b"], "2020-01-01")
        assert await listed(client, archived=True) == ["https://example.org/2"]
        exported = await client.get("/api/bookmarks/export?format=json")
        assert exported.headers["content-disposition"] == 'attachment; filename="bookmarks.json"'
        marks = exported.json()["bookmarks"]
        assert [(mark["url"], mark["category"], mark["archived"]) for mark in marks] == [
            ("https://example.org/2", None, True),
            ("https://example.org/1", "Rivers", False),
        ]
        page = (await client.get("/api/bookmarks/export")).text
        assert "<H3>Rivers</H3>" in page
        again = await client.post("/api/bookmarks/import", files={"file": ("marks.json", exported.content)})
        async with testbed(service.dsn, [bookmark_imports], migrated=True) as bed:
            await bed.finish()
        assert again.json()["items"] == 2
        assert await listed(client, archived=True) == ["https://example.org/2"]  # where it was
        for refused, reason in (
            (await client.post("/api/bookmarks/import", json={}), "send multipart/form-data with a file"),
            (
                await client.post("/api/bookmarks/import", data={"x": "y"}, files={"y": b""}),
                "must be a bookmarks file",
            ),
        ):
            assert refused.json()["detail"].endswith(reason)
        wrong = await client.post("/api/bookmarks/import", files={"file": ("x.bin", b"\x00\x01")})
        reason = "is not a bookmarks file of a browser (HTML) or Pocket (CSV or HTML), nor JSON"
        assert (wrong.status_code, wrong.json()["errors"]) == (422, [{"field": "file", "reason": reason}])


async def test_files_of_megabytes_are_read_in_another_process(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As browsers write them: one of 400 links has more than 64 KiB already."""

    def read(data: bytes) -> NoReturn:
        raise AssertionError("the process of the API reads the file")

    monkeypatch.setattr(bookmark_files, "read", read)
    icon = "data:image/png;base64," + "A" * 1000
    links = "".join(f'<DT><A HREF="https://example.org/{n}" ICON="{icon}">Link {n}</A>\n' for n in range(1400))
    file = f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n{links}</DL><p>\n"
    assert len(file) > 1 << 20
    async with service.client("ann") as client:
        answer = await client.post("/api/bookmarks/import", files={"file": ("bookmarks.html", file)})
    assert (answer.status_code, answer.json()["items"]) == (201, 1400)


async def test_one_bad_line_of_a_file_costs_no_other(service: Service) -> None:
    file = "url,title\nhttps://example.org/1,One\nhttps://example.org/2,Two,too,many\nhttps://example.org/3,Three\n"
    async with service.client("ann") as client:
        answer = await client.post("/api/bookmarks/import", files={"file": ("pocket.csv", file)})
        assert (answer.status_code, answer.json()["items"]) == (201, 3)
        async with testbed(service.dsn, [bookmark_imports], migrated=True) as bed:
            await bed.finish()
        assert sorted(await listed(client)) == ["https://example.org/1", "https://example.org/3"]
        bad = (await client.get(f"/api/jobs/{answer.json()['jobId']}/items/2")).json()
    assert bad["status"] == "ERROR"
    assert bad["error"]["reason"].startswith("line 3 ")


async def test_links_that_could_never_be_fetched_are_rejected_at_the_door(service: Service) -> None:
    async with service.client("ann") as client:
        for url in ("http://127.0.0.1:8080/", "http://[::1]/", "http://localhost/x", "http://192.168.1.7/router"):
            answer = await client.post("/api/bookmarks", json={"url": url})
            assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "url"), url
            assert "FOREBAY_EGRESS_ALLOW_NETWORKS" in answer.json()["detail"]
        assert await listed(client) == []


async def test_the_longest_note_can_be_sent_and_changed(service: Service) -> None:
    note = "ä" * 100_000
    async with service.client("ann") as client:
        added = await client.post("/api/bookmarks", json={"url": URL, "note": note})
        assert added.status_code == 201, added.text
        path = f"/api/bookmarks/{added.json()['bookmark']['id']}"
        changed = await client.patch(path, json={"note": note.upper()})
    assert (changed.status_code, len(changed.json()["note"])) == (200, 100_000)


async def test_more_bookmarks_than_a_page_of_the_export_are_all_there(service: Service) -> None:
    await service.admin.execute(
        """insert into forebay.bookmark (owner_id, url, page_hash)
           select (select id from forebay.owner where name = 'ann'), 'https://example.org/' || n, sha256(n::text::bytea)
           from generate_series(1, 1203) n"""
    )
    async with service.client("ann") as client:
        marks = (await client.get("/api/bookmarks/export?format=json")).json()["bookmarks"]
    assert [mark["url"] for mark in marks] == [f"https://example.org/{n}" for n in range(1, 1204)]


# Steps.

_LEASE = """insert into forebay.lease
    (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
select s.id, 1, j.id, j.owner_id, 1, 2, now(), now() + interval '1 hour', '{[1,1]}'
from forebay.job j join forebay.step s on s.name = 'metadata' where j.id = $1"""


async def test_a_bookmark_shows_what_its_steps_do(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        mark = await added(ann)
        assert mark["steps"] is None
        steps = (await ann.get(f"/api/bookmarks/{mark['id']}")).json()["steps"]
        assert [(step["name"], step["state"], step["after"]) for step in steps] == [
            ("screenshot", "WAITING", []),
            ("metadata", "WAITING", []),
            ("images", "BLOCKED", ["metadata"]),
            ("favicon", "BLOCKED", ["metadata"]),
        ]
        await service.admin.execute(_LEASE, int(mark["jobId"]))
        (seen,) = (await ann.get("/api/bookmarks")).json()["bookmarks"]
        assert (seen["status"], seen["steps"][1]["state"], seen["steps"][1]["attempt"]) == ("PROCESSING", "RUNNING", 2)
        assert seen["steps"][1]["startedAt"] is not None
        assert (await bob.get(f"/api/bookmarks/{mark['id']}")).status_code == 404
    bob_id = await service.admin.fetchval("select id from forebay.owner where name = 'bob'")
    async with service.admin.transaction():
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", bob_id)
        query = "select count(*) from forebay.bookmark_steps(array[$1::bigint])"
        assert await service.admin.fetchval(query, int(mark["id"])) == 0


async def test_some_steps_are_crawled_again(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        mark = await added(ann)
        answer = await ann.post(f"/api/bookmarks/{mark['id']}/crawl", json={"only": ["screenshot"]})
        assert answer.status_code == 201, answer.text
        item = (await ann.get(f"/api/jobs/{answer.json()['jobId']}/items/1")).json()
        assert item["input"]["only"] == ["screenshot"]
        assert (await ann.post(f"/api/bookmarks/{mark['id']}/crawl")).status_code == 201
        for only in ([], ["colour"]):
            wrong = await ann.post(f"/api/bookmarks/{mark['id']}/crawl", json={"only": only})
            assert (wrong.status_code, wrong.json()["errors"][0]["field"][:4]) == (422, "only")
        assert (await bob.post(f"/api/bookmarks/{mark['id']}/crawl", json={"only": ["ocr"]})).status_code == 404


async def test_files_are_shown_with_their_size_and_thumbnail(service: Service) -> None:
    async with service.client("ann") as ann:
        mark = await added(ann)
        files = [(await put_file(service, "ann", name.encode(), f"{name}.webp")).file_id for name in ("a", "b", "c")]
        await service.admin.execute(
            "update forebay.bookmark set screenshot_id = $2, full_page_id = $3 where id = $1",
            int(mark["id"]),
            *files[:2],
        )
        await service.admin.execute(
            """insert into forebay.picture (file_id, owner_id, width, height, blurhash, widths, thumbnail_ids)
               select id, owner_id, 1280, 800, 'LEHV6n', '{320}', array[$2::bigint] from forebay.file where id = $1""",
            files[0], files[2],
        )  # fmt: skip
        url = f"/api/files/{files[0]}"
        (seen,) = (await ann.get("/api/bookmarks")).json()["bookmarks"]
        assert seen["files"]["screenshot"] == {
            "id": str(files[0]), "url": f"{url}/content", "width": 1280, "height": 800, "blurhash": "LEHV6n",
            "thumb": f"{url}/thumbnail?w=320",
        }  # fmt: skip
        assert seen["files"]["fullPage"]["thumb"] is None
        whole = (await ann.get(f"/api/bookmarks/{mark['id']}")).json()
        assert whole["files"] == seen["files"]
