"""Accounts, sessions, tokens and links in the database. Secrets are passed as hashes only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.db.statements import statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from forebay.db.pool import Connection, Pool

load = statements("forebay.identity")


@dataclass(frozen=True, slots=True)
class Account:
    id: int
    owner_id: int
    name: str
    role: str
    created_at: datetime
    signed_in_at: datetime | None
    disabled_at: datetime | None


@dataclass(frozen=True, slots=True)
class ApiToken:
    id: int
    name: str
    hint: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Holder:
    """The account of a session or a token; that of the service is None."""

    account_id: int | None
    owner_id: int | None
    name: str | None
    role: str | None
    scopes: frozenset[str] | None = None
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    role: str
    account: str | None
    has_password: bool = False


@dataclass(frozen=True, slots=True)
class Invitation:
    id: int
    role: str
    created_by: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Session:
    id: int
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    ip: str | None
    agent: str | None
    current: bool


async def add_account(pool: Pool | Connection, name: str, role: str, password_hash: str | None) -> Account | None:
    """Add an account with a new owner; None when an owner of that name exists, with or without an account."""
    row = await fetch_row(pool, load("add_account"), name, role, password_hash)
    return None if row is None else Account(*row.values())


async def adopt_owner(pool: Pool | Connection, name: str, role: str, password_hash: str | None) -> Account | None:
    """Add an account for an existing owner; None when there is no such owner, or it has an account."""
    row = await fetch_row(pool, load("adopt_owner"), name, role, password_hash)
    return None if row is None else Account(*row.values())


async def accounts(pool: Pool | Connection) -> list[Account]:
    return [Account(*row.values()) for row in await fetch(pool, load("list_accounts"))]


async def find_account(pool: Pool | Connection, name: str) -> tuple[Account, str | None] | None:
    """An account with the hash of its password."""
    row = await fetch_row(pool, load("find_account"), name)
    if row is None:
        return None
    *account, password = row.values()
    return Account(*account), password


async def change_account(
    pool: Pool | Connection,
    name: str,
    *,
    role: str | None = None,
    password_hash: str | None = None,
    disabled: bool | None = None,
) -> Account | None:
    row = await fetch_row(pool, load("change_account"), name, role, password_hash, disabled)
    return None if row is None else Account(*row.values())


async def open_session(
    pool: Pool | Connection,
    token_hash: bytes,
    account_id: int,
    seconds: float,
    ip: str | None,
    agent: str | None,
    password_hash: str | None = None,
) -> bool:
    """Add a session; false when the account was disabled or its password changed meanwhile."""
    return (
        await fetch_row(pool, load("open_session"), token_hash, account_id, seconds, ip, agent, password_hash)
        is not None
    )


async def find_session(pool: Pool | Connection, token_hash: bytes) -> Holder | None:
    row = await fetch_row(pool, load("find_session"), token_hash)
    return None if row is None else Holder(*row.values())


async def close_session(pool: Pool | Connection, token_hash: bytes) -> None:
    await fetch(pool, load("close_sessions"), token_hash, None)


async def sessions(pool: Pool | Connection, account_id: int, token_hash: bytes) -> list[Session]:
    return [Session(*row.values()) for row in await fetch(pool, load("list_sessions"), account_id, token_hash)]


async def close_own_session(pool: Pool | Connection, session_id: int, account_id: int) -> bool:
    """End a session of the account; returns whether there was one."""
    return await fetch_row(pool, load("close_own_session"), session_id, account_id) is not None


async def close_sessions_of(pool: Pool | Connection, account_id: int) -> None:
    await fetch(pool, load("close_sessions"), None, account_id)


async def add_token(
    pool: Pool | Connection,
    account_id: int | None,
    name: str,
    token_hash: bytes,
    hint: str,
    scopes: Sequence[str],
    seconds: float | None,
) -> ApiToken:
    """A token of an account, or (None) of the service."""
    row = await fetch_row(pool, load("add_token"), account_id, name, token_hash, hint, list(scopes), seconds)
    assert row is not None  # noqa: S101 - it was inserted
    return ApiToken(*row.values())


async def find_tokens(pool: Pool | Connection, token_hashes: Sequence[bytes]) -> list[Holder | None]:
    """Who has each of these tokens; None for those that are unknown, expired or revoked.

    That a token was used is noted once a minute at most.
    """
    rows = await fetch(pool, load("find_tokens"), list(set(token_hashes)))
    if unnoted := [row["token_id"] for row in rows if row["is_unnoted"]]:
        await execute(pool, load("note_tokens_used"), unnoted)
    found = {
        row["hash"]: Holder(
            row["id"], row["owner_id"], row["name"], row["role"], frozenset(row["scopes"]), row["token_id"]
        )
        for row in rows
    }
    return [found.get(token_hash) for token_hash in token_hashes]


async def tokens(pool: Pool | Connection, account_id: int | None) -> list[ApiToken]:
    return [ApiToken(*row.values()) for row in await fetch(pool, load("list_tokens"), account_id)]


async def revoke_token(pool: Pool | Connection, token_id: int, account_id: int | None) -> bool:
    return await fetch_row(pool, load("revoke_token"), token_id, account_id) is not None


async def all_tokens(
    pool: Pool | Connection, account: str | None = None, *, service: bool = False
) -> list[tuple[str | None, ApiToken]]:
    """All tokens, or those of an account or of the service, newest first, each with the name of its account."""
    rows = await fetch(pool, load("list_all_tokens"), account, service)
    return [(row["account"], ApiToken(*list(row.values())[1:])) for row in rows]


async def revoke_any_token(pool: Pool | Connection, token_id: int) -> tuple[bool, int | None, str] | None:
    """Revoke a token; returns whether that changed something, its owner (None: the service) and its name, or None."""
    row = await fetch_row(pool, load("revoke_any_token"), token_id)
    return None if row is None else (row["changed"], row["owner_id"], row["name"])


async def add_link(
    pool: Pool | Connection, link_hash: bytes, account_id: int | None, role: str, by: str, seconds: float
) -> Invitation:
    row = await fetch_row(pool, load("add_invitation"), link_hash, account_id, role, by, seconds)
    assert row is not None  # noqa: S101 - it was inserted
    return Invitation(*row.values())


async def invitations(pool: Pool | Connection) -> list[Invitation]:
    """The open invitations."""
    return [Invitation(*row.values()) for row in await fetch(pool, load("list_invitations"))]


async def revoke_invitation(pool: Pool | Connection, invitation_id: int) -> str | None:
    """Revoke an invitation; returns its role, or None when there is no such open invitation."""
    row = await fetch_row(pool, load("revoke_invitation"), invitation_id)
    return None if row is None else row["role"]


async def find_link(pool: Pool | Connection, link_hash: bytes) -> OneTimeLink | None:
    row = await fetch_row(pool, load("find_invitation"), link_hash)
    return None if row is None else OneTimeLink(*row.values())


async def use_link(pool: Pool | Connection, link_hash: bytes) -> OneTimeLink | None:
    """Use a link up; returns what it was for, or None."""
    row = await fetch_row(pool, load("use_invitation"), link_hash)
    return None if row is None else OneTimeLink(*row.values())


async def count_sign_in(pool: Pool | Connection, keys: Mapping[str, int]) -> float:
    """Count a sign-in attempt for each key, given with its number of free attempts. Returns the seconds to wait."""
    row = await fetch_row(pool, load("count_sign_in"), list(keys), list(keys.values()))
    assert row is not None  # noqa: S101 - the query returns one row
    return float(row[0])


async def uncount_sign_in(pool: Pool | Connection, keys: Iterable[str]) -> None:
    """Remove the last counted attempt."""
    await fetch(pool, load("uncount_sign_in"), list(keys))


async def reset_sign_ins(pool: Pool | Connection, keys: Iterable[str]) -> None:
    """Remove all counted attempts."""
    await fetch(pool, load("reset_sign_ins"), list(keys))


async def note(
    pool: Pool | Connection, actor: str, action: str, owner_id: int | None, detail: dict[str, object]
) -> None:
    """Record an action on an account or a token in the audit."""
    await execute(
        pool,
        "select forebay.note($1, $2, $3, null, null, $4::jsonb, clock_timestamp())",
        actor,
        action,
        owner_id,
        json.dumps(detail),
    )


async def tidy(pool: Pool) -> int:
    """Delete some expired sessions, links and sign-in failures; returns how many."""
    return int(await fetch_value(pool, "select forebay.tidy_identity()"))


async def unprotected_tables(conn: Connection) -> list[str]:
    """The tables with owners that row-level security does not protect because `forebay.own` was not called for them."""
    return [row["relname"] for row in await fetch(conn, load("list_unprotected"))]
