"""The metrics of the service: all of them, exact, cached, and what is left of them without a database."""

# demands: S1-98, S1-100, S1-101, S1-102, S1-103, S1-109, S2-100, S3-29, S3-33, S3-68, S3-69, S3-71, S3-72, S3-73
# demands: S3-74, S3-75, S3-76, S3-77, S3-78, S3-99, S4-31, S4-36, S4-38, S4-39, S4-40, S4-41, S4-42, S4-43, S4-44
# demands: S4-114, S4-115, S4-116, S4-117, S4-118, S5-94, S5-95, S5-96, S5-97, S5-98, S5-100, S5-105, S5-106, S5-107
# demands: X-10

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from forebay import Context, Pipeline
from forebay.api.metrics import names
from forebay.api.metrics.package_metrics import load_package_metrics
from forebay.api.metrics.service import ServiceMetrics
from forebay.engine.db import overview
from forebay.engine.db.sql import load
from forebay.errors import ThrottledError
from forebay.settings import Settings
from forebay.testing import Testbed, testbed
from tests.api._errands import Errand, errands
from tests.api._package_routes import make_things
from tests.api._service import Service, pages, serving
from tests.pipelines._catalogue import seek, sought

_INSERT = """insert into forebay.attempt
    (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at, class)"""

Samples = dict[str, dict[frozenset[tuple[str, str]], float]]


async def scraped(service: Service) -> Samples:
    """What /metrics says, by name and labels."""
    async with service.client(ip="127.0.0.1", base="http://127.0.0.1") as prometheus:
        answer = await prometheus.get("/metrics")
    assert answer.status_code == 200
    found: Samples = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            by_labels = found.setdefault(sample.name, {})
            labels = frozenset(sample.labels.items())
            assert labels not in by_labels, f"{sample.name} {sample.labels} is there twice"
            by_labels[labels] = sample.value
    return found


def at(samples: Samples, name: str, **labels: str) -> float:
    return samples[name][frozenset(labels.items())]


def forget(service: Service) -> None:
    """The next look counts again."""
    metrics: ServiceMetrics = service.app.state.metrics
    metrics._at = -1e9


async def submit(service: Service, *titles: str) -> None:
    async with service.client("ann") as client:
        answer = await client.post("/api/jobs", json={"pipeline": "pages", "items": [{"title": t} for t in titles]})
    assert answer.status_code == 201, answer.text


@asynccontextmanager
async def worked(service: Service, *, drain: bool = True) -> AsyncIterator[Testbed]:
    """All is done, unless told otherwise, and the worker is still there."""
    quick = Settings(egress_confine=False)
    async with testbed(service.dsn, [pages, errands], migrated=True, settings=quick) as bed:
        if drain:
            await bed.finish()
        await bed.worker.report_status()
        yield bed


async def test_every_metric_has_samples(service: Service) -> None:
    await submit(service, "a", "broken", "missing")
    async with testbed(service.dsn, [sought], migrated=True) as looking, worked(service) as bed:
        await seek(looking, title="Kettle")
        await looking.worker.report_status()
        # Of workers of one name the newest counts; these two have that of this process.
        await service.admin.execute("update forebay.worker set name = 'other' where id = $1", looking.worker.worker_id)
        await go_out(bed)
        await submit(service, "open")
        await service.admin.execute(
            f"{_INSERT} select 1, 1, id, 1, 'THROTTLED', 1, 1, 1, now(), now(), 'throttled' from forebay.step"
        )
        await happen_in_packages(service)
        await dispatch(service)
        samples = await scraped(service)
    suffix = {"histogram": "_bucket", "counter": "", "gauge": ""}
    declared = [metric for package in load_package_metrics().values() for metric in package.metrics]
    wanted = {one.name + suffix[one.kind] for one in (*names.GENERAL, *declared)}
    assert wanted - set(samples) == set()


