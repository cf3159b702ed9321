"""Bookmarks from the link to the rich page: what is found, what is refused, what is repeated, and whose it is."""

# demands: S2-01, S2-05, S2-19, S2-21, S2-22, S2-23, S2-24, S2-26, S2-27, S2-28, S2-38, S2-63, S2-66, S2-67, S2-72
# demands: S2-73, S2-74, S2-75, S2-78, S2-79

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from forebay.pipelines.bookmarks.settings import BookmarksSettings
from forebay.pipelines.housekeeping.steps import ChoreRun, housekeeping
from forebay.services.images import inspect
from forebay.services.pages import fetching
from forebay.storage import Blobs
from tests.corpus import making
from tests.corpus.site import Page, Site, corpus
from tests.pipelines._crawl import Crawl, crawling
from tests.services.egress._world import answering, reply

ARTICLE = """<html lang="en"><title>{title}</title><meta property="og:image" content="/photo.png">
<link rel="icon" href="/icon.png" sizes="32x32"><body><p>{text}</p></body></html>"""
WORDS = "The miller opens the gate, and the water of the forebay falls onto the wheel, which turns the stone. "


@pytest.fixture
def put() -> Iterator[Any]:
    """Puts pages into the corpus for one test."""
    added: list[str] = []

    def put(path: str, body: str, **other: Any) -> None:
        corpus()[path] = Page(path, body=body, **other)
        added.append(path)

    corpus()["/icon.png"] = Page("/icon.png", make="png", type="image/png")
    yield put
    for path in [*added, "/icon.png"]:
        corpus().pop(path, None)


async def test_a_page_becomes_a_rich_bookmark(crawl: Crawl, put: Any) -> None:
    put("/pictured", ARTICLE.format(title="The mill", text=WORDS * 10))
    mark = await crawl.crawled("/pictured")
    assert (mark["kind"], mark["title"], mark["language"], mark["http_status"]) == ("page", "The mill", "en", 200)
    assert (mark["site"], mark["words"]) == ("site.test", 190)
    assert "the water of the forebay" in mark["body"]
    media_type, photo = await crawl.file(mark["image_id"])
    assert (media_type, photo) == ("image/png", making.png())
    facts = inspect(photo)
    image = json.loads(mark["image"])
    assert (image["width"], image["height"], image["blurhash"]) == (facts.width, facts.height, facts.blurhash)
    assert (await crawl.file(mark["favicon_id"]))[0] == "image/png"
    item = await crawl.item(mark["id"])
    assert set(item["done"]) == {"metadata", "images", "favicon", "ocr", "caption"}
    assert item["status"] == "PENDING"  # the screenshot waits for a browser
    parked = await crawl.conn.fetchval("select parked from forebay.queue where name = 'bookmarks.screenshot'")
    assert parked.startswith("FOREBAY_BROWSER_PATH is /nowhere/chromium, which is not a program: fix or unset it")


async def test_all_that_a_page_says_about_itself(crawl: Crawl) -> None:
    mark = await crawl.crawled("/article")
    assert mark["title"] == "How a water mill works"
    assert mark["author"] == "Ada Weir, Ben Sluice"
    assert mark["published_at"] == datetime(2024, 3, 5, 8, 30, tzinfo=UTC)
    assert mark["description"] == "From the weir to the stone, step by step."
    blocks = json.loads(mark["blocks"])
    assert {"h", "p"} <= {block["t"] for block in blocks}
    assert all(block["text"] in mark["body"] for block in blocks if block["t"] == "p")
    facts = await crawl.conn.fetchval(
        "select facts -> 'feeds' -> 0 ->> 'url' from forebay.bookmark where id = $1", mark["id"]
    )
    assert facts == crawl.url("/feed.xml")


IN_FRONT = [
    ("/forbidden", "error", 403, "PERMANENT"),
    ("/unauthorized", "login", 401, "PERMANENT"),
    ("/wall", "login", 200, "PERMANENT"),
    ("/captcha/challenge", "captcha", None, "PERMANENT"),
]


@pytest.mark.parametrize(("path", "kind", "status", "error_class"), IN_FRONT)
async def test_what_stands_in_front_of_a_page_is_recorded_and_never_taken_for_it(
    crawl: Crawl, path: str, kind: str, status: int | None, error_class: str
) -> None:
    mark = await crawl.crawled(path)
    assert mark["kind"] == kind
    assert status is None or mark["http_status"] == status
    assert mark["title"] is mark["body"] is mark["image_id"] is None
    item = await crawl.item(mark["id"])
    assert (item["step"], item["class"]) == ("metadata", error_class.lower())
    assert item["reason"] == mark["kind_reason"]
    assert set(item["dead"]) >= {"metadata", "images", "favicon"}


