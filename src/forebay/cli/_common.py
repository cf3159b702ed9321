"""What every command begins with: settings, logs, and where the database is."""

from __future__ import annotations

import asyncio
import getpass
import os
import re
import shutil
import sys
from collections.abc import Coroutine, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click
from pydantic import SecretStr, ValidationError
from pydantic_settings import DotEnvSettingsSource

from forebay import log
from forebay.base_settings import SettingsBase
from forebay.cli import _data_dir
from forebay.embedded import EmbeddedError, EmbeddedPostgres
from forebay.errors import DatabaseUnavailable, InvalidField
from forebay.identity.logins import login_urls
from forebay.packages import settings_classes
from forebay.settings import Settings
from forebay.validation import plain_reason

T = TypeVar("T")
S = TypeVar("S", bound=SettingsBase)

_UNREADABLE = "a database whose address cannot be read"
LEVELS = ("debug", "info", "warning", "error")

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)\s*")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def load_settings(**given: object) -> Settings:
    """The settings of a command that talks to a running server, whose folder is looked for when nothing names it.

    Raises: InvalidField that names the variable.
    """
    settings = load_own_settings(**given)
    if settings.dsn or "data_dir" in settings.model_fields_set or (found := _data_dir.find()) is None:
        return settings
    if found != settings.data_dir:
        _tell_folder(found)
    return settings.model_copy(update={"data_dir": found})


@cache
def _tell_folder(folder: Path) -> None:
    """Once: the database may be another than was meant."""
    click.echo(f"Using the database in {folder}; FOREBAY_DATA_DIR names another folder.", err=True)


def load_own_settings(**given: object) -> Settings:
    """The settings with what the command line says in their place (None: nothing), and logging as they want it.

    For what starts, changes or copies a database: that is never one that was found somewhere else.

    Raises: InvalidField that names the variable.
    """
    settings = _checked(Settings, {name: value for name, value in given.items() if value is not None})
    settings = settings.including(*(_checked(kind, {}) for kind in settings_classes().values()))
    if settings.log_level.lower() not in LEVELS:
        reason = f"must be one of {', '.join(LEVELS)}; it is {settings.log_level!r}"
        raise InvalidField("FOREBAY_LOG_LEVEL", reason)
    log.configure(settings.log_level, json_lines=settings.log_json)
    return settings


def _checked(kind: type[S], given: Mapping[str, object]) -> S:
    """Raises: InvalidField that names the variable."""
    try:
        return kind(**given)
    except ValidationError as error:
        raise _refused_setting(kind, error) from error


def _refused_setting(kind: type[SettingsBase], error: ValidationError) -> InvalidField:
    """The first wrong setting: its variable, what it must be, and what it is unless that is a secret."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0])
    is_secret = "Secret" in str(kind.model_fields[name].annotation)
    given = "" if is_secret else f"; it is {first['input']!r}"
    return InvalidField(kind.variable(name), f"{plain_reason(first)}{given}")


def unknown_variables() -> dict[str, str]:
    """FOREBAY_ variables that no setting has, most often misspelt ones, and a sentence about each."""
    known = Settings.variables().union(*(kind.variables() for kind in settings_classes().values()))
    given = {name.upper() for name in (*os.environ, *DotEnvSettingsSource(Settings).env_vars)}
    return {name: _unknown(name, known) for name in sorted(given - known) if name.startswith("FOREBAY_")}


def _unknown(name: str, known: set[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.8)
    hint = f"did you mean {near[0]}?" if near else "`forebay config` lists all settings"
    return f"{name} has no effect, as there is no such setting: {hint}"


def program() -> str:
    """How this program is called from here: by its name where the shell finds it, else by its path."""
    here = Path(sys.argv[0] if Path(sys.argv[0]).name == "forebay" else Path(sys.executable).with_name("forebay"))
    found = shutil.which("forebay")
    if found is not None and Path(found).absolute() == here.absolute():
        return "forebay"
    path, cwd = here.absolute(), Path.cwd()
    return str(path.relative_to(cwd) if path.is_relative_to(cwd) else path)


def find_dsn(settings: Settings, *, running: bool = True) -> str:
    """The database to use: the one that is set, else the embedded one, which must run unless told otherwise.

    Raises: DatabaseUnavailable with what to do.
    """
    if settings.dsn:
        return settings.dsn
    embedded = EmbeddedPostgres(settings.data_dir)
    try:
        dsn = embedded.dsn
        is_down = running and embedded.pid is None
    except EmbeddedError as error:
        raise DatabaseUnavailable(
            f"there is no database in {settings.data_dir} yet: start one with `forebay up`, or set FOREBAY_DATABASE_URL"
        ) from error
    if is_down:
        raise DatabaseUnavailable(f"the database in {settings.data_dir} is not running: start it with `forebay up`")
    return dsn


def with_logins(settings: Settings) -> Settings:
    """The settings with the accounts that `forebay up` has made in the embedded database, where none are set."""
    if settings.dsn:
        return settings
    embedded = EmbeddedPostgres(settings.data_dir)
    try:
        urls = login_urls(embedded.dsn, embedded.login_passwords)
    except EmbeddedError:
        return settings  # nothing is there yet: find_dsn says what to do
    return add_logins(settings, urls)


def add_logins(settings: Settings, urls: Mapping[str, str]) -> Settings:
    """The settings with these addresses, by the names of their settings, where none are set."""
    missing = {name: SecretStr(url) for name, url in urls.items() if not getattr(settings, name)}
    return settings.model_copy(update=missing)


def place_of(dsn: str) -> str:
    """The database in words, without user, password and options."""
    try:
        parts = urlsplit(dsn)
        host, port = parts.hostname or "localhost", parts.port or 5432
    except ValueError:
        return _UNREADABLE
    # Of what is no proper address, anything may be the password.
    is_proper = parts.scheme in {"postgresql", "postgres"} and "@" not in parts.path
    return f"{host}:{port}{parts.path}" if is_proper else _UNREADABLE


def actor() -> str:
    """Who acts, as the audit names it."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run under an id that has no name
        return f"cli:{os.getuid()}"


def duration(text: str) -> float:
    """Seconds: a number of them, or a text like 90s, 1h30m, 2 d."""
    text = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not text or _PART.sub("", text):
        raise click.BadParameter(f"{text!r} is not a duration: write for example 30s, 5min or 1h30m")
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a short command's coroutine to its end."""
    return asyncio.run(work)
