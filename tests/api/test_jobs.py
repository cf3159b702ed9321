"""Jobs through the API: submitted, looked at, steered; one owner at a time."""

# demands: S2-92, S2-94, S3-87, S4-30, S4-71, S4-79, S5-04, S5-20, S5-21, S5-22, S5-29, S5-36, S5-37, S5-50, S5-51
# demands: S5-75, S5-76, S5-77, S5-78, S5-79, S5-80, S5-81, S5-84, S5-86, S5-89, S5-90, S5-91, S5-108, S5-111, S5-142
# demands: S5-144, S5-145, S5-146, S5-148, S5-149, S5-150, S5-167, S5-168, S5-169, S5-174, S5-176, S5-177

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from forebay.services.spreadsheets import XlsxFile
from tests.api._service import Service, serving


async def submitted(service: Service, *titles: str, who: str = "ann") -> str:
    async with service.client(who) as client:
        answer = await client.post("/api/jobs", json={"pipeline": "pages", "items": [{"title": t} for t in titles]})
    assert answer.status_code == 201, answer.text
    job_id: str = answer.json()["jobId"]
    return job_id


async def test_a_submit_is_answered_when_it_is_safe(service: Service) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "one"}})
        assert answer.status_code == 201
        job_id = answer.json()["jobId"]
        assert answer.json() == {"jobId": job_id, "created": True, "items": 1}
        job = (await client.get(f"/api/jobs/{job_id}")).json()
    assert (job["state"], job["owner"], job["ip"]) == ("QUEUED", "ann", "192.0.2.7")
    assert job["counters"] == {"total": 1, "pending": 1, "done": 0, "skipped": 0, "notFound": 0, "error": 0}


async def test_the_logs_tell_what_was_done_with_a_job_and_where_pages_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forebay.log._level", logging.DEBUG)
    with capture_logs() as logs:
        job_id = await submitted(service, "a", "b", "c")
        async with service.client("ann") as client:
            for verb in ("pause", "pause", "resume", "cancel"):
                await client.post(f"/api/jobs/{job_id}/{verb}")
            await client.get(f"/api/jobs/{job_id}/items?pageSize=2")
            await client.get("/api/dead-letters")
    about = {"part": "api", "log_level": "info", "job": int(job_id)}
    assert [line for line in logs if line["event"].startswith("job_")] == [
        about | {"event": "job_submitted", "pipeline": "pages", "owner": "ann", "items": 3},
        *(about | {"event": f"job_{done}", "by": "ann"} for done in ("paused", "resumed", "cancelled")),
    ]
    served = {"event": "page_served", "part": "api", "log_level": "debug"}
    assert [line for line in logs if line["event"] == "page_served"] == [
        served | {"list": "items", "rows": 2, "first": 1, "last": 2, "next": 2},
        served | {"list": "dead letters", "rows": 0, "first": None, "last": None, "next": None},
    ]


async def test_items_can_be_paged_filtered_and_looked_at(service: Service) -> None:
    job_id = await submitted(service, "a", "broken", "b", "missing", "c")
    await service.work()
    async with service.client("ann") as client:
        seen: list[dict[str, Any]] = []
        after = ""
        while True:
            page = (await client.get(f"/api/jobs/{job_id}/items?pageSize=2{after}")).json()
            seen += page["items"]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert [(item["id"], item["status"]) for item in seen] == [
            ("1", "DONE"),
            ("2", "ERROR"),
            ("3", "DONE"),
            ("4", "NOT_FOUND"),
            ("5", "DONE"),
        ]
        assert seen[1]["error"]["reason"] == "broken on purpose"
        assert seen[0]["inputSummary"] == {"title": "a", "brand": None, "sku": None}
        for statuses, ids in (("ERROR", ["2"]), ("ERROR,NOT_FOUND", ["2", "4"]), ("DONE", ["1", "3", "5"])):
            page = (await client.get(f"/api/jobs/{job_id}/items?statuses={statuses}")).json()
            assert [item["id"] for item in page["items"]] == ids
        page = (await client.get(f"/api/jobs/{job_id}/items?status=ERROR")).json()
        assert [item["id"] for item in page["items"]] == ["2"]
        for where, ids in (("step=fetch", ["2", "4"]), ("step=fetch&statuses=ERROR", ["2"]), ("step=count", [])):
            page = (await client.get(f"/api/jobs/{job_id}/items?{where}")).json()
            assert [item["id"] for item in page["items"]] == ids, where
        unknown = await client.get(f"/api/jobs/{job_id}/items?step=nothing")
        assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "query.step")
        both = await client.get(f"/api/jobs/{job_id}/items?status=ERROR&statuses=DONE")
        reason = "query.status: is the same as `statuses`: send one of them"
        assert (both.status_code, both.json()["detail"]) == (422, reason)
        item = (await client.get(f"/api/jobs/{job_id}/items/1")).json()
        assert [(step["name"], step["state"], step["result"]) for step in item["steps"]] == [
            ("fetch", "DONE", 0),
            ("count", "DONE", 1),
        ]
        assert [attempt["step"] for attempt in item["attempts"]] == ["count", "fetch"]
        assert item["waits"] == []
        await service.admin.execute(
            "insert into forebay.waiting (job_id, n, bit, owner_id, name, key, expires_at) "
            "select id, 1, 1, owner_id, 'paid', 'k', '2035-01-01T00:00Z' from forebay.job where id = $1",
            int(job_id),
        )
        assert (await client.get(f"/api/jobs/{job_id}/items/1")).json()["waits"] == []  # it has ended
        reopen = "update forebay.item set status = 'PENDING' where job_id = $1 and n = 1"
        await service.admin.execute(reopen, int(job_id))
        item = (await client.get(f"/api/jobs/{job_id}/items/1")).json()
        assert item["waits"] == [{"step": "fetch", "signal": "paid", "key": "k", "until": "2035-01-01T00:00:00Z"}]
        letters = (await client.get("/api/dead-letters")).json()["deadLetters"]
        assert [(letter["itemId"], letter["errorClass"]) for letter in letters] == [("2", "data")]
        attempts = (await client.get(f"/api/attempts?jobId={job_id}&outcome=ERROR")).json()["attempts"]
        assert [attempt["itemId"] for attempt in attempts] == ["2"]