@pytest.mark.parametrize("path", ["/missing", "/gone", "/soft-404"])
async def test_a_page_that_is_not_there(crawl: Crawl, path: str) -> None:
    mark = await crawl.crawled(path)
    assert (mark["kind"], mark["title"]) == ("error", None)
    item = await crawl.item(mark["id"])
    assert (item["step"], item["class"]) == ("metadata", "not_found")


async def test_a_busy_site_is_waited_for_as_it_says_and_costs_no_attempt(crawl: Crawl, put: Any) -> None:
    put("/tired", "<title>Too many</title>", status=429, headers={"Retry-After": "120"})
    mark = await crawl.crawled("/tired")
    assert (mark["kind"], mark["title"]) == (None, None)
    assert "429" in mark["kind_reason"]
    planned = await crawl.conn.fetchrow(
        """select s.run_at, s.attempt from forebay.scheduled s join forebay.step t on t.id = s.step_id
           where t.name = 'metadata'"""
    )
    assert planned is not None
    at, attempt = planned
    assert attempt == 0
    assert 100 < (at - crawl.bed.clock.now()).total_seconds() <= 121
    put("/tired", ARTICLE.format(title="Rested", text=WORDS))
    crawl.bed.clock.advance(121)
    await crawl.bed.run()
    assert (await crawl.row(mark["id"]))["title"] == "Rested"


async def test_a_site_that_is_always_busy_is_given_up_in_the_end(crawl: Crawl, put: Any) -> None:
    put("/tired", "<title>Too many</title>", status=429, headers={"Retry-After": "3600"})
    mark = await crawl.add("/tired")
    item = await crawl.item(mark)
    for _ in range(60):  # the hours in which the step waits for the screenshot's request do not count
        if "metadata" in item["dead"]:
            break
        await crawl.bed.run()
        crawl.bed.clock.advance(3601)
        item = await crawl.item(mark)
    assert (item["step"], item["class"]) == ("metadata", "throttled")
    assert item["reason"].startswith("throttled for more than 24 h: ")
    assert item["reason"].endswith("/tired is rate limiting us (429)")
    assert set(item["dead"]) >= {"metadata", "images", "favicon"}
    assert "429" in (await crawl.row(mark))["kind_reason"]


async def test_pdf_picture_and_other_files(crawl: Crawl) -> None:
    paper = await crawl.crawled("/paper.pdf")
    assert (paper["kind"], paper["canonical_url"]) == ("pdf", None)
    assert paper["words"] > 0
    photo = await crawl.crawled("/photo.png")
    assert (photo["kind"], photo["title"]) == ("image", "photo.png")
    assert (await crawl.file(photo["image_id"]))[1] == making.png()
    text = await crawl.crawled("/text")
    assert (text["kind"], text["title"]) == ("file", "text")
    assert text["body"]


async def test_a_page_without_an_end_is_read_by_its_beginning(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "_PAGE_BYTES", 100_000)
    mark = await crawl.crawled("/endless")
    assert mark["kind"] == "page"
    assert mark["title"]


async def test_signposts_are_followed_and_circles_are_not(crawl: Crawl) -> None:
    mark = await crawl.crawled("/refresh")
    assert mark["title"] == "How a water mill works"
    loop = await crawl.crawled("/loop")
    assert loop["title"] is None
    assert "redirects" in (await crawl.item(loop["id"]))["reason"]


async def test_nobody_is_sent_into_private_networks(crawl: Crawl) -> None:
    for url in (
        "http://bad.test/",
        "http://10.1.2.3/",
        "/elsewhere?to=http://169.254.169.254/latest",
        "http://[::ffff:10.0.0.1]/",
    ):
        mark = await crawl.crawled(url)
        item = await crawl.item(mark["id"])
        assert item["class"] == "permanent", url
        assert item["reason"].startswith("refused by the egress guard: "), item["reason"]