async def happen_in_packages(service: Service) -> None:
    """What the packages that this worker does not run have metrics of."""
    await make_things(service, "weir")
    await service.admin.execute(
        """update forebay.share set download_status = 'completed', download_started_at = now() - interval '3 s',
               download_completed_at = now(), file_id = 1;
           insert into forebay.attachment_quota (app, hour, used) values ('app', date_trunc('hour', now()), 3);"""
    )
    told = {"answered": 3, "throttled": 0, "failed": 1, "bytes": 9000, "closed_s": 0, "seconds": 0.2}
    await service.admin.execute(
        "update forebay.worker set stats = jsonb_set(stats, '{shared,attachments}', $1::text::jsonb)",
        json.dumps({"lark": told}),
    )


async def dispatch(service: Service) -> None:
    """What a dispatcher tells, which needs a broker: tests/fleet/test_metrics.py."""
    step = {"slots": 4, "offered": 3, "taken": 1}
    told = {"broker_up": True, "runners": 2, "lost_offers": 0, "steps": {"pages.fetch": step}}
    await service.admin.execute(
        "update forebay.worker set stats = jsonb_set(stats, '{fleet}', $1::text::jsonb) where name = 'other'",
        json.dumps(told),
    )


async def go_out(bed: Testbed) -> None:
    """The worker has been out, and has told so."""
    await bed.submit(errands, Errand())
    await bed.run()
    await bed.worker.report_status()


async def test_the_way_out_is_counted(service: Service) -> None:
    async with worked(service) as bed:
        await go_out(bed)
        samples = await scraped(service)
    ((about, requests),) = samples["forebay_egress_requests_total"].items()
    ((_, worker),) = about
    assert requests == 2
    assert at(samples, "forebay_egress_refused_total", worker=worker, reason="address") == 1
    assert at(samples, "forebay_egress_failed_total", worker=worker, reason="connect") == 1
    assert at(samples, "forebay_egress_bytes_total", worker=worker, direction="in") == 0
    assert at(samples, "forebay_hosts", worker=worker, state="known") == 1
    assert at(samples, "forebay_captures_total", worker=worker) == 0


async def test_the_metrics_are_those_of_what_happened(service: Service) -> None:
    await submit(service, "a", "b", "broken", "missing")
    async with worked(service):
        await submit(service, "x", "y")
        samples = await scraped(service)
    fetch = {"pipeline": "pages", "step": "fetch"}
    outcomes = {o: at(samples, "forebay_attempts_total", **fetch, outcome=o) for o in ("DONE", "ERROR", "NOT_FOUND")}
    assert outcomes == {"DONE": 2, "ERROR": 1, "NOT_FOUND": 1}
    assert at(samples, "forebay_attempts_total", **fetch, outcome="THROTTLED") == 0
    assert at(samples, "forebay_failure_ratio", **fetch) == 0.25
    assert at(samples, "forebay_not_found_ratio", **fetch) == 0.25
    assert at(samples, "forebay_throttle_ratio", **fetch) == 0
    assert at(samples, "forebay_step_duration_seconds_count", **fetch) == 2
    assert at(samples, "forebay_tasks_per_minute", **fetch) > 0
    assert at(samples, "forebay_items_per_second", **fetch) > 0
    assert at(samples, "forebay_queue_depth", **fetch, status="pending") == 2
    assert at(samples, "forebay_pending_tasks") == 2
    assert at(samples, "forebay_dead_letters", **fetch) == 1
    assert at(samples, "forebay_dead_letters_last_hour", **fetch) == 1
    assert at(samples, "forebay_dead_letters", pipeline="pages", step="count") == 0
    assert at(samples, "forebay_open_jobs", pipeline="pages", state="QUEUED") == 1
    assert at(samples, "forebay_open_job_items", pipeline="pages", status="pending") == 2
    items = {dict(labels)["status"]: count for labels, count in samples["forebay_items"].items()}
    assert items == {"pending": 2, "processing": 0, "done": 2, "skipped": 0, "not_found": 1, "error": 1}
    assert at(samples, "forebay_database_up") == 1


