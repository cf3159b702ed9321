"""Why work waits, over the API: what each caller may know and do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forebay import Context, Limit, Pipeline
from forebay.engine.work.worker import Worker
from forebay.identity.accounts import make_token
from tests.api._service import Service, serving


async def _submit(service: Service, who: str, count: int = 1, **options: object) -> str:
    async with service.client(who) as client:
        items = [{"title": f"{who}'s {n}"} for n in range(count)]
        answer = await client.post("/api/jobs", json={"pipeline": "pages", "items": items, **options})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["jobId"])


async def test_reasons_of_an_item_a_job_and_a_queue(service: Service) -> None:
    job = await _submit(service, "ann", 3)
    async with service.client("ann") as ann:
        answer = (await ann.get(f"/api/jobs/{job}/items/2/why")).json()
        assert answer["status"] == "PENDING"
        first, second, third = answer["reasons"]
        assert (first["code"], first["step"], first["since"], first["until"]) == ("no_worker", "fetch", None, None)
        assert first["facts"] == {"queue": "pages.fetch", "workers": 0}
        assert second["facts"] == {"ahead": 1, "aheadExact": True, "share": 1.0, "owners": 0, "priority": 0}
        assert (third["code"], third["facts"]) == ("blocked_by_step", {"needs": ["fetch"]})
        answer = (await ann.get(f"/api/jobs/{job}/why")).json()
        assert (answer["status"], answer["reasons"][0]["code"]) == ("QUEUED", "no_worker")
        assert answer["reasons"][0]["facts"] == {
            "queue": "pages.fetch",
            "workers": 0,
            "tasks": 3,
            "tasksExact": True,
            "item": "1",
        }
        answer = (await ann.get("/api/queues/pages.fetch/why")).json()
        assert [reason["code"] for reason in answer["reasons"]] == ["no_worker"]
        assert (await ann.get("/api/queues/nothing/why")).status_code == 404


async def test_actions_are_those_of_the_caller(service: Service) -> None:
    job = await _submit(service, "ann")
    async with service.client("root") as root, service.client("ann") as ann:
        await root.post("/api/queues/pages.fetch/pause")
        await ann.post(f"/api/jobs/{job}/pause")
        path = f"/api/jobs/{job}/why"
        mine, theirs = [(await client.get(path)).json()["reasons"] for client in (ann, root)]
        assert [reason["code"] for reason in mine] == ["job_paused", "queue_paused", "no_worker"]
        assert [(reason["facts"].get("by"), reason["actions"]) for reason in mine[:2]] == [
            ("ann", ["resume_job", "cancel_job"]),
            (None, []),
        ]
        assert [(reason["facts"].get("by"), reason["actions"]) for reason in theirs[:2]] == [
            ("ann", ["resume_job", "cancel_job"]),
            ("root", ["resume_queue"]),
        ]
        account = await service.admin.fetchval("select id from forebay.account where name = 'ann'")
        service.tokens["reader"] = await make_token(service.admin, account, "reads", ["read"])
    async with service.client("reader") as reader:
        mine = (await reader.get(path)).json()["reasons"]
        assert [reason["actions"] for reason in mine] == [[], [], []]


async def test_a_second_owner_sees_numbers_only(service: Service) -> None:
    theirs, urgent = await _submit(service, "ann", 3), await _submit(service, "ann", 2, priority=5)
    await _submit(service, "bob")
    mine = await _submit(service, "bob")
    async with service.client("bob") as bob:
        for path in ("why", "items/1/why", "graph", "ribbon"):
            for job in (theirs, urgent):
                assert (await bob.get(f"/api/jobs/{job}/{path}")).status_code == 404
        answer = await bob.get(f"/api/jobs/{mine}/items/1/why")
        reasons = {reason["code"]: reason for reason in answer.json()["reasons"]}
        assert reasons["outranked"]["facts"] == {"higher": 2, "higherExact": True, "priority": 0}
        expected = {"ahead": 1, "aheadExact": True, "share": 0.5, "owners": 1, "priority": 0}
        assert reasons["behind"]["facts"] == expected
        assert "ann" not in answer.text
        assert (await bob.get(f"/api/jobs/{mine}/items/2/why")).status_code == 404


async def test_a_limit_that_others_use_is_told_as_numbers(dsn: str) -> None:
    gated: Pipeline[dict[str, Any]] = Pipeline("gated", dict[str, Any])
    began, opened = asyncio.Event(), asyncio.Event()

    @gated.step(limits=[Limit("site", concurrency=1, key=lambda value: value["site"])])
    async def hold(ctx: Context, value: dict[str, Any]) -> None:
        began.set()
        await opened.wait()

    async with serving(dsn, gated) as service, service.client("bob") as bob, service.client("ann") as ann:
        body = {"pipeline": "gated", "input": {"site": "a.example"}}
        await ann.post("/api/jobs", json=body)
        worker = Worker(dsn, [gated])
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(30):
            await began.wait()
            job = (await bob.post("/api/jobs", json=body)).json()["jobId"]
            while not await service.admin.fetchval(
                "select 1 from forebay.ready r join forebay.lane l on l.id = r.lane_id where l.limit_name <> ''"
            ):
                pass
        await worker.report_status()
        answer = await bob.get(f"/api/jobs/{job}/items/1/why")
        reason = answer.json()["reasons"][0]
        facts = {"limit": "site", "key": "a.example", "slots": 1, "inUse": 1, "owners": 0, "ahead": 0}
        assert (reason["code"], reason["facts"]) == ("slots_full", facts)
        assert "ann" not in answer.text
        opened.set()
        worker.stop()
        await running


async def test_steps_and_slices(service: Service) -> None:
    job = await _submit(service, "ann", 4)
    async with service.client("ann") as ann:
        steps = (await ann.get(f"/api/jobs/{job}/graph")).json()["steps"]
        assert [(step["name"], step["after"], step["waiting"], step["exact"]) for step in steps] == [
            ("fetch", [], 4, True),
            ("count", ["fetch"], 0, True),
        ]
        await service.work()
        steps = (await ann.get(f"/api/jobs/{job}/graph")).json()["steps"]
        assert [(step["waiting"], step["done"], step["onHold"]) for step in steps] == [(0, 4, 0), (0, 4, 0)]
        answer = (await ann.get(f"/api/jobs/{job}/ribbon", params={"buckets": 2})).json()
        assert [(each["from"], each["to"], each["done"], each["notFound"]) for each in answer["slices"]] == [
            (1, 2, 2, 0),
            (3, 4, 2, 0),
        ]
        assert (await ann.get(f"/api/jobs/{job}/why")).json()["reasons"] == []


@pytest.mark.parametrize("buckets", [0, 1001])
async def test_the_number_of_slices_is_bounded(service: Service, buckets: int) -> None:
    async with service.client("ann") as ann:
        assert (await ann.get("/api/jobs/1/ribbon", params={"buckets": buckets})).status_code == 422


async def test_the_first_reasons_of_several_jobs_come_with_one_request(service: Service) -> None:
    waits, paused, others = (
        await _submit(service, "ann", 2),
        await _submit(service, "ann"),
        await _submit(service, "bob"),
    )
    async with service.client("ann") as ann:
        await ann.post(f"/api/jobs/{paused}/pause")
        answer = (await ann.get(f"/api/why?jobIds={paused},{waits},{others},999,{waits}")).json()
        assert [(each["jobId"], each["reason"]["code"]) for each in answer["jobs"]] == [
            (paused, "job_paused"),
            (waits, "no_worker"),
        ]
        await ann.post(f"/api/jobs/{paused}/cancel")
        await ann.post(f"/api/jobs/{waits}/cancel")
        assert (await ann.get(f"/api/why?jobIds={paused},{waits}")).json()["jobs"] == []
        many = ",".join(str(n) for n in range(1, 22))
        assert (await ann.get(f"/api/why?jobIds={many}")).status_code == 422