async def test_a_job_is_paused_resumed_cancelled_and_run_again(service: Service) -> None:
    job_id = await submitted(service, "a", "broken")
    async with service.client("ann") as client:
        for verb, answer in (
            ("pause", {"changed": True, "state": "PAUSED"}),
            ("pause", {"changed": False, "state": "PAUSED"}),
            ("resume", {"changed": True, "state": "QUEUED"}),
        ):
            assert (await client.post(f"/api/jobs/{job_id}/{verb}")).json() == answer
        await service.work()
        again = await client.post(f"/api/jobs/{job_id}/reprocess", json={"scope": "job"})
        assert again.json() == {"items": 1, "leftOut": {}}
        one = await client.post(
            f"/api/jobs/{job_id}/reprocess", json={"scope": "items", "itemIds": ["1"], "statuses": ["DONE"]}
        )
        assert one.json() == {"items": 1, "leftOut": {}}
        assert (await client.post(f"/api/jobs/{job_id}/cancel")).json()["changed"] is True
        assert (await client.post(f"/api/jobs/{job_id}/resume")).status_code == 409


async def test_kickoff_works_here_and_now(service: Service) -> None:
    job_id = await submitted(service, "a", "b", "c")
    other = await submitted(service, "x", who="bob")
    async with service.client("ann") as client:
        answer = (await client.post(f"/api/jobs/{job_id}/kickoff?durationMs=20000")).json()
    assert answer["settled"] == 6
    assert answer["job"]["state"] == "DONE"
    assert await service.admin.fetchval("select state from forebay.job where id = $1", int(other)) == "QUEUED"


async def test_pending_goes_by_job_and_number_whatever_moves(service: Service) -> None:
    jobs = [await submitted(service, *"abc") for _ in range(3)]
    await submitted(service, "x", who="bob")
    async with service.client("ann") as client:
        first = (await client.get("/api/pending?pageSize=4")).json()
        assert [(item["jobId"], item["id"]) for item in first["items"]] == [
            *((jobs[0], n) for n in "123"),
            (jobs[1], "1"),
        ]
        await service.admin.execute("update forebay.item set updated_at = clock_timestamp()")
        rest = (await client.get(f"/api/pending?pageSize=100&after={first['next']}")).json()
        assert [(item["jobId"], item["id"]) for item in rest["items"]] == [
            *((jobs[1], n) for n in "23"),
            *((jobs[2], n) for n in "123"),
        ]
        assert rest["next"] is None
        await client.post(f"/api/jobs/{jobs[0]}/pause")
        paused = (await client.get("/api/pending", params={"jobId": jobs[0]})).json()["items"]
        assert {item["jobState"] for item in paused} == {"PAUSED"}
        assert (await client.get("/api/pending?userId=all")).status_code == 403
    async with service.client("root") as admin:
        everything = (await admin.get("/api/pending?userId=all")).json()["items"]
        assert {item["owner"] for item in everything} == {"ann", "bob"}


async def test_items_of_a_job_are_filtered_by_status_type_and_the_time_of_their_update(service: Service) -> None:
    job = await submitted(service, "a", "broken", "broken", "b")
    await service.work()
    await service.admin.execute(
        "update forebay.item set updated_at = '2030-01-01Z'::timestamptz + n * interval '1 hour'"
    )
    day = {"from": "2030-01-01T02:00:00Z", "to": "2030-01-01T03:00:00Z"}
    failed = {"statuses": "ERROR", "jobId": job}
    async with service.client("ann") as client:

        async def found(path: str, **query: str) -> list[str]:
            return [item["id"] for item in (await client.get(path, params=query)).raise_for_status().json()["items"]]

        assert await found("/api/pending", **failed) == ["2", "3"]
        assert await found("/api/pending", **failed, **day) == ["2"]
        assert await found("/api/pending", **failed, jobType="pages") == ["2", "3"]
        assert await found("/api/pending", **failed, jobType="others") == []
        assert await found("/api/pending", jobId=job, statuses="DONE,ERROR", **day) == ["2"]
        assert await found(f"/api/jobs/{job}/items", **day) == ["2"]
        assert await found(f"/api/jobs/{job}/items", statuses="DONE", **day) == []
        assert await found(f"/api/jobs/{job}/items", step="fetch", to=day["to"]) == ["2"]
        await client.post(
            f"/api/jobs/{job}/reprocess", json={"scope": "items", "itemIds": ["3"], "statuses": ["ERROR"]}
        )
        await service.admin.execute("update forebay.item set updated_at = '2030-01-01Z' where status = 'PENDING'")
        assert await found("/api/pending", **day) == []  # the job was, the item not
        assert await found("/api/pending", to=day["to"]) == ["3"]
    async with service.client("bob") as client:
        assert await found("/api/pending", **failed) == []


