"""The controllers of steps and the shares of owners: now, and one sample a minute of the last hour."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from forebay.testing import testbed
from tests.api._service import Service, pages

if TYPE_CHECKING:
    from forebay.testing import Testbed


async def get(service: Service, path: str) -> Any:
    async with service.client("root") as client:
        return (await client.get(path)).raise_for_status().json()


async def sampled(bed: Testbed) -> None:
    """The leader takes the sample of this minute, from fresh reports."""
    await bed.worker.report_status()
    await bed.worker._sweeper.sample()


async def test_controllers_have_values_bounds_inputs_and_an_hour(service: Service) -> None:
    assert (await get(service, "/api/controllers"))["steps"] == []
    async with testbed(service.dsn, [pages], migrated=True) as bed:
        async with service.client("ann") as ann:
            await ann.post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "a"}, {"title": "broken"}]})
        await bed.finish()
        await sampled(bed)
        await sampled(bed)  # a minute has one sample
        seen = await get(service, "/api/controllers")
        fetch = next(step for step in seen["steps"] if step["step"] == "fetch")
        assert (fetch["pipeline"], fetch["workers"], fetch["running"]) == ("pages", 1, 0)
        limit, claim, lease = fetch["concurrency"], fetch["claimSize"], fetch["leaseS"]
        assert limit["least"] <= limit["value"] <= limit["most"]
        assert claim["least"] <= claim["value"] <= claim["most"]
        assert lease["least"] <= lease["value"] <= lease["most"]
        assert fetch["inputs"]["itemMs"] > 0
        # A task that is wrong itself is no sign of a service that is down.
        assert (fetch["inputs"]["failureShare"], fetch["inputs"]["retrySpacing"]) == (0, 1)
        assert fetch["inputs"]["machineShare"] is not None
        history = fetch["history"]
        assert len(seen["minutes"]) == len(history["concurrency"])
        assert history["concurrency"][-1] == limit["value"]
        assert (history["claimSize"][-1], history["leaseS"][-1]) == (claim["value"], lease["value"])
        bed.clock.advance(60)
        await sampled(bed)
        assert len((await get(service, "/api/controllers"))["minutes"]) == len(seen["minutes"]) + 1


async def test_samples_older_than_an_hour_are_deleted(service: Service) -> None:
    async with testbed(service.dsn, [pages], migrated=True) as bed:
        await sampled(bed)
        first = await bed.pool.fetchval("select min(minute) from forebay.controller_sample")
        bed.clock.advance(3660)
        await sampled(bed)
        kept = await bed.pool.fetch("select distinct minute from forebay.controller_sample")
        assert [row["minute"] - first for row in kept] == [timedelta(minutes=61)]


async def test_owners_share_the_workers_by_minute(service: Service) -> None:
    async with testbed(service.dsn, [pages], migrated=True) as bed:
        for who, titles in (("ann", "abc"), ("bob", "d")):
            async with service.client(who) as client:
                items = [{"title": title} for title in titles]
                await client.post("/api/jobs", json={"pipeline": "pages", "items": items})
        await sampled(bed)
        seen = await get(service, "/api/series/owners")
        assert len(seen["minutes"]) == 1
        assert [(each["owner"], each["ready"], each["fairShare"]) for each in seen["owners"]] == [
            ("ann", [3], [0.5]),
            ("bob", [1], [0.5]),
        ]
        await bed.finish()
        bed.clock.advance(60)
        await sampled(bed)
        assert (await get(service, "/api/series/owners")) == seen  # nobody had work in the second minute


async def test_only_administrators_see_them(service: Service) -> None:
    async with service.client("ann") as ann:
        for path in ("/api/controllers", "/api/series/owners"):
            assert (await ann.get(path)).status_code == 403
