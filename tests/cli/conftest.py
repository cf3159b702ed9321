"""The command line on a database of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forebay.identity.logins import login_urls
from tests._servers import PASSWORDS
from tests.cli._run import Cli, Process, starting

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
def known(cli: Cli, fork: Callable[..., Process]) -> Cli:
    """The same, after a worker has registered the pipeline and has stopped."""
    worker = fork("worker")
    worker.says("worker_started")
    worker.signal(15)
    assert worker.ends() == 0
    return cli
