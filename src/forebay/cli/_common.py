"""What every command begins with: settings, logs, and where the database is."""

from __future__ import annotations

import asyncio
import getpass
import os
import re
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click
from pydantic import SecretStr, ValidationError

from forebay import log
from forebay.db.logins import login_urls
from forebay.embedded import EmbeddedError, EmbeddedPostgres
from forebay.errors import DatabaseUnavailable, InvalidField
from forebay.settings import Settings

T = TypeVar("T")

_UNREADABLE = "a database whose address cannot be read"
LEVELS = ("debug", "info", "warning", "error")

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)\s*")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}

json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for programs.")


def load_settings(**given: object) -> Settings:
    """The settings with what the command line says in their place (None: nothing), and logging as they want it.

    Raises: InvalidField that names the variable.
    """
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidField(f"FOREBAY_{'_'.join(map(str, first['loc'])).upper()}", first["msg"]) from error
    if settings.log_level.lower() not in LEVELS:
        raise InvalidField("FOREBAY_LOG_LEVEL", f"must be one of {', '.join(LEVELS)}")
    log.configure(settings.log_level, json_lines=settings.log_json)
    return settings


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
        raise DatabaseUnavailable(f"the database in {settings.data_dir} does not run: start it with `forebay up`")
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
        raise click.BadParameter(f"{text!r} is no duration; write for example 30s, 5min or 1h30m")
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a short command's coroutine to its end."""
    return asyncio.run(work)
