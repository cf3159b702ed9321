"""The database in `forebay doctor`: the server, the schema, and the work that waits in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay.cli import _doctor_logins
from forebay.cli import _show as show
from forebay.cli._common import place_of
from forebay.db import migrate
from forebay.db.addresses import find_addresses
from forebay.engine.db import checks as checkup
from forebay.engine.db import overview
from forebay.engine.db.versions import versions
from forebay.engine.declare.loading import load_pipelines
from forebay.engine.supervise.health import MOST_FAILED, Signs, verdict
from forebay.errors import DefinitionError, ForebayError, SchemaError
from forebay.hooks import Finding
from forebay.identity import db as identity
from forebay.identity.logins import missing_roles

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.engine.db.overview import Depth, WorkerRow
    from forebay.engine.db.versions import VersionRow
    from forebay.settings import Settings

_OLDEST_POSTGRES = 14
_CLOCK_SECONDS = 5


async def examine(conn: Connection, dsn: str, settings: Settings) -> AsyncIterator[Finding]:
    """Findings about the server, the schema, and the work in it."""
    server = await checkup.server(conn)
    yield _version(server, dsn)
    if server.read_only:
        yield Finding("FAIL", "database", "it is a read-only standby", "point FOREBAY_DATABASE_URL at the primary")
    yield _clock(server)
    yield _connections(server, settings, dsn)
    yield await _listen(dsn, settings)
    if (replication := await checkup.replication(conn)).standbys:
        yield _replication(replication, dsn)
    yield await _vector(conn)
    schema = await _schema(conn)
    yield schema
    if schema.level != "FAIL":
        if await migrate.has_service(conn):
            roles = await _roles(conn)
            yield roles
            if roles.level == "OK":
                yield await _ownership(conn)
                async for finding in _doctor_logins.examine(settings, dsn):
                    yield finding
        yield await _partitions(conn)
        depth, workers = await overview.depth(conn), await overview.workers(conn)
        for finding in _work(depth, workers, settings):
            yield finding
        yield await _health(conn, server.now, depth, workers)
        for finding in _versions(await versions(conn)):
            yield finding


def _version(server: checkup.Server, dsn: str) -> Finding:
    text = f"PostgreSQL {server.version} on {place_of(dsn)}"
    if server.major >= _OLDEST_POSTGRES:
        return Finding("OK", "database", text)
    return Finding("FAIL", "database", f"{text} is too old", f"upgrade the server to {_OLDEST_POSTGRES} or newer")


def _clock(server: checkup.Server) -> Finding:
    apart = abs((server.now - datetime.now(UTC)).total_seconds())
    if apart < _CLOCK_SECONDS:
        return Finding("OK", "clock", "agrees with the database's")
    fix = "synchronise the clocks, for example with chrony"
    return Finding("WARN", "clock", f"differs by {show.duration(apart)} from the database's", fix)


def _connections(server: checkup.Server, settings: Settings, dsn: str) -> Finding:
    used = {find_addresses(dsn), find_addresses(settings.session_dsn(dsn))}
    probes = sum(len(addresses) > 1 for addresses in used)
    each = settings.pool_size + settings.step_transactions + 1 + settings.listen + probes
    leader = int(settings.has_sessions)
    wanted = settings.processes * each + leader + settings.api_pool_size + 8
    text = f"workers (FOREBAY_PROCESSES x {each}) and API may use {wanted} of {server.connections}"
    if wanted < server.connections:
        return Finding("OK", "connections", text)
    fix = "lower FOREBAY_POOL_SIZE or FOREBAY_PROCESSES, or raise max_connections of the server"
    return Finding("WARN", "connections", text, fix)


async def _listen(dsn: str, settings: Settings) -> Finding:
    if not settings.listen:
        return Finding("OK", "wake-ups", f"off; workers poll every {show.duration(settings.poll_s)}")
    try:
        hears = await checkup.receives_notifications(settings.session_dsn(dsn), dsn)
    except ForebayError as error:
        return Finding("WARN", "wake-ups", f"LISTEN failed: {error}", "FOREBAY_LISTEN=false forebay worker")
    if hears:
        return Finding("OK", "wake-ups", "LISTEN works")
    text = "notifications do not arrive, perhaps because of a transaction-mode pooler; workers poll instead"
    return Finding(
        "WARN", "wake-ups", text, "set FOREBAY_LISTEN_URL to the address without the pooler, or FOREBAY_LISTEN=false"
    )


def _replication(found: checkup.Replication, dsn: str) -> Finding:
    """Without a standby that confirms, a failover loses work that was accepted, and gives its numbers away again."""
    text = show.plural(found.standbys, "standby")
    if not found.is_confirmed:
        fix = "alter system set synchronous_standby_names = 'ANY 1 (*)'; see docs/howto/ha.md"
        return Finding(
            "WARN", "replication", f"{text}, but no commit waits for one: a failover loses accepted work", fix
        )
    if len(find_addresses(dsn)) == 1:
        text += ", commits wait for one; FOREBAY_DATABASE_URL has one address, which has to lead to the primary"
        return Finding("OK", "replication", text)
    return Finding("OK", "replication", f"{text}, commits wait for one")


async def _vector(conn: Connection) -> Finding:
    offered = await checkup.extensions(conn, ["vector"])
    if version := offered.get("vector"):
        return Finding("OK", "pgvector", version)
    text = "available, not installed" if "vector" in offered else "not there"
    return Finding("OK", "pgvector", f"{text}; only search by meaning needs it")


async def _schema(conn: Connection) -> Finding:
    try:
        await migrate.check(conn, await migrate.parts_in(conn))
    except SchemaError as error:
        return Finding("FAIL", "schema", str(error), "forebay migrate")
    versions = ", ".join(f"{part} {version}" for part, version in (await migrate.versions_of(conn)).items())
    if outdated := await checkup.outdated_routines(conn):
        text = f"{versions}, but the functions of {', '.join(outdated)} belong to another release"
        return Finding("WARN", "schema", text, "forebay migrate")
    if not await migrate.has_service(conn):
        versions += "; engine only: `forebay migrate --service` adds what the API needs"
    return Finding("OK", "schema", versions)


async def _roles(conn: Connection) -> Finding:
    missing = await missing_roles(conn)
    if not missing:
        return Finding("OK", "roles", "the roles of the API exist, with row-level security")
    made = "; ".join(f"create role {role} nologin" for role in missing)
    text = f"the API needs the roles {', '.join(missing)}; the account that migrates must be able to grant them"
    return Finding("WARN", "roles", text, f"as an administrator of the database: {made}; then: forebay migrate")


async def _ownership(conn: Connection) -> Finding:
    tables = await identity.unprotected_tables(conn)
    if not tables:
        return Finding("OK", "ownership", "row-level security protects every table with owners")
    text = f"row-level security does not protect {', '.join(tables)}"
    fix = "; ".join(f"select forebay.own('{table}')" for table in tables)
    return Finding("FAIL", "ownership", text, f"upgrade the package of the table, or as the owner of the schema: {fix}")


async def _partitions(conn: Connection) -> Finding:
    missing = await checkup.missing_partitions(conn)
    if missing is None:
        return Finding("OK", "history", "no partitions yet: the first worker creates them")
    if not missing:
        return Finding("OK", "history", "partitions are created ahead")
    days = ", ".join(day.isoformat() for day in missing)
    text = f"no partition for {days}: attempts are stored in attempt_default"
    return Finding("WARN", "history", text, "forebay worker (a running worker creates them)")


def _work(depth: list[Depth], workers: list[WorkerRow], settings: Settings) -> Iterator[Finding]:
    yield from _queues(depth)
    alive = [worker for worker in workers if worker.alive]
    served = {step for worker in alive for step in worker.steps}
    waiting = [step for step in depth if step.ready and f"{step.pipeline}.{step.step}" not in served]
    for step in waiting:
        wait = f"{show.plural(step.ready, 'task')} waiting at {step.pipeline}.{step.step}"
        text = f"{wait}, and no running worker has that step"
        yield Finding("FAIL", "workers", text, _worker_for(step.pipeline, settings))
    for worker in workers:
        if worker.stuck:
            text = f"{worker.name} is stuck with {show.plural(worker.in_flight, 'task')}"
            yield Finding("FAIL", "workers", text, f"restart it; last seen {show.moment(worker.seen_at)}")
    if alive:
        yield Finding("OK", "workers", f"{show.plural(len(alive), 'worker')} alive")
    elif not waiting:
        yield Finding("WARN", "workers", "none is running", "forebay worker")


async def _health(conn: Connection, at: datetime, depth: list[Depth], workers: list[WorkerRow]) -> Finding:
    """The same sentence as in `forebay top` and the API. The findings before it say what to do."""
    failed = await overview.count_recent_dead_letters(conn, at - timedelta(hours=1), MOST_FAILED)
    judged = verdict(Signs(at, depth, workers, failed))
    fix = None if judged.level == "OK" else "see the findings about queues, workers and versions; forebay top"
    return Finding("WARN" if judged.level == "FAIL" else judged.level, "health", judged.sentence, fix)


def _versions(found: list[VersionRow]) -> Iterator[Finding]:
    """Jobs of the present version are the depth's matter; those of others continue by it, once it has workers."""
    unserved = {version.pipeline: version for version in found if version.is_present and version.unserved}
    for version in found:
        if version.is_present or not version.open_jobs or not version.unserved:
            continue
        jobs = f"{show.plural(version.open_jobs, 'open job')} of {version.pipeline}, version {version.number}"
        text = f"{jobs}: no living worker runs {', '.join(version.unserved)}"
        if present := unserved.get(version.pipeline):
            fix = (
                f"start workers of the release that runs {', '.join(present.unserved)}; or go back to this one: "
                f"forebay pipelines use {version.pipeline} {version.number}"
            )
            yield Finding("FAIL", "versions", text, fix)
        else:
            yield Finding("WARN", "versions", text, "wait: they continue by the present version")


def _worker_for(pipeline: str, settings: Settings) -> str:
    """The command that starts a worker with this pipeline."""
    try:
        known = {each.name for each in load_pipelines(settings.pipeline_modules)}
    except DefinitionError:
        known = set[str]()
    return (
        "forebay worker"
        if pipeline in known
        else f"forebay worker --pipelines MODULE, the one that declares {pipeline}"
    )


def _queues(depth: list[Depth]) -> Iterator[Finding]:
    parked = {step.queue: step.parked for step in depth if step.parked}
    for queue, reason in parked.items():
        text = f"{queue} is parked: {reason}"
        fix = f"fix that; it continues automatically, or immediately with: select forebay.unpark_queue('{queue}')"
        yield Finding("FAIL", "queues", text, fix)
    for queue in {step.queue: None for step in depth if step.paused}:
        yield Finding("WARN", "queues", f"{queue} is paused", f"forebay resume --queue {queue}")
    if not parked and not any(step.paused for step in depth):
        yield Finding("OK", "queues", "none is paused or parked")