async def test_a_reprocess_with_a_key_runs_once(service: Service) -> None:
    job_id = await submitted(service, "broken", "a")
    await service.work()
    path = f"/api/jobs/{job_id}/reprocess"
    async with service.client("ann", **{"Idempotency-Key": "again"}) as client:
        first = await client.post(path, json={"scope": "job"})
        assert (first.status_code, first.json()) == (200, {"items": 1, "leftOut": {}})
        await service.work()
        second = await client.post(path, json={"scope": "job"})
        assert (second.status_code, second.json()) == (200, {"items": 1, "leftOut": {}})
        other = await client.post(path, json={"scope": "job", "statuses": ["DONE"]})
        assert other.json()["errors"] == [{"field": "Idempotency-Key", "reason": "was used for another request"}]
        job = (await client.get(f"/api/jobs/{job_id}")).json()
        assert (job["state"], job["counters"]["error"]) == ("DONE", 1)  # the second has run nothing
    async with service.client("bob", **{"Idempotency-Key": "again"}) as bob:  # keys are their owners'
        assert (await bob.post(path, json={"scope": "job"})).status_code == 404
    async with service.client("root", **{"Idempotency-Key": "again"}) as root:
        assert (await root.post(path, json={"scope": "job"})).json()["items"] == 1
    taken = service.app.openapi()["paths"]["/api/jobs/{job_id}/reprocess"]["post"]["parameters"]
    assert "Idempotency-Key" in [parameter["name"] for parameter in taken]


async def test_a_reprocess_that_was_refused_may_come_again(service: Service) -> None:
    job_id = await submitted(service, "broken")
    await service.work()
    async with service.client("ann", **{"Idempotency-Key": "k"}) as client:
        refused = await client.post("/api/jobs/999/reprocess", json={"scope": "job"})
        assert refused.status_code == 404
        assert (await client.post(f"/api/jobs/{job_id}/reprocess", json={"scope": "job"})).json()["items"] == 1


async def test_totals_are_those_of_the_caller(service: Service) -> None:
    await submitted(service, "a", "broken", "missing")
    await submitted(service, "a", who="bob")
    await service.work()
    await submitted(service, "b")
    counts = {"processing": 0, "skipped": 0, "pipeline": "pages"}
    expected = {
        "ann": counts | {"total": 4, "pending": 1, "done": 1, "notFound": 1, "error": 1},
        "bob": counts | {"total": 1, "pending": 0, "done": 1, "notFound": 0, "error": 0},
        "root": counts | {"total": 5, "pending": 1, "done": 2, "notFound": 1, "error": 1},
    }
    for who, totals in expected.items():
        async with service.client(who) as client:
            assert (await client.get("/api/totals")).json() == [totals]


async def test_dead_letters_are_dismissed_one_by_one_or_all(service: Service) -> None:
    async with service.client("ann") as client:
        job_id = await submitted(service, *["broken"] * 3)
        await service.work()
        path = f"/api/jobs/{job_id}/dismiss"
        one = await client.post(path, json={"scope": "items", "itemIds": ["2"]})
        assert one.json() == {"deadLetters": 1}
        left = (await client.get("/api/dead-letters")).json()["deadLetters"]
        assert sorted(letter["itemId"] for letter in left) == ["1", "3"]
        assert (await client.post(path, json={})).json() == {"deadLetters": 2}
        assert (await client.post(path, json={})).json() == {"deadLetters": 0}
        wrong = await client.post(path, json={"itemIds": ["1"]})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "itemIds")
        again = await client.post(f"/api/jobs/{job_id}/reprocess", json={})
        audit = (await client.get(f"/api/audit?jobId={job_id}")).json()["audit"]
    assert again.json()["items"] == 3
    assert [entry["action"] for entry in audit if entry["action"] == "dismiss"] == ["dismiss", "dismiss"]


