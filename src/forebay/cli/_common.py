"""What every command begins with: settings, logs, and where the database is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click
from pydantic import ValidationError

from forebay import log
from forebay.embedded import EmbeddedError, EmbeddedPostgres
from forebay.errors import DatabaseUnavailable, InvalidField
from forebay.settings import Settings

T = TypeVar("T")

LEVELS = ("debug", "info", "warning", "error")

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


def place_of(dsn: str) -> str:
    """The database in words, without user, password and options."""
    try:
        parts = urlsplit(dsn)
        host, port = parts.hostname or "localhost", parts.port or 5432
    except ValueError:
        return "a database whose address cannot be read"
    return f"{host}:{port}{parts.path}"


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a short command's coroutine to its end."""
    return asyncio.run(work)
