"""Lists of jobs: searched, folded and counted; what they are about; filters of attempts and of the audit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.api._service import Service


async def submit(service: Service, count: int = 1, *, who: str = "ann", key: str | None = None) -> str:
    body: dict[str, Any] = {"pipeline": "pages", "items": [{"title": "a"} for _ in range(count)], "key": key}
    async with service.client(who) as client:
        answer = await client.post("/api/jobs", json=body)
    assert answer.status_code == 201, answer.text
    job_id: str = answer.json()["jobId"]
    return job_id


async def listed(service: Service, query: str, who: str = "ann") -> list[str]:
    async with service.client(who) as client:
        answer = await client.get(f"/api/jobs?{query}")
    assert answer.status_code == 200, answer.text
    return [job["id"] for job in answer.json()["jobs"]]


async def test_jobs_are_searched_by_several_states_pipelines_words_and_sizes(service: Service) -> None:
    small, large, paused = await submit(service), await submit(service, 3), await submit(service, 2, key="March prices")
    async with service.client("ann") as client:
        await client.post(f"/api/jobs/{paused}/pause")
    await service.admin.execute("update forebay.job set file = 'Products 2026.csv' where id = $1", int(large))
    assert await listed(service, "state=QUEUED,PAUSED") == [paused, large, small]
    assert await listed(service, "state=PAUSED") == [paused]
    assert await listed(service, "state=DONE,PAUSED") == [paused]
    assert await listed(service, "pipeline=pages,other") == [paused, large, small]
    assert await listed(service, "pipeline=other") == []
    assert await listed(service, "q=MARCH") == [paused]
    assert await listed(service, "q=2026.csv") == [large]
    assert await listed(service, "minItems=2") == [paused, large]
    assert await listed(service, "minItems=2&maxItems=2") == [paused]
    assert await listed(service, "q=march", who="bob") == []


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        (
            "state=QUEUED,BUSY",
            "query.state",
            "unknown state 'BUSY'; the states are QUEUED, RUNNING, PAUSED, DONE, FAILED, CANCELLED",
        ),
        ("minItems=-1", "query.minItems", "Input should be greater than or equal to 0"),
    ],
)
async def test_filters_that_are_invalid(service: Service, query: str, field: str, reason: str) -> None:
    async with service.client("ann") as client:
        for path in ("/api/jobs", "/api/jobs/folded"):
            answer = await client.get(f"{path}?{query}")
            assert (answer.status_code, answer.json()["errors"]) == (422, [{"field": field, "reason": reason}])


async def test_a_search_says_how_far_it_looked(service: Service) -> None:
    await service.admin.execute(
        """insert into forebay.job (owner_id, pipeline_id, state, steps, lane_id, total, finished_at, created_at)
           select o.id, 1, 'DONE', 1, 0, 1, clock_timestamp(), '2026-01-01Z'::timestamptz + g * interval '1 s'
           from forebay.owner o, generate_series(1, 20001) g where o.name = 'ann'"""
    )
    async with service.client("ann") as client:
        page = (await client.get("/api/jobs?q=needle")).json()
        assert (page["jobs"], page["searched"], page["searchedTo"]) == ([], 20_000, "2026-01-01T00:00:02Z")
        page = (await client.get("/api/jobs", params={"q": "needle", "after": page["next"]})).json()
        assert (page["jobs"], page["searched"], page["next"]) == ([], 1, None)
        counts = (await client.get("/api/jobs/counts")).json()
        assert (counts["exact"], counts["states"]["done"], counts["searched"]) == (False, 20_000, 20_000)
        hours: Counter[str] = Counter()
        pages, after = 0, ""
        while pages == 0 or after:
            folded = (await client.get(f"/api/jobs/folded?pageSize=4{after}")).json()
            hours.update({entry["group"]["hour"][11:13]: entry["group"]["jobs"] for entry in folded["entries"]})
            assert (len(folded["entries"]) <= 4, folded["searched"] <= 5000) == (True, True)
            pages, after = pages + 1, f"&after={folded['next']}" if folded["next"] else ""
        assert hours == {"05": 2002, "04": 3600, "03": 3600, "02": 3600, "01": 3600, "00": 3599}
        assert pages == 5
        # What is older than the range need not be read.
        page = (await client.get("/api/jobs?from=2026-06-01T00:00:00Z")).json()
        assert (page["searched"], page["next"]) == (0, None)


async def test_jobs_of_one_item_are_folded_by_pipeline_and_hour(service: Service) -> None:
    jobs = [await submit(service) for _ in range(3)]
    large = await submit(service, 2)
    last = await submit(service)
    theirs = await submit(service, who="bob")
    await service.admin.execute("update forebay.job set created_at = '2026-05-01T10:30Z'")
    await service.admin.execute("update forebay.job set state = 'FAILED', error = 1 where id = $1", int(jobs[0]))
    async with service.client("ann") as client:
        page = (await client.get("/api/jobs/folded")).json()
        first, second = page["entries"]
        assert (first["job"], second["group"], second["job"]["id"]) == (None, None, large)
        group = first["group"]
        assert (group["pipeline"], group["hour"], group["jobs"]) == ("pages", "2026-05-01T10:00:00Z", 4)
        assert (group["firstId"], group["lastId"]) == (jobs[0], last)
        assert (group["states"]["queued"], group["states"]["failed"]) == (3, 1)
        assert group["counters"] == {"total": 4, "pending": 3, "done": 0, "skipped": 0, "notFound": 0, "error": 1}
        within = "from=2026-05-01T10:00:00Z&to=2026-05-01T11:00:00Z&pipeline=pages&maxItems=1"
        assert await listed(service, within) == [last, *reversed(jobs)]
        # A group that goes on in the next page is there again, with its other jobs.
        page = (await client.get("/api/jobs/folded?pageSize=1")).json()
        assert [(entry["group"]["jobs"], entry["job"]) for entry in page["entries"]] == [(1, None)]
        page = (await client.get("/api/jobs/folded", params={"after": page["next"]})).json()
        assert [entry["job"] and entry["job"]["id"] for entry in page["entries"]] == [large, None]
        assert page["entries"][1]["group"]["jobs"] == 3
    async with service.client("bob") as client:
        (entry,) = (await client.get("/api/jobs/folded")).json()["entries"]
        assert (entry["group"]["jobs"], entry["group"]["lastId"]) == (1, theirs)


async def test_jobs_are_counted_by_state(service: Service) -> None:
    for _ in range(2):
        await submit(service)
    paused = await submit(service)
    await submit(service, who="bob")
    none = {"queued": 0, "running": 0, "paused": 0, "done": 0, "failed": 0, "cancelled": 0}
    async with service.client("ann") as client:
        await client.post(f"/api/jobs/{paused}/pause")
        counts = (await client.get("/api/jobs/counts")).json()
        assert counts["states"] == none | {"queued": 2, "paused": 1}
        assert (counts["exact"], counts["searched"], counts["lastId"]) == (True, 3, paused)
    async with service.client("root") as client:
        assert (await client.get("/api/jobs/counts?userId=all")).json()["states"] == none | {"queued": 3, "paused": 1}
        assert (await client.get("/api/jobs/counts")).json() == {
            "states": none,
            "exact": True,
            "searched": 0,
            "searchedTo": None,
            "lastId": None,
        }


async def test_attempts_are_filtered_by_time_and_class(service: Service) -> None:
    job_id = await submit(service, 2)
    await service.admin.execute(
        """insert into forebay.attempt (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at,
                                        ended_at, class)
           select j.id, g, 1, 1, 'ERROR', j.owner_id, 0, g, t.at, t.at, case when g = 1 then 'data' else 'transient' end
           from forebay.job j, generate_series(1, 2) g,
                lateral (select '2026-03-01T12:00Z'::timestamptz + g * interval '1 hour' as at) t
           where j.id = $1""",
        int(job_id),
    )
    for query, found in (
        ("errorClass=data", ["1"]),
        ("from=2026-03-01T13:30:00Z", ["2"]),
        ("to=2026-03-01T13:30:00Z", ["1"]),
        ("from=2026-03-01T13:00:00Z&to=2026-03-01T14:00:00Z", ["1"]),
        ("from=2026-03-01T13:00:00Z&to=2026-03-01T14:00:01Z", ["2", "1"]),
        ("from=2026-03-02T00:00:00Z", []),
        ("from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", []),
    ):
        for scope in ("", f"&jobId={job_id}"):
            async with service.client("ann") as client:
                answer = await client.get(f"/api/attempts?{query}{scope}")
            assert [attempt["itemId"] for attempt in answer.json()["attempts"]] == found, (query, scope)
            async with service.client("bob") as client:
                assert (await client.get(f"/api/attempts?{query}{scope}")).json()["attempts"] == []


async def test_the_audit_is_filtered_by_actor_action_and_time(service: Service) -> None:
    job_id = await submit(service)
    async with service.client("ann") as client:
        await client.post(f"/api/jobs/{job_id}/pause")
    async with service.client("root") as client:
        await client.post(f"/api/jobs/{job_id}/resume")
    await service.admin.execute("update forebay.audit set at = '2026-03-01T12:00Z' where action = 'pause'")
    async with service.client("ann") as client:
        rows = (await client.get(f"/api/audit?jobId={job_id}")).json()["audit"]
        actors = {row["action"]: row["actor"] for row in rows}
        assert set(actors) == {"pause", "resume"}
        for query, found in (
            ("action=pause", ["pause"]),
            (f"actor={actors['resume']}", ["resume"]),
            ("from=2026-03-01T12:00:00Z&to=2026-03-01T12:00:01Z", ["pause"]),
            ("from=2026-04-01T12:00:00Z", ["resume"]),
            ("actor=nobody", []),
        ):
            page = (await client.get(f"/api/audit?{query}&jobId={job_id}")).json()
            assert [row["action"] for row in page["audit"]] == found, query
        assert (await client.get("/api/audit?action=pause")).json()["searched"] >= 1
    async with service.client("bob") as client:
        assert (await client.get("/api/audit?action=pause")).json()["audit"] == []
