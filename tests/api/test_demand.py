"""The demand of queues, as an autoscaler asks for it."""

# demands: S1-118

from __future__ import annotations

from typing import Any

from forebay.testing import testbed
from tests.api._service import Service, pages, serving

TOKEN = "the token of the autoscaler"


async def ask(service: Service, queues: str, **query: Any) -> tuple[int, Any]:
    async with service.client(authorization=f"Bearer {TOKEN}") as scaler:
        answer = await scaler.get(f"/api/queues/{queues}/demand", params=query)
    return answer.status_code, answer.json()


async def submit(service: Service, count: int) -> None:
    async with service.client("ann") as ann:
        body = {"pipeline": "pages", "items": [{"title": "a"}] * count}
        assert (await ann.post("/api/jobs", json=body)).status_code == 201


async def test_the_demand_follows_the_work(dsn: str) -> None:
    async with serving(dsn, metrics_token=TOKEN) as service:
        nothing = {"slots": 0, "waiting": 0, "running": 0}
        assert await ask(service, "pages.fetch") == (200, nothing)
        await submit(service, 120)
        assert await ask(service, "pages.fetch") == (200, {"slots": 2, "waiting": 120, "running": 0})
        assert await ask(service, "pages.fetch,pages.count", taskS=30, targetS=10) == (
            200, {"slots": 120, "waiting": 120, "running": 0}
        )  # fmt: skip
        await service.admin.execute(
            """insert into forebay.controller_sample (minute, step_id, running, concurrency, claim_size, item_ms)
               select now() - interval '1 minute' * ago, s.id, 0, 1, 1, ms
               from forebay.step s, (values (70, 9000), (5, 6000), (4, null)) v (ago, ms)
               where s.queue = 'pages.fetch'"""
        )  # the newest that says something, not older than an hour
        assert (await ask(service, "pages.fetch"))[1]["slots"] == 12
        await service.admin.execute("select forebay.pause_queue('pages.fetch', 'root')")
        assert await ask(service, "pages.fetch") == (200, nothing)
        await service.admin.execute("select forebay.resume_queue('pages.fetch', 'root')")
        async with testbed(service.dsn, [pages], migrated=True) as bed:
            await bed.finish()
            await bed.worker.report_status()
        assert await ask(service, "pages.fetch, pages.count") == (200, nothing)


async def test_the_token_of_metrics_or_an_administrator(dsn: str) -> None:
    async with serving(dsn, metrics_token=TOKEN) as service:
        path = "/api/queues/pages.fetch/demand"
        codes: list[int] = []
        for who in ("root", "ann", "service", None):
            async with service.client(who) as client:
                codes.append((await client.get(path)).status_code)
        assert codes == [200, 403, 403, 401]
        assert (await ask(service, "pages.fetch,nothing"))[0] == 404
        assert (await ask(service, "pages.fetch", targetS=0))[0] == 422


async def test_the_metric_says_the_same(service: Service) -> None:
    await submit(service, 90)
    async with service.client("root") as root:
        found = (await root.get("/api/statistics")).json()["forebay_queue_demand_slots"]
    demand = {one["labels"]["queue"]: one["value"] for one in found}
    assert demand == {"pages.fetch": 2, "pages.count": 0}
