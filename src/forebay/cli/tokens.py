"""`forebay tokens`: tokens with which programs use the API."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli import api
from forebay.cli._common import actor, duration, find_dsn, json_option, load_settings, run
from forebay.cli._group import Group, WholeNumber
from forebay.db.pool import connected
from forebay.identity import db as identity

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from forebay.db.pool import Connection
    from forebay.identity.db import ApiToken

_SCOPES = ("read", "write", "admin")


@click.group(cls=Group)
def tokens() -> None:
    """Create and revoke API tokens.

    \b
    forebay tokens add ci --user ann --scope read --expires 90d
    """


def _connected() -> AbstractAsyncContextManager[Connection]:
    return connected(find_dsn(load_settings()), "forebay tokens")


@tokens.command("list")
@click.option("--user", help="Only tokens of this user.")
@click.option("--service", is_flag=True, help="Only tokens of the service.")
@json_option
def list_tokens(user: str | None, service: bool, as_json: bool) -> None:
    """List tokens, newest first.

    Their secrets are not stored.
    """
    if user is not None and service:
        raise click.UsageError("--user and --service exclude each other")
    found = run(_list(user, service=service))
    if as_json:
        click.echo(show.dump([_token_json(holder, token) for holder, token in found]))
    elif not found:
        click.echo("There are no such tokens.")
    else:
        show.print_table(_table(found), spare=("created", "last used"))


async def _list(user: str | None, *, service: bool) -> list[tuple[str | None, ApiToken]]:
    async with _connected() as conn:
        if user is not None:
            api.require()
            from forebay.identity import accounts  # noqa: PLC0415 - an extra

            await accounts.account_named(conn, user)
        return await identity.all_tokens(conn, user, service=service)


def _table(found: list[tuple[str | None, ApiToken]]) -> Any:
    made = show.table(">token", "*name", "*of", "ends with", "scopes", "state", "last used", "created")
    for holder, token in found:
        made.add_row(
            str(token.id),
            token.name,
            holder or "the service",
            token.hint,
            ", ".join(token.scopes),
            _state(token),
            show.moment(token.used_at),
            show.moment(token.created_at),
        )
    return made


def _state(token: ApiToken) -> str:
    now = datetime.now(UTC)
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is None:
        return "valid"
    left = (token.expires_at - now).total_seconds()
    return f"valid for {show.duration(left)}" if left > 0 else "expired"


def _token_json(holder: str | None, token: ApiToken) -> dict[str, Any]:
    return asdict(token) | {"id": str(token.id), "user": holder}


@tokens.command()
@click.argument("name")
@click.option("--user", help="The user whose rights it has.")
@click.option("--service", is_flag=True, help="A token of the service: each request names the owner that it acts for.")
@click.option("--scope", "scopes", type=click.Choice(_SCOPES), multiple=True, help="Scope.  [read and write]")
@click.option("--expires", type=duration, metavar="DURATION", help="Validity, for example 90d.  [until revoked]")
@json_option
def add(
    name: str, *, user: str | None, service: bool, scopes: tuple[str, ...], expires: float | None, as_json: bool
) -> None:
    """Create a token.

    Its secret is printed once, alone on standard output.
    """
    if (user is None) != service:
        raise click.UsageError("name the holder of the token: --user NAME or --service")
    api.require()
    token, secret = run(_add(name, user, sorted(set(scopes)) or ["read", "write"], expires))
    if not as_json:
        state = "valid until it is revoked" if expires is None else f"valid for {show.duration(expires)}"
        whose = user or "the service"
        click.echo(f"Token {token.id} of {whose}: {', '.join(token.scopes)}; {state}. Shown only once:", err=True)
    show.answer(_token_json(user, token) | {"token": secret}, secret, as_json=as_json)


async def _add(name: str, user: str | None, scopes: list[str], expires: float | None) -> tuple[ApiToken, str]:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with _connected() as conn:
        return await accounts.add_token(conn, user, name, scopes, expires, actor())


@tokens.command()
@click.argument("token_id", type=WholeNumber(1, 2**63 - 1), metavar="ID")
@json_option
def revoke(token_id: int, as_json: bool) -> None:
    """Revoke a token."""
    api.require()
    changed = run(_revoke(token_id))
    text = f"token {token_id} is revoked {'now' if changed else 'already'}"
    show.answer({"id": str(token_id), "changed": changed}, text, as_json=as_json)


async def _revoke(token_id: int) -> bool:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with _connected() as conn:
        return await accounts.revoke_token(conn, token_id, actor())
