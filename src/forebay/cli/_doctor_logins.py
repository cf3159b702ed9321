"""Database logins in `forebay doctor`: whether they have only the rights that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.cli._common import with_logins
from forebay.db.pool import connected
from forebay.errors import ForebayError
from forebay.hooks import Finding
from forebay.identity.logins import SETTINGS, WORKER, account_of, login_name, login_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.settings import Settings


async def examine(settings: Settings, dsn: str) -> AsyncIterator[Finding]:
    """A finding for each account that has too many rights or cannot log in, or one OK."""
    settings, is_well = with_logins(settings), True
    is_of_service = dsn in {login_url(settings, role, "") for role in SETTINGS}
    for role, setting in SETTINGS.items():
        if is_of_service and not login_url(settings, role, ""):
            continue  # each process is given its own accounts only
        who = "workers log in" if role == WORKER else "the API logs in"
        variable = f"FOREBAY_{setting.upper()}"
        try:
            async with connected(login_url(settings, role, dsn), "forebay doctor") as conn:
                account = await account_of(conn, role)
        except ForebayError as error:
            is_well = False
            yield Finding("FAIL", "accounts", f"{who} with {variable}, and {error}", f"fix {variable}")
            continue
        if account.excess:
            is_well = False
            text = f"{who} as {account.name}, who {account.excess}; the rights of {role} are sufficient"
            made = f"select forebay.make_login('{login_name(role)}', '{role}', 'PASSWORD')"
            fix = f"as an administrator of the database: {made}; then set {variable} to an address with that account"
            yield Finding("WARN", "accounts", text, fix)
    if is_well:
        yield Finding("OK", "accounts", "the API and the workers log in with only the rights that they need")
