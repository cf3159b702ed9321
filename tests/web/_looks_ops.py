"""The pages of operations, of administration and of the account."""

from __future__ import annotations

import json

from tests.web._pages import Look, job_with_a_failure, lively, waiting_job
from tests.web.conftest import Site


def with_a_paused_queue(site: Site) -> dict[str, str]:
    """Work of two owners, attempts, a queue that is paused and one that needs set-up."""
    values = lively(site)
    made = site.api("bob").post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "b"}] * 3})
    assert made.status_code == 201, made.text
    assert site.api("root").post("/api/queues/pages.count/pause").json() == {"changed": True}
    site.sql("update forebay.queue set parked = 'the key of the service is missing' where name = 'bookmarks.caption'")
    return values


_WORKERS = """
insert into forebay.worker (name, started_at, seen_at, stats)
values ('mill:1', now() - interval '2 hours', now(), $1::text::jsonb),
       ('mill:2', now() - interval '2 hours', now() - interval '5 minutes', '{}')
"""


def with_workers(site: Site) -> dict[str, str]:
    """A worker on a busy machine that serves two owners, one that has vanished, and attempts of the minute before."""
    values = with_a_paused_queue(site)
    owners = {row["name"]: str(row["id"]) for row in site.sql("select id, name from forebay.owner")}
    stats = {
        "machine": {"share": 0.4, "load": 2.5, "free_memory": 0.12, "lag_ms": 12.0},
        "recent": {"attempts_per_s": {"owners": {owners["ann"]: 30.0, owners["bob"]: 28.0}, "others": 0.0}},
        "steps": {
            "pages.fetch": {
                "running": 3,
                "ended": 1200,
                "concurrency": {"limit": 12.0, "least": 1, "most": 64},
                "claim": {"value": 24.0, "item_ms": 40.0},
            }
        },
    }
    site.sql(_WORKERS, json.dumps(stats))
    site.sql("update forebay.attempt set ended_at = ended_at - interval '1 minute'")
    return values


def invited(site: Site) -> dict[str, str]:
    assert site.api("root").post("/api/users/invitations", json={"role": "user"}).status_code == 201
    return {}


LOOKS = [
    Look("/ops", "empty", "Operations", who="root"),
    Look("/ops", "lively", "Operations", with_workers, who="root"),
    Look("/ops?table=true", "tables", "Operations", with_a_paused_queue, who="root"),
    Look("/ops", "own", "Operations", waiting_job),
    Look("/ops/flow", "lively", "Flow", with_workers, who="root"),
    Look("/ops/queues", "lively", "Queues", with_a_paused_queue, who="root"),
    Look("/ops/lanes", "lively", "Lanes", with_workers, who="root"),
    Look("/ops/workers", "lively", "Workers", with_workers, who="root"),
    Look("/ops/workers/mill:1", "busy", "mill:1", with_workers, who="root"),
    Look("/ops/workers/nobody", "gone", "nobody", who="root"),
    Look("/ops/pipelines/pages", "lively", "Pages", with_a_paused_queue, who="root"),
    Look("/ops/limits", "empty", "Limits", who="root"),
    Look("/ops/schedules", "lively", "Schedules", who="root"),
    Look("/ops/attempts", "lively", "Attempts", job_with_a_failure, who="root"),
    Look("/ops/audit", "lively", "Audit", with_a_paused_queue, who="root"),
    Look("/ops/storage", "empty", "Storage", who="root"),
    Look("/admin", "findings elsewhere", "Administration", who="root", allowed=frozenset({404})),
    Look("/admin/users", "some", "Users", who="root"),
    Look("/admin/invitations", "open", "Invitations", invited, who="root"),
    Look("/admin/owners", "some", "Owners", lively, who="root"),
    Look("/admin/settings", "all", "Settings in force", who="root"),
    Look("/account", "look", "Account"),
    Look("/account?tab=sessions", "sessions", "Account"),
    Look("/account?tab=tokens", "tokens", "Account"),
    Look("/account?tab=saving", "saving", "Account"),
]
