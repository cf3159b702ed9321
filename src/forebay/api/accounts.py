"""Accounts as the command line handles them, with its own right to the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api import secrecy
from forebay.db import identity
from forebay.errors import InvalidField, NotThere

if TYPE_CHECKING:
    from forebay.db.identity import Account
    from forebay.db.pool import Connection

FIRST_ADMIN = "admin"
_AN_HOUR = 3600.0


async def admin_link(conn: Connection) -> str:
    """A link, good for once and for an hour, that signs an administrator in; makes the first one if there is none."""
    admins = [a for a in await identity.accounts(conn) if a.role == "admin" and a.disabled_at is None]
    account = admins[0] if admins else await identity.add_account(conn, FIRST_ADMIN, "admin", None)
    if account is None:
        raise InvalidField("name", f"{FIRST_ADMIN!r} is a user without rights: make another one an administrator")
    return await sign_in_link(conn, account, "the command line")


async def sign_in_link(conn: Connection, account: Account, by: str) -> str:
    secret = secrecy.new_secret(secrecy.LINK)
    await identity.add_link(conn, secrecy.digest(secret), account.id, account.role, by, _AN_HOUR)
    return secret


async def account_named(conn: Connection, name: str) -> Account:
    """Raises: NotThere."""
    found = await identity.find_account(conn, name)
    if found is None:
        raise NotThere("user", f"there is no user {name!r}")
    return found[0]


async def make_token(
    conn: Connection, account_id: int | None, name: str, scopes: list[str], seconds: float | None = None
) -> str:
    """A token of an account, or (None) of the service; shown now and never again."""
    secret = secrecy.new_secret(secrecy.TOKEN)
    await identity.add_token(conn, account_id, name, secrecy.digest(secret), secret[-4:], scopes, seconds)
    return secret