async def test_workers_say_how_they_are(service: Service) -> None:
    await submit(service, "a", "b", "broken", "missing")
    async with worked(service):
        samples = await scraped(service)
    ((labels, up),) = samples["forebay_worker_up"].items()
    worker = dict(labels)
    assert up == 1
    for name, value in (("healthy", 1), ("stuck", 0), ("in_flight", 0), ("last_error", 1), ("stale_reports_total", 0)):
        assert at(samples, f"forebay_worker_{name}", **worker) == value, name
    assert at(samples, "forebay_worker_uptime_seconds", **worker) >= 0
    assert at(samples, "forebay_worker_last_processed_timestamp_seconds", **worker) > 1.7e9
    fetch = {**worker, "pipeline": "pages", "step": "fetch"}
    for name, value in (("processed_total", 4), ("succeeded_total", 3), ("failed_total", 1)):
        assert at(samples, f"forebay_worker_{name}", **fetch) == value, name
    assert at(samples, "forebay_worker_failed_total", **fetch | {"step": "count"}) == 0
    assert at(samples, "forebay_worker_concurrency_limit", **fetch) >= 1
    assert at(samples, "forebay_worker_claim_size", **fetch) >= 1
    assert at(samples, "forebay_worker_pool_wait_seconds_count", **worker) > 0


async def test_an_item_that_is_not_found_was_processed_and_took_its_time(service: Service) -> None:
    await submit(service, "missing")
    async with worked(service), service.client("root") as client:
        (worker,) = (await client.get("/api/workers")).json()["workers"]
        stats = json.loads(await service.admin.fetchval("select stats from forebay.worker"))
    assert (worker["processedCount"], worker["succeededCount"], worker["failedCount"]) == (1, 1, 0)
    assert worker["lastProcessed"] is not None
    assert worker["averageMs"] == round(stats["busy_s"] * 1000, 3)


async def test_what_is_put_off_has_not_succeeded(dsn: str) -> None:
    patient: Pipeline[dict[str, Any]] = Pipeline("patient", dict)
    asked: list[int] = []

    @patient.step()
    async def ask(ctx: Context, value: dict[str, Any]) -> int:
        asked.append(ctx.attempt)
        if len(asked) < 3:
            raise ThrottledError("not so fast", retry_after=5)
        return 1

    async with testbed(dsn, [patient], migrated=True) as bed:
        await bed.submit(patient, {})
        await bed.finish()
        await bed.worker.report_status()
        async with bed.pool.acquire() as conn:
            (worker,) = await overview.workers(conn)
    assert worker.stats["succeeded"] == 1
    assert worker.stats["by_step"]["patient.ask"] | {"busy_s": 0} == {"succeeded": 1, "failed": 0, "busy_s": 0}


async def test_what_the_other_side_throttles_is_not_what_we_hold_back(service: Service) -> None:
    await service.admin.execute(
        f"""{_INSERT}
           select 1, n, s.id, 1, (case when n <= 4 then 'THROTTLED' else 'DONE' end)::forebay.outcome, 1, 1, 1,
                  now() - interval '2 seconds', now(), case when n <= 3 then 'throttled' end
           from forebay.step s, generate_series(1, 5) n where s.name = 'fetch'"""
    )
    samples = await scraped(service)
    fetch = {"pipeline": "pages", "step": "fetch"}
    assert at(samples, "forebay_attempts_total", **fetch, outcome="THROTTLED") == 3
    assert at(samples, "forebay_attempts_total", **fetch, outcome="LIMITED") == 1
    assert at(samples, "forebay_throttle_ratio", **fetch) == 0.75
    assert at(samples, "forebay_step_duration_average_seconds", **fetch) == 2
    assert 1 < at(samples, "forebay_step_duration_p95_seconds", **fetch) <= 2.5