async def test_what_has_changed_is_noted_and_what_has_not_is_left_alone(crawl: Crawl, put: Any) -> None:
    put("/news", ARTICLE.format(title="Morning", text=WORDS * 5), headers={"ETag": '"1"'})
    first = await crawl.crawled("/news")
    assert first["etag"] == '"1"'
    same = await crawl.again(first["id"])
    assert same["changed_at"] == first["changed_at"]
    assert same["crawled_at"] > first["crawled_at"]
    put("/news", ARTICLE.format(title="Evening", text=WORDS * 6), headers={"ETag": '"2"'})
    other = await crawl.again(first["id"])
    assert (other["title"], other["changed_at"] > first["changed_at"]) == ("Evening", True)
    changes = await crawl.conn.fetch(
        "select title, words, difference from forebay.bookmark_change where bookmark_id = $1", first["id"]
    )
    assert [tuple(change)[:2] for change in changes] == [("Morning", first["words"])]
    difference = changes[0]["difference"].splitlines()
    assert {"-title: Morning", "+title: Evening"} <= set(difference)
    assert len([line for line in difference if line.startswith("+")]) > 1  # the text has become longer
    put("/news", "", status=304)
    unchanged = await crawl.again(first["id"])
    assert (unchanged["title"], unchanged["changed_at"]) == ("Evening", other["changed_at"])
    assert {"images", "favicon"} <= set((await crawl.item(first["id"]))["done"])


async def test_a_page_that_is_gone_keeps_what_was_found_before(crawl: Crawl, put: Any) -> None:
    put("/brief", ARTICLE.format(title="Brief", text=WORDS * 5))
    first = await crawl.crawled("/brief")
    put("/brief", "<title>Gone</title>", status=410)
    later = await crawl.again(first["id"])
    assert (later["kind"], later["title"], later["image_id"]) == ("page", "Brief", first["image_id"])
    assert later["http_status"] == 410
    assert "410" in later["kind_reason"]


async def test_a_new_picture_takes_the_place_of_the_old_whose_file_goes(crawl: Crawl, put: Any) -> None:
    put("/gallery", ARTICLE.format(title="One", text=WORDS))
    first = await crawl.crawled("/gallery")
    put("/gallery", ARTICLE.format(title="Two", text=WORDS * 2))
    second = await crawl.again(first["id"])
    assert second["image_id"] != first["image_id"]
    left = await crawl.conn.fetch("select id from forebay.file where owner_id = $1", first["owner_id"])
    pictures = await crawl.conn.fetch("select file_id, thumbnail_ids from forebay.picture")
    assert {row["file_id"] for row in pictures} == {second["image_id"], second["favicon_id"]}
    thumbnails = {file_id for row in pictures for file_id in row["thumbnail_ids"]}
    assert thumbnails
    assert {row["id"] for row in left} == {second["image_id"], second["favicon_id"], *thumbnails}


async def test_two_links_to_one_page_are_found_out(crawl: Crawl, put: Any) -> None:
    page = '<link rel="canonical" href="/real">' + ARTICLE.format(title="Real", text=WORDS * 3)
    put("/real", page)
    put("/print", page)
    first, second = await crawl.crawled("/real"), await crawl.crawled("/print")
    assert second["duplicate_of"] == first["id"]
    assert first["duplicate_of"] is None


GOOD: dict[str, Any] = {"bookmarkId": 1, "url": "http://site.test/", "userId": "ann", "isImage": False}
PAYLOADS: list[tuple[dict[str, Any], str]] = [
    ({}, "input.bookmarkId: Field required"),
    ({"bookmarkId": 1, "userId": "ann", "isImage": False}, "input.url: Field required"),
    (GOOD | {"isImage": "yes"}, "input.isImage: Input should be a valid boolean"),
    (
        GOOD | {"bookmarkId": "x"},
        "input.bookmarkId: Input should be a valid integer, unable to parse string as an integer",
    ),
    (
        {name: value for name, value in GOOD.items() if name != "userId"},
        "userId: is missing; FOREBAY_BOOKMARKS_FALLBACK_OWNER can name an owner for such jobs",
    ),
]


@pytest.mark.parametrize(("payload", "reason"), PAYLOADS, ids=lambda value: str(value)[:40])
async def test_a_message_that_cannot_be_is_a_dead_letter_with_the_reason(
    crawl: Crawl, payload: dict[str, Any], reason: str
) -> None:
    assert await crawl.add("/plain") == 1
    await crawl.bed.run()
    owner = payload.get("userId", "unowned")
    job = await crawl.conn.fetchval(
        "select job_id from forebay.submit('bookmarks', $1::text::jsonb, $2)", json.dumps(payload), owner
    )
    await crawl.bed.run()
    letters = await crawl.conn.fetch("select step, class, reason from forebay.dead_letters where job_id = $1", job)
    assert [tuple(row) for row in letters] == [("metadata", "data", reason)]  # the screenshot waits for a browser


