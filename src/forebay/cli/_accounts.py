"""What the commands about users share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forebay.cli import api
from forebay.cli._common import find_dsn
from forebay.db.pool import connected

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from forebay.db.pool import Connection
    from forebay.settings import Settings

url_option = click.option(
    "--url", help="URL of the API for users.  [by default from FOREBAY_API_HOST and FOREBAY_API_PORT]"
)


def connected_accounts(settings: Settings) -> AbstractAsyncContextManager[Connection]:
    return connected(find_dsn(settings), "forebay users")


def sign_in_url(secret: str, settings: Settings, url: str | None) -> str:
    return f"{(url or api.base_url(settings)).rstrip('/')}/sign-in#{secret}"


def role_name(role: str) -> str:
    return "an administrator" if role == "admin" else "a user"
