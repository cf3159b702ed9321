"""`forebay users`: who may enter, and how much of the workers each gets."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click

from forebay.cli import _show as show
from forebay.cli import api
from forebay.cli._common import actor, find_dsn, json_option, load_settings, run
from forebay.cli._group import Group, Whole
from forebay.db.pool import connected
from forebay.errors import InvalidField, NotFoundError
from forebay.identity import db as identity
from forebay.identity import owners

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from forebay.db.pool import Connection
    from forebay.identity.db import Account, Invitation
    from forebay.identity.owners import Terms, Usage
    from forebay.settings import Settings

Limit = int | Literal["default"]

# As the command line names them → as owners have them.
_LIMITS = {
    "open_jobs": "max_open_jobs",
    "open_items": "max_open_items",
    "submits_per_minute": "submits_per_minute",
}

url_option = click.option(
    "--url", help="Where people reach forebay.  [by default FOREBAY_API_HOST and FOREBAY_API_PORT]"
)


@click.group(cls=Group)
def users() -> None:
    """Manage users and their limits.

    \b
    forebay users add ann --link
    forebay users invite
    forebay users invitations
    forebay users weight ann 2
    """


def _connected(settings: Settings) -> AbstractAsyncContextManager[Connection]:
    return connected(find_dsn(settings), "forebay users")


# Looking.


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
        show.console().print(_table(found))


async def _list(settings: Settings) -> list[tuple[Account, Terms]]:
    async with _connected(settings) as conn:
        terms = await owners.terms(conn)
        return [(account, terms.get(account.owner_id, owners.Terms())) for account in await identity.accounts(conn)]


def _table(found: list[tuple[Account, Terms]]) -> Any:
    made = show.table(
        "user", "role", "state", ">weight", ">jobs", ">items", ">submits/min", "last signed in", "created"
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


# Letting in.


@users.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="An administrator, who sees and does everything.")
@click.option("--link", is_flag=True, help="Print a one-time sign-in link instead of asking for a password.")
@click.option("--adopt", is_flag=True, help="Give the user the jobs that an owner of this name has already.")
@url_option
@json_option
def add(name: str, *, admin: bool, link: bool, adopt: bool, url: str | None, as_json: bool) -> None:
    """Add a user.

    Asks for the password twice; without a terminal it is the first line of standard input.
    """
    settings = load_settings()
    api.require()
    if not link:
        run(_check_new(settings, name, adopt=adopt))
    password = None if link else _read_password()
    account, secret = run(_add(settings, name, "admin" if admin else "user", password, adopt=adopt))
    answer = _user_json(account)
    if secret is None:
        show.answer(answer, f"{name} can sign in, as {_role(account.role)}", as_json=as_json)
    else:
        _show_link(answer, secret, settings, url, as_json=as_json)


async def _check_new(settings: Settings, name: str, *, adopt: bool) -> None:
    """Nobody types a password twice to be told that the name is taken."""
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with _connected(settings) as conn:
        await accounts.check_new(conn, name, adopt=adopt)


def _read_password() -> str:
    """Never an argument: those are in the shell's history, and every process here can read them."""
    if sys.stdin.isatty():
        typed: str = click.prompt("Password", hide_input=True, confirmation_prompt="The same again", err=True)
        return typed
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise InvalidField("password", "standard input has none: write it there, or use --link")
    return line


async def _add(
    settings: Settings, name: str, role: str, password: str | None, *, adopt: bool
) -> tuple[Account, str | None]:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with _connected(settings) as conn, conn.transaction():
        account = await accounts.add(conn, name, role, password, actor(), adopt=adopt)
        return account, await accounts.sign_in_link(conn, account, actor()) if password is None else None


@users.command()
@click.argument("name")
@url_option
@json_option
def link(name: str, url: str | None, as_json: bool) -> None:
    """Print a one-time sign-in link.

    It signs the user in within an hour, and lets them set a password: for a first or a forgotten one.
    """
    settings = load_settings()
    api.require()
    account, secret = run(_link(settings, name))
    _show_link(_user_json(account), secret, settings, url, as_json=as_json)


async def _link(settings: Settings, name: str) -> tuple[Account, str]:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with _connected(settings) as conn:
        account = await accounts.account_named(conn, name)
        return account, await accounts.sign_in_link(conn, account, actor())


def _show_link(user: dict[str, Any], secret: str, settings: Settings, url: str | None, *, as_json: bool) -> None:
    """The link alone is on standard output, so that it can be piped to where it is needed."""
    if not as_json:
        click.echo(f"Signs {user['name']} in as {_role(user['role'])}, once, within an hour:", err=True)
    place = _place(secret, settings, url)
    show.answer(user | {"link": place}, place, as_json=as_json)


def _place(secret: str, settings: Settings, url: str | None) -> str:
    return f"{(url or api.place(settings)).rstrip('/')}/sign-in#{secret}"


@users.command()
@click.option("--admin", is_flag=True, help="An administrator, who sees and does everything.")
@url_option
@json_option
def invite(*, admin: bool, url: str | None, as_json: bool) -> None:
    """Print a link with which someone creates an account.

    It works once, within a week. Whoever follows it chooses a name and a password.
    """
    settings = load_settings()
    api.require()
    made, secret = run(_invite(settings, "admin" if admin else "user"))
    if not as_json:
        click.echo(f"Creates an account of {_role(made.role)}, once, within a week:", err=True)
    place = _place(secret, settings, url)
    show.answer(_invitation_json(made) | {"link": place}, place, as_json=as_json)