async def test_a_job_on_anothers_bookmark_ends_as_on_one_that_never_was(crawl: Crawl) -> None:
    """Else whoever may submit could count what others have."""
    assert await crawl.add("/plain") == 1
    await crawl.bed.run()
    ends: list[Any] = []
    for bookmark in (1, 4711):
        payload = json.dumps(GOOD | {"bookmarkId": bookmark, "userId": "bob"})
        job = await crawl.conn.fetchval(
            "select job_id from forebay.submit('bookmarks', $1::text::jsonb, 'bob')", payload
        )
        with capture_logs() as logs:
            await crawl.bed.run()
        item = await crawl.bed.item(job)
        ends.append((item.status, item.error, item.result, len(await crawl.bed.items(job))))
        told = [log["owner"] for log in logs if log["event"] == "bookmark_of_another_owner"]
        assert set(told) == ({"bob"} if bookmark == 1 else set())
    assert ends[0] == ends[1]
    assert await crawl.conn.fetchval("select count(*) from forebay.dead_letters") == 0


async def test_old_messages_without_an_owner_go_to_the_fallback(dsn: str, site: Site, tmp_path: Path) -> None:
    async with crawling(dsn, site, tmp_path, packages=[BookmarksSettings(fallback_owner="ann")]) as crawl:
        mark = await crawl.add("/plain")
        await crawl.bed.run()
        payload = f'{{"bookmarkId": {mark}, "url": "{crawl.url("/article")}", "isImage": false}}'
        await crawl.conn.execute("select forebay.submit('bookmarks', $1::text::jsonb, 'unowned')", payload)
        await crawl.bed.run()
        assert (await crawl.row(mark))["title"] == "How a water mill works"


async def test_a_deleted_bookmark_ends_its_work(crawl: Crawl) -> None:
    mark = await crawl.add("/plain")
    job = await crawl.conn.fetchval("delete from forebay.bookmark where id = $1 returning job_id", mark)
    await crawl.bed.run()
    status = await crawl.conn.fetchval("select status::text from forebay.item where job_id = $1", job)
    assert status == "SKIPPED"


async def test_every_page_of_the_corpus_is_found_as_it_should_be(crawl: Crawl) -> None:
    """All at once, as an import would bring them: none disturbs another."""
    pages = {path: page for path, page in corpus().items() if page.expect is not None and page.status == 200}
    slow = {"/silent", "/endless", "/slow", "/spa", "/empty"}  # need patience, or a browser
    marks = {path: await crawl.add(path) for path in pages if path not in slow}
    await crawl.bed.run()
    for path, mark in marks.items():
        row, expected = await crawl.row(mark), pages[path].expect or {}
        kind = expected.get("kind", "page")
        if kind == "page" and not expected.get("refresh_url"):
            for name in ("title", "description", "author", "language"):
                if name in expected:
                    assert row[name] == (expected[name] or None), (path, name)
        elif kind in ("login", "captcha", "error", "soft 404") and not expected.get("refresh_url"):
            assert (row["title"], row["body"]) == (None, None), path


async def test_the_trash_is_emptied_after_a_while(dsn: str, site: Site, tmp_path: Path) -> None:
    async with crawling(dsn, site, tmp_path, housekeeping, packages=[BookmarksSettings(trash_days=7)]) as crawl:
        marks = [await crawl.add(path) for path in ("/plain", "/article", "/no-title")]
        for mark, days in ((marks[0], 6), (marks[1], 8)):
            await crawl.conn.execute(
                "update forebay.bookmark set deleted_at = now() - make_interval(days => $2) where id = $1", mark, days
            )
        job = await crawl.bed.submit(housekeeping, ChoreRun(what="purge trash"))
        await crawl.bed.run()
        assert (await crawl.bed.job(job)).done == 1
        left = await crawl.conn.fetch("select id from forebay.bookmark order by id")
        assert [row["id"] for row in left] == [marks[0], marks[2]]


