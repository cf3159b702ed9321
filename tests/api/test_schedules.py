"""Schedules in the API: their owner lists, pauses, resumes and runs them; nobody else does, except administrators."""

from __future__ import annotations

from typing import Any

from forebay.engine.maintenance.schedules import put_schedule
from tests.api._service import Page, Service, pages

NAME = "ann's / hourly"


async def put(service: Service, name: str = NAME, owner: str = "ann", **options: Any) -> None:
    await put_schedule(service.admin, name, pages, "0 * * * *", Page(title="t"), owner=owner, **options)


async def test_an_owner_sees_its_schedules(service: Service) -> None:
    await put(service)
    await put(service, "bob's", "bob")
    async with service.client("ann") as ann, service.client("root") as root:
        (own,) = (await ann.get("/api/schedules")).json()["schedules"]
        assert (own["name"], own["pipeline"], own["cron"], own["timezone"]) == (NAME, "pages", "0 * * * *", "UTC")
        assert (own["input"], own["paused"], own["declared"]) == ({"title": "t", "size": 0}, False, False)
        assert (own["lastJobId"], own["lastState"], own["nextAt"] is None) == (None, None, False)
        assert (await root.get("/api/schedules")).json()["schedules"] == []
        first = (await root.get("/api/schedules?userId=all&pageSize=1")).json()
        rest = (await root.get("/api/schedules", params={"userId": "all", "after": first["next"]})).json()
        assert [each["owner"] for each in (*first["schedules"], *rest["schedules"])] == ["ann", "bob"]
        assert (await ann.get("/api/schedules?userId=all")).status_code == 403
        wrong = await ann.get("/api/schedules?after=WyJhXHUwMDAwIl0")
        assert wrong.status_code == 422


async def test_a_schedule_is_paused_resumed_and_run(service: Service) -> None:
    await put(service)
    async with service.client("ann") as ann, service.client("bob") as bob:
        place = f"/api/schedules/{NAME}"
        for verb in ("pause", "resume", "run"):
            refused = await bob.post(f"{place}/{verb}")
            assert (refused.status_code, refused.json()["detail"]) == (404, f"name: there is no schedule {NAME!r}")
        paused = (await ann.post(f"{place}/pause")).raise_for_status().json()
        assert (paused["paused"], paused["nextAt"]) == (True, None)
        assert (await ann.post(f"{place}/pause")).json() == paused
        resumed = (await ann.post(f"{place}/resume")).raise_for_status().json()
        assert (resumed["paused"], resumed["nextAt"] is None) == (False, False)
        run = (await ann.post(f"{place}/run")).raise_for_status().json()
        job = (await ann.get(f"/api/jobs/{run['jobId']}")).json()
        assert (run["created"], job["owner"], job["meta"]["schedule"]) == (True, "ann", NAME)
        (own,) = (await ann.get("/api/schedules")).json()["schedules"]
        assert (own["lastJobId"], own["lastState"], own["nextAt"]) == (run["jobId"], "QUEUED", resumed["nextAt"])
        assert (await ann.post(f"{place}/run")).json()["jobId"] != run["jobId"]
    audit = await service.admin.fetch(
        "select action, actor from forebay.audit where action like '%schedule' order by id"
    )
    assert [(row["action"], row["actor"]) for row in audit] == [
        ("pause_schedule", "ann"),
        ("resume_schedule", "ann"),
        ("run_schedule", "ann"),
        ("run_schedule", "ann"),
    ]


async def test_a_schedule_that_allows_one_job_does_not_start_a_second(service: Service) -> None:
    await put(service, overlap=False)
    async with service.client("root") as root:
        first = (await root.post(f"/api/schedules/{NAME}/run")).raise_for_status().json()
        second = (await root.post(f"/api/schedules/{NAME}/run")).raise_for_status().json()
    assert (first["created"], second) == (True, {"jobId": first["jobId"], "created": False})
    owner = await service.admin.fetchval(
        "select o.name from forebay.job j join forebay.owner o on o.id = j.owner_id where j.id = $1",
        int(first["jobId"]),
    )
    assert owner == "ann"  # whoever runs it


async def test_the_due_time_of_a_run_is_in_the_input(service: Service) -> None:
    await put_schedule(service.admin, "dated", pages, "0 * * * *", Page(title="t"), owner="ann", due_field="title")
    async with service.client("ann") as ann:
        run = (await ann.post("/api/schedules/dated/run")).raise_for_status().json()
        item = (await ann.get(f"/api/jobs/{run['jobId']}/items/1")).json()
    assert item["input"]["title"].endswith("Z")