async def _invite(settings: Settings, role: str) -> tuple[Invitation, str]:
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with _connected(settings) as conn:
        return await accounts.invitation(conn, role, actor())


@users.command()
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
        show.console().print(made)


async def _invitations(settings: Settings) -> list[Invitation]:
    async with _connected(settings) as conn:
        return await identity.invitations(conn)


@users.command()
@click.argument("invitation", type=Whole(1, 2**63 - 1), metavar="ID")
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

    async with _connected(settings) as conn:
        try:
            await accounts.revoke_invitation(conn, invitation, actor())
        except NotFoundError as error:
            raise NotFoundError(error.field, f"{error.reason}: `forebay users invitations` shows them") from error


def _invitation_json(invitation: Invitation) -> dict[str, Any]:
    return asdict(invitation) | {"id": str(invitation.id)}


def _role(role: str) -> str:
    return "an administrator" if role == "admin" else "a user"


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
def change_role(name: str, role: str, as_json: bool) -> None:
    """Make a user an administrator, or no longer one."""
    account, changed = run(_change(load_settings(), name, role=role))
    _show_change(account, _role(role), changed=changed, as_json=as_json)


async def _change(
    settings: Settings, name: str, *, role: str | None = None, disabled: bool | None = None
) -> tuple[Account, bool]:
    api.require()
    from forebay.identity import accounts  # noqa: PLC0415 - an extra

    async with _connected(settings) as conn:
        return await accounts.change(conn, name, actor(), role=role, disabled=disabled)


def _show_change(account: Account, what: str, *, changed: bool, as_json: bool) -> None:
    text = f"{account.name} is {what} {'now' if changed else 'already'}"
    show.answer(_user_json(account) | {"changed": changed}, text, as_json=as_json)


# Sharing. These are for owners without an account, too: whoever submits by SQL has none.


@users.command()
@click.argument("name")
@click.argument("number", type=float, metavar="N")
@json_option
def weight(name: str, number: float, as_json: bool) -> None:
    """Set a user's share of the workers.

    Twice the weight gets twice the tasks.
    """
    changed = run(_weigh(load_settings(), name, number))
    text = f"{name} has weight {number:g} {'now' if changed else 'already'}"
    show.answer({"name": name, "weight": number, "changed": changed}, text, as_json=as_json)


async def _weigh(settings: Settings, name: str, number: float) -> bool:
    async with _connected(settings) as conn:
        await _owner_id(conn, name)
        return await owners.set_weight(conn, name, number, actor())


async def _owner_id(conn: Connection, name: str) -> int:
    found = await owners.find(conn, name)
    if found is None:
        raise NotFoundError(
            "name", f"{name!r} is neither a user nor an owner of jobs: `forebay users list` shows the users"
        )
    return found


class _LimitType(click.ParamType[Limit]):
    name = "limit"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Limit:
        return "default" if value == "default" else Whole(0, 2**31 - 1).convert(value, param, ctx)


@users.command()
@click.argument("name")
@click.option("--open-jobs", type=_LimitType(), metavar="N|default", help="Jobs that may be open at a time.")
@click.option("--open-items", type=_LimitType(), metavar="N|default", help="Items that may be open at a time.")
@click.option("--submits-per-minute", type=_LimitType(), metavar="N|default", help="Submits a minute.")
@json_option
def limits(name: str, as_json: bool, **given: Limit | None) -> None:
    """Show or set a user's limits.

    `default` resets a limit to FOREBAY_MAX_OPEN_JOBS, FOREBAY_MAX_OPEN_ITEMS and FOREBAY_SUBMITS_PER_MINUTE.
    """
    settings = load_settings()
    wanted = {_LIMITS[key]: None if value == "default" else value for key, value in given.items() if value is not None}
    usage, changed = run(_limit(settings, name, wanted))
    rows = [_limit_row(key, usage, settings) for key in _LIMITS]
    text = "\n".join(f"{row['limit'].replace('_', ' '):<20}{_limit_text(row)}" for row in rows)
    by_name = {row.pop("limit"): row for row in rows}
    show.answer({"name": name, "changed": changed, "limits": by_name}, text, as_json=as_json)


async def _limit(settings: Settings, name: str, wanted: dict[str, int | None]) -> tuple[Usage, bool]:
    async with _connected(settings) as conn:
        owner_id = await _owner_id(conn, name)
        changed = await owners.set_limits(conn, owner_id, wanted, actor()) if wanted else False
        return await owners.usage(conn, owner_id), changed


def _limit_row(key: str, usage: Usage, settings: Settings) -> dict[str, Any]:
    own: int | None = getattr(usage, _LIMITS[key])
    most: int = getattr(settings, _LIMITS[key]) if own is None else own
    now = {"open_jobs": usage.open_jobs, "open_items": usage.open_items}.get(key)
    return {"limit": key, "most": most, "is_default": own is None, "now": now}


def _limit_text(row: dict[str, Any]) -> str:
    used = "" if row["now"] is None else f"{show.number(row['now'])} of "
    return f"{used}{show.number(row['most'])}{' (default)' if row['is_default'] else ''}"
