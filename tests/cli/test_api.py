"""`forebay api`, before it begins and when it cannot."""

from __future__ import annotations

import socket

import asyncpg
import pytest

from forebay.cli import api
from forebay.db.migrate import migrate, versions_of
from forebay.db.schema_parts import all_parts
from forebay.errors import ForebayError
from forebay.settings import Settings
from tests.cli._run import Cli


def test_a_port_that_is_taken_is_named(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = cli.run("api", "--port", str(port))
    assert refused.code == 2
    assert f"FOREBAY_API_PORT: 127.0.0.1:{port} cannot be used: Address already in use" in refused.err


async def test_it_adds_the_service_to_a_database_with_the_engine_alone(bare_dsn: str) -> None:
    await migrate(bare_dsn)
    await api._check(bare_dsn, Settings())
    conn = await asyncpg.connect(bare_dsn)
    assert await versions_of(conn) == {part.name: part.newest for part in all_parts()}
    await conn.close()


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "is_installed", lambda: False)
    with pytest.raises(ForebayError, match="the API is not installed: pip install 'forebay\\[api\\]'"):
        api.require()
