"""Dead letters in groups, and running those of a group again."""

# demands: S4-32

from __future__ import annotations

from typing import Any

import pytest

from forebay import Context, Pipeline
from forebay.engine.db import dead_letters
from forebay.errors import DataError
from forebay.testing import testbed
from tests.api._service import Service, serving

letters: Pipeline[dict[str, Any]] = Pipeline("letters", dict[str, Any])
_mended: set[str] = set()


@letters.step()
async def send(ctx: Context, letter: dict[str, Any]) -> str:
    if letter["to"] in _mended:
        return "sent"
    raise DataError(letter["reason"])


async def failed(service: Service, who: str, *letters_: tuple[str, str]) -> str:
    """A job of these letters (to, reason), all of which failed."""
    async with service.client(who) as client:
        body = {"pipeline": "letters", "items": [{"to": to, "reason": reason} for to, reason in letters_]}
        made = (await client.post("/api/jobs", json=body)).raise_for_status()
    await work(service)
    return str(made.json()["jobId"])


async def work(service: Service) -> None:
    async with testbed(service.dsn, [letters], migrated=True) as bed:
        await bed.finish()


async def summary(service: Service, who: str, **query: str) -> dict[str, Any]:
    async with service.client(who) as client:
        found: dict[str, Any] = (await client.get("/api/dead-letters/summary", params=query)).raise_for_status().json()
        return found


async def reprocess(service: Service, who: str, filter: dict[str, Any] | None, **more: Any) -> dict[str, Any]:  # noqa: A002
    async with service.client(who) as client:
        answer = await client.post("/api/dead-letters/reprocess", json={"filter": filter, **more})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


async def results(service: Service, who: str, jobs: list[dict[str, str]]) -> dict[str, Any]:
    async with service.client(who) as client:
        answer = await client.post("/api/dead-letters/results", json={"jobs": jobs})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


MASKED = {
    "cannot read https://example.org/a?b=1: 404": "cannot read <url>: #",
    "mail.example.com:25 does not answer after 2.5 s": "<name> does not answer after # s",
    "row 17 of 1,000: no price": "row # of #: no price",
    "order 6f9619ff-8b86-d011-b42d-00c04fc964ff is unknown": "order <id> is unknown",
    "the page is empty": "the page is empty",
}


async def test_what_differs_from_task_to_task_is_masked(service: Service) -> None:
    rows = await service.admin.fetch("select r, forebay.mask_reason(r) as masked from unnest($1::text[]) r", [*MASKED])
    assert {row["r"]: row["masked"] for row in rows} == MASKED


async def test_groups_are_run_again(dsn: str) -> None:
    async with serving(dsn, letters) as service:
        first = await failed(service, "ann", ("a", "row 1 is empty"), ("b", "row 2 is empty"), ("c", "no stamp"))
        second = await failed(service, "ann", ("d", "row 30 is empty"))
        await failed(service, "bob", ("e", "row 4 is empty"))
        await _group(service, first)
        empty = {"pipeline": "letters", "step": "send", "errorClass": "data", "reason": "row # is empty"}
        planned = await reprocess(service, "ann", empty, dryRun=True)
        by_job = [
            {"jobId": first, "items": 2, "numbers": "1-2"},
            {"jobId": second, "items": 1, "numbers": "1"},
        ]
        assert (planned["jobs"], planned["items"], planned["byJob"]) == (2, 3, by_job)
        assert (planned["leftOut"], planned["refused"], planned["complete"]) == (0, [], True)
        assert (await summary(service, "ann"))["searched"] == 4  # nothing was changed
        _mended.update("ade")
        done = await reprocess(service, "ann", empty)
        assert (done["jobs"], done["items"]) == (2, 3)
        retried = [{"jobId": job["jobId"], "numbers": job["numbers"]} for job in done["byJob"]]
        assert await results(service, "ann", retried) == {"done": 0, "skipped": 0, "failed": 0, "open": 3}
        await work(service)
        assert await results(service, "ann", retried) == {"done": 2, "skipped": 0, "failed": 1, "open": 0}
        assert await results(service, "bob", retried) == {"done": 0, "skipped": 0, "failed": 0, "open": 0}
        await _end(service, empty)
        left = (await summary(service, "ann"))["groups"]
        assert [(group["reason"], group["count"]) for group in left] == [("no stamp", 1)]
        assert (await summary(service, "bob"))["groups"][0]["count"] == 1  # another's are untouched
        assert (await reprocess(service, "root", {}, userId="all", dryRun=True))["items"] == 2
        audit = await service.admin.fetch("select actor, job_id from forebay.audit where action = 'reprocess'")
        assert {(row["actor"], str(row["job_id"])) for row in audit} == {("ann", first), ("ann", second)}


async def test_the_letters_of_a_group_are_listed_and_some_of_them_run_again(dsn: str) -> None:
    async with serving(dsn, letters) as service:
        first = await failed(service, "ann", ("f", "row 1 is empty"), ("g", "no stamp"), ("h", "row 2 is empty"))
        second = await failed(service, "ann", ("i", "row 30 is empty"))
        other = await failed(service, "bob", ("j", "row 4 is empty"))
        group = {"pipeline": "letters", "step": "send", "errorClass": "data", "reason": "row # is empty"}
        empty = [(second, "1"), (first, "3"), (first, "1")]
        assert await listed(service, "ann", **group) == empty
        assert await listed(service, "ann", **{**group, "step": "receive"}) == []
        assert await listed(service, "ann", **{**group, "errorClass": ""}) == []
        await service.admin.execute("update forebay.dead_letter set class = null where job_id = $1", int(second))
        assert await listed(service, "ann", **{**group, "errorClass": ""}) == [(second, "1")]
        assert (await reprocess(service, "ann", {**group, "errorClass": ""}, dryRun=True))["items"] == 1
        some = [
            {"jobId": first, "numbers": "2-3"},
            {"jobId": second, "numbers": "1-5"},
            {"jobId": other, "numbers": "1"},
        ]
        planned = await reprocess(service, "ann", None, items=some, dryRun=True)
        assert [(job["jobId"], job["numbers"]) for job in planned["byJob"]] == [(first, "2-3"), (second, "1")]
        assert (await reprocess(service, "ann", None, items=[{"jobId": first, "numbers": "3"}]))["items"] == 1
        assert await listed(service, "ann") == [(second, "1"), (first, "2"), (first, "1")]
        assert (await reprocess(service, "ann", None, items=[{"jobId": first, "numbers": "3"}]))["items"] == 0


