"""The start of every command: settings, logging, and the address of the database."""

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
from forebay.db.addresses import find_addresses
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
    """The settings of a command that uses a running server; its data folder is searched for when none is set.

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
    """Print the folder once, because it may not be the intended one."""
    click.echo(f"Using the database in {folder}; FOREBAY_DATA_DIR names another folder.", err=True)


def load_own_settings(**given: object) -> Settings:
    """Load the settings, override them with the options of the command line that are not None, and set up logging.

    For commands that start, change or copy a database: they never use a folder that was only found.

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
    """The first invalid setting: its variable, the rule, and its value unless it is a secret."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0])
    is_secret = "Secret" in str(kind.model_fields[name].annotation)
    given = "" if is_secret else f"; it is {first['input']!r}"
    return InvalidField(kind.variable(name), f"{plain_reason(first)}{given}")


def unknown_variables() -> dict[str, str]:
    """FOREBAY_ variables that are no setting, most often misspelt, with a sentence about each."""
    from forebay.engine.supervise.supervisor import OWN_VARIABLES  # noqa: PLC0415 - short programs do without it

    known = Settings.variables().union(*(kind.variables() for kind in settings_classes().values()))
    given = {name.upper() for name in (*os.environ, *DotEnvSettingsSource(Settings).env_vars)}
    unknown = sorted(given - known - OWN_VARIABLES)
    return {name: _unknown(name, known) for name in unknown if name.startswith("FOREBAY_")}


def _unknown(name: str, known: set[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.8)
    hint = f"did you mean {near[0]}?" if near else "`forebay config` lists all settings"
    return f"{name} is not a setting and has no effect: {hint}"


def program() -> str:
    """How to call this program: by name if it is on the PATH, else by its path."""
    here = Path(sys.argv[0] if Path(sys.argv[0]).name == "forebay" else Path(sys.executable).with_name("forebay"))
    found = shutil.which("forebay")
    if found is not None and Path(found).absolute() == here.absolute():
        return "forebay"
    path, cwd = here.absolute(), Path.cwd()
    return str(path.relative_to(cwd) if path.is_relative_to(cwd) else path)


def find_dsn(settings: Settings, *, running: bool = True) -> str:
    """The database to use: the configured one, else the embedded one, which must be running by default.

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
    """The settings, with the accounts that `forebay up` created in the embedded database where none are set."""
    if settings.dsn:
        return settings
    embedded = EmbeddedPostgres(settings.data_dir)
    try:
        urls = login_urls(embedded.dsn, embedded.login_passwords)
    except EmbeddedError:
        return settings  # no database yet: find_dsn reports it
    return add_logins(settings, urls)


def add_logins(settings: Settings, urls: Mapping[str, str]) -> Settings:
    """The settings, with these database addresses where none are set."""
    missing = {name: SecretStr(url) for name, url in urls.items() if not getattr(settings, name)}
    return settings.model_copy(update=missing)


def place_of(dsn: str) -> str:
    """The address of a database without user, password and options."""
    try:
        parts = urlsplit(dsn)
        places = [str(address) for address in find_addresses(dsn)] or ["localhost:5432"]
    except ValueError:
        return _UNREADABLE
    # Any part of an invalid address may be the password.
    is_proper = parts.scheme in {"postgresql", "postgres"} and "@" not in parts.path
    return f"{','.join(places)}{parts.path}" if is_proper else _UNREADABLE


def actor() -> str:
    """The name of the acting user in the audit."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run with a user id that has no name
        return f"cli:{os.getuid()}"


def duration(text: str) -> float:
    """Seconds: a number of them, or a text like 90s, 1h30m, 2 d."""
    text = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not text or _PART.sub("", text):
        raise click.BadParameter(f"{text!r} is not a duration: use for example 30s, 5min or 1h30m")
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine of a short command."""
    return asyncio.run(work)
