"""`forebay doctor`: checks the installation and names the command that fixes a problem."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from forebay import log
from forebay.cli import _doctor_database, _doctor_files, _doctor_proxies, _fleet, commands
from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run, unknown_variables
from forebay.cli._doctor_disk_space import of_space
from forebay.db.pool import connected
from forebay.engine.declare.loading import load_pipelines
from forebay.errors import ConfigError, DatabaseUnavailable, DefinitionError, StepError
from forebay.hooks import Finding
from forebay.packages import failures, leave_out, packages
from forebay.runner.availability import available, gaps
from forebay.services.browser import INSTALL, find_browser, open_browser
from forebay.services.egress import open_egress

if TYPE_CHECKING:
    from forebay.hooks import Level
    from forebay.settings import Settings

_STYLES = {"OK": "green", "WARN": "yellow", "FAIL": "red"}
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
    found = run(examine(settings))
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


async def examine(settings: Settings, dsn: str | None = None) -> list[Finding]:
    """All findings; `dsn` is the database to look at, if it is not that of the settings."""
    found = [*_here(settings), *await _doctor_files.examine(settings), await _doctor_proxies.examine(settings)]
    found.append(await _browser(settings))
    found += await _broker(settings)
    found += [*await _package_checks(settings), *_left_out()]
    if settings.egress_ca_file is not None:
        found.append(_own_certificates(settings))
    try:
        place = dsn or find_dsn(settings)
        async with connected(place, "forebay doctor") as conn:
            found += [finding async for finding in _doctor_database.examine(conn, place, settings)]
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


async def _broker(settings: Settings) -> list[Finding]:
    try:
        return await _fleet.examine(settings, load_pipelines(settings.pipeline_modules))
    except DefinitionError as error:
        return [Finding("FAIL", "broker", str(error), "fix FOREBAY_BROKER_URL")]


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