async def test_pictures_of_earlier_releases_get_thumbnails(dsn: str, site: Site, tmp_path: Path, put: Any) -> None:
    put("/gallery", ARTICLE.format(title="One", text=WORDS))
    async with crawling(dsn, site, tmp_path, housekeeping) as crawl:
        mark = await crawl.crawled("/gallery")
        owner, image = mark["owner_id"], mark["image_id"]
        broken = await crawl.blobs.put(b"no picture", owner_id=owner, name="icon.png", media_type="image/png")
        await crawl.conn.execute(
            "insert into forebay.file (id, owner_id, sha256, name, media_type) values ($1, $2, $3, 'i', 'image/png')",
            broken.file_id,
            owner,
            bytes.fromhex(broken.sha256),
        )
        await crawl.conn.execute("update forebay.bookmark set favicon_id = $1", broken.file_id)
        known = "select file_id, width, height, blurhash, widths from forebay.picture order by file_id"
        before = [row for row in await crawl.conn.fetch(known) if row["file_id"] == image]
        await crawl.conn.execute("delete from forebay.picture")
        looked_at = []
        for _ in range(2):  # the second has nothing to do: what cannot be read is not tried again
            job = await crawl.bed.submit(housekeeping, ChoreRun(what="make thumbnails"))
            await crawl.bed.run()
            result = "select (result ->> 'run_chore')::int from forebay.item where job_id = $1 and n = 1"
            looked_at.append(await crawl.conn.fetchval(result, job.job_id))
        after = await crawl.conn.fetch(known)
    assert looked_at == [2, 0]
    assert [row for row in after if row["file_id"] == image] == before
    assert [(row["width"], row["widths"]) for row in after if row["file_id"] == broken.file_id] == [(0, [])]


async def test_what_is_due_is_crawled_again_once(dsn: str, site: Site, tmp_path: Path) -> None:
    async with crawling(dsn, site, tmp_path, housekeeping) as crawl:
        due, resting, archived = [await crawl.add(path) for path in ("/plain", "/article", "/no-title")]
        await crawl.bed.run()
        # Screenshots wait for ever here.
        await crawl.conn.execute("update forebay.job set finished_at = now(), state = 'DONE'")
        await crawl.conn.execute(
            """update forebay.bookmark set crawl_every = '1 day', next_crawl_at = now() - interval '1 hour',
                      archived_at = case when id = $2 then now() end where id <> $1""",
            resting,
            archived,
        )
        before = {row["id"]: row["job_id"] for row in await crawl.conn.fetch("select id, job_id from forebay.bookmark")}
        for _ in range(2):  # the second finds it being worked on, and due tomorrow
            job = await crawl.bed.submit(housekeeping, ChoreRun(what="crawl again"))
            await crawl.bed.run()
            assert (await crawl.bed.job(job)).done == 1
        after = {row["id"]: row["job_id"] for row in await crawl.conn.fetch("select id, job_id from forebay.bookmark")}
        assert {mark for mark in before if before[mark] != after[mark]} == {due}
        jobs = "select count(*) from forebay.job where meta ->> 'bookmarkId' = $1"
        assert await crawl.conn.fetchval(jobs, str(due)) == 2


async def test_a_bookmark_that_goes_while_a_step_runs_leaves_no_file(crawl: Crawl, put: Any) -> None:
    put("/fleeting", ARTICLE.format(title="Fleeting", text=WORDS))
    mark = await crawl.add("/fleeting")
    keep = crawl.blobs.put.__func__  # type: ignore[attr-defined]

    async def deletes_it(self: Blobs, *args: Any, **options: Any) -> Any:
        stored = await keep(self, *args, **options)
        await crawl.bed.pool.execute("delete from forebay.bookmark where id = $1", mark)
        return stored

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Blobs, "put", deletes_it)
        await crawl.bed.run()
    assert await crawl.conn.fetchval("select count(*) from forebay.file") == 0


async def test_nobody_works_on_the_fallbacks_bookmarks_in_its_name(dsn: str, site: Site, tmp_path: Path) -> None:
    async with crawling(dsn, site, tmp_path, packages=[BookmarksSettings(fallback_owner="ann")]) as crawl:
        mark = await crawl.add("/plain")
        await crawl.bed.run()
        payload = f'{{"bookmarkId": {mark}, "url": "{crawl.url("/article")}", "isImage": false}}'
        await crawl.conn.execute("select forebay.submit('bookmarks', $1::text::jsonb, 'mallory')", payload)
        await crawl.bed.run()
        assert (await crawl.row(mark))["title"] == "Plain words"


