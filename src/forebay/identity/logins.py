"""The database accounts of the service's processes, one for each role.

An account is a member of its role only. Therefore injected SQL cannot change to another role, which it could if all
connections used the account that owns the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from forebay.db.pool import as_forebay_errors, connected
from forebay.db.role_pool import ADMIN, API, IDENTITY
from forebay.db.statements import statements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import SecretStr

    from forebay.db.pool import Connection
    from forebay.settings import Settings

load = statements("forebay.identity")

WORKER = "forebay_worker"

# The setting with the address for the account of each role.
SETTINGS = {
    API: "api_database_url",
    IDENTITY: "identity_database_url",
    ADMIN: "admin_database_url",
    WORKER: "worker_database_url",
}
ROLES = tuple(SETTINGS)


@dataclass(frozen=True, slots=True)
class LoginAccount:
    """The account of a connection, and its rights beyond its role."""

    name: str
    is_superuser: bool
    owns_schema: bool
    others: tuple[str, ...]  # other roles that it can change to

    @property
    def excess(self) -> str | None:
        """Why this account has too many rights; None if it has not."""
        if self.is_superuser:
            return "is a superuser"
        if self.owns_schema:
            return "owns the schema forebay"
        return f"may change to {', '.join(self.others)}" if self.others else None


def login_name(role: str) -> str:
    return f"{role}_login"


def login_url(settings: Settings, role: str, dsn: str) -> str:
    """The address for connections with this role: that of its setting, otherwise `dsn`."""
    given: SecretStr | None = getattr(settings, SETTINGS[role])
    return given.get_secret_value() if given else dsn


def login_urls(dsn: str, passwords: Mapping[str, str]) -> dict[str, str]:
    """The addresses for these accounts in the database at `dsn`, by the names of their settings."""
    parts = urlsplit(dsn)
    place = parts.netloc.rpartition("@")[2]
    return {
        SETTINGS[role]: parts._replace(netloc=f"{login_name(role)}:{quote(password, safe='')}@{place}").geturl()
        for role, password in passwords.items()
    }


async def make_logins(dsn: str, passwords: Mapping[str, str]) -> None:
    """Create the accounts, or change their passwords."""
    async with connected(dsn, "forebay logins") as conn, as_forebay_errors():
        for role, password in passwords.items():
            await conn.execute(load("make_login"), login_name(role), role, password)


async def open_public(dsn: str) -> None:
    """Let workers write to the tables in the schema public that the account at `dsn` owns or will create."""
    async with connected(dsn, "forebay logins") as conn:
        await conn.execute(load("open_public"))


async def close_temporary(dsn: str) -> None:
    """Revoke the right to create temporary objects in the database at `dsn` from all accounts except its owner."""
    async with connected(dsn, "forebay logins") as conn:
        await conn.execute(load("close_temporary"))


async def missing_roles(conn: Connection) -> list[str]:
    """The roles that the API needs and that do not exist, or that it may not use."""
    async with as_forebay_errors():
        there = await conn.fetch(load("list_usable_roles"), list(ROLES))
    return [role for role in ROLES if role not in {row["rolname"] for row in there}]


async def account_of(conn: Connection, role: str) -> LoginAccount:
    """The account of this connection, compared with what `role` needs."""
    async with as_forebay_errors():
        row = await conn.fetchrow(load("check_login"), role, list(ROLES))
    assert row is not None  # noqa: S101 - a session always has an account
    return LoginAccount(row["name"], row["is_superuser"], row["owns_schema"], tuple(row["others"]))
