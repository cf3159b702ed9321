"""Accounts, tokens and links, for the command line and the API. Each change is recorded in the audit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forebay.errors import ConflictError, InvalidField, NotFoundError
from forebay.identity import db as identity
from forebay.identity import owners, secrets

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.identity.db import Account, ApiToken, Invitation

FIRST_ADMIN = "admin"
_AN_HOUR = 3600.0
_A_WEEK = 7 * 86400.0
NAME = r"[a-z0-9][a-z0-9._@+-]{0,98}[a-z0-9]"
NAME_RULE = "must be 2 to 100 of a-z, 0-9 and . _ @ + -, with a letter or digit at both ends"
PASSWORD_LENGTHS = range(10, 201)
PASSWORD_RULE = "must have 10 to 200 characters"  # noqa: S105 - a rule, not a password
_LONGEST_TOKEN = 3650 * 86400.0


async def first_admin(conn: Connection) -> Account:
    """The first administrator, created if there is none."""
    admins = [account for account in await identity.accounts(conn) if _is_admin(account)]
    # The administrator sees everything anyway, so may own what was submitted under that name.
    account = admins[0] if admins else await _new(conn, FIRST_ADMIN, "admin", None, adopt=True)
    if account is None:
        raise InvalidField(
            "name", f"{FIRST_ADMIN!r} is a user without admin rights: make another user an administrator"
        )
    return account


async def sign_in_link(conn: Connection, account: Account, by: str) -> str:
    """Create a link that signs in once, within an hour.

    Raises: ConflictError for a disabled account.
    """
    if account.disabled_at is not None:
        raise ConflictError(
            "name", f"{account.name!r} is disabled: `forebay users enable {account.name}` enables it again"
        )
    secret = secrets.new_secret(secrets.LINK)
    await identity.add_link(conn, secrets.digest(secret), account.id, account.role, by, _AN_HOUR)
    return secret


async def invitation(conn: Connection, role: str, by: str) -> tuple[Invitation, str]:
    """Create an invitation and the secret of its link, with which someone can create an account within a week."""
    secret = secrets.new_secret(secrets.LINK)
    async with conn.transaction():
        made = await identity.add_link(conn, secrets.digest(secret), None, role, by, _A_WEEK)
        await identity.note(conn, by, "invite", None, {"id": made.id, "role": role})
    return made, secret


async def revoke_invitation(conn: Connection, invitation_id: int, by: str) -> None:
    """Raises: NotFoundError when there is no such open invitation."""
    async with conn.transaction():
        role = await identity.revoke_invitation(conn, invitation_id)
        if role is None:
            raise NotFoundError("invitation", f"there is no open invitation {invitation_id}")
        await identity.note(conn, by, "revoke_invitation", None, {"id": invitation_id, "role": role})


async def follow_link(conn: Connection, link_hash: bytes, name: str | None, hashed: str | None) -> Account | None:
    """Use a link: an invitation creates an account, a sign-in link sets the given password. None for an invalid link.

    Raises: ConflictError for a name that an account or an owner already has.
    """
    async with conn.transaction():
        link = await identity.use_link(conn, link_hash)
        if link is None:
            return None
        if link.account is not None:
            account = await _with_password(conn, link.account, hashed)
        elif name is not None and (made := await _new(conn, name, link.role, hashed)) is not None:
            account = made
        else:
            raise ConflictError("name", f"{name!r} is already in use: choose another name")
        detail: dict[str, object] = {"invited": link.account is None, "password": hashed is not None}
        await identity.note(conn, account.name, "follow_link", account.owner_id, detail)
    return account


async def _with_password(conn: Connection, name: str, hashed: str | None) -> Account:
    """Set the password (None: keep it). A new password ends all sessions."""
    account = await identity.change_account(conn, name, password_hash=hashed)
    assert account is not None  # noqa: S101 - accounts are never deleted
    if hashed is not None:
        await identity.close_sessions_of(conn, account.id)
    return account


async def account_named(conn: Connection, name: str) -> Account:
    """Raises: NotFoundError."""
    found = await identity.find_account(conn, name)
    if found is None:
        raise NotFoundError("user", f"there is no user {name!r}")
    return found[0]


def check_name(name: str) -> None:
    """Raises: InvalidField."""
    if not re.fullmatch(NAME, name):
        raise InvalidField("name", NAME_RULE)


def check_password(password: str) -> None:
    """Raises: InvalidField."""
    if len(password) not in PASSWORD_LENGTHS:
        raise InvalidField("password", PASSWORD_RULE)


async def add(conn: Connection, name: str, role: str, password: str | None, by: str, *, adopt: bool = False) -> Account:
    """Add an account; without a password, the user signs in by a link. With `adopt` it gets the owner of that name.

    Raises: InvalidField.
    """
    check_name(name)
    if password is not None:
        check_password(password)
    hashed = None if password is None else await secrets.hash_password(password)
    async with conn.transaction():
        account = await _new(conn, name, role, hashed, adopt=adopt)
        if account is None:
            raise InvalidField("name", await _why_not(conn, name))
        await identity.note(conn, by, "add_account", account.owner_id, {"name": name, "role": role})
    return account


async def check_new(conn: Connection, name: str, *, adopt: bool = False) -> None:
    """Raises: InvalidField for a name that `add` would reject."""
    check_name(name)
    is_taken = await identity.find_account(conn, name) is not None
    if is_taken or (not adopt and await owners.find(conn, name) is not None):
        raise InvalidField("name", await _why_not(conn, name))


async def _new(conn: Connection, name: str, role: str, hashed: str | None, *, adopt: bool = False) -> Account | None:
    made = await identity.add_account(conn, name, role, hashed)
    return made if made is not None or not adopt else await identity.adopt_owner(conn, name, role, hashed)


async def _why_not(conn: Connection, name: str) -> str:
    if await identity.find_account(conn, name) is not None:
        return f"{name!r} is already in use: `forebay users list` shows all users"
    return f"{name!r} already owns jobs: `forebay users add {name} --adopt` gives them to the new user"


async def change(
    conn: Connection, name: str, by: str, *, role: str | None = None, disabled: bool | None = None
) -> tuple[Account, bool]:
    """Change the role of an account, or disable or enable it; also returns whether that changed something.

    Raises: NotFoundError; ConflictError when no administrator would be left.
    """
    async with conn.transaction():
        before = await account_named(conn, name)
        was = {"role": before.role, "disabled": before.disabled_at is not None}
        wanted = {key: value for key, value in (("role", role), ("disabled", disabled)) if value is not None}
        if was | wanted == was:
            return before, False
        account = await identity.change_account(conn, name, role=role, disabled=disabled)
        assert account is not None  # noqa: S101 - it exists, and accounts are never deleted
        if _is_admin(before) and not any(map(_is_admin, await identity.accounts(conn))):
            raise ConflictError(
                "name",
                f"{name!r} is the only administrator: first make another user one with `forebay users role NAME admin`",
            )
        if disabled:
            await identity.close_sessions_of(conn, account.id)
        await identity.note(conn, by, "change_account", account.owner_id, {"name": name, **wanted})
    return account, True


def _is_admin(account: Account) -> bool:
    return account.role == "admin" and account.disabled_at is None


async def make_token(
    conn: Connection, account_id: int | None, name: str, scopes: list[str], seconds: float | None = None
) -> str:
    """Create a token of an account, or (None) of the service; returns its secret, which is not stored."""
    return (await _new_token(conn, account_id, name, scopes, seconds))[1]


async def add_token(
    conn: Connection, user: str | None, name: str, scopes: list[str], seconds: float | None, by: str
) -> tuple[ApiToken, str]:
    """Create a token of a user, or (None) of the service; also returns its secret.

    Raises: NotFoundError; InvalidField for scopes that the holder may not have.
    """
    if not 1 <= len(name) <= 100:
        raise InvalidField("name", "must have 1 to 100 characters")
    if seconds is not None and not 0 < seconds <= _LONGEST_TOKEN:
        raise InvalidField("expires", "must be positive and at most 3650d")
    account = None if user is None else await account_named(conn, user)
    if "admin" in scopes and (account is None or account.role != "admin"):
        raise InvalidField("scope", "only tokens of administrators can have the scope `admin`")
    async with conn.transaction():
        made = await _new_token(conn, account.id if account else None, name, scopes, seconds)
        owner_id = account.owner_id if account else None
        await identity.note(conn, by, "add_token", owner_id, {"id": made[0].id, "name": name, "scopes": scopes})
    return made


async def revoke_token(conn: Connection, token_id: int, by: str) -> bool:
    """Revoke a token; returns whether that changed something.

    Raises: NotFoundError.
    """
    async with conn.transaction():
        ended = await identity.revoke_any_token(conn, token_id)
        if ended is None:
            raise NotFoundError("token", f"there is no token {token_id}: `forebay tokens list` shows all")
        changed, owner_id, name = ended
        if changed:
            await identity.note(conn, by, "revoke_token", owner_id, {"id": token_id, "name": name})
    return changed


async def revoke_own_token(conn: Connection, account: Account, token_id: int) -> bool:
    """Revoke a token of the account; returns whether there was one."""
    async with conn.transaction():
        was_there = await identity.revoke_token(conn, token_id, account.id)
        if was_there:
            await identity.note(conn, account.name, "revoke_token", account.owner_id, {"id": token_id})
    return was_there


async def change_password(conn: Connection, account: Account, hashed: str) -> None:
    """Change the password; all sessions of the account end."""
    async with conn.transaction():
        await _with_password(conn, account.name, hashed)
        await identity.note(conn, account.name, "change_password", account.owner_id, {})


async def _new_token(
    conn: Connection, account_id: int | None, name: str, scopes: list[str], seconds: float | None
) -> tuple[ApiToken, str]:
    secret = secrets.new_secret(secrets.TOKEN)
    kept = await identity.add_token(conn, account_id, name, secrets.digest(secret), secret[-4:], scopes, seconds)
    return kept, secret
