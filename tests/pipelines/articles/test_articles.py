"""Articles through the API: saved with their tasks, changed by versions, shown safely, deleted."""

# demands: S4-56, S4-57

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from forebay.errors import ConfigError
from forebay.pipelines.articles.rendering import render

if TYPE_CHECKING:
    import httpx

    from tests.api._service import Service


async def created(
    client: httpx.AsyncClient, title: str = "Weirs", content: str = "A *weir* is low.", **given: Any
) -> Any:
    answer = await client.post("/api/articles", json={"title": title, "content": content, **given})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_an_article_is_saved_with_its_task(service: Service) -> None:
    async with service.client("ann") as client:
        article = await created(
            client, "What a weir does", "# What a weir does\n\nIt *raises* the [level](x).", message="first"
        )
        assert article["slug"] == "what-a-weir-does"
        assert (article["version"], article["embedding"], article["words"]) == (1, "waiting", 9)
        assert article["excerpt"] == "It raises the level."
        read = (await client.get(f"/api/articles/{article['id']}")).json()
        assert read["content"].startswith("# What")
        assert read["message"] == "first"
        again = (await client.get("/api/articles/by-slug/what-a-weir-does")).json()
        assert again["id"] == article["id"]
    item = await service.admin.fetchrow("select input from forebay.item where job_id = $1", int(article["jobId"]))
    assert item is not None
    assert article["id"] in item["input"]
    assert '"operation": "create"' in item["input"]


async def test_file_names_are_unique_for_an_owner(service: Service) -> None:
    async with service.client("ann") as client:
        first, second = await created(client, "Twice"), await created(client, "Twice")
        assert (first["slug"], second["slug"]) == ("twice", "twice-2")
        answer = await client.post("/api/articles", json={"title": "x", "content": "", "slug": "twice"})
        assert answer.status_code == 409
        assert "an article 'twice' already exists" in answer.text
        answer = await client.put(f"/api/articles/{second['id']}", json={"slug": "twice"})
        assert answer.status_code == 409
        for bad in ("a/b", "..", ".hidden", "a\nb", " "):
            answer = await client.post("/api/articles", json={"title": "x", "content": "", "slug": bad})
            assert answer.status_code == 422, bad
        assert (await created(client, "!!!"))["slug"] == "article"
        assert (await created(client, "Über Flüsse"))["slug"] == "über-flüsse"
    async with service.client("bob") as client:
        assert (await created(client, "Twice"))["slug"] == "twice"


async def test_a_change_is_a_version_and_versions_are_compared_and_restored(service: Service) -> None:
    async with service.client("ann") as client:
        article = await created(client, "Locks", "one\ntwo\n")
        url = f"/api/articles/{article['id']}"
        changed = (await client.put(url, json={"content": "one\nthree\n", "message": "more"})).json()
        assert changed["version"] == 2
        same = (await client.put(url, json={"content": "one\nthree\n"})).json()
        assert same["version"] == 2  # nothing has changed
        versions = (await client.get(f"{url}/versions", params={"pageSize": 1})).json()
        assert [(one["version"], one["message"]) for one in versions["versions"]] == [(2, "more")]
        older = (await client.get(f"{url}/versions", params={"after": versions["next"]})).json()
        assert [one["version"] for one in older["versions"]] == [1]
        assert older["next"] is None
        difference = (await client.get(f"{url}/difference", params={"before": 1, "after": 2})).json()
        assert difference["difference"].splitlines()[-3:] == [" one", "-two", "+three"]
        assert not difference["isCut"]
        answer = await client.get(f"{url}/difference", params={"before": 1, "after": 9})
        assert answer.status_code == 404
        assert f"there is no version 9 of article {article['id']}" in answer.text
        restored = (await client.post(f"{url}/versions/1/restore")).json()
        assert restored["version"] == 3
        read = (await client.get(url)).json()
        assert (read["content"], read["message"]) == ("one\ntwo\n", "Restores version 1")


