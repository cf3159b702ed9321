"""The command line on a database of the test's own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from forebay.db.pool import connected
from forebay.engine.db import registry
from forebay.identity.logins import login_urls
from tests._servers import PASSWORDS, run_apart
from tests.cli._run import PIPELINE, Cli, Process, starting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def cli(tmp_path: Path, dsn: str) -> Cli:
    """With the schema and the accounts of the service, without a worker."""
    accounts = {f"FOREBAY_{name.upper()}": url for name, url in login_urls(dsn, PASSWORDS).items()}
    return Cli(tmp_path, FOREBAY_DATABASE_URL=dsn, **accounts)


@pytest.fixture
def start(cli: Cli) -> Iterator[Callable[..., Process]]:
    """Starts commands that are killed when the test ends."""
    with starting(cli.start) as start:
        yield start


@pytest.fixture
def fork(cli: Cli) -> Iterator[Callable[..., Process]]:
    """The same, sooner, for what a test needs and does not look at."""
    with starting(cli.fork) as fork:
        yield fork


@pytest.fixture
def known(cli: Cli, dsn: str) -> Cli:
    """The same with the pipeline registered, as a worker that has stopped leaves it."""
    run_apart(_register(dsn))
    return cli


async def _register(dsn: str) -> None:
    async with connected(dsn, "forebay tests") as conn:
        await registry.register(conn, _definition())


@cache
def _definition() -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "notes"}
    exec(PIPELINE, space)
    definition: dict[str, Any] = space["notes"].definition()
    return definition