async def test_counts_are_kept_for_half_a_minute_and_counters_only_grow(service: Service) -> None:
    await submit(service, "a")
    await service.work()
    done = {"pipeline": "pages", "step": "fetch", "outcome": "DONE"}
    assert at(await scraped(service), "forebay_attempts_total", **done) == 1
    await submit(service, "b", "c")
    await service.work()
    assert at(await scraped(service), "forebay_attempts_total", **done) == 1
    forget(service)
    assert at(await scraped(service), "forebay_attempts_total", **done) == 3


async def test_json_says_the_same(service: Service) -> None:
    await submit(service, "a", "broken")
    async with worked(service):
        samples = await scraped(service)
        async with service.client("root") as client:
            found: dict[str, list[dict[str, Any]]] = (await client.get("/api/statistics")).json()
    for name in ("forebay_queue_depth", "forebay_attempts_total", "forebay_worker_processed_total"):
        shown = {frozenset(one["labels"].items()): one["value"] for one in found[name]}
        assert shown == samples[name]
    assert set(samples) <= set(found)


async def test_owners_see_metrics_of_their_own_work_only(service: Service) -> None:
    await submit(service, "a", "broken")
    async with service.client("bob") as client:
        await client.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "of bob"}})
    async with service.client("ann") as ann, worked(service, drain=False):
        found = (await ann.get("/api/statistics")).json()
        workers = (await ann.get("/api/workers")).json()
    assert set(found) == {
        "forebay_queue_depth", "forebay_queue_paused", "forebay_queue_parked", "forebay_items"
    }  # fmt: skip
    pending = [one["value"] for one in found["forebay_items"] if one["labels"]["status"] == "pending"]
    assert sum(pending) == 2
    assert workers == {"isRunning": True, "isHealthy": True, "workers": [], "pendingCount": 2}


_TOKEN = {"metrics_token": "the token of prometheus"}
_HERE = "http://127.0.0.1:8080"

_SCRAPES: tuple[tuple[dict[str, str], str, str, dict[str, str], int], ...] = (
    ({}, "127.0.0.1", _HERE, {}, 200),
    ({}, "::1", "http://[::1]:8080", {}, 200),
    ({}, "127.0.0.1", "http://localhost", {}, 200),
    ({}, "192.0.2.7", _HERE, {}, 401),
    ({}, "127.0.0.1", "http://forebay.example", {}, 401),  # a proxy that passes on the name that it was called by
    ({}, "127.0.0.1", _HERE, {"host": "[::1"}, 401),
    ({}, "127.0.0.1", _HERE, {"x-forwarded-for": "192.0.2.7"}, 401),  # a proxy that nobody has said to trust
    ({}, "127.0.0.1", _HERE, {"forwarded": "for=192.0.2.7"}, 401),
    ({"trusted_proxies": "10.0.0.5"}, "127.0.0.1", _HERE, {}, 401),  # there are proxies, and this may be one
    ({"api_host": "0.0.0.0"}, "127.0.0.1", _HERE, {}, 401),
    (_TOKEN, "127.0.0.1", _HERE, {}, 401),
    (_TOKEN, "127.0.0.1", _HERE, {"authorization": "Bearer wrong"}, 401),
    (_TOKEN, "192.0.2.7", "http://forebay.example", {"authorization": "Bearer the token of prometheus"}, 200),
    (_TOKEN, "192.0.2.7", "http://forebay.example", {"authorization": "Bearer the token of prometheus2"}, 401),
)


async def test_who_may_scrape(dsn: str) -> None:
    async with serving(dsn) as service:
        usual = service.app.state.settings
        for given, ip, base, headers, status in _SCRAPES:
            service.app.state.settings = Settings.model_validate(usual.model_dump() | given)
            async with service.client(ip=ip, base=base) as client:
                answer = await client.get("/metrics", headers=headers)
            assert answer.status_code == status, (given, ip, base, headers)


async def test_administrators_may_scrape_and_owners_may_not(service: Service) -> None:
    for who, status in (("root", 200), ("ann", 403), ("service", 403)):
        async with service.client(who) as client:
            assert (await client.get("/metrics")).status_code == status


