"""Collectors, and the command line with a traced pipeline."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
import structlog

from forebay.engine.db import registry
from forebay.identity import db as identity
from forebay.identity.accounts import make_token
from forebay.settings import Settings
from forebay.telemetry import tracing
from tests.cli._run import Cli, Process, starting
from tests.telemetry._collector import Collector, collecting
from tests.telemetry._envelopes import Sentry, receiving
from tests.telemetry._letters import letters, parcels

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator


@pytest.fixture(autouse=True)
def usual_logs() -> Iterator[None]:
    """Reset the logs, and the stream that they are written to, after the test."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as running:
        yield running


@pytest.fixture
def sentry() -> Iterator[Sentry]:
    with receiving() as running:
        yield running


@pytest.fixture
def traced(collector: Collector) -> Iterator[Collector]:
    """Trace this process; `tracing.stop` sends the spans."""
    tracing.start(Settings(otlp_endpoint=collector.url), "test")
    yield collector
    tracing.stop()


@pytest.fixture
def cli(tmp_path: Path, dsn: str) -> Cli:
    return Cli(
        tmp_path,
        FOREBAY_DATABASE_URL=dsn,
        FOREBAY_PIPELINES="tests.telemetry._letters",
        PYTHONPATH=str(Path(__file__).parents[2]),
        FOREBAY_API_PORT="0",
        FOREBAY_LOG_JSON="true",
        OTEL_BSP_SCHEDULE_DELAY="50",  # milliseconds
    )


@pytest.fixture
def start(cli: Cli) -> Iterator[Callable[..., Process]]:
    """Start commands; they are killed when the test ends."""
    with starting(cli.fork) as start:
        yield start


@pytest.fixture
def token(dsn: str) -> str:
    """The token of Ann, who may submit."""

    async def make() -> str:
        conn = await asyncpg.connect(dsn)
        try:
            account = await identity.add_account(conn, "ann", "user", None)
            assert account is not None
            return await make_token(conn, account.id, "test", ["read", "write"])
        finally:
            await conn.close()

    return asyncio.run(make())


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    for pipeline in (letters, parcels):
        await registry.register(conn, pipeline.definition())
    yield conn
    await conn.close()