async def test_who_has_seen_an_older_version_changes_nothing(service: Service) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/articles", json={"title": "Race", "content": "1"})
        assert answer.headers["etag"] == '"1"'
        url = f"/api/articles/{answer.json()['id']}"
        tries = await asyncio.gather(
            *(client.put(url, json={"content": f"by {n}"}, headers={"if-match": '"1"'}) for n in range(5))
        )
        assert sorted(one.status_code for one in tries) == [200, 412, 412, 412, 412]
        answer = await client.put(url, json={"content": "x", "version": 1})
        assert answer.status_code == 412
        assert "the article has version 2 now" in answer.text
        answer = await client.delete(url, headers={"if-match": '"1"'})
        assert answer.status_code == 412
        answer = await client.put(url, json={"content": "x"}, headers={"if-match": "abc"})
        assert answer.status_code == 422
        assert 'must be the version of the article, as in "3"' in answer.json()["detail"]
        assert (await client.put(url, json={"content": "x"}, headers={"if-match": "*"})).status_code == 200


async def test_rapid_changes_are_one_task(service: Service) -> None:
    async with service.client("ann") as client:
        article = await created(client, "Rapid")
        jobs = set[str]()
        for n in range(5):
            changed = await client.put(f"/api/articles/{article['id']}", json={"content": f"text {n}"})
            jobs.add(changed.json()["jobId"])
        assert jobs == {article["jobId"]}
        high = await client.put(f"/api/articles/{article['id']}", json={"content": "x", "embeddingPriority": "high"})
        assert high.json()["jobId"] == article["jobId"]
    assert await service.admin.fetchval("select priority from forebay.job where id = $1", int(article["jobId"])) == 10


async def test_an_article_that_is_not_embedded_has_no_task(service: Service) -> None:
    async with service.client("ann") as client:
        article = await created(client, "Silent", skipEmbedding=True)
        assert (article["embedding"], article["jobId"]) == ("off", None)
        listed = (await client.get("/api/articles", params={"embedding": "off"})).json()["articles"]
        assert [one["id"] for one in listed] == [article["id"]]
        on = (await client.put(f"/api/articles/{article['id']}", json={"skipEmbedding": False})).json()
        assert on["embedding"] == "waiting"
        assert on["jobId"] is not None


async def test_a_deleted_article_leaves_a_task_that_removes_its_vectors(service: Service) -> None:
    async with service.client("ann") as client:
        article = await created(client, "Gone")
        answer = await client.delete(f"/api/articles/{article['id']}")
        assert answer.json() == {"jobId": article["jobId"]}  # its first task had not begun
        assert (await client.get(f"/api/articles/{article['id']}")).status_code == 404
        assert (await client.delete(f"/api/articles/{article['id']}")).status_code == 404
        assert (await client.put(f"/api/articles/{article['id']}", json={"content": ""})).status_code == 404
    task = await service.admin.fetchval("select input from forebay.item where job_id = $1", int(article["jobId"]))
    assert '"operation": "delete"' in task


async def test_lists_are_paged_by_the_last_change(service: Service) -> None:
    async with service.client("bob") as client:
        for n in range(5):
            await created(client, f"Page {n}")
        seen: list[str] = []
        after: str | None = ""
        while after is not None:
            answer = await client.get("/api/articles", params={"pageSize": 2} | ({"after": after} if after else {}))
            page = answer.json()
            seen += [one["title"] for one in page["articles"] if one["title"].startswith("Page")]
            after = page["next"]
        assert seen == [f"Page {n}" for n in range(4, -1, -1)]


