"""The owner of jobs that the command line submits, chosen so that a user who can sign in sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forebay.db import migrate
from forebay.identity import db as identity

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.identity.db import Account
    from forebay.settings import Settings

NOBODY = "default"

owner_option = click.option(
    "--owner", help="Owner of the job.  [FOREBAY_OWNER, else the only user, else the only administrator]"
)


async def choose_owner(conn: Connection, settings: Settings, given: str | None, *, quiet: bool = False) -> str:
    """The given or configured owner, else the only user or administrator, which is then printed."""
    if given or settings.owner:
        return given or settings.owner
    if not await migrate.has_service(conn):
        return NOBODY  # the engine alone has no accounts
    accounts = [account for account in await identity.accounts(conn) if account.disabled_at is None]
    admins = [account for account in accounts if account.role == "admin"]
    chosen = _only(accounts) or _only(admins)
    if chosen is None:
        return NOBODY
    if not quiet:
        who = "the only user" if len(accounts) == 1 else "the only administrator"
        click.echo(f"Owner: {chosen.name}, {who}; --owner or FOREBAY_OWNER selects another one.", err=True)
    return chosen.name


def _only(accounts: list[Account]) -> Account | None:
    return accounts[0] if len(accounts) == 1 else None
