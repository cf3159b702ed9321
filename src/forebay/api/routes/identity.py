"""Signing in and out, one's own tokens; and for administrators, accounts and invitations."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from forebay.api import accounts, secrecy
from forebay.api.accounts import NAME, PASSWORD_LENGTHS
from forebay.api.deps import RoomsDep, SettingsDep
from forebay.api.models import Id, Model, Strict
from forebay.api.principal import COOKIE, CSRF_COOKIE, Admin, Reader, Writer, address_of
from forebay.api.problems import Problem
from forebay.db import identity
from forebay.log import get_logger

if TYPE_CHECKING:
    from forebay.api.principal import Principal
    from forebay.api.rooms import Rooms
    from forebay.db.identity import Account, Token
    from forebay.settings import Settings

router = APIRouter(prefix="/api", tags=["identity"])

Name = Annotated[str, Field(pattern=f"^{NAME}$", description="2 to 100 of a-z, 0-9 and . _ @ + -")]
Password = Annotated[str, Field(min_length=PASSWORD_LENGTHS.start, max_length=PASSWORD_LENGTHS.stop - 1)]
Role = Literal["user", "admin"]

log = get_logger("api")


class SignIn(Strict):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    password: Annotated[str, Field(min_length=1, max_length=200)]


class FollowLink(Strict):
    """What a one-time link is exchanged for a session with."""

    link: Annotated[str, Field(min_length=1, max_length=200)]
    name: Name | None = Field(default=None, description="of the new account, when the link is an invitation")
    password: Password | None = Field(default=None, description="to sign in with from now on")


class Me(Model):
    name: str
    role: Role
    kind: Literal["session", "token", "service"]
    scopes: list[str]


class NewPassword(Strict):
    old: Annotated[str, Field(max_length=200)] | None = None
    new: Password


class NewToken(Strict):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    scopes: list[Literal["read", "write", "admin"]] = Field(default=["read", "write"], min_length=1, max_length=3)
    expires_in_days: Annotated[float, Field(gt=0, le=3650)] | None = None


class TokenRow(Model):
    id: Id
    name: str
    hint: str = Field(description="its last characters")
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


class TokenMade(TokenRow):
    token: str = Field(description="shown this once")


class AccountRow(Model):
    id: Id
    name: str
    role: Role
    created_at: datetime
    signed_in_at: datetime | None
    disabled_at: datetime | None


class Invite(Strict):
    role: Role = "user"


class Invited(Model):
    link: str = Field(description="works once, for a week; shown this once")


class ChangeAccount(Strict):
    role: Role | None = None
    disabled: bool | None = None


# -- sessions -----------------------------------------------------------------------------------------------------


@router.post("/session", status_code=201)
async def sign_in(body: SignIn, rooms: RoomsDep, settings: SettingsDep, request: Request, response: Response) -> Me:
    """A session for a name and its password, as cookies. Who guesses has to wait longer and longer."""
    # Many people may share an address: it is blocked only when it guesses far more than one of them would mistype.
    keys = {f"name {body.name}": 5, f"ip {address_of(request)}": 50}
    if (wait := await identity.seconds_blocked(rooms.identity, keys)) > 0:
        raise Problem(429, "too many wrong passwords: try again later", headers={"Retry-After": str(int(wait) + 1)})
    found = await identity.find_account(rooms.identity, body.name)
    is_right = await secrecy.is_password(found[1] if found else None, body.password)
    if not found or not is_right or found[0].disabled_at is not None:
        await identity.note_failure(rooms.identity, keys)
        log.warning("sign_in_refused", name=body.name, ip=address_of(request))
        raise Problem(401, "name or password is wrong")
    await identity.forgive(rooms.identity, keys)
    return await _begin_session(found[0], rooms, settings, request, response)


@router.post("/session/link", status_code=201)
async def follow_link(
    body: FollowLink, rooms: RoomsDep, settings: SettingsDep, request: Request, response: Response
) -> Me:
    """A session for a one-time link: that of an invitation makes an account first."""
    digest = secrecy.digest(body.link)
    link = await identity.look_at_link(rooms.identity, digest)
    if link is None:
        raise Problem(401, "this link is unknown, expired or used up")
    if link.account is None and (body.name is None or body.password is None):
        raise Problem(422, "an invitation needs a name and a password for the new account", field="name")
    password = None if body.password is None else await secrecy.hash_password(body.password)
    async with rooms.identity.acquire() as conn, conn.transaction():
        if await identity.use_link(conn, digest) is None:
            raise Problem(401, "this link is unknown, expired or used up")
        if link.account is None:
            account = await identity.add_account(conn, body.name or "", link.role, password)
        else:
            account = await identity.change_account(conn, link.account, password_hash=password)
        if account is None:
            raise Problem(409, f"the name {body.name!r} is taken", field="name")
        detail: dict[str, object] = {"invited": link.account is None, "password": password is not None}
        await identity.note(conn, account.name, "follow_link", account.owner_id, detail)
    return await _begin_session(account, rooms, settings, request, response)


async def _begin_session(
    account: Account, rooms: Rooms, settings: Settings, request: Request, response: Response
) -> Me:
    secret, seconds = secrecy.new_secret(secrecy.SESSION), settings.session_days * 86400
    agent = request.headers.get("user-agent")
    await identity.open_session(rooms.identity, secrecy.digest(secret), account.id, seconds, address_of(request), agent)
    for name, value, is_hidden in ((COOKIE, secret, True), (CSRF_COOKIE, secrecy.csrf_token(secret), False)):
        response.set_cookie(
            name,
            value,
            max_age=int(seconds),
            path="/",
            httponly=is_hidden,
            samesite="lax",
            secure=settings.secure_cookies,
        )
    return Me(name=account.name, role=account.role, kind="session", scopes=["admin", "read", "write"])  # type: ignore[arg-type]


@router.delete("/session", status_code=204)
async def sign_out(who: Reader, rooms: RoomsDep, request: Request, response: Response) -> None:
    """Ends the session that asks."""
    if session := request.cookies.get(COOKIE):
        await identity.close_session(rooms.identity, secrecy.digest(session))
    response.delete_cookie(COOKIE, path="/")
    response.delete_cookie(CSRF_COOKIE, path="/")


@router.get("/me")
async def get_me(who: Reader) -> Me:
    return Me(name=who.owner, role=who.role, kind=who.kind, scopes=sorted(who.scopes))  # type: ignore[arg-type]


@router.put("/me/password", status_code=204)
async def change_password(body: NewPassword, who: Writer, rooms: RoomsDep) -> None:
    """A new password; all sessions of the account end."""
    account, stored = await _own_account(who, rooms)
    if stored is not None and not await secrecy.is_password(stored, body.old or ""):
        raise Problem(403, "is wrong", field="old")
    async with rooms.identity.acquire() as conn:
        await accounts.change_password(conn, account, body.new)


async def _own_account(who: Principal, rooms: Rooms) -> tuple[Account, str | None]:
    found = await identity.find_account(rooms.identity, who.owner) if who.kind == "session" else None
    if found is None:
        raise Problem(403, "only someone who has signed in may do this")
    return found


# -- tokens -------------------------------------------------------------------------------------------------------


@router.get("/tokens")
async def list_tokens(who: Reader, rooms: RoomsDep) -> list[TokenRow]:
    """The caller's own tokens, newest first."""
    account, _ = await _own_account(who, rooms)
    return [_token(token) for token in await identity.tokens(rooms.identity, account.id)]


