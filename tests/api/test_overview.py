"""The overview, the health verdict, lanes and series, as an owner, another one and an administrator get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from forebay.api.operations.shared_reading import FRESH_S, OwnerReadings, SharedReading, fresh_for
from forebay.testing import testbed
from tests.api._service import Service, pages

if TYPE_CHECKING:
    from forebay.api.operations.depth_ring import DepthRing
    from forebay.api.operations.lane_lists import LaneLists
    from forebay.api.operations.overviews import Overviews


async def submit(service: Service, who: str, *titles: str, **options: Any) -> str:
    async with service.client(who) as client:
        body = {"pipeline": "pages", "items": [{"title": title} for title in titles], **options}
        made = await client.post("/api/jobs", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["jobId"])


async def get(service: Service, who: str, path: str, **query: Any) -> Any:
    async with service.client(who) as client:
        return (await client.get(path, params=query)).raise_for_status().json()


def forget(service: Service) -> None:
    """The next overview and the next list of lanes are read again."""
    overviews: Overviews = service.app.state.overviews
    lists: LaneLists = service.app.state.lane_lists
    readings: list[SharedReading[Any]] = [*overviews._readings._readings.values(), *lists._lanes._readings.values()]
    for reading in (*readings, lists._shares):
        reading.read_at = -1e9


def test_the_longer_a_reading_takes_the_rarer_it_is() -> None:
    assert fresh_for(0.01, 0) == FRESH_S
    assert fresh_for(0.5, 0) == 5.0
    assert fresh_for(0.05, 49) == 25.0  # together they take a tenth of the time


async def test_readings_that_nobody_asks_for_are_dropped() -> None:
    readings = OwnerReadings[SharedReading[int]](SharedReading)

    async def read() -> int:
        return 1

    for owner in (1, 2, 3):
        await readings.of(owner).get(read)
    readings.of(1).asked_at = -1e9
    readings.of(2)
    readings.of(3)
    assert readings.of(4) is not readings.of(2)
    assert len(readings) == 3


async def test_the_overview_is_the_callers_or_everyones(service: Service) -> None:
    job = await submit(service, "ann", "a", "b", "broken")
    await submit(service, "bob", "c")
    async with testbed(service.dsn, [pages], migrated=True) as bed:
        seen = await get(service, "ann", "/api/overview")
        (fetch, _) = seen["steps"]
        assert (fetch["step"], fetch["ready"], fetch["controllers"]) == ("fetch", 3, None)
        assert [(row["id"], row["counters"]["pending"]) for row in seen["jobs"]] == [(job, 3)]
        assert [(lane["owner"], lane["ready"]) for lane in seen["lanes"]] == [("ann", 3)]
        assert (seen["workers"], seen["workerList"]) == ({"alive": 1, "stuck": 0, "total": 1}, [])
        assert (await get(service, "root", "/api/overview"))["jobs"] == []  # an administrator's own work
        await bed.finish()
        await bed.worker.report_status()
        forget(service)
        seen = await get(service, "ann", "/api/overview")
        assert (seen["failedLastHour"], [letter["itemId"] for letter in seen["deadLetters"]]) == (1, ["3"])
        assert seen["health"]["execution"]["text"] == "1 task failed permanently in the last hour."
        assert seen["tasksPerS"] > 0
        assert (await get(service, "bob", "/api/overview"))["deadLetters"] == []
        everything = await get(service, "root", "/api/overview", userId="all")
        assert {row["owner"] for row in everything["jobs"]} == {"ann", "bob"}
        (worker,) = everything["workerList"]
        assert (worker["isRunning"], worker["settled"]) == (True, 7)
        assert everything["steps"][0]["controllers"]["running"] == 0
        assert everything["tasksPerS"] > seen["tasksPerS"]
        async with service.client("ann") as ann:
            refused = await ann.get("/api/overview?userId=all")
        assert refused.status_code == 403


async def test_callers_share_one_reading(service: Service) -> None:
    first = await get(service, "ann", "/api/overview")
    await submit(service, "ann", "a")
    assert await get(service, "ann", "/api/overview") == first
    async with service.signed_in("ann") as browser:
        assert (await browser.get("/api/overview")).json() == first
    assert (await get(service, "bob", "/api/overview"))["at"] != first["at"]
    forget(service)
    assert (await get(service, "ann", "/api/overview"))["jobs"] != []


async def test_items_per_second_are_counted_between_readings(service: Service) -> None:
    await submit(service, "ann", "a", "b")
    assert (await get(service, "ann", "/api/overview"))["itemsPerS"] is None
    await service.work()
    forget(service)
    assert (await get(service, "ann", "/api/overview"))["itemsPerS"] > 0


async def test_an_overview_can_be_a_topic_of_the_event_stream(service: Service) -> None:
    overviews: Overviews = service.app.state.overviews
    await submit(service, "ann", "a")
    ann: int = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    async with service.app.state.pools.watch.acquire() as conn:
        everything = await overviews.read(conn, None)
        own = await overviews.read(conn, ann)
    assert (overviews.name, overviews.interval_s) == ("overview", 2.0)
    assert [job.owner for job in everything.jobs] == [job.owner for job in own.jobs] == ["ann"]


async def test_the_health_is_a_sentence(service: Service) -> None:
    health = await get(service, "ann", "/api/health/verdict")
    assert health["sentence"] == "Nothing waits. No worker is running: `forebay worker` starts one."
    assert (health["level"], health["flow"]["level"], health["workers"]["level"]) == ("WARN", "OK", "WARN")
    await submit(service, "ann", "a")
    forget(service)
    health = await get(service, "ann", "/api/health/verdict")
    assert health["flow"]["text"] == "Work waits because no worker is running (1 task)."
    assert (await get(service, "bob", "/api/health/verdict"))["flow"]["text"] == "Nothing waits."
    await service.admin.execute("select forebay.pause_queue('pages.fetch', 'root')")
    forget(service)
    health = await get(service, "root", "/api/health/verdict", userId="all")
    assert "queue pages.fetch is paused (1 task)" in health["sentence"]
    assert "no queue needs set-up" in health["ruledOut"]


async def test_lanes_show_what_waits_runs_and_is_served(service: Service) -> None:
    await submit(service, "ann", "a", "b")
    await submit(service, "bob", "c", priority=5)
    async with service.client("root") as root:
        await root.patch("/api/owners/bob", json={"weight": 3})
    async with testbed(service.dsn, [pages], migrated=True) as bed:
        await submit(service, "root", "d", "e", "f")
        await bed.finish()  # everything so far
        await bed.worker.report_status()
        await submit(service, "ann", "a", "b")
        await submit(service, "bob", "c", priority=5)
        seen = await get(service, "ann", "/api/lanes")
        ((lane,), (own,)) = seen["lanes"], seen["owners"]
        assert (lane["owner"], lane["ready"], lane["running"], lane["priority"]) == ("ann", 2, 0, 0)
        assert (lane["jobId"], lane["limitName"], lane["paused"]) == (None, None, False)
        assert (lane["fairShare"], own["fairShare"], seen["ownerCount"]) == (0.25, 0.25, 2)
        assert lane["share"] == own["share"] == pytest.approx(4 / 12, abs=0.01)
        assert 0 < own["servedPerS"] < seen["servedPerS"]
        seen = await get(service, "root", "/api/lanes", userId="all")
        assert [(row["owner"], row["fairShare"]) for row in seen["owners"]] == [("ann", 0.25), ("bob", 0.75)]
        assert sum(row["share"] for row in seen["owners"]) == pytest.approx(0.5, abs=0.01)  # root has nothing to do
        assert [row["owner"] for row in seen["lanes"]] == ["ann", "bob"]
        assert [row["owner"] for row in (await get(service, "root", "/api/lanes", userId="all", limit=1))["lanes"]] == [
            "ann"
        ]
        assert (await get(service, "root", "/api/lanes"))["owners"] == []
        await submit(service, "ann", "g")
        assert (await get(service, "ann", "/api/lanes"))["lanes"] == [lane]  # from the same reading
        forget(service)
        assert (await get(service, "ann", "/api/lanes"))["lanes"][0]["ready"] == 3


async def test_series_are_by_minute_and_step(service: Service) -> None:
    await submit(service, "ann", "a", "missing", "broken")
    await service.work()
    series = await get(service, "root", "/api/series", minutes=60, pipeline="pages", step="fetch")
    outcomes: dict[str, int] = {}
    for point in series["points"]:  # a minute may have ended meanwhile
        assert (point["pipeline"], point["step"]) == ("pages", "fetch")
        for outcome, count in point["outcomes"].items():
            outcomes[outcome] = outcomes.get(outcome, 0) + count
    assert outcomes == {"DONE": 1, "NOT_FOUND": 1, "ERROR": 1}
    assert sum(point["items"] for point in series["points"]) == 2
    assert sum(point["errors"].get("data", 0) for point in series["points"]) == 1
    assert any(point["p95S"] is not None for point in series["points"])
    assert (await get(service, "root", "/api/series", step="other"))["points"] == []
    async with service.client("ann") as ann:
        assert (await ann.get("/api/series")).status_code == 403


async def test_depth_is_sampled(service: Service) -> None:
    ring: DepthRing = service.app.state.depth_ring
    assert await get(service, "root", "/api/series/depth") == {"everyS": 10.0, "at": [], "steps": []}
    await ring.sample()
    await submit(service, "ann", "a", "b")
    await ring.sample()
    seen = await get(service, "root", "/api/series/depth")
    assert len(seen["at"]) == 2
    (step,) = seen["steps"]
    assert (step["pipeline"], step["step"], step["ready"], step["processing"]) == ("pages", "fetch", [0, 2], [0, 0])
    assert (await get(service, "root", "/api/series/depth", pipeline="other"))["steps"] == []
    async with service.client("ann") as ann:
        assert (await ann.get("/api/series/depth")).status_code == 403
