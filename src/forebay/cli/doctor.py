"""`forebay doctor`: checks the installation and names the command that fixes a problem."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from forebay import log
from forebay.cli import _doctor_files, _doctor_logins, _doctor_proxies, commands
from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, place_of, run, unknown_variables
from forebay.cli._doctor_disk_space import of_space
from forebay.db import migrate
from forebay.db.pool import connected
from forebay.engine.db import checks as checkup
from forebay.engine.db import overview
from forebay.engine.db.versions import versions
from forebay.engine.declare.loading import load_pipelines
from forebay.errors import ConfigError, DatabaseUnavailable, DefinitionError, ForebayError, SchemaError, StepError
from forebay.hooks import Finding
from forebay.identity import db as identity
from forebay.identity.logins import missing_roles
from forebay.packages import failures, leave_out, packages
from forebay.runner.availability import available, gaps
from forebay.services.browser import INSTALL, find_browser, open_browser
from forebay.services.egress import open_egress

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.engine.db.overview import Depth, WorkerRow
    from forebay.engine.db.versions import VersionRow
    from forebay.hooks import Level
    from forebay.settings import Settings

_STYLES = {"OK": "green", "WARN": "yellow", "FAIL": "red"}
_OLDEST_POSTGRES = 14
_CLOCK_SECONDS = 5
_WEB = ("h11", "h2", "httpx", "idna", "protego")  # what the extra brings


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the installation.

    Each line that is not OK says how to fix it. Exit code 1 when something fails.
    """
    settings = load_settings()
    if settings.log_level == "info":
        log.configure("warning", json_lines=settings.log_json)  # logs would hide the findings
    found = run(_examine(settings))
    failed = any(finding.level == "FAIL" for finding in found)
    if as_json:
        click.echo(show.dump({"ok": not failed, "findings": [asdict(finding) for finding in found]}))
    else:
        _print(found)
    sys.exit(1 if failed else 0)


def _print(found: list[Finding]) -> None:
    out = show.console()
    for finding in found:
        style = _STYLES[finding.level]
        out.print(f"[{style}]{finding.level:<4}[/{style}]  [bold]{finding.about:<11}[/bold]", end=" ")
        out.print(finding.text, markup=False, soft_wrap=True)
        if finding.fix:
            out.print(f"                  → {finding.fix}", markup=False, soft_wrap=True)


async def _examine(settings: Settings) -> list[Finding]:
    found = [*_here(settings), *await _doctor_files.examine(settings), await _doctor_proxies.examine(settings)]
    found.append(await _browser(settings))
    found += [*await _package_checks(settings), *_left_out()]
    if settings.egress_ca_file is not None:
        found.append(_own_certificates(settings))
    try:
        dsn = find_dsn(settings)
        async with connected(dsn, "forebay doctor") as conn:
            found += [finding async for finding in _database(conn, dsn, settings)]
    except DatabaseUnavailable as error:
        fix = "start it, or fix FOREBAY_DATABASE_URL" if settings.dsn else "forebay up"
        found.append(Finding("FAIL", "database", str(error), fix))
    return found


# This machine.


def _here(settings: Settings) -> Iterator[Finding]:
    yield Finding("OK", "python", ".".join(map(str, sys.version_info[:3])))
    for sentence in unknown_variables().values():
        yield Finding("WARN", "settings", sentence, "correct the name, or unset it")
    yield _modules(settings)
    yield _cookies(settings)
    yield _egress(settings)
    yield _sandbox(settings)
    if settings.dsn is None:
        yield _space(settings)


def _modules(settings: Settings) -> Finding:
    try:
        names = [pipeline.name for pipeline in load_pipelines(settings.pipeline_modules)]
    except DefinitionError as error:
        return Finding("FAIL", "pipelines", str(error), "fix the module, or FOREBAY_PIPELINES")
    return Finding("OK", "pipelines", f"{', '.join(names)} from {settings.pipelines}")


async def _package_checks(settings: Settings) -> list[Finding]:
    found: list[Finding] = []
    for package in packages():
        try:
            for check in package.all_checks():
                found += await check(settings)
        except Exception as error:  # any error of the package
            leave_out(package, error)
    return found


def _left_out() -> Iterator[Finding]:
    commands()  # finds packages whose commands have the names of others
    for failure in failures():
        yield Finding("FAIL", "packages", str(failure), failure.fix)


def _cookies(settings: Settings) -> Finding:
    if settings.is_local:
        return Finding("OK", "sessions", f"the API listens on this machine only ({settings.api_host})")
    if settings.secure_cookies is not False:
        return Finding("OK", "sessions", f"the API listens on {settings.api_host}; cookies are sent over HTTPS only")
    text = f"the API listens on {settings.api_host}, and cookies may go over plain HTTP, where others can read them"
    return Finding("WARN", "sessions", text, "serve it by HTTPS, and unset FOREBAY_SECURE_COOKIES")