@router.post("/tokens", status_code=201)
async def make_token(body: NewToken, who: Writer, rooms: RoomsDep) -> TokenMade:
    """A token for programs."""
    account, _ = await _own_account(who, rooms)
    if "admin" in body.scopes and account.role != "admin":
        raise Problem(403, "only administrators can give the scope `admin`", field="scopes")
    seconds = None if body.expires_in_days is None else body.expires_in_days * 86400
    async with rooms.identity.acquire() as conn:
        made, secret = await accounts.add_token(
            conn, account.name, body.name, sorted(set(body.scopes)), seconds, who.actor
        )
    return TokenMade(token=secret, **_token(made).model_dump())


@router.delete("/tokens/{token_id}", status_code=204)
async def revoke_token(token_id: Annotated[str, Path(pattern="^[0-9]{1,18}$")], who: Writer, rooms: RoomsDep) -> None:
    account, _ = await _own_account(who, rooms)
    async with rooms.identity.acquire() as conn:
        if not await accounts.revoke_own_token(conn, account, int(token_id)):
            raise Problem(404, f"there is no token {token_id}")


def _token(token: Token) -> TokenRow:
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
async def list_users(who: Admin, rooms: RoomsDep) -> list[AccountRow]:
    return [_account(account) for account in await identity.accounts(rooms.identity)]


@router.post("/users/invitations", status_code=201)
async def invite(body: Invite, who: Admin, rooms: RoomsDep) -> Invited:
    """A link with which someone makes an account."""
    async with rooms.identity.acquire() as conn:
        secret = await accounts.invitation(conn, body.role, who.actor)
    return Invited(link=f"/sign-in#{secret}")


@router.patch("/users/{name}")
async def change_user(
    name: Annotated[str, Path(max_length=100)], body: ChangeAccount, who: Admin, rooms: RoomsDep
) -> AccountRow:
    """Another role, or no entrance: whoever is disabled is signed out at once."""
    if name == who.owner:
        raise Problem(409, "nobody changes their own account here: ask another administrator")
    async with rooms.identity.acquire() as conn:
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
