"""`forebay users`: users, sign-in links, roles; see also `_invitations` and `_user_limits`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli import api
from forebay.cli._accounts import connected_accounts, role_name, sign_in_url, url_option
from forebay.cli._common import actor, json_option, load_settings, run
from forebay.cli._group import Group
from forebay.cli._invitations import invitations, invite, uninvite
from forebay.cli._user_limits import limits, weight
from forebay.errors import InvalidField
from forebay.identity import db as identity
from forebay.identity import owners

if TYPE_CHECKING:
    from forebay.identity.db import Account
    from forebay.identity.owners import Terms
    from forebay.settings import Settings


@click.group(cls=Group)
def users() -> None:
    """Manage users and their limits.

    \b
    forebay users add ann --link
    forebay users invite
    forebay users invitations
    forebay users weight ann 2
    """


# Listing.


@users.command("list")
@json_option
def list_users(as_json: bool) -> None:
    """List all users."""
    found = run(_list(load_settings()))
    if as_json:
        click.echo(show.dump([_user_json(account) | asdict(terms) for account, terms in found]))
    elif not found:
        click.echo("There are no users yet: `forebay users add NAME` creates one.")
    else:
        show.print_table(_table(found), spare=("created", "submits/min", "last signed in"))


async def _list(settings: Settings) -> list[tuple[Account, Terms]]:
    async with connected_accounts(settings) as conn:
        terms = await owners.terms(conn)
        return [(account, terms.get(account.owner_id, owners.Terms())) for account in await identity.accounts(conn)]


def _table(found: list[tuple[Account, Terms]]) -> Any:
    made = show.table(
        "*user", "role", "state", ">weight", ">jobs", ">items", ">submits/min", "last signed in", "created"
    )
    for account, terms in found:
        made.add_row(
            account.name,
            account.role,
            "active" if account.disabled_at is None else "disabled",
            f"{terms.weight:g}",
            show.number(terms.max_open_jobs),
            show.number(terms.max_open_items),
            show.number(terms.submits_per_minute),
            show.moment(account.signed_in_at),
            show.moment(account.created_at),
        )
    return made


def _user_json(account: Account) -> dict[str, Any]:
    given = asdict(account)
    given.pop("owner_id")
    return given | {"id": str(account.id)}


# Adding.


@users.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="Create an administrator, who may see and do everything.")
@click.option("--link", is_flag=True, help="Print a one-time sign-in link instead of asking for a password.")
@click.option("--adopt", is_flag=True, help="Give the user the jobs of the existing owner of this name.")
@url_option
@json_option
def add(name: str, *, admin: bool, link: bool, adopt: bool, url: str | None, as_json: bool) -> None:
    """Add a user.

    Asks for the password twice; without a terminal, reads it from the first line of standard input.
    """
    settings = load_settings()
    api.require()
    if not link:
        run(_check_new(settings, name, adopt=adopt))
    password = None if link else _read_password()
    account, secret = run(_add(settings, name, "admin" if admin else "user", password, adopt=adopt))
    answer = _user_json(account)
    if secret is None:
        show.answer(answer, f"{name} can sign in as {role_name(account.role)}", as_json=as_json)
    else:
        _show_link(answer, secret, settings, url, as_json=as_json)


async def _check_new(settings: Settings, name: str, *, adopt: bool) -> None:
    """Check the name before asking for a password."""
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with connected_accounts(settings) as conn:
        await accounts.check_new(conn, name, adopt=adopt)


def _read_password() -> str:
    """Never an argument, which would be in the shell's history and visible to other processes."""
    if sys.stdin.isatty():
        typed: str = click.prompt("Password", hide_input=True, confirmation_prompt="Repeat the password", err=True)
        return typed
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise InvalidField("password", "standard input has no password: write it there, or use --link")
    return line


async def _add(
    settings: Settings, name: str, role: str, password: str | None, *, adopt: bool
) -> tuple[Account, str | None]:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with connected_accounts(settings) as conn, conn.transaction():
        account = await accounts.add(conn, name, role, password, actor(), adopt=adopt)
        return account, await accounts.sign_in_link(conn, account, actor()) if password is None else None


@users.command()
@click.argument("name")
@url_option
@json_option
def link(name: str, url: str | None, as_json: bool) -> None:
    """Print a one-time sign-in link.

    It is valid for an hour and lets the user set a password, for example after forgetting it.
    """
    settings = load_settings()
    api.require()
    account, secret = run(_link(settings, name))
    _show_link(_user_json(account), secret, settings, url, as_json=as_json)


async def _link(settings: Settings, name: str) -> tuple[Account, str]:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with connected_accounts(settings) as conn:
        account = await accounts.account_named(conn, name)
        return account, await accounts.sign_in_link(conn, account, actor())


def _show_link(user: dict[str, Any], secret: str, settings: Settings, url: str | None, *, as_json: bool) -> None:
    """Only the link goes to standard output, so that it can be piped."""
    if not as_json:
        click.echo(f"Signs in {user['name']} as {role_name(user['role'])}, once, within an hour:", err=True)
    place = sign_in_url(secret, settings, url)
    show.answer(user | {"link": place}, place, as_json=as_json)


# Changing.


@users.command()
@click.argument("name")
@json_option
def disable(name: str, as_json: bool) -> None:
    """Disable a user.

    Sessions end, and tokens and links no longer work. The user's jobs continue.
    """
    account, changed = run(_change(load_settings(), name, disabled=True))
    _show_change(account, "disabled", changed=changed, as_json=as_json)


@users.command()
@click.argument("name")
@json_option
def enable(name: str, as_json: bool) -> None:
    """Enable a disabled user again."""
    account, changed = run(_change(load_settings(), name, disabled=False))
    _show_change(account, "enabled", changed=changed, as_json=as_json)


@users.command("role")
@click.argument("name")
@click.argument("role", type=click.Choice(["user", "admin"]))
@json_option
def changerole_name(name: str, role: str, as_json: bool) -> None:
    """Make a user an administrator, or no longer one."""
    account, changed = run(_change(load_settings(), name, role=role))
    _show_change(account, role_name(role), changed=changed, as_json=as_json)


async def _change(
    settings: Settings, name: str, *, role: str | None = None, disabled: bool | None = None
) -> tuple[Account, bool]:
    api.require()
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with connected_accounts(settings) as conn:
        return await accounts.change(conn, name, actor(), role=role, disabled=disabled)


def _show_change(account: Account, what: str, *, changed: bool, as_json: bool) -> None:
    text = f"{account.name} is {what} {'now' if changed else 'already'}"
    show.answer(_user_json(account) | {"changed": changed}, text, as_json=as_json)


for _command in (invite, invitations, uninvite, weight, limits):
    users.add_command(_command)
