"""The first steps that `forebay up` shows: the address, how to sign in, and useful commands."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from rich.text import Text

from forebay.cli import api
from forebay.cli._common import program
from forebay.db.pool import connected
from forebay.errors import DatabaseUnavailable
from forebay.identity import db as identity
from forebay.packages import packages

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from forebay.cli._live import View
    from forebay.db.pool import Connection
    from forebay.identity.db import Account
    from forebay.settings import Settings

_EVERY = 2.0  # seconds between checks whether the API answers and the administrator has signed in
_LINK_LASTS = 3600.0  # seconds, as sign-in links are valid
_TIMEOUT_S = 5.0  # seconds for an answer of the API


@dataclass(frozen=True, slots=True)
class Guide:
    """`link` opens the web app and signs in once. None: the administrator has a password, or the output is a log."""

    address: str | None
    admin: str = ""
    link: str | None = None
    signed_in_at: datetime | None = None  # time of the administrator's last sign-in when this was created
    moved: str = ""  # why the API does not use its default port

    def lines(self, *, answers: bool = True) -> list[Text]:
        """For the screen; each fits in 80 columns."""
        if self.address is None:
            return [Text("The API is not installed: pip install 'forebay[api]'", style="yellow"), *self._commands()]
        if not answers:
            lines = [Text("Open     the address that is shown here once the API answers")]
        elif self.link is not None:
            lines = [Text("Open     this link: it signs in as administrator, once, within an hour")]
            lines.append(_address(self.link))
        else:
            lines = [_line("Open", self.address, f"  as {self.admin}")]
        lines += self._commands()
        return [*lines, Text(self.moved, style="yellow")] if self.moved else lines

    def _commands(self) -> list[Text]:
        called = program()
        steps = [step for package in packages() for step in package.first_steps.items()]
        if self.link is None and self.admin:
            steps.append(("Link to sign in", f"users link {self.admin}"))
        return [Text.assemble(f"{what + ':':<21}", (f"{called} {command}", "bold")) for what, command in steps]

    def plain(self) -> str:
        """For a log, which must not contain credentials."""
        if self.address is None:
            return self.lines()[0].plain
        steps = (
            f"Open {self.address}",
            f"sign in as {self.admin}: `{program()} users link {self.admin}` prints a link",
        )
        return "\n".join([*steps, *([self.moved] if self.moved else [])])


def _line(what: str, address: str, after: str) -> Text:
    return Text.assemble(f"{what:<9}", _address(address), (after, "dim"))


def _address(url: str) -> Text:
    return Text(url, style=f"bold link {url}", no_wrap=True, overflow="fold")


async def make(settings: Settings, dsn: str, port: int | None, moved: str, *, for_a_person: bool) -> Guide:
    """Create the first administrator if there is none, and a sign-in link if a terminal shows it and it is needed."""
    if port is None:
        return Guide(None)
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    address = api.base_url(settings, port)
    async with connected(dsn, "forebay up") as conn:
        account = await accounts.first_admin(conn)
        if not for_a_person or await _has_password(conn, account):
            return Guide(address, account.name, moved=moved)
        secret = await accounts.sign_in_link(conn, account, "forebay up")
    return Guide(address, account.name, f"{address}/#{secret}", account.signed_in_at, moved)


async def _has_password(conn: Connection, account: Account) -> bool:
    found = await identity.find_account(conn, account.name)
    return found is not None and found[1] is not None


async def keep_fresh(
    guide: Guide, view: View, settings: Settings, dsn: str, port: int | None, started: Callable[[], None]
) -> None:
    """Show the address once the API answers, and remove the link once it has been used or has expired."""
    view.guide = guide.lines(answers=False)
    while port is not None and not await _answers(settings, port):  # noqa: ASYNC110 - another process listens there
        await asyncio.sleep(_EVERY / 4)
    started()
    view.guide = guide.lines()
    expires = monotonic() + _LINK_LASTS
    while guide.link is not None and monotonic() < expires:
        await asyncio.sleep(_EVERY)
        with suppress(DatabaseUnavailable):  # the view shows it
            async with connected(dsn, "forebay up") as conn:
                if await _signed_in_at(conn, guide.admin) != guide.signed_in_at:
                    break
    view.guide = replace(guide, link=None).lines()


async def _answers(settings: Settings, port: int) -> bool:
    """Whether a request is answered. That the port is open is not enough: it is before the API has started."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(settings.api_host, port)
            with closing(writer):
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return (await reader.readline()).startswith(b"HTTP/")
    except (OSError, TimeoutError):
        return False


async def _signed_in_at(conn: Connection, name: str) -> datetime | None:
    found = await identity.find_account(conn, name)
    return None if found is None else found[0].signed_in_at