async def test_a_page_of_dead_letters_goes_on_where_the_one_before_ended(service: Service) -> None:
    job_id = await submitted(service, *["broken"] * 5)
    await service.work()
    seen: list[str] = []
    async with service.client("ann") as client:
        after = ""
        while True:
            page = (await client.get(f"/api/dead-letters?pageSize=2&pipeline=pages{after}")).json()
            seen += [letter["itemId"] for letter in page["deadLetters"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert seen == ["5", "4", "3", "2", "1"]
        for query, found in (
            ("errorClass=data", 5),
            ("errorClass=config", 0),
            ("pipeline=x", 0),
            (f"jobId={job_id}", 5),
        ):
            assert len((await client.get(f"/api/dead-letters?{query}")).json()["deadLetters"]) == found
    async with service.client("bob") as client:
        assert (await client.get(f"/api/dead-letters?jobId={job_id}")).json() == {
            "deadLetters": [],
            "next": None,
            "searchedTo": None,
        }


async def test_an_idempotency_key_makes_two_requests_one(service: Service) -> None:
    body = {"pipeline": "pages", "input": {"title": "one"}}
    async with service.client("ann") as client:
        headers = {"Idempotency-Key": "abc"}
        together = await asyncio.gather(*(client.post("/api/jobs", json=body, headers=headers) for _ in range(5)))
        assert {answer.status_code for answer in together} <= {201, 409}
        answers = [answer for answer in together if answer.status_code == 201]
        answers.append(await client.post("/api/jobs", json=body, headers=headers))
        assert {answer.json()["jobId"] for answer in answers} == {answers[0].json()["jobId"]}
        other = await client.post("/api/jobs", json={**body, "priority": 1}, headers=headers)
        assert other.status_code == 422
        assert other.json()["errors"] == [{"field": "Idempotency-Key", "reason": "was used for another request"}]
    async with service.client("bob") as client:
        theirs = await client.post("/api/jobs", json=body, headers=headers)
        assert theirs.json()["jobId"] != answers[0].json()["jobId"]
    assert await service.admin.fetchval("select count(*) from forebay.job") == 2


async def test_a_key_is_free_when_its_job_is_in_another_state(service: Service) -> None:
    unique = {"states": ["QUEUED", "RUNNING"], "periodSeconds": 3600}
    body = {"pipeline": "pages", "input": {"title": "one"}, "key": "k", "unique": unique}
    async with service.client("ann") as client:
        first, again = [await client.post("/api/jobs", json=body) for _ in range(2)]
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json() | {"created": False}
        file = {"file": ("pages.jsonl", b'{"title": "two"}')}
        form = {"pipeline": "pages", "key": "k", "unique": json.dumps(unique)}
        uploaded = await client.post("/api/jobs", data=form, files=file)
        assert (uploaded.status_code, uploaded.json()["jobId"]) == (200, first.json()["jobId"])
        await client.post(f"/api/jobs/{first.json()['jobId']}/cancel")
        assert (await client.post("/api/jobs", json=body, headers={"Idempotency-Key": "i"})).status_code == 201


async def test_coalescing_postpones_a_job_up_to_max_wait(service: Service) -> None:
    body = {"pipeline": "pages", "key": "k", "coalesce": True, "maxWaitSeconds": 60, "runAt": "2035-01-01T00:00:00Z"}
    async with service.client("ann") as client:
        for title, headers in (("one", {}), ("two", {"Idempotency-Key": "i"})):
            done = await client.post("/api/jobs", json={**body, "input": {"title": title}}, headers=headers)
            assert done.json()["items"] == 1, done.text
    waits = "select s.run_at - j.created_at from forebay.scheduled s join forebay.job j on j.id = s.job_id"
    assert await service.admin.fetchval(waits) == timedelta(seconds=60)


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"pipeline": "nothing", "input": {}}, "pipeline", "there is no pipeline 'nothing'; there are pages"),
    ({"pipeline": "pages"}, "input", "send either `input`, for one item, or `items`"),
    ({"pipeline": "pages", "input": {}, "items": []}, "input", "send either `input`, for one item, or `items`"),
    ({"pipeline": "pages", "items": []}, "items", "must be 1 to 10000 items; upload a file for more"),
    ({"pipeline": "pages", "items": [{"title": "x"}], "coalesce": True}, "coalesce", "is only for one item"),
    ({"pipeline": "pages", "input": {}}, "input.title", "Field required"),
    (
        {"pipeline": "pages", "items": [{"title": "x"}, {"title": 3}]},
        "items[1].title",
        "Input should be a valid string",
    ),
    ({"pipeline": "pages", "input": {"title": "x"}, "priority": 101}, "priority", "Input should be less than or equal"),
    ({"pipeline": "pages", "input": {"title": "x"}, "colour": 1}, "colour", "there is no such field"),
    ({"pipeline": "pages", "input": {"title": "a\0b"}}, "input.title", "must not contain the character U+0000"),
    ({"pipeline": "pages", "input": {"title": "x"}, "coalesce": True}, "key", "is required for coalesce"),
    ({"pipeline": "pages", "input": {"title": "x"}, "maxWaitSeconds": 1}, "maxWaitSeconds", "is for coalesce only"),
    ({"pipeline": "pages", "items": [{"title": "x"}], "maxWaitSeconds": 1}, "maxWaitSeconds", "is for coalesce only"),
    ({"pipeline": "pages", "input": {"title": "x"}, "maxWait": 1}, "maxWait", "there is no such field"),
    ({"pipeline": "pages", "input": {"title": "x"}, "unique": {"periodSeconds": 60}}, "key", "is required for unique"),
    (
        {"pipeline": "pages", "input": {"title": "x"}, "key": "k", "unique": {"states": ["PENDING"]}},
        "unique.states.0",
        "Input should be 'QUEUED', 'RUNNING'",
    ),
    (
        {"pipeline": "pages", "input": {"title": "x"}, "runAt": "2030-01-01T00:00:00"},
        "runAt",
        "must have a time zone",
    ),
]


@pytest.mark.parametrize(("body", "field", "reason"), BAD, ids=[f"{field}-{n}" for n, (_, field, _) in enumerate(BAD)])
async def test_bad_input_names_the_field_and_the_reason(
    service: Service, body: dict[str, Any], field: str, reason: str
) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/jobs", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"][0]["field"] == field
    assert reason in answer.json()["errors"][0]["reason"]
    assert await service.admin.fetchval("select count(*) from forebay.job") == 0


