"""Which account of the database each process is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from forebay.cli import api, worker
from forebay.cli._common import add_logins, find_dsn, with_logins
from forebay.cli.migrate import migrate
from forebay.db.role_pool import ADMIN, API, IDENTITY
from forebay.embedded import EmbeddedPostgres
from forebay.identity.logins import SETTINGS, WORKER, login_url, login_urls
from forebay.settings import Settings
from tests import _servers

OWNER = "postgresql://forebay:the-owners-secret@127.0.0.1:5432/forebay"
PASSWORDS = {API: "p-api", IDENTITY: "p-identity", ADMIN: "p-admin", WORKER: "p/worker"}


@pytest.fixture
def embedded(tmp_path: Path) -> EmbeddedPostgres:
    """As a first start leaves it."""
    (tmp_path / "password").write_text("the-owners-secret")
    (tmp_path / "port").write_text("5432")
    return EmbeddedPostgres(tmp_path)


def env_of(supervisor: Any) -> dict[str, str]:
    env: dict[str, str] = supervisor._env
    return {name: value for name, value in env.items() if name.startswith("FOREBAY_") and name.endswith("_URL")}


def test_children_are_given_their_own_accounts_and_no_other() -> None:
    settings = add_logins(Settings(), login_urls(OWNER, PASSWORDS))
    of_api, of_worker = env_of(api.supervisor_of(settings, OWNER, 1)), env_of(worker.supervisor_of(settings, OWNER))
    assert "the-owners-secret" not in f"{of_api} {of_worker}"
    assert of_api["FOREBAY_DATABASE_URL"] == "postgresql://forebay_api_login:p-api@127.0.0.1:5432/forebay"
    assert of_worker["FOREBAY_DATABASE_URL"] == "postgresql://forebay_worker_login:p%2Fworker@127.0.0.1:5432/forebay"
    assert not any(secret in str(of_worker) for secret in ("p-api", "p-identity", "p-admin"))


def test_without_accounts_all_is_as_it_was() -> None:
    settings = Settings()
    assert set(env_of(api.supervisor_of(settings, OWNER, 1)).values()) == {OWNER}
    assert {value for value in env_of(worker.supervisor_of(settings, OWNER)).values() if value} == {OWNER}


def test_commands_find_the_accounts_of_the_embedded_server(embedded: EmbeddedPostgres) -> None:
    settings = Settings(data_dir=embedded.data_dir)
    assert with_logins(settings) == settings  # before the first start that makes them
    made = embedded.make_login_passwords(SETTINGS)
    assert (embedded.home / "logins").stat().st_mode & 0o777 == 0o600
    assert len(set(made.values())) == len(SETTINGS)
    assert embedded.make_login_passwords(SETTINGS) == made == embedded.login_passwords
    found = with_logins(settings)
    for role in SETTINGS:
        assert login_url(found, role, "") == login_urls(embedded.dsn, made)[SETTINGS[role]]
    assert find_dsn(found, running=False) == OWNER
    elsewhere = Settings(data_dir=embedded.data_dir, database_url="postgresql://elsewhere/app")  # type: ignore[arg-type]
    assert with_logins(elsewhere) == elsewhere
    given = Settings(data_dir=embedded.data_dir, api_database_url="postgresql://mine/app")  # type: ignore[arg-type]
    assert login_url(with_logins(given), API, "") == "postgresql://mine/app"


async def test_every_account_of_the_api_that_can_do_too_much_is_told_once(dsn: str) -> None:
    good = login_urls(dsn, _servers.PASSWORDS)
    for given, expected in (
        (good, []),
        ({}, [("forebay", "is a superuser", "FOREBAY_API_DATABASE_URL")]),
        (good | {"worker_database_url": dsn}, [("forebay", "is a superuser", "FOREBAY_WORKER_DATABASE_URL")]),
        (
            good | {"identity_database_url": good["admin_database_url"]},
            [("forebay_admin_login", f"may change to {ADMIN}", "FOREBAY_IDENTITY_DATABASE_URL")],
        ),
    ):
        with capture_logs() as logs:
            await api.warn_of_accounts(dsn, Settings(**given))  # type: ignore[arg-type]
        assert [(line["account"], line["because"], line["setting"]) for line in logs] == expected


def test_migrating_makes_the_accounts_of_a_server_of_yours(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # All tests share the accounts: they get the password that they have.
    (password,) = set(_servers.PASSWORDS.values())
    monkeypatch.setattr("forebay.cli.migrate.token_urlsafe", lambda _size: password)
    expected = {f"FOREBAY_{name.upper()}": url for name, url in login_urls(dsn, _servers.PASSWORDS).items()}
    env = {"FOREBAY_DATABASE_URL": dsn}
    printed = CliRunner().invoke(migrate, ["--accounts"], env=env)
    assert printed.exit_code == 0, printed.output
    assert printed.output.splitlines()[1:] == [f"{variable}={url}" for variable, url in expected.items()]
    assert json.loads(CliRunner().invoke(migrate, ["--accounts", "--json"], env=env).output)["accounts"] == expected
    assert "accounts" not in json.loads(CliRunner().invoke(migrate, ["--json"], env=env).output)