async def test_texts_that_are_too_much_for_a_search_are_kept_all_the_same(crawl: Crawl, put: Any) -> None:
    text = " ".join(chr(0x4E00 + n % 20000) + chr(0x4E00 + n // 7 % 20000) for n in range(130_000))
    put("/long", f'<html lang="zh"><title>Long</title><body><article><p>{text}</p></article></body></html>')
    mark = await crawl.crawled("/long")
    assert mark["title"] == "Long"
    assert len(mark["body"]) > 100_000


async def test_a_page_about_a_picture_is_a_page(crawl: Crawl, put: Any) -> None:
    put("/wiki/File:Mill.jpg", ARTICLE.format(title="A picture of a mill", text=WORDS * 3))
    mark = await crawl.crawled("/wiki/File:Mill.jpg")
    assert (mark["kind"], mark["title"]) == ("page", "A picture of a mill")
    assert "screenshot" not in (await crawl.item(mark["id"]))["done"]


async def test_a_caption_service_of_ones_own_network_opens_that_to_no_page(
    dsn: str, site: Site, tmp_path: Path, put: Any
) -> None:
    """The service stands at 127.9.9.9, which is closed; a page that shows a picture from there does not get it."""
    said = json.dumps({"choices": [{"message": {"content": "A mill by a stream."}, "finish_reason": "stop"}]})
    async with answering(reply(said, Connection="close"), host="127.9.9.9") as service:
        inside = f"http://127.9.9.9:{service.port}"
        put("/sly", ARTICLE.format(title="Sly", text=WORDS).replace("/photo.png", f"{inside}/v1/models"))
        put("/pictured", ARTICLE.format(title="The mill", text=WORDS))
        async with crawling(
            dsn,
            site,
            tmp_path,
            egress_allow_networks="127.0.0.1",
            caption_url=f"{inside}/v1",
            caption_model="eyes",
        ) as crawl:
            sly = await crawl.crawled("/sly")
            mark = await crawl.crawled("/pictured")
    assert (sly["title"], sly["image_id"], sly["caption"]) == ("Sly", None, None)
    assert mark["caption"] == "A mill by a stream."
    assert [head.split()[:2] for head in service.heads] == [["POST", "/v1/chat/completions"]]


async def steps_of(crawl: Crawl, mark: int) -> dict[str, tuple[str, str | None]]:
    found = await crawl.conn.fetch("select name, state, reason from forebay.bookmark_steps(array[$1::bigint])", mark)
    return {row["name"]: (row["state"], row["reason"]) for row in found}


async def test_how_steps_have_ended_outlives_their_job(crawl: Crawl, put: Any) -> None:
    put("/steps", "<title>Weir</title><p>" + "Water over the weir. " * 20)
    mark = await crawl.add("/steps")
    await crawl.bed.run()
    ended = await steps_of(crawl, mark)
    assert ended.pop("screenshot")[0] in ("WAITING", "SCHEDULED")  # there is no browser
    no_image = ("SKIPPED", "the page names no image")
    assert (ended["metadata"], ended["images"], ended["ocr"]) == (
        ("DONE", None),
        no_image,
        ("SKIPPED", "the page has no image"),
    )
    again = "select forebay.crawl_bookmark(owner_id, id, url, only_steps => '{screenshot}')"
    await crawl.conn.execute(f"{again} from forebay.bookmark where id = $1", mark)
    await crawl.bed.run()
    kept = await steps_of(crawl, mark)
    kept.pop("screenshot")
    assert kept == ended, "steps that were not requested stay as they were"
    for table, column in (("item", "job_id"), ("job", "id")):
        await crawl.conn.execute(
            f"delete from forebay.{table} where {column} = (select job_id from forebay.bookmark where id = $1)", mark
        )
    assert await steps_of(crawl, mark) == ended


async def test_a_step_that_has_failed_says_why(crawl: Crawl) -> None:
    mark = await crawl.crawled("/gone")
    steps = await steps_of(crawl, mark["id"])
    assert steps["metadata"] == ("NOT_FOUND", mark["kind_reason"])
    assert steps["images"] == ("BLOCKED", None)
    refused = await crawl.crawled("http://bad.test/")
    state, reason = (await steps_of(crawl, refused["id"]))["metadata"]
    assert (state, (reason or "").partition(":")[0]) == ("FAILED", "refused by the egress guard")