@pytest.mark.parametrize("cursor", ["", "x", "!!!", "W10", "WzFd", "WyIxIl0", "bnVsbA", "W3RydWVd", "a" * 401])
async def test_a_cursor_that_is_none_of_ours(service: Service, cursor: str) -> None:
    async with service.client("ann") as client:
        answer = await client.get(f"/api/attempts?after={cursor}")
    assert answer.status_code == 422
    if len(cursor) <= 400:
        assert answer.json()["errors"][0]["reason"] == "is not a cursor of this list: use `next` of the previous page"


async def upload(service: Service, name: str, data: bytes, kind: str = "", **fields: str) -> Any:
    async with service.client("ann") as client:
        return await client.post("/api/jobs", data={"pipeline": "pages", **fields}, files={"file": (name, data, kind)})


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("rows.jsonl", b'{"title": "a"}\n\n{"title": "b", "size": 3}\n', ""),
        ("rows.csv", b'\xef\xbb\xbftitle,size\na,1\n"b\nc",2\n', ""),
        ("rows", b"title,size\r\na,1\r\nb,2\r\n", "text/csv; charset=utf-8"),
        ("rows.csv", "title;size\nZo\u00eb;1\nb;2\n".encode("cp1252"), ""),
    ],
)
async def test_a_file_of_items(service: Service, name: str, data: bytes, kind: str) -> None:
    answer = await upload(service, name, data, kind, priority="5", meta='{"from": "test"}')
    assert answer.status_code == 201, answer.text
    assert answer.json()["items"] == 2
    async with service.client("ann") as client:
        job = (await client.get(f"/api/jobs/{answer.json()['jobId']}")).json()
    assert (job["file"], job["priority"], job["meta"]) == (name, 5, {"from": "test"})


async def test_a_long_file_is_one_job(service: Service) -> None:
    data = "".join(f'{{"title": "row {n}"}}\n' for n in range(5000)).encode()
    answer = await upload(service, "rows.jsonl", data)
    assert answer.json()["items"] == 5000
    assert await service.admin.fetchval("select count(*) from forebay.item where owner_id = 1") == 5000


def _workbook() -> bytes:
    made = XlsxFile(["title", "size"])
    return made.write([("a", 1), ("b", 2)]) + made.close()


NO_WORKBOOKS = "is a workbook or an archive: save its rows as CSV, or send it to a pipeline that takes such files"

BAD_FILES = [
    ("rows.xlsx", _workbook(), NO_WORKBOOKS),
    ("rows.csv", _workbook(), f"file: {NO_WORKBOOKS}"),
    ("rows.jsonl", _workbook()[:1000], NO_WORKBOOKS[:29]),
    ("rows.jsonl", b'{"title": "a"}\n{"title": ', "line 2 is not JSON"),
    ("rows.jsonl", b'{"title": "a"}\n{"size": 1}', "file: row 2: title: Field required"),
    ("rows.jsonl", b'{"title": "\xff"}', "near line 1 is not UTF-8"),
    ("rows.jsonl", b'"' + b"x" * (5 << 20) + b'"', "line 1 is longer than 4194304 characters"),
    ("rows.csv", b"", "the file is empty"),
    ("rows.xlsx", b"title\na\n\xff\0\0\0", "line 3 has a NUL character"),
    ("rows.csv", b'{"title": "a"}\n', "the file is not a table but JSON Lines"),
    ("rows.csv", b"title,,size\na,b,1", "line 1 must name the columns, each once"),
    ("rows.csv", b"title,title\na,b", "line 1 must name the columns, each once"),
    ("rows.csv", b"title,size\na,1\nb,2,3", "line 3 has 3 cells, but there are 2 columns"),
    ("rows.csv", b'title,size\na,1\n"a"b,1', "line 3 has a quote inside a quoted cell"),
    ("rows.csv", "title,size\né,1\nà,1\n".encode() + b"\xe9,1", "line 4 is not utf-8: byte 0xe9 at position 1"),
]


@pytest.mark.parametrize(("name", "data", "reason"), BAD_FILES, ids=[reason for *_, reason in BAD_FILES])
async def test_a_file_that_cannot_be_read_leaves_nothing(service: Service, name: str, data: bytes, reason: str) -> None:
    answer = await upload(service, name, data)
    assert answer.status_code == 422
    assert reason in answer.json()["detail"]
    assert await service.admin.fetchval("select count(*) from forebay.job") == 0


async def test_an_input_that_is_too_large_is_named(service: Service) -> None:
    large = "x" * (1 << 20)
    uploaded = await upload(service, "rows.jsonl", b'{"title": "a"}\n{"title": "%s"}\n' % large.encode())
    async with service.client("ann") as client:
        listed = await client.post("/api/jobs", json={"pipeline": "pages", "items": [{"title": large}]})
    assert (uploaded.status_code, listed.status_code) == (413, 413)
    assert uploaded.json()["detail"].startswith("file: row 2: has 10485")
    assert listed.json()["errors"][0]["field"] == "items[0]"


async def test_bodies_of_other_kinds(service: Service) -> None:
    async with service.client("ann") as client:
        other = await client.post("/api/jobs", content=b"<xml/>", headers={"content-type": "text/xml"})
        broken = await client.post("/api/jobs", content=b"{", headers={"content-type": "application/json"})
        no_file = await client.post("/api/jobs", data={"pipeline": "pages"}, files={"other": b"x"})
    assert (other.status_code, other.json()["detail"]) == (
        415,
        "send application/json, or multipart/form-data with a file",
    )
    assert broken.status_code == 422
    assert broken.json()["detail"].startswith("body: is not JSON: ")
    assert no_file.json()["detail"] == "file: must be a file: JSON Lines, or CSV with a header"


