"""Accounts, sessions, tokens and links: who is asking. Secrets come here as hashes, and only so."""

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
class Token:
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
    """The account behind a session or a token; the service has none."""

    account_id: int | None
    owner_id: int | None
    name: str | None
    role: str | None
    scopes: frozenset[str] | None = None
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    role: str
    account: str | None


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
    """A new account of a new owner; None when there is an owner of that name, with an account or without."""
    row = await fetch_row(pool, load("add_account"), name, role, password_hash)
    return None if row is None else Account(*row.values())


async def adopt_owner(pool: Pool | Connection, name: str, role: str, password_hash: str | None) -> Account | None:
    """A new account of an owner that is there, who may have jobs; None when there is none, or has an account."""
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
    """Whether it could be: not when the account was disabled meanwhile, or has another password than the one given."""
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
    """Whether there was one."""
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
) -> Token:
    """A token of an account, or (None) of the service."""
    row = await fetch_row(pool, load("add_token"), account_id, name, token_hash, hint, list(scopes), seconds)
    assert row is not None  # noqa: S101 - it was inserted
    return Token(*row.values())


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


async def tokens(pool: Pool | Connection, account_id: int | None) -> list[Token]:
    return [Token(*row.values()) for row in await fetch(pool, load("list_tokens"), account_id)]


async def revoke_token(pool: Pool | Connection, token_id: int, account_id: int | None) -> bool:
    return await fetch_row(pool, load("revoke_token"), token_id, account_id) is not None


async def all_tokens(
    pool: Pool | Connection, account: str | None = None, *, service: bool = False
) -> list[tuple[str | None, Token]]:
    """The tokens of all, of one account or of the service, newest first, each with its account's name."""
    rows = await fetch(pool, load("list_all_tokens"), account, service)
    return [(row["account"], Token(*list(row.values())[1:])) for row in rows]


async def revoke_any_token(pool: Pool | Connection, token_id: int) -> tuple[bool, int | None, str] | None:
    """Whether that changed something, whose token it was (None: the service's) and its name; None: there is none."""
    row = await fetch_row(pool, load("revoke_any_token"), token_id)
    return None if row is None else (row["changed"], row["owner_id"], row["name"])


async def add_link(
    pool: Pool | Connection, link_hash: bytes, account_id: int | None, role: str, by: str, seconds: float
) -> Invitation:
    row = await fetch_row(pool, load("add_invitation"), link_hash, account_id, role, by, seconds)
    assert row is not None  # noqa: S101 - it was inserted
    return Invitation(*row.values())


async def invitations(pool: Pool | Connection) -> list[Invitation]:
    """Those that are still good."""
    return [Invitation(*row.values()) for row in await fetch(pool, load("list_invitations"))]


async def revoke_invitation(pool: Pool | Connection, invitation_id: int) -> str | None:
    """The role that it was for; None when there is none that is still good."""
    row = await fetch_row(pool, load("revoke_invitation"), invitation_id)
    return None if row is None else row["role"]


async def look_at_link(pool: Pool | Connection, link_hash: bytes) -> Link | None:
    row = await fetch_row(pool, load("look_at_invitation"), link_hash)
    return None if row is None else Link(*row.values())


async def use_link(pool: Pool | Connection, link_hash: bytes) -> Link | None:
    """What the link is good for; it is good for nothing afterwards."""
    row = await fetch_row(pool, load("use_invitation"), link_hash)
    return None if row is None else Link(*row.values())


async def note_sign_in(pool: Pool | Connection, keys: Mapping[str, int]) -> float:
    """Count an attempt; each key comes with how many are free. The seconds to wait: 0 when it may go on."""
    row = await fetch_row(pool, load("note_sign_in"), list(keys), list(keys.values()))
    assert row is not None  # noqa: S101 - it always answers one row
    return float(row[0])


async def take_back_sign_in(pool: Pool | Connection, keys: Iterable[str]) -> None:
    """An attempt that was let go on does not count."""
    await fetch(pool, load("take_back_sign_in"), list(keys))


async def forgive_sign_in(pool: Pool | Connection, keys: Iterable[str]) -> None:
    """No attempt counts any more."""
    await fetch(pool, load("forgive_sign_in"), list(keys))


async def note(
    pool: Pool | Connection, actor: str, action: str, owner_id: int | None, detail: dict[str, object]
) -> None:
    """Leave a trace in the audit of what someone did to an account or a token."""
    await execute(
        pool,
        "select forebay.note($1, $2, $3, null, null, $4::jsonb, clock_timestamp())",
        actor,
        action,
        owner_id,
        json.dumps(detail),
    )


async def tidy(pool: Pool) -> int:
    """Delete some of the sessions, links and wrong passwords that are over; answers how many went."""
    return int(await fetch_value(pool, "select forebay.tidy_identity()"))


async def unprotected_tables(conn: Connection) -> list[str]:
    """The tables whose rows have an owner, and which everybody could read: `forebay.own` is not called for them."""
    return [row["relname"] for row in await fetch(conn, load("list_unprotected"))]