async def test_requests_are_timed_by_route_and_status(service: Service) -> None:
    await submit(service, "a")
    async with service.client("ann") as client:
        await client.get("/api/pending")
        await client.get("/api/pending?statuses=DONE")
        await client.get("/api/jobs/1/items?pageSize=1")
        await client.get("/api/nowhere/at/all")
        await client.request("BREW", "/api/pending")
    samples = await scraped(service)
    for method, route, status in (
        ("GET", "/api/pending", "200"),
        ("GET", "/api/pending", "422"),
        ("GET", "/api/jobs/{job_id}/items", "200"),
        ("GET", "none", "404"),
        ("other", "/api/pending", "405"),
        ("POST", "/api/jobs", "201"),
    ):
        labels = {"method": method, "route": route, "status": status}
        assert at(samples, "forebay_api_requests_total", **labels) == 1
        assert at(samples, "forebay_api_request_duration_seconds_count", **labels) == 1
        assert at(samples, "forebay_api_request_duration_seconds_bucket", **labels, le="+Inf") == 1
    assert at(samples, "forebay_ingest_duration_seconds_count", route="/api/jobs") == 1
    assert at(samples, "forebay_db_pool_wait_seconds_count", pool="owners") >= 3
    assert 0 < at(samples, "forebay_db_latency_ewma_seconds") < 5


async def test_without_a_database_the_process_still_tells_about_itself(service: Service) -> None:
    service.app.state.pools.watch.terminate()
    await scraped(service)
    samples = await scraped(service)
    assert at(samples, "forebay_database_up") == 0
    assert at(samples, "forebay_api_requests_total", method="GET", route="/metrics", status="200") == 1
    assert "forebay_queue_depth" not in samples


async def test_a_count_that_failed_is_not_tried_again_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[object] = []

    async def away(conn: object) -> None:
        tries.append(conn)
        raise OSError("gone")

    monkeypatch.setattr("forebay.api.metrics.service.db.now", away)
    assert [at(await scraped(service), "forebay_database_up") for _ in range(3)] == [0, 0, 0]
    assert len(tries) == 1
    monkeypatch.undo()
    service.app.state.metrics._failed_at = -1e9
    assert at(await scraped(service), "forebay_database_up") == 1


async def test_a_database_that_does_not_answer_is_noticed_soon(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(conn: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("forebay.api.metrics.service.db.now", silent)
    monkeypatch.setattr("forebay.api.metrics.service._SOON", 0.1)
    assert at(await scraped(service), "forebay_database_up") == 0


async def test_every_wait_for_a_connection_is_measured(service: Service) -> None:
    async with service.client("ann") as client:
        for _ in range(2):
            await client.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "one"}})
    samples = await scraped(service)
    waits = {pool: at(samples, "forebay_db_pool_wait_seconds_count", pool=pool) for pool in ("identity", "owners")}
    # One each is the look at the start. Then the identity notes once that the token was used, and the owner's jobs are
    # counted once.
    assert waits == {"identity": 4, "owners": 4}


async def test_attempts_are_counted_without_reading_all_of_them(service: Service) -> None:
    await service.admin.execute(
        f"""{_INSERT}
           select 1, n, 1, 1, 'DONE', 1, 1, 1, now() - n * interval '1 second', now() - n * interval '1 second', null
           from generate_series(200000, 1, -1) n"""
    )
    await service.admin.execute("vacuum (analyze) forebay.attempt")
    await service.admin.execute("set role forebay_admin")
    (plan,) = json.loads(
        await service.admin.fetchval(
            f"explain (analyze, format json) {load('count_attempts')}",
            *(await service.admin.fetchrow("select now() - interval '3 minutes', null::timestamptz") or ()),
            [0.1, 1.0],
        )
    )
    reads = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name", "").startswith("attempt_")]
    assert reads
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Index Recheck", 0) for node in reads) < 30_000


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(below for child in node.get("Plans", []) for below in _nodes(child))]
