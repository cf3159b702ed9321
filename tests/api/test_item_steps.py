"""The steps of an item: their states, times and attempts; items are paused, resumed and cancelled one by one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forebay import Context, NotFound, Pipeline, Retry, Skip
from forebay.engine.work.worker import Worker
from forebay.errors import DataError, TransientError
from forebay.settings import Settings
from tests.api._service import Service, serving

tree: Pipeline[dict[str, Any]] = Pipeline("tree", dict)
may_end = asyncio.Event()


@tree.step()
async def root(ctx: Context, value: dict[str, Any]) -> int:
    return 1


@tree.step(after=root, optional=True)
async def thumbnail(ctx: Context, value: dict[str, Any], size: int) -> int:
    raise DataError("no picture")


@tree.step(after=root, retry=Retry(attempts=5, base=300.0, jitter=False))  # not before these tests end
async def look_up(ctx: Context, value: dict[str, Any], size: int) -> int | NotFound | Skip:
    match value["kind"]:
        case "missing":
            return NotFound("not in the catalogue")
        case "skipped":
            return Skip("nothing to look up")
        case "late":
            raise TransientError("come back later")
        case "slow":
            ctx.progress(0.5, "half", bytes_done=5, bytes_total=10)
            await may_end.wait()
    return 2


@tree.step(after=look_up, retry=Retry(attempts=1))
async def store(ctx: Context, value: dict[str, Any], found: int | None) -> int:
    if value["kind"] == "broken":
        raise TransientError("the disk is full")
    return 3


@pytest.fixture
async def service(dsn: str) -> AsyncIterator[Service]:
    may_end.clear()
    async with serving(dsn, tree) as running:
        yield running


async def submitted(service: Service, *kinds: str) -> str:
    async with service.client("ann") as client:
        answer = await client.post("/api/jobs", json={"pipeline": "tree", "items": [{"kind": kind} for kind in kinds]})
    job_id: str = answer.json()["jobId"]
    return job_id


async def item_of(service: Service, job_id: str, n: int = 1) -> dict[str, Any]:
    async with service.client("ann") as client:
        answer = await client.get(f"/api/jobs/{job_id}/items/{n}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def states(item: dict[str, Any]) -> dict[str, str]:
    return {step["name"]: step["state"] for step in item["steps"]}


async def test_the_states_of_all_steps(service: Service) -> None:
    job_id = await submitted(service, "plain", "missing", "skipped", "broken", "late")
    before = await item_of(service, job_id)
    assert states(before) == {"root": "WAITING", "thumbnail": "BLOCKED", "look_up": "BLOCKED", "store": "BLOCKED"}
    assert [step["after"] for step in before["steps"]] == [[], ["root"], ["root"], ["look_up"]]
    assert [step["optional"] for step in before["steps"]] == [False, True, False, False]
    worker = Worker(service.dsn, [tree], settings=Settings(listen=False))
    await worker.run_slice(20)
    ended = {"root": "DONE", "thumbnail": "FAILED", "look_up": "DONE", "store": "DONE"}
    assert states(await item_of(service, job_id)) == ended
    assert states(await item_of(service, job_id, 2)) == ended | {"look_up": "NOT_FOUND", "store": "SKIPPED"}
    assert states(await item_of(service, job_id, 3)) == ended | {"look_up": "SKIPPED"}
    assert states(await item_of(service, job_id, 4)) == ended | {"store": "FAILED"}
    late = await item_of(service, job_id, 5)
    assert states(late) == ended | {"look_up": "SCHEDULED", "store": "BLOCKED"}


async def test_the_last_attempt_of_each_step(service: Service) -> None:
    job_id = await submitted(service, "late")
    await Worker(service.dsn, [tree], settings=Settings(listen=False)).run_slice(5)
    item = await item_of(service, job_id)
    root_step, thumbnail_step, look_up_step, store_step = item["steps"]
    assert (root_step["attempts"], root_step["result"], root_step["reason"]) == (1, 1, None)
    assert (thumbnail_step["errorClass"], thumbnail_step["reason"]) == ("data", "no picture")
    assert (look_up_step["errorClass"], look_up_step["reason"]) == ("transient", "come back later")
    assert look_up_step["attempts"] >= 1
    assert datetime.fromisoformat(look_up_step["nextAt"]) > datetime.fromisoformat(look_up_step["endedAt"])
    assert (store_step["attempts"], store_step["startedAt"], store_step["worker"]) == (0, None, None)
    assert item["error"] | {"attempt": 0} == {
        "step": "look_up",
        "class": "transient",
        "reason": "come back later",
        "attempt": 0,
    }
    assert item["attemptsCut"] is False
    for attempt in item["attempts"]:
        claimed, started, ended = (
            datetime.fromisoformat(attempt[name]) for name in ("claimedAt", "startedAt", "endedAt")
        )
        assert claimed <= started + timedelta(milliseconds=2)
        assert started <= ended
        assert abs(ended - datetime.now(UTC)) < timedelta(minutes=5)


async def test_a_running_step_has_its_worker_and_its_progress(service: Service) -> None:
    job_id = await submitted(service, "slow")
    worker = Worker(service.dsn, [tree], settings=Settings(listen=False, poll_s=0.05))
    running = asyncio.create_task(worker.run())
    try:
        item = await item_of(service, job_id)
        while item["progress"] is None:
            item = await item_of(service, job_id)
        step = item["steps"][2]
        assert (step["state"], step["attempts"], step["endedAt"]) == ("RUNNING", 1, None)
        assert step["worker"] == item["attempts"][0]["worker"]
        assert datetime.fromisoformat(step["leaseUntil"]) > datetime.fromisoformat(step["startedAt"])
        assert item["progress"] | {"endsAt": None, "bytesPerSecond": None} == {
            "step": "look_up",
            "fraction": 0.5,
            "note": "half",
            "bytesDone": 5,
            "bytesTotal": 10,
            "bytesPerSecond": None,
            "endsAt": None,
        }
        async with service.client("ann") as client:
            refused = await client.post(f"/api/jobs/{job_id}/items/1/pause")
            assert refused.status_code == 409
            assert "a worker has item 1" in refused.json()["detail"]
        await worker.report_status()
        async with service.client("root") as client:
            workers = (await client.get("/api/workers")).json()["workers"]
        step_status = workers[0]["steps"]["tree.look_up"]
        assert (step_status["running"], step_status["concurrency"]["least"]) == (1, 1)
        assert set(workers[0]["machine"]) == {"share", "lagMs", "load", "freeMemory"}
    finally:
        may_end.set()
        worker.stop()
        await running


async def test_an_item_is_paused_resumed_and_cancelled(service: Service) -> None:
    job_id = await submitted(service, "plain", "plain")
    path = f"/api/jobs/{job_id}/items/1"
    async with service.client("ann") as client:
        for action, changed in (("pause", True), ("pause", False)):
            answer = await client.post(f"{path}/{action}")
            assert (answer.status_code, answer.json()) == (200, {"changed": changed, "status": "PENDING"})
        assert states(await item_of(service, job_id))["root"] == "HELD"
        for changed in (True, False):
            answer = await client.post(f"{path}/resume")
            assert answer.json() == {"changed": changed, "status": "PENDING"}
        assert states(await item_of(service, job_id))["root"] == "WAITING"
        for changed in (True, False):
            answer = await client.post(f"{path}/cancel")
            assert answer.json() == {"changed": changed, "status": "SKIPPED"}
        assert set(states(await item_of(service, job_id)).values()) == {"SKIPPED"}
        ended = await client.post(f"{path}/pause")
        assert (ended.status_code, ended.json()["detail"]) == (
            409,
            f"item: item 1 of job {job_id} has ended: it is SKIPPED",
        )
        assert (await client.post(f"/api/jobs/{job_id}/items/9/pause")).status_code == 404
        audit = (await client.get(f"/api/audit?jobId={job_id}")).json()["audit"]
        assert [row["action"] for row in audit] == ["cancel_item", "resume_item", "pause_item"]


async def test_items_of_others_are_not_there(service: Service) -> None:
    job_id = await submitted(service, "plain")
    async with service.client("bob") as client:
        for action in ("pause", "resume", "cancel"):
            answer = await client.post(f"/api/jobs/{job_id}/items/1/{action}")
            assert (answer.status_code, answer.json()["detail"]) == (404, f"jobId: there is no job {job_id}")
        assert (await client.get(f"/api/jobs/{job_id}/items/1")).status_code == 404
    assert states(await item_of(service, job_id))["root"] == "WAITING"


async def test_only_the_newest_attempts_are_part_of_an_item(service: Service) -> None:
    job_id = await submitted(service, "plain")
    await service.admin.execute(
        """insert into forebay.attempt (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at,
                                        ended_at)
           select j.id, 1, s.id, 1, 'THROTTLED', j.owner_id, 0, g, clock_timestamp(), clock_timestamp()
           from forebay.job j, forebay.step s, generate_series(1, 201) g where j.id = $1 and s.name = 'look_up'""",
        int(job_id),
    )
    item = await item_of(service, job_id)
    assert (len(item["attempts"]), item["attemptsCut"]) == (200, True)
    assert item["attempts"][0]["claimedAt"] is None  # a token without a time