async def test_a_request_that_is_too_large(dsn: str) -> None:
    async with serving(dsn, api_max_body_bytes=2000) as service, service.client("ann") as client:
        body = {"pipeline": "pages", "input": {"title": "x" * 3000}}
        said = await client.post("/api/jobs", json=body)

        async def unsaid() -> AsyncIterator[bytes]:
            yield b"{"
            yield b" " * 3000

        found = await client.post("/api/jobs", content=unsaid(), headers={"content-type": "application/json"})
    assert (said.status_code, found.status_code) == (413, 413)
    reason = "the request has more than 2000 bytes: raise FOREBAY_API_MAX_BODY_BYTES, or send less"
    assert said.json()["detail"] == reason


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/api/jobs?pageSize=501", "must not be more than 500"),
        ("/api/jobs?userId=bob", "must be `me` or `all`"),
        ("/api/jobs?userId=all", "only administrators may see the rows of others"),
        ("/api/jobs?from=2030-01-01T00:00:00", "needs a time zone, for example Z"),
        ("/api/jobs/abc", "there is no job 'abc'"),
        ("/api/jobs/1/items/99999999999", "there is no item '99999999999'"),
        ("/api/jobs/77/items/1", "there is no item 1 in job 77"),
        ("/api/jobs/77", "there is no job 77"),
        ("/api/jobs?pipeline=a%00b", "contains a character that cannot be stored, such as U+0000"),
        ("/api/pending?statuses=DONE", "DONE is not an open status: name a job with `jobId`"),
        ("/api/pending?statuses=HAPPY", "unknown status 'HAPPY'; the statuses are PENDING"),
    ],
)
async def test_questions_that_cannot_be_answered(service: Service, path: str, detail: str) -> None:
    async with service.client("ann") as client:
        answer = await client.get(path)
    assert 400 <= answer.status_code < 500
    assert detail in answer.json()["detail"]


async def test_reprocessing_wants_items_with_their_scope(service: Service) -> None:
    job_id = await submitted(service, "a")
    async with service.client("ann") as client:
        answer = await client.post(f"/api/jobs/{job_id}/reprocess", json={"scope": "items"})
    assert answer.json()["errors"] == [
        {"field": "itemIds", "reason": "is required with scope `items`, and only allowed with it"}
    ]


async def test_reprocessing_tells_why_items_that_were_named_are_left_out(service: Service) -> None:
    job_id = await submitted(service, "a", "broken")
    path = f"/api/jobs/{job_id}/reprocess"
    named = {"scope": "items", "itemIds": ["1", "2", "7"]}
    async with service.client("ann") as client:
        waiting = await client.post(path, json=named)
        assert waiting.json() == {"items": 0, "leftOut": {"PENDING": 2, "MISSING": 1}}
        await service.work()
        assert (await client.post(path, json=named)).json() == {"items": 1, "leftOut": {"DONE": 1, "MISSING": 1}}


async def test_pending_can_be_switched_off(dsn: str) -> None:
    async with serving(dsn, pending_enabled=False) as service, service.client("ann") as client:
        answer = await client.get("/api/pending")
    assert (answer.status_code, answer.json()["detail"]) == (404, "is disabled here: see FOREBAY_PENDING_ENABLED")


async def test_no_more_slices_than_this_process_can_bear(service: Service) -> None:
    job_id = await submitted(service, "a")
    for running, detail in (({77, 78}, "2 slices are already running"), ({1}, "a slice of yours is already running")):
        service.app.state.slices = running
        async with service.client("ann") as client:
            answer = await client.post(f"/api/jobs/{job_id}/kickoff?durationMs=5000")
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "6")
        assert answer.json()["detail"] == detail


async def test_one_owner_has_one_slice_at_a_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ends = asyncio.Event(), asyncio.Event()

    async def work(*_: object) -> int:
        begun.set()
        await ends.wait()
        return 7

    monkeypatch.setattr("forebay.api.submit.kickoff._run_slice", work)
    mine, theirs = await submitted(service, "a"), await submitted(service, "b", who="bob")
    async with service.client("ann") as ann, service.client("bob") as bob:
        first = asyncio.create_task(ann.post(f"/api/jobs/{mine}/kickoff"))
        await begun.wait()
        assert (await ann.post(f"/api/jobs/{mine}/kickoff")).status_code == 429
        ends.set()
        assert (await bob.post(f"/api/jobs/{theirs}/kickoff")).json()["settled"] == 7
        assert (await first).json()["settled"] == 7
        assert (await ann.post(f"/api/jobs/{mine}/kickoff")).status_code == 200


async def test_kickoff_can_be_switched_off(dsn: str) -> None:
    async with serving(dsn, kickoff_enabled=False) as service:
        job_id = await submitted(service, "a")
        async with service.client("ann") as client:
            answer = await client.post(f"/api/jobs/{job_id}/kickoff")
    assert (answer.status_code, answer.json()["detail"]) == (404, "is disabled here: see FOREBAY_KICKOFF_ENABLED")


