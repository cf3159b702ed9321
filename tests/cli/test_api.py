"""`forebay api`, before it begins and when it cannot."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable

import asyncpg
import httpx
import pytest

from forebay.cli import api
from forebay.db.migrate import migrate, versions_of
from forebay.db.role_pool import API
from forebay.db.schema_parts import all_parts
from forebay.errors import ForebayError
from forebay.identity.logins import SETTINGS, login_urls
from forebay.settings import Settings
from tests._servers import PASSWORDS
from tests.cli._run import Cli, Process


def test_a_port_that_is_taken_is_named(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = cli.run("api", "--port", str(port))
    assert refused.code == 2
    assert f"FOREBAY_API_PORT: 127.0.0.1:{port} cannot be used: Address already in use" in refused.err


def test_administrators_get_what_the_doctor_finds(cli: Cli, fork: Callable[..., Process]) -> None:
    cli.run("users", "add", "root", "--admin", given="a long password\n")
    token = cli.run("tokens", "add", "test", "--user", "root", "--scope", "admin", "--scope", "read").out.strip()
    api = fork("api", "--port", "0", FOREBAY_BROWSER_PATH="/nonexistent")
    api.says("api_started")
    found = re.search(r'"address": "([^"]+)"', api.said)
    assert found is not None, api.said
    answer = httpx.get(f"{found[1]}/api/doctor", headers={"authorization": f"Bearer {token}"}, timeout=60)
    report = answer.raise_for_status().json()
    levels = {finding["about"]: finding["level"] for finding in report["findings"]}
    assert (levels["database"], levels["schema"], levels["health"]) == ("OK", "OK", "WARN")
    (health,) = [finding["text"] for finding in report["findings"] if finding["about"] == "health"]
    assert health == "Nothing waits. No worker is running: `forebay worker` starts one."


def test_with_accounts_of_its_own_it_examines_by_that_of_administrators(
    known: Cli, dsn: str, fork: Callable[..., Process]
) -> None:
    known.run("users", "add", "root", "--admin", given="a long password\n")
    token = known.run("tokens", "add", "test", "--user", "root", "--scope", "admin", "--scope", "read").out.strip()
    known.run("submit", "notes", '{"body": "waits"}')
    own = login_urls(dsn, PASSWORDS)[SETTINGS[API]]  # as `forebay up` starts it
    api = fork(
        "api", "--port", "0", FOREBAY_DATABASE_URL=own, FOREBAY_WORKER_DATABASE_URL="", FOREBAY_WORKER_NUMBER="1"
    )
    api.says("api_started")
    found = re.search(r'"address": "([^"]+)"', api.said)
    assert found is not None, api.said
    answer = httpx.get(f"{found[1]}/api/doctor", headers={"authorization": f"Bearer {token}"}, timeout=60)
    findings = {finding["about"]: finding for finding in answer.raise_for_status().json()["findings"]}
    assert [findings[about]["level"] for about in ("roles", "ownership", "accounts")] == ["OK", "OK", "OK"]
    assert "settings" not in findings  # what the supervisor has set is no unknown setting
    assert "1 task" in findings["health"]["text"]


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
