"""What is submitted from a shell belongs to somebody who can see it."""

from __future__ import annotations

import asyncpg
import pytest

from forebay.cli._owner import choose_owner
from forebay.identity import accounts
from forebay.settings import Settings


async def test_the_only_user_or_the_only_administrator(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    conn = await asyncpg.connect(dsn)
    settings = Settings()
    assert await choose_owner(conn, settings, None) == "default"
    await accounts.add(conn, "ann", "user", None, "test")
    assert await choose_owner(conn, settings, None) == "ann"
    told = "Owner: ann, the only user; --owner or FOREBAY_OWNER selects another one.\n"
    assert capsys.readouterr().err == told
    await accounts.add(conn, "root", "admin", None, "test")
    assert await choose_owner(conn, settings, None) == "root"
    assert "Owner: root, the only administrator;" in capsys.readouterr().err
    await accounts.add(conn, "bob", "admin", None, "test")
    assert await choose_owner(conn, settings, None) == "default"
    assert await choose_owner(conn, Settings(owner="team"), None) == "team"
    assert await choose_owner(conn, Settings(owner="team"), "zoe") == "zoe"
    assert capsys.readouterr().err == ""
    await conn.close()