async def test_a_body_that_is_no_object_is_named(service: Service) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/jobs", json=[])
        elsewhere = await client.post("/api/session", json=[])
    assert answer.json()["errors"][0]["field"] == elsewhere.json()["errors"][0]["field"] == "body"


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        (
            "/api/jobs?status=DONE",
            (
                "unknown parameter; this route takes after, from, maxItems, minItems, pageSize, pipeline, q, state, "
                "to, userId"
            ),
        ),
        (
            "/api/jobs/1/items?page=2&pageSize=1",
            "unknown parameter; this route takes after, from, pageSize, sort, status, statuses, step, to",
        ),
        ("/healthz?verbose", "unknown parameter; this route takes none"),
    ],
)
async def test_a_parameter_that_a_route_does_not_know(service: Service, path: str, detail: str) -> None:
    await submitted(service, "a")
    async with service.client("ann") as client:
        answer = await client.get(path)
    name = path.partition("?")[2].partition("=")[0]
    assert (answer.status_code, answer.json()["errors"]) == (422, [{"field": f"query.{name}", "reason": detail}])


async def test_what_was_done_to_a_job_is_in_the_audit_page_by_page(service: Service) -> None:
    job_id = await submitted(service, "a")
    other = await submitted(service, "b")
    async with service.client("ann") as client:
        for job, verb in ((job_id, "pause"), (other, "pause"), (job_id, "resume"), (job_id, "cancel")):
            await client.post(f"/api/jobs/{job}/{verb}")
        seen: list[str] = []
        after = ""
        while True:
            page = (await client.get(f"/api/audit?jobId={job_id}&pageSize=2{after}")).json()
            seen += [row["action"] for row in page["audit"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
    assert seen == ["cancel", "resume", "pause"]
    async with service.client("bob") as client:
        page = (await client.get("/api/audit")).json()
        assert page == {"audit": [], "next": None, "searched": 0, "searchedTo": None}


async def test_what_a_worker_failed_on_is_for_administrators(service: Service) -> None:
    await submitted(service, "broken")
    await service.work()
    for who, told in (("bob", None), ("root", "broken on purpose")):
        async with service.client(who) as client:
            assert {w["lastError"] for w in (await client.get("/api/workers")).json()["workers"]} <= {told}
    async with service.app.state.pools.owners.acquire() as conn:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await conn.fetch("select last_error from forebay.worker")


@pytest.mark.parametrize("meta", [f"{'[' * 2000}{']' * 2000}", f"[{'9' * 5000}]"], ids=["deep", "long number"])
async def test_what_cannot_be_shown_hides_nothing_else(service: Service, meta: str) -> None:
    good = await submitted(service, "a")
    bad = await submitted(service, "b")  # from before such things were refused at the door
    await service.admin.execute("update forebay.job set meta = $2::text::jsonb where id = $1", int(bad), meta)
    async with service.client("ann") as client:
        jobs = (await client.get("/api/jobs")).json()["jobs"]
    assert jobs[0]["meta"] == "(nested too deeply, or with too long a number, to be shown here)"
    assert jobs[1]["id"] == good


@pytest.mark.parametrize("path", ["/api/jobs", "/api/pending"])
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("from=0001-01-01T00:00:00%2B14:00", "is out of range"),
        ("to=9999-12-31T23:59:59-14:00", "is out of range"),
        ("from=2030-01-01T00:00:00", "needs a time zone, for example Z"),
    ],
)
async def test_times_that_are_none(service: Service, path: str, query: str, reason: str) -> None:
    async with service.client("ann") as client:
        refused = await client.get(f"{path}?{query}")
    field = f"query.{query.partition('=')[0]}"
    assert (refused.status_code, refused.json()["detail"]) == (422, f"{field}: {reason}")
    assert refused.json()["errors"] == [{"field": field, "reason": reason}]


@pytest.mark.parametrize("when", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2030-01-01T00:00:00"])
@pytest.mark.parametrize("path", ["/api/attempts", "/api/dead-letters"])
async def test_cursors_of_no_time(service: Service, path: str, when: str) -> None:
    parts = [when, 1, 1, 1] if "letters" in path else [when, 1, 1]
    cursor = base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")
    async with service.client("ann") as client:
        refused = await client.get(f"{path}?after={cursor}")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "query.after")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "detail"),
    [
        ("POST", "/api/jobs/1/reprocess", '{"scope":', 422, "body: is not JSON: Expecting value (char 9)"),
        ("POST", "/api/jobs/1/reprocess", '"x"', 422, "body: must be an object, as application/json"),
        ("POST", "/api/jobs", "[]", 422, "body: must be an object, as application/json"),
        ("POST", "/api/jobs", '{"pipeline": "pages", "input": {}, "runAt": "soon"}', 422,
         "runAt: must be a time, for example 2030-01-31T12:00:00Z"),
        ("POST", "/api/jobs", '{"pipeline": "pages", "input": {}, "colour": 1}', 422, "colour: there is no such field"),
        ("POST", "/api/jobs/1/reprocess", '{"scope": "items", "itemIds": ["x"]}', 422,
         "itemIds.0: must be a number, as text"),
        ("POST", "/api/jobs/1/reprocess", '{"scope": "items"}', 422,
         "itemIds: is required with scope `items`, and only allowed with it"),
        ("GET", "/api/jobs?from=yesterday", None, 422, "query.from: must be a time, for example 2030-01-31T12:00:00Z"),
        ("GET", "/api/jobs?pageSize=600", None, 422, "query.pageSize: must not be more than 500"),
        ("GET", "/api/attempts?jobId=x", None, 422, "query.jobId: must be a number, as text"),
        ("GET", "/api/nothing", None, 404, "there is nothing at /api/nothing; see /api/docs"),
        ("PUT", "/api/jobs", "{}", 405, "there is no PUT of /api/jobs; see /api/docs"),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_said_in_words_for_callers(
    service: Service, method: str, path: str, body: str | None, status: int, detail: str
) -> None:
    async with service.client("ann") as client:
        refused = await client.request(method, path, content=body, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["detail"]) == (status, detail)


async def test_what_is_nested_too_deeply_to_be_shown_is_refused(service: Service) -> None:
    deep = json.loads(f'{{"m": {"[" * 150}{"]" * 150}}}')
    async with service.client("ann") as client:
        refused = await client.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "a"}, "meta": deep})
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"field": "meta", "reason": "is nested more than 100 levels deep"}]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (
            b'{"pipeline": "pages",}',
            "is not JSON: Expecting property name enclosed in double quotes: line 1 column 22 (char 21)",
        ),
        (b"\xff\xfe\xff", "is not JSON: it is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "is not JSON: it has a number that is too long"),
    ],
    ids=["nothing", "comma", "binary", "deep", "long number"],
)
async def test_a_body_that_is_no_json_is_told_where(service: Service, body: bytes, reason: str) -> None:
    async with service.client("ann") as client:
        refused = await client.post("/api/jobs", content=body, headers={"content-type": "application/json"})
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"field": "body", "reason": reason}]