async def test_another_owner_sees_nothing(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        article = await created(ann, "Secret", slug="secret")
        await ann.put("/api/articles/drafts/secret", json={"title": "x"})
        url = f"/api/articles/{article['id']}"
        for path in ("", "/html", "/versions", "/versions/1", "/difference?before=1&after=1"):
            assert (await bob.get(url + path)).status_code == 404, path
        assert (await bob.get("/api/articles/by-slug/secret")).status_code == 404
        assert (await bob.put("/api/articles/by-slug/secret", json={"content": ""})).status_code == 404
        assert (await bob.put(url, json={"content": "mine"})).status_code == 404
        assert (await bob.post(f"{url}/versions/1/restore")).status_code == 404
        assert (await bob.delete(url)).status_code == 404
        assert (await bob.get("/api/articles/drafts/secret")).status_code == 404
        answer = await bob.put("/api/articles/drafts/mine", json={"articleId": article["id"]})
        assert answer.status_code == 404
        assert f"there is no article {article['id']}" in answer.text
        assert "Secret" not in (await bob.get("/api/articles")).text
        assert (await ann.get(url)).json()["version"] == 1


async def test_a_draft_goes_when_it_is_saved(service: Service) -> None:
    async with service.client("ann") as client:
        draft = (await client.put("/api/articles/drafts/new-1", json={"title": "T", "content": "half"})).json()
        assert (draft["content"], draft["articleId"]) == ("half", None)
        assert (await client.get("/api/articles/drafts/new-1")).json() == draft
        article = await created(client, "T", "half a text", draft="new-1")
        answer = await client.get("/api/articles/drafts/new-1")
        assert answer.status_code == 404
        assert "there is no draft 'new-1'" in answer.text
        body = {"content": "more", "articleId": article["id"], "baseVersion": 1}
        await client.put("/api/articles/drafts/edit", json=body)
        assert "edit" in [one["key"] for one in (await client.get("/api/articles/drafts")).json()["drafts"]]
        await client.put(f"/api/articles/{article['id']}", json={"content": "more", "draft": "edit"})
        assert (await client.delete("/api/articles/drafts/edit")).status_code == 404


@pytest.mark.parametrize(
    ("text", "shown", "hidden"),
    [
        ("# A\n\n*b* **c** ~~d~~ `e`", ["<h1>A</h1>", "<em>b</em>", "<strong>c</strong>", "<s>d</s>"], []),
        ("<script>alert(1)</script>", ["&lt;script&gt;"], ["<script"]),
        ("<img src=x onerror=alert(1)>", ["&lt;img"], ["<img"]),
        ("[a](javascript:alert(1)) ![b](data:text/html;base64,AAAA)", [], ["href=", "src="]),
        ("[a](JaVaScRiPt&colon;alert(1))", [], ['href="j', 'href="J']),
        ("[a](https://example.org)", ['rel="noopener noreferrer nofollow"'], []),
        ("| a |\n|---|\n| b |", ["<td>b</td>"], []),
        ('```js"><script>\nx\n```', [], ["<script"]),
        ("[" * 3000, [], []),
        (">" * 3000 + " a", [], []),
    ],
)
async def test_html_is_safe(service: Service, text: str, shown: list[str], hidden: list[str]) -> None:
    async with service.client("ann") as client:
        article = await created(client, "Html", text)
        answer = await client.get(f"/api/articles/{article['id']}/html")
        assert answer.status_code == 200, answer.text
        html = answer.json()["html"]
        assert all(part in html for part in shown), html
        assert not any(part in html for part in hidden), html


async def test_a_text_that_is_too_long_is_rejected(service: Service) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/articles", json={"title": "x", "content": "a" * 1_000_001})
        assert answer.status_code == 422
        assert "FOREBAY_ARTICLES_MAX_CHARACTERS allows 1000000" in answer.text
        answer = await client.post("/api/articles", json={"title": "x", "content": "a\0"})
        assert answer.status_code == 422
        assert "must not contain a NUL character" in answer.text


async def test_a_version_that_no_article_can_have_is_rejected(service: Service) -> None:
    async with service.client("ann") as client:
        article = (await client.post("/api/articles", json={"title": "x", "content": "x"})).json()
        draft = await client.put("/api/articles/drafts/new", json={"content": "x", "baseVersion": 2**31})
        change = await client.put(f"/api/articles/{article['id']}", json={"content": "y", "version": 2**31})
    assert (draft.status_code, change.status_code) == (422, 422)


async def test_a_repeated_request_is_answered_once(service: Service) -> None:
    async with service.client("ann") as client:
        headers = {"idempotency-key": "article-1"}
        body = {"title": "Once", "content": "x"}
        first = await client.post("/api/articles", json=body, headers=headers)
        second = await client.post("/api/articles", json=body, headers=headers)
        assert first.json()["id"] == second.json()["id"]


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nh3", None)
    with pytest.raises(ConfigError) as caught:
        render("text")
    assert str(caught.value) == 'articles need packages that are not installed: pip install "forebay[articles]"'
