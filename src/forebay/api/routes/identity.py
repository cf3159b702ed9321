"""The caller's tokens; for administrators, accounts and invitations."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import Field

from forebay.api.auth.authentication import Admin, Reader, Writer
from forebay.api.auth.idempotent_secrets import TAKES_KEY, make_idempotently
from forebay.api.deps import Number, RolePoolsDep
from forebay.api.models import Id, Model, Strict
from forebay.api.problems import Problem
from forebay.api.routes.sessions import Role, own_account
from forebay.api.strict_query import StrictRoute
from forebay.identity import accounts
from forebay.identity import db as identity

if TYPE_CHECKING:
    from forebay.identity.db import Account, ApiToken

router = APIRouter(prefix="/api", tags=["identity"], route_class=StrictRoute)


class NewToken(Strict):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    scopes: list[Literal["read", "write", "admin"]] = Field(default=["read", "write"], min_length=1, max_length=3)
    expires_in_days: Annotated[float, Field(gt=0, le=3650)] | None = None


class TokenRow(Model):
    id: Id
    name: str
    hint: str = Field(description="the last characters of the token")
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


class TokenMade(TokenRow):
    token: str = Field(description="shown only once")


class AccountRow(Model):
    id: Id
    name: str
    role: Role
    created_at: datetime
    signed_in_at: datetime | None
    disabled_at: datetime | None


class Invite(Strict):
    role: Role = "user"


class InvitationRow(Model):
    id: Id
    role: Role
    created_by: str
    created_at: datetime
    expires_at: datetime


class Invited(InvitationRow):
    link: str = Field(description="valid once, for a week; shown only once")


class ChangeAccount(Strict):
    role: Role | None = None
    disabled: bool | None = None


# -- tokens -------------------------------------------------------------------------------------------------------


@router.get("/tokens")
async def list_tokens(who: Reader, pools: RolePoolsDep) -> list[TokenRow]:
    """The caller's tokens, newest first."""
    account, _ = await own_account(who, pools)
    return [_token(token) for token in await identity.tokens(pools.identity, account.id)]


@router.post("/tokens", status_code=201, openapi_extra=TAKES_KEY)
async def make_token(body: NewToken, who: Writer, pools: RolePoolsDep, request: Request) -> TokenMade:
    """Create a token for programs."""
    account, _ = await own_account(who, pools)
    if "admin" in body.scopes and account.role != "admin":
        raise Problem(403, "only administrators can give the scope `admin`", field="scopes")
    seconds = None if body.expires_in_days is None else body.expires_in_days * 86400
    scopes: list[str] = sorted(set(body.scopes))
    made, secret = await make_idempotently(
        request,
        who,
        pools,
        lambda conn: accounts.add_token(conn, account.name, body.name, scopes, seconds, who.actor),
    )
    return TokenMade(token=secret, **_token(made).model_dump())


@router.delete("/tokens/{token_id}", status_code=204)
async def revoke_token(token_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    account, _ = await own_account(who, pools)
    async with pools.identity.acquire() as conn:
        if not await accounts.revoke_own_token(conn, account, int(token_id)):
            raise Problem(404, f"there is no token {token_id}")


def _token(token: ApiToken) -> TokenRow:
    return TokenRow(
        id=token.id,  # type: ignore[arg-type]
        name=token.name,
        hint=token.hint,
        scopes=token.scopes,
        created_at=token.created_at,
        expires_at=token.expires_at,
        used_at=token.used_at,
        revoked_at=token.revoked_at,
    )


# -- accounts -----------------------------------------------------------------------------------------------------


@router.get("/users")
async def list_users(who: Admin, pools: RolePoolsDep) -> list[AccountRow]:
    return [_account(account) for account in await identity.accounts(pools.identity)]


@router.post("/users/invitations", status_code=201, openapi_extra=TAKES_KEY)
async def invite(body: Invite, who: Admin, pools: RolePoolsDep, request: Request) -> Invited:
    """Create a link with which someone can create an account."""
    made, secret = await make_idempotently(
        request, who, pools, lambda conn: accounts.invitation(conn, body.role, who.actor)
    )
    row = InvitationRow.model_validate(made, from_attributes=True)
    return Invited(link=f"/sign-in#{secret}", **row.model_dump())


@router.get("/users/invitations")
async def list_invitations(who: Admin, pools: RolePoolsDep) -> list[InvitationRow]:
    """The open invitations, newest first."""
    found = await identity.invitations(pools.identity)
    return [InvitationRow.model_validate(invitation, from_attributes=True) for invitation in found]


@router.delete("/users/invitations/{invitation_id}", status_code=204)
async def revoke_invitation(invitation_id: Number, who: Admin, pools: RolePoolsDep) -> None:
    """Revoke an invitation: its link no longer works."""
    async with pools.identity.acquire() as conn:
        await accounts.revoke_invitation(conn, int(invitation_id), who.actor)


@router.patch("/users/{name}")
async def change_user(
    name: Annotated[str, Path(max_length=100)], body: ChangeAccount, who: Admin, pools: RolePoolsDep
) -> AccountRow:
    """Change the role of an account, or disable it, which also ends its sessions."""
    if name == who.owner:
        raise Problem(409, "you cannot change your own account here: ask another administrator")
    async with pools.identity.acquire() as conn:
        account, _ = await accounts.change(conn, name, who.actor, role=body.role, disabled=body.disabled)
    return _account(account)


def _account(account: Account) -> AccountRow:
    return AccountRow(
        id=account.id,  # type: ignore[arg-type]
        name=account.name,
        role=account.role,  # type: ignore[arg-type]
        created_at=account.created_at,
        signed_in_at=account.signed_in_at,
        disabled_at=account.disabled_at,
    )