async def test_meta_of_a_form_that_is_too_deep(service: Service) -> None:
    deep = f'{{"m": {"[" * 2000}{"]" * 2000}}}'
    async with service.client("ann") as client:
        refused = await client.post(
            "/api/jobs", data={"pipeline": "pages", "meta": deep}, files={"file": ("a.jsonl", b'{"title": "a"}')}
        )
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"field": "meta", "reason": "must be JSON, and not nested too deeply"}]


async def test_a_signal_reaches_the_callers_tasks_only(service: Service) -> None:
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    for name in ("ann", "bob"):
        async with service.client(name) as client:
            sent = {"pipeline": "pages", "input": {"title": name}, "runAt": later}
            job = (await client.post("/api/jobs", json=sent)).json()["jobId"]
        await service.admin.execute(
            "insert into forebay.waiting (job_id, n, bit, owner_id, name, key, expires_at) "
            "select s.job_id, 1, p.bit, s.owner_id, 'only-here', '1', s.run_at "
            "from forebay.scheduled s join forebay.step p on p.id = s.step_id where s.job_id = $1",
            int(job),
        )
    async with service.client("ann") as ann:
        answer = await ann.post("/api/signals", json={"name": "only-here", "key": "1", "payload": {"x": [1]}})
        assert (answer.status_code, answer.json()) == (200, {"tasks": 1})
        answer = await ann.post("/api/signals", json={"name": "only-here", "key": "1", "keepSeconds": 60})
        assert answer.json() == {"tasks": 0}
        answer = await ann.post("/api/signals", json={"name": "only-here", "key": "", "owner": "bob"})
        assert answer.status_code == 422
    rows = await service.admin.fetch(
        "select o.name, w.payload from forebay.waiting w join forebay.owner o on o.id = w.owner_id "
        "where w.name = 'only-here' order by 1"
    )
    assert [tuple(row) for row in rows] == [("ann", '{"x": [1]}'), ("bob", None)]
    kept = await service.admin.fetchval(
        "select o.name from forebay.kept_signal k join forebay.owner o on o.id = k.owner_id where k.name = 'only-here'"
    )
    assert kept == "ann"


async def test_a_repeated_signal_is_sent_once(service: Service) -> None:
    body = {"name": "paid", "key": "1", "keepSeconds": 3653 * 86400}
    async with service.client("ann", **{"Idempotency-Key": "s"}) as ann:
        answers = [await ann.post("/api/signals", json=body) for _ in range(2)]
        assert [(answer.status_code, answer.json()) for answer in answers] == 2 * [(200, {"tasks": 0})]
        other = await ann.post("/api/signals", json={**body, "key": "2"})
        assert other.json()["errors"] == [{"field": "Idempotency-Key", "reason": "was used for another request"}]
    assert await service.admin.fetchval("select count(*) from forebay.kept_signal") == 1


async def test_a_kept_signal_too_many_is_refused(service: Service) -> None:
    await service.admin.execute(
        "insert into forebay.kept_signal (owner_id, name, key, at, expires_at) "
        "select o.id, 'paid', g::text, now(), now() + interval '1 day' "
        "from forebay.owner o, generate_series(1, 10000) g where o.name = 'ann'"
    )
    async with service.client("ann") as ann:
        refused = await ann.post("/api/signals", json={"name": "paid", "key": "a"})
        assert refused.status_code == 409
        assert [error["field"] for error in refused.json()["errors"]] == ["owner"]


async def test_every_id_in_a_response_is_a_string(service: Service) -> None:
    """JavaScript loses digits of numbers above 2^53. The routes of an earlier service keep its numbers."""
    schemas: dict[str, Any] = service.app.openapi()["components"]["schemas"]
    numbers = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        if not name.startswith("Legacy") and name != "MessageResult"
        for field, about in schema.get("properties", {}).items()
        if field == "id" or field.endswith(("Id", "Ids"))
        for kind in [about, *about.get("anyOf", []), about.get("items", {})]
        if kind.get("type") in {"integer", "number"}
    ]
    assert numbers == []
