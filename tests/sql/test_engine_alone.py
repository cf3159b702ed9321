"""The engine without the service, in a database of which our account owns only the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pytest
from pydantic import BaseModel

from forebay import Context, Limit, Pipeline
from forebay.db.migrate import check, ensure_service, migrate, versions_of
from forebay.db.schema_parts import ENGINE, all_parts
from forebay.engine.db import control
from forebay.engine.work.worker import Worker
from forebay.errors import DataError, SchemaError
from forebay.testing import testbed
from tests.cli._run import Cli, ask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Note(BaseModel):
    body: str


notes = Pipeline("notes", Note)


@notes.step(limits=[Limit("notes", concurrency=2, key=lambda note: note.body)])
async def size(ctx: Context, note: Note) -> int:
    if note.body == "broken":
        raise DataError("broken on purpose")
    return len(note.body)


@pytest.fixture
async def own_schema(bare_dsn: str) -> AsyncIterator[str]:
    """A database in which our account can create neither roles nor extensions nor schemas, but owns one schema."""
    admin = await asyncpg.connect(bare_dsn)
    name = f"plain_{uuid4().hex[:12]}"
    await admin.execute(f"create role {name} login password 'x'; create schema forebay authorization {name}")
    place = urlsplit(bare_dsn)
    yield place._replace(netloc=f"{name}:x@{place.netloc.rpartition('@')[2]}").geturl()
    await admin.execute(f"drop owned by {name} cascade; drop role {name}")
    await admin.close()


async def test_it_needs_no_role_no_extension_and_no_table_of_the_service(own_schema: str) -> None:
    assert await migrate(own_schema) == len(ENGINE.migrations)
    conn = await asyncpg.connect(own_schema)
    assert await versions_of(conn) == {"engine": ENGINE.newest}
    assert await conn.fetchval("select array_agg(extname::text) from pg_extension") == ["plpgsql"]
    tables = "from pg_class where relnamespace = 'forebay'::regnamespace and relkind in ('r', 'p')"
    assert set(await conn.fetchval(f"select array_agg(relname::text) {tables}")) == {
        "attempt", "attempt_default", "audit", "busy_lane", "child_change", "controller_sample", "dead_letter",
        "deleted_jobs", "item", "job", "kept_signal", "lane", "lease", "migration", "ordered_task", "owner",
        "owner_sample", "part", "part_routine", "pipeline", "pipeline_version", "queue", "rate_limit", "ready",
        "schedule", "scheduled", "slot_lease", "slot_limit", "step", "tally", "throttled_task", "version_step",
        "waiting", "worker",
    }  # fmt: skip
    assert await conn.fetchval(f"select count(*) {tables} and (relrowsecurity or relacl is not null)") == 0
    assert await conn.fetchval("select count(*) from pg_policies where schemaname = 'forebay'") == 0
    assert await conn.fetchval("select array_agg(tgname::text) from pg_trigger where not tgisinternal") == ["take_kept"]
    await conn.close()


async def test_work_is_done(own_schema: str) -> None:
    await migrate(own_schema)
    async with testbed(own_schema, [notes]) as bed:
        good = await bed.submit(notes, Note(body="fine"), owner="ann", key="k")
        paused = await bed.submit(notes, Note(body="later"))
        bad = await bed.submit(notes, Note(body="broken"))
        async with bed.pool.acquire() as conn:
            await control.pause(conn, paused.job_id, "ann")
            await bed.finish()
            assert [(await bed.job(job)).state for job in (good, paused, bad)] == ["DONE", "PAUSED", "FAILED"]
            assert (await bed.item(good)).result == {"size": 4}
            await control.resume(conn, paused.job_id, "ann")
            await conn.execute("select forebay.reprocess($1)", bad.job_id)
            await bed.finish()
            assert [(await bed.job(job)).state for job in (paused, bad)] == ["DONE", "FAILED"]
            waiting = await bed.submit(notes, Note(body="never"), delay=60)
            await control.cancel(conn, waiting.job_id, "ann")
            assert (await bed.job(waiting)).state == "CANCELLED"
            await bed.worker._sweeper.tidy()
            await bed.worker._sweeper.retain()
            await bed.worker._sweeper.sample()
            for view in ("items", "jobs", "queue_depth", "totals", "last_hour", "dead_letters", "attempts", "workers"):
                assert await conn.fetch(f"select * from forebay.{view}") != []


async def test_a_schedule_submits(own_schema: str) -> None:
    timed = Pipeline("timed", Note)

    @timed.step()
    async def work(ctx: Context, note: Note) -> str:
        return note.body

    timed.schedule("every minute", "* * * * *", Note(body="on time"))
    await migrate(own_schema)
    async with testbed(own_schema, [timed]) as bed:
        bed.clock.advance(61)
        await bed.run()
        assert await bed.pool.fetchval("select count(*) from forebay.job where state = 'DONE'") == 1


def test_commands_look_and_repair(tmp_path: Path, own_schema: str) -> None:
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=own_schema)
    assert cli.run("migrate", "--pipelines", "notes").code == 0
    submitted = cli.run("submit", "notes", '{"body": "x"}')
    assert submitted.out == "job 1: 1 item\n", submitted.err
    for command in (["jobs"], ["job", "1"], ["top", "--once"], ["export", "1"], ["pause", "1"], ["resume", "1"]):
        done = cli.run(*command)
        assert done.code == 0, (command, done.err)
    assert cli.run("cancel", "1").code == 0
    retried = cli.run("retry", "1", "--status", "SKIPPED")
    assert retried.code == 0, retried.err
    examined = cli.run("doctor", "--json").json
    (found,) = [each for each in examined["findings"] if each["about"] == "schema"]
    assert (found["level"], found["text"]) == (
        "OK",
        f"engine {ENGINE.newest}; engine only: `forebay migrate --service` adds what the API needs",
    )
    assert not [each for each in examined["findings"] if each["about"] in ("roles", "accounts")]


def test_commands_of_the_service_say_what_is_missing(tmp_path: Path, own_schema: str) -> None:
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=own_schema)
    assert cli.run("migrate").code == 0
    refused = cli.run("users", "list")
    assert refused.code == 4
    assert "run `forebay migrate`, or `forebay migrate --service` for what the service needs" in refused.err
    for command in (["worker", "--pipelines", "forebay.pipelines", "--processes", "1"], ["storage", "usage"]):
        refused = cli.run(*command)
        assert refused.code == 4, refused.err
        assert "the database has no schema part identity yet: run `forebay migrate --service`" in refused.err
    assert ask(own_schema, "select count(*) from forebay.migration where part <> 'engine'") == 0


async def test_a_worker_checks_what_its_pipelines_need(dsn: str) -> None:
    from forebay.pipelines.bookmarks.steps import bookmarks

    conn = await asyncpg.connect(dsn)
    await conn.execute("delete from forebay.migration where part = 'bookmarks'")
    with pytest.raises(SchemaError, match="the database has no schema part bookmarks yet"):
        await Worker(dsn, [bookmarks]).run()
    async with testbed(dsn, [notes], migrated=True):
        pass  # others need nothing of it
    await conn.close()


async def test_who_may_not_add_the_service_is_told_the_command(bare_dsn: str, own_schema: str) -> None:
    await migrate(own_schema)
    admin = await asyncpg.connect(bare_dsn)
    name = f"reader_{uuid4().hex[:12]}"
    await admin.execute(f"create role {name} login password 'x'; grant usage on schema forebay to {name}")
    await admin.execute(f"grant select on forebay.migration to {name}")
    place = urlsplit(bare_dsn)
    with pytest.raises(SchemaError, match="has no schema part identity yet: run `forebay migrate --service`"):
        await ensure_service(place._replace(netloc=f"{name}:x@{place.netloc.rpartition('@')[2]}").geturl())
    await admin.execute(f"drop owned by {name}; drop role {name}")
    await admin.close()


async def test_the_service_is_added_and_kept(bare_dsn: str) -> None:
    await migrate(bare_dsn)
    assert await ensure_service(bare_dsn) == sum(len(p.migrations) for p in all_parts()) - len(ENGINE.migrations)
    assert await ensure_service(bare_dsn) == 0
    conn = await asyncpg.connect(bare_dsn)
    await check(conn, all_parts())
    await conn.close()
