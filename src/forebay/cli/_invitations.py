"""`forebay users invite`, `invitations` and `uninvite`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli import api
from forebay.cli._accounts import connected_accounts, role_name, sign_in_url, url_option
from forebay.cli._common import actor, json_option, load_settings, run
from forebay.cli._group import WholeNumber
from forebay.errors import NotFoundError
from forebay.identity import db as identity

if TYPE_CHECKING:
    from forebay.identity.db import Invitation
    from forebay.settings import Settings


@click.command()
@click.option("--admin", is_flag=True, help="Invite an administrator, who may see and do everything.")
@url_option
@json_option
def invite(*, admin: bool, url: str | None, as_json: bool) -> None:
    """Print a link with which someone can create an account.

    It is valid once, for a week. The new user chooses a name and a password.
    """
    settings = load_settings()
    api.require()
    made, secret = run(_invite(settings, "admin" if admin else "user"))
    if not as_json:
        click.echo(f"Creates the account of {role_name(made.role)}, once, within a week:", err=True)
    place = sign_in_url(secret, settings, url)
    show.answer(_invitation_json(made) | {"link": place}, place, as_json=as_json)


async def _invite(settings: Settings, role: str) -> tuple[Invitation, str]:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with connected_accounts(settings) as conn:
        return await accounts.invitation(conn, role, actor())


@click.command()
@json_option
def invitations(as_json: bool) -> None:
    """List the open invitations.

    Their links are not stored: if one is lost, create a new invitation.
    """
    found = run(_invitations(load_settings()))
    if as_json:
        click.echo(show.dump([_invitation_json(each) for each in found]))
    elif not found:
        click.echo("There are no open invitations: `forebay users invite` creates one.")
    else:
        made = show.table(">id", "role", "by", "created", "valid until")
        for each in found:
            made.add_row(
                str(each.id), each.role, each.created_by, show.moment(each.created_at), show.moment(each.expires_at)
            )
        show.print_table(made)


async def _invitations(settings: Settings) -> list[Invitation]:
    async with connected_accounts(settings) as conn:
        return await identity.invitations(conn)


@click.command()
@click.argument("invitation", type=WholeNumber(1, 2**63 - 1), metavar="ID")
@json_option
def uninvite(invitation: int, as_json: bool) -> None:
    """Revoke an invitation.

    `forebay users invitations` shows the ids.
    """
    settings = load_settings()
    api.require()
    run(_uninvite(settings, invitation))
    show.answer({"id": str(invitation), "changed": True}, f"invitation {invitation} is revoked", as_json=as_json)


async def _uninvite(settings: Settings, invitation: int) -> None:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with connected_accounts(settings) as conn:
        try:
            await accounts.revoke_invitation(conn, invitation, actor())
        except NotFoundError as error:
            raise NotFoundError(error.field, f"{error.reason}: `forebay users invitations` shows them") from error


def _invitation_json(invitation: Invitation) -> dict[str, Any]:
    return asdict(invitation) | {"id": str(invitation.id)}