def _egress(settings: Settings) -> Finding:
    missing = [name for name in _WEB if find_spec(name) is None]
    if missing:
        text = f"nothing can be fetched from the web without {', '.join(missing)}"
        return Finding("WARN", "egress", text, "pip install 'forebay[web]'")
    from forebay.services.egress.confinement import why_not_confined  # noqa: PLC0415 - needs the extra

    if settings.egress_confine is False:
        text = "child processes are told to use the egress proxy, but could bypass it: FOREBAY_EGRESS_CONFINE is false"
        return Finding("WARN", "egress", text, "unset FOREBAY_EGRESS_CONFINE")
    because = why_not_confined()
    if because is None:
        return Finding("OK", "egress", "child processes reach the network only through the egress proxy")
    text = f"child processes are told to use the egress proxy, but could bypass it: {because}"
    level: Level = "FAIL" if settings.egress_confine else "WARN"
    return Finding(level, "egress", text, "allow user namespaces for this account, or give it CAP_SYS_ADMIN")


def _sandbox(settings: Settings) -> Finding:
    """Whether programs and functions that read untrusted data can be sandboxed; found out by trying."""
    if settings.sandbox == "off":
        text = "parsers and Chromium see the files and the network of this account: FOREBAY_SANDBOX is off"
        return Finding("WARN", "sandbox", text, "unset FOREBAY_SANDBOX")
    found = available()
    if found.method is None:
        required = settings.sandbox == "required"
        runs = "parsers and Chromium do not run" if required else "parsers see the files of this account"
        if settings.sandbox is None:
            runs += ", Chromium does not run"
        fix = "allow user namespaces for this account, or install bubblewrap; FOREBAY_SANDBOX=preferred runs with less"
        return Finding("FAIL" if required else "WARN", "sandbox", f"{runs}: {found.because}", fix)
    if lacking := gaps():
        return Finding("WARN", "sandbox", f"by {found.method}, but {'; '.join(lacking)}", "nothing to do")
    return Finding("OK", "sandbox", f"parsers and programs are sandboxed by {found.method}")


def _space(settings: Settings) -> Finding:
    folder = settings.data_dir.absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    level = of_space(free)
    fix = None if level == "OK" else f"free some space on the disk of {settings.data_dir}, or set FOREBAY_DATA_DIR"
    return Finding(level, "disk", f"{show.size(free)} free for {settings.data_dir}", fix)


def _own_certificates(settings: Settings) -> Finding:
    """Which certificates are trusted besides the public ones, and where."""
    # Chromium takes a list of keys and accepts every chain that contains one, signed by it or not: anyone with the
    # authority's public certificate could impersonate any host. So Chromium does not get it.
    name = f"FOREBAY_EGRESS_CA_FILE {settings.egress_ca_file}"
    try:
        from forebay.services.egress.pools import own_trust  # noqa: PLC0415 - needs the extra

        own_trust(settings.egress_ca_file)
    except ConfigError as error:
        return Finding("FAIL", "certificates", str(error), "fix the file, or unset FOREBAY_EGRESS_CA_FILE")
    except ImportError:
        return Finding("WARN", "certificates", f"{name} is not used yet", "pip install 'forebay[web]'")
    text = f"{name}: trusted for fetching pages, but not by Chromium: pages with such certificates get no screenshot"
    if find_browser(settings) is None:
        return Finding("OK", "certificates", text)
    return Finding("WARN", "certificates", text, "nothing, if those pages need no screenshots")


async def _browser(settings: Settings) -> Finding:
    """Whether pages can be captured; found out by starting the browser."""
    if find_browser(settings) is None and not settings.browser_path:
        text = "Chromium is not installed; only screenshots of pages need it"
        return Finding("OK", "browser", f"{text} ({INSTALL})")
    try:
        async with open_egress(settings) as egress, open_browser(settings, egress) as browser:
            started = await browser.check()
    except StepError as error:
        return Finding("WARN", "browser", str(error), "fix that; only screenshots of pages need it")
    text = f"Chromium {started.version}"
    if started.sandboxed:
        return Finding("OK", "browser", f"{text}, with its sandbox")
    fix = "allow user namespaces for this account, and unset FOREBAY_SANDBOX"
    return Finding("WARN", "browser", f"{text} runs without its sandbox, which this kernel does not allow", fix)


# The database.


async def _database(conn: Connection, dsn: str, settings: Settings) -> AsyncIterator[Finding]:
    server = await checkup.server(conn)
    yield _version(server, dsn)
    if server.read_only:
        yield Finding("FAIL", "database", "it is a read-only standby", "point FOREBAY_DATABASE_URL at the primary")
    yield _clock(server)
    yield _connections(server, settings)
    yield await _listen(dsn, settings)
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
        for finding in _work(await overview.depth(conn), await overview.workers(conn), settings):
            yield finding
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


def _connections(server: checkup.Server, settings: Settings) -> Finding:
    each = settings.pool_size + 1 + settings.listen
    leader = int(settings.prepared_statements)
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
        hears = await checkup.receives_notifications(dsn)
    except ForebayError as error:
        return Finding("WARN", "wake-ups", f"LISTEN failed: {error}", "FOREBAY_LISTEN=false forebay worker")
    if hears:
        return Finding("OK", "wake-ups", "LISTEN works")
    text = "notifications do not arrive, perhaps because of a transaction-mode pooler; workers poll instead"
    return Finding("WARN", "wake-ups", text, "FOREBAY_LISTEN=false forebay worker, or connect without the pooler")


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