async def listed(service: Service, who: str, **query: str) -> list[tuple[str, str]]:
    """The dead letters by job and item, page by page."""
    found: list[tuple[str, str]] = []
    async with service.client(who) as client:
        after: dict[str, str] | None = {}
        while after is not None:
            asked = {**query, **after, "pageSize": "1"}
            page = (await client.get("/api/dead-letters", params=asked)).raise_for_status().json()
            found += [(letter["jobId"], letter["itemId"]) for letter in page["deadLetters"]]
            after = None if page["next"] is None else {"after": page["next"]}
    return found


@pytest.mark.parametrize("body", [{}, {"filter": {}, "items": [{"jobId": "1", "numbers": "1"}]}])
async def test_either_a_filter_or_items_are_reprocessed(service: Service, body: dict[str, Any]) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/dead-letters/reprocess", json=body)
        assert answer.json()["errors"] == [{"field": "filter", "reason": "send either `filter` or `items`"}]


async def _end(service: Service, empty: dict[str, Any]) -> None:
    """The rest of the group succeeds as well."""
    _mended.add("b")
    await reprocess(service, "ann", empty)
    await work(service)


async def test_results_of_too_many_items_are_not_counted(service: Service) -> None:
    async with service.client("ann") as client:
        body = {"jobs": [{"jobId": "1", "numbers": "1-20000,30000"}]}
        answer = await client.post("/api/dead-letters/results", json=body)
        assert answer.json()["errors"] == [{"field": "jobs", "reason": "must not name more than 20000 items"}]


async def _group(service: Service, job: str) -> None:
    seen = await summary(service, "ann")
    assert [(group["reason"], group["count"], group["errorClass"], group["step"]) for group in seen["groups"]] == [
        ("row # is empty", 3, "data", "send"),
        ("no stamp", 1, "data", "send"),
    ]
    assert (seen["groupCount"], seen["searched"], seen["complete"]) == (2, 4, True)
    assert seen["groups"][0]["perHour"][-2:] in ([0, 3], [3, 0])  # the clocks of the server and of the test differ
    assert seen["searchedTo"] == min(group["firstAt"] for group in seen["groups"])
    assert [group["count"] for group in (await summary(service, "ann", by="step"))["groups"]] == [4]
    assert [group["count"] for group in (await summary(service, "ann", jobId=job))["groups"]] == [2, 1]
    assert (await summary(service, "ann", step="other"))["groups"] == []
    assert (await summary(service, "ann", errorClass="permanent"))["searched"] == 4
    assert (await summary(service, "root"))["groups"] == []
    assert (await summary(service, "root", userId="all"))["searched"] == 5


async def test_bounded_reads_say_so(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "MOST_READ", 2)
    async with serving(dsn, letters) as service:
        job = await failed(service, "ann", ("x", "no ink"), ("y", "no ink"), ("z", "no ink"))
        seen = await summary(service, "ann")
        assert (seen["searched"], seen["complete"], seen["groups"][0]["count"]) == (2, False, 2)
        done = await reprocess(service, "ann", {"jobId": job}, dryRun=True)
        assert (done["items"], done["searched"], done["complete"]) == (2, 2, False)


async def test_what_cannot_run_again_is_told(dsn: str) -> None:
    async with serving(dsn, letters) as service:
        job = await failed(service, "ann", ("f", "no ink"))
        await service.admin.execute("update forebay.item set status = 'SKIPPED'")
        assert (await reprocess(service, "ann", {}))["leftOut"] == 1
        await service.admin.execute("update forebay.item set status = 'ERROR'")
        await service.admin.execute(
            "update forebay.job set state = 'CANCELLED', finished_at = null, reaped = -1, total = 2"
        )
        done = await reprocess(service, "ann", {})
        assert (done["jobs"], done["items"]) == (0, 0)
        assert [(refused["jobId"], "is still being cancelled" in refused["reason"]) for refused in done["refused"]] == [
            (job, True)
        ]
        async with service.client("ann") as ann:
            wrong = await ann.get("/api/dead-letters/summary?by=colour")
            others = await ann.post("/api/dead-letters/reprocess", json={"filter": {}, "userId": "all"})
        detail = "query.by: there is no group by 'colour'; there are step, errorClass, reason"
        assert (wrong.status_code, wrong.json()["detail"]) == (422, detail)
        assert others.status_code == 403


async def test_a_repeated_request_gets_the_first_answer(dsn: str) -> None:
    async with serving(dsn, letters) as service:
        await failed(service, "ann", ("g", "no ink"))
        async with service.client("ann", **{"Idempotency-Key": "again"}) as ann:
            answers = [(await ann.post("/api/dead-letters/reprocess", json={"filter": {}})).json() for _ in range(2)]
        assert answers[0] == answers[1]
        assert answers[0]["items"] == 1
        assert await service.admin.fetchval("select count(*) from forebay.audit where action = 'reprocess'") == 1
