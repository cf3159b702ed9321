"""The pages of operations, of administration and of the account."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay.api.operations.depth_ring import DepthSample
from forebay.api.operations.doctor import Doctor
from forebay.engine.db.overview import Depth
from forebay.hooks import Finding
from tests.web._pages import Look, job_with_a_failure, lively, waiting_job

if TYPE_CHECKING:
    from forebay.api.operations.depth_ring import DepthRing
    from tests.web._browser import Watched
    from tests.web.conftest import Site


def with_a_paused_queue(site: Site) -> dict[str, str]:
    """Work of two owners, attempts, a queue that is paused and one that needs set-up."""
    values = lively(site)
    made = site.api("bob").post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "b"}] * 3})
    assert made.status_code == 201, made.text
    assert site.api("root").post("/api/queues/pages.count/pause").json() == {"changed": True}
    site.sql(
        "update forebay.queue set parked = 'the key of the service is missing', probe_at = now() + interval '28 s'"
        " where name = 'bookmarks.caption'"
    )
    return values


WORKERS = """
insert into forebay.worker (name, started_at, seen_at, stats)
values ('mill:1', now() - interval '2 hours', now(), $1::text::jsonb),
       ('mill:2', now() - interval '2 hours', now() - interval '5 minutes', '{}')
"""
_LEASES = """
insert into forebay.lease (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
select r.step_id, r.lane_id, r.job_id, r.owner_id, w.id, 1, now(), now() + interval '10 minutes', '{[1,4)}'
from (select * from forebay.ready order by seq limit 1) r, forebay.worker w where w.name = 'mill:1'
"""
# An hour of attempts: more in waves, some of them failed, found nothing or were throttled.
_ATTEMPTS = """
insert into forebay.attempt
    (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at, class, reason)
select a.job_id, a.n, s.id, 1,
       (case when g % 31 = 0 then 'ERROR' when g % 23 = 0 then 'NOT_FOUND' when g % 19 = 0 then 'THROTTLED'
             else 'DONE' end)::forebay.outcome,
       a.owner_id, w.id, 0, e.at - (0.05 + g % 7 * 0.03 + s.id % 3 * 0.2) * interval '1 second', e.at,
       case when g % 31 = 0 then case when g % 2 = 0 then 'data' else 'transient' end end,
       case when g % 31 = 0 then 'the service did not answer' end
from (select job_id, n, owner_id from forebay.attempt order by ended_at limit 1) a,
     (select id from forebay.worker where name = 'mill:1') w,
     generate_series(1, 3000) g,
     lateral (select now() - interval '58 min' * (g / 3000.0 + 0.02 * sin(g / 180.0)) - interval '1 min' as at) e,
     lateral (select id from forebay.step where name in ('fetch', 'count') and pipeline_id =
              (select id from forebay.pipeline where name = 'pages') order by (id + g) % 2 limit 1) s
"""
_CONTROLLERS = """
insert into forebay.controller_sample (minute, step_id, running, concurrency, claim_size, item_ms, lease_s)
select date_trunc('minute', now()) - g * interval '1 minute', s.id, 3, 10 + 4 * sin(g / 9.0), 24 + 6 * cos(g / 7.0), 40,
       case when g between 20 and 26 then 42 else 30 end
from generate_series(1, 59) g, forebay.step s join forebay.pipeline p on p.id = s.pipeline_id where p.name = 'pages'
"""
_OWNERS = """
insert into forebay.owner_sample (minute, owner_id, ready, running, attempts_per_s, fair_share)
select date_trunc('minute', now()) - g * interval '1 minute', o.id,
       case when o.name = 'ann' then 40 + 20 * g else 3 end, 2, 30 + 4 * sin(g / 5.0 + o.id), 0.5
from generate_series(1, 59) g, forebay.owner o where o.name in ('ann', 'bob')
"""


def with_workers(site: Site) -> dict[str, str]:
    """A worker on a busy machine that serves two owners, one that has vanished, and an hour of work."""
    values = with_a_paused_queue(site)
    owners = {row["name"]: str(row["id"]) for row in site.sql("select id, name from forebay.owner")}
    step = {
        "running": 3,
        "ended": 1200,
        "concurrency": {"limit": 12.0, "least": 1, "most": 64, "latency_ms": 180.0},
        "claim": {"value": 24.0, "item_ms": 40.0, "least": 1, "most": 2000},
        "failures": {"share": 0.04, "spacing": 1.0},
    }
    stats = {
        "succeeded": 118_402,
        "failed": 320,
        "busy_s": 4950.0,
        "machine": {"share": 0.4, "load": 2.5, "free_memory": 0.12, "lag_ms": 12.0},
        "recent": {"attempts_per_s": {"owners": {owners["ann"]: 30.0, owners["bob"]: 28.0}, "others": 0.0}},
        "lease": {"value_s": 30.0, "floor_s": 30.0, "cap_s": 300.0, "gap_s": 7.6},
        "steps": {"pages.fetch": step, "pages.count": step | {"failures": {"share": 0.71, "spacing": 2.3}}},
    }
    site.sql(WORKERS, json.dumps(stats))
    for statement in (_LEASES, _ATTEMPTS, _CONTROLLERS, _OWNERS):
        site.sql(statement)
    _fill_depth(site)
    return values | {"minute": (datetime.now(UTC) - timedelta(minutes=20)).strftime("%Y-%m-%dT%H:%M:00.000Z")}


def keep_alive(site: Site) -> None:
    site.sql("update forebay.worker set seen_at = now() where name = 'mill:1'")


def _fill_depth(site: Site) -> None:
    """An hour of samples of the depth, as an API would have that has run for so long."""
    ring: DepthRing = site.service.app.state.depth_ring
    now = datetime.now(UTC)
    for age in range(3540, 0, -10):
        ready = 40 + age // 20 + age % 300 // 6
        steps = {
            ("pages", step): Depth(
                "pages", step, f"pages.{step}", ready // part, 0, 3, 0, None, paused=False, parked=None
            )
            for step, part in (("fetch", 1), ("count", 3))
        }
        ring._samples.append(DepthSample(now - timedelta(seconds=age), steps))


def with_findings(site: Site) -> dict[str, str]:
    """What `forebay doctor` would find on a new machine."""
    found = [
        Finding("FAIL", "schema", "the functions of the engine belong to another release", "forebay migrate"),
        Finding("WARN", "queues", "pages.count is paused", "forebay resume --queue pages.count"),
        Finding("WARN", "egress", "the egress proxy cannot run", "pip install 'forebay[web]'"),
        Finding("WARN", "captions", "FOREBAY_CAPTION_URL is set, but no model", "set FOREBAY_CAPTION_MODEL"),
        Finding("OK", "python", "3.11.2"),
    ]

    async def examine() -> list[Finding]:
        return found

    site.service.app.state.doctor = Doctor(examine)
    return with_a_paused_queue(site)


def open_limits(page: Watched) -> None:
    page.page.get_by_role("button", name="Limits of ann").click()
    page.page.get_by_role("dialog", name="Limits of ann").wait_for()


def make_invitation(page: Watched) -> None:
    page.page.get_by_role("button", name="Invite a user").click()
    page.page.get_by_role("img", name="as a QR code").wait_for()


def invited(site: Site) -> dict[str, str]:
    assert site.api("root").post("/api/users/invitations", json={"role": "user"}).status_code == 201
    return {}


LOOKS = [
    Look("/ops", "empty", "Operations", who="root"),
    Look("/ops", "lively", "Operations", with_workers, who="root", refresh=keep_alive),
    Look("/ops?table=true", "tables", "Operations", with_workers, who="root", refresh=keep_alive),
    Look("/ops", "own", "Operations", waiting_job),
    Look("/ops/flow", "lively", "Flow", with_workers, who="root", refresh=keep_alive),
    Look("/ops/flow?at={minute}", "then", "Flow", with_workers, who="root", refresh=keep_alive),
    Look("/ops/controllers", "lively", "Controllers", with_workers, who="root", refresh=keep_alive),
    Look("/ops/controllers", "empty", "Controllers", who="root"),
    Look("/ops/queues", "lively", "Queues", with_a_paused_queue, who="root"),
    Look("/ops/lanes", "lively", "Lanes", with_workers, who="root", refresh=keep_alive),
    Look("/ops/workers", "lively", "Workers", with_workers, who="root", refresh=keep_alive),
    Look("/ops/workers/mill:1", "busy", "mill:1", with_workers, who="root", refresh=keep_alive),
    Look("/ops/workers/nobody", "gone", "nobody", who="root"),
    Look("/ops/pipelines/pages", "lively", "Pages", with_a_paused_queue, who="root"),
    Look("/ops/limits", "empty", "Limits", who="root"),
    Look("/ops/schedules", "lively", "Schedules", who="root"),
    Look("/ops/attempts", "lively", "Attempts", job_with_a_failure, who="root"),
    Look("/ops/audit", "lively", "Audit", with_a_paused_queue, who="root"),
    Look("/ops/storage", "empty", "Storage", who="root"),
    Look("/admin", "findings elsewhere", "Administration", who="root", allowed=frozenset({404})),
    Look("/admin", "findings", "Administration", with_findings, who="root"),
    Look("/admin/users", "some", "Users", who="root"),
    Look("/admin/invitations", "made", "Invitations", invited, who="root", after=make_invitation),
    Look("/admin/owners", "some", "Owners", with_a_paused_queue, who="root"),
    Look("/admin/owners", "limits", "Owners", with_a_paused_queue, who="root", after=open_limits),
    Look("/admin/settings", "all", "Settings in force", who="root"),
    Look("/account", "look", "Account"),
    Look("/account?tab=sessions", "sessions", "Account"),
    Look("/account?tab=tokens", "tokens", "Account"),
    Look("/account?tab=saving", "saving", "Account"),
    Look("/account?tab=data", "data", "Account"),
]
