"""Sign in by password or link, sign out; sessions and password of the caller."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from forebay.api.auth import throttle
from forebay.api.auth.authentication import Reader, Writer, address_of, scopes_of
from forebay.api.auth.cookies import cookies_of
from forebay.api.deps import Number, RolePoolsDep, SettingsDep
from forebay.api.models import Id, Model, Strict
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.identity import accounts, secrets
from forebay.identity import db as identity
from forebay.identity.accounts import NAME, PASSWORD_LENGTHS
from forebay.log import get_logger

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools
    from forebay.identity.db import Account
    from forebay.settings import Settings

router = APIRouter(prefix="/api", tags=["identity"], route_class=StrictRoute)

Name = Annotated[str, Field(pattern=f"^{NAME}$", description="2 to 100 of a-z, 0-9 and . _ @ + -")]
Password = Annotated[str, Field(min_length=PASSWORD_LENGTHS.start, max_length=PASSWORD_LENGTHS.stop - 1)]
Role = Literal["user", "admin"]

log = get_logger("api")


class SignIn(Strict):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    password: Annotated[str, Field(min_length=1, max_length=200)]


class CheckLink(Strict):
    link: Annotated[str, Field(min_length=1, max_length=200)]


class LinkGood(Model):
    """What a one-time link is for."""

    kind: Literal["invitation", "sign-in"]
    role: Role
    name: str | None = Field(description="the user that it signs in; null for an invitation")
    has_password: bool = Field(description="whether the user has a password, which the link may replace")


class FollowLink(Strict):
    """A one-time link to exchange for a session."""

    link: Annotated[str, Field(min_length=1, max_length=200)]
    name: Name | None = Field(default=None, description="name of the new account, if the link is an invitation")
    password: Password | None = Field(default=None, description="the new password")


class Me(Model):
    name: str
    role: Role
    kind: Literal["session", "token", "service"]
    scopes: list[str]
    expires_at: datetime | None = Field(default=None, description="when the session ends; null for tokens")


class SessionRow(Model):
    id: Id
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    ip: str | None
    agent: str | None = Field(description="the User-Agent of the browser")
    current: bool = Field(description="whether it is the session of this request")


class NewPassword(Strict):
    old: Annotated[str, Field(max_length=200)] | None = None
    new: Password


@router.post("/session", status_code=201)
async def sign_in(body: SignIn, pools: RolePoolsDep, settings: SettingsDep, request: Request, response: Response) -> Me:
    """Sign in with name and password; sets the session cookies. Failed attempts are throttled."""
    found = await identity.find_account(pools.identity, body.name)
    account, stored = found or (None, None)
    is_right = await throttle.is_password(pools.identity, body.name, address_of(request), stored, body.password)
    if account is not None and is_right:
        begun = await _begin_session(account, stored, pools, settings, request, response)
        if begun is not None:
            return begun
    log.warning("sign_in_refused", name=body.name, ip=address_of(request))
    raise Problem(401, "name or password is wrong")


@router.post("/session/link/check")
async def check_link(body: CheckLink, pools: RolePoolsDep) -> LinkGood:
    """What a one-time link is for. The link stays valid."""
    link = await identity.find_link(pools.identity, secrets.digest(body.link))
    if link is None:
        raise _no_good()
    kind: Literal["invitation", "sign-in"] = "invitation" if link.account is None else "sign-in"
    return LinkGood(kind=kind, role=link.role, name=link.account, has_password=link.has_password)  # type: ignore[arg-type]


@router.post("/session/link", status_code=201)
async def follow_link(
    body: FollowLink, pools: RolePoolsDep, settings: SettingsDep, request: Request, response: Response
) -> Me:
    """Sign in with a one-time link. An invitation first creates the account. A new password ends other sessions."""
    digest = secrets.digest(body.link)
    link = await identity.find_link(pools.identity, digest)
    if link is None:
        raise _no_good()
    if link.account is None and (body.name is None or body.password is None):
        raise Problem(422, "an invitation needs a name and a password for the new account", field="name")
    hashed = None if body.password is None else await secrets.hash_password(body.password)
    async with pools.identity.acquire() as conn:
        account = await accounts.follow_link(conn, digest, body.name, hashed)
    begun = None if account is None else await _begin_session(account, hashed, pools, settings, request, response)
    if begun is None:
        raise _no_good()
    return begun


def _no_good() -> Problem:
    return Problem(401, "this link is unknown, expired or already used")


async def _begin_session(
    account: Account, stored: str | None, pools: RolePools, settings: Settings, request: Request, response: Response
) -> Me | None:
    """Replace the browser's session, if any, by a new one; None when the account is disabled."""
    secret, seconds, cookies = secrets.new_secret(secrets.SESSION), settings.session_days * 86400, cookies_of(request)
    agent, ip = request.headers.get("user-agent"), address_of(request)
    if not await identity.open_session(pools.identity, secrets.digest(secret), account.id, seconds, ip, agent, stored):
        return None
    if before := request.cookies.get(cookies.session):
        await identity.close_session(pools.identity, secrets.digest(before))
    cookies.write(response, secret, seconds)
    return Me(name=account.name, role=account.role, kind="session", scopes=sorted(scopes_of(account.role)))  # type: ignore[arg-type]


@router.delete("/session", status_code=204)
async def sign_out(who: Reader, pools: RolePoolsDep, request: Request, response: Response) -> None:
    """End the session of this request."""
    cookies = cookies_of(request)
    if session := request.cookies.get(cookies.session):
        await identity.close_session(pools.identity, secrets.digest(session))
    cookies.clear(response)


@router.get("/sessions")
async def list_sessions(who: Reader, pools: RolePoolsDep, request: Request) -> list[SessionRow]:
    """The caller's sessions, the last used first."""
    account, _ = await own_account(who, pools)
    asking = secrets.digest(request.cookies[cookies_of(request).session])
    found = await identity.sessions(pools.identity, account.id, asking)
    return [SessionRow.model_validate(session, from_attributes=True) for session in found]


@router.delete("/sessions/{session_id}", status_code=204)
async def end_session(session_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    """End one of the caller's sessions."""
    account, _ = await own_account(who, pools)
    if not await identity.close_own_session(pools.identity, int(session_id), account.id):
        raise Problem(404, f"there is no session {session_id}")


@router.get("/me")
async def get_me(who: Reader, pools: RolePoolsDep, request: Request) -> Me:
    """The caller, and when its session ends."""
    return await me_of(who, pools, request)


async def me_of(who: Principal, pools: RolePools, request: Request) -> Me:
    ends = None
    if who.kind == "session" and who.account_id is not None:
        asking = secrets.digest(request.cookies[cookies_of(request).session])
        found = await identity.sessions(pools.identity, who.account_id, asking)
        ends = next((session.expires_at for session in found if session.current), None)
    return Me(name=who.owner, role=who.role, kind=who.kind, scopes=sorted(who.scopes), expires_at=ends)  # type: ignore[arg-type]


@router.put("/me/password", status_code=204)
async def change_password(body: NewPassword, who: Writer, pools: RolePoolsDep) -> None:
    """Change the password; all sessions of the account end."""
    account, stored = await own_account(who, pools)
    if stored is not None and not await throttle.is_password(
        pools.identity, account.name, who.ip, stored, body.old or ""
    ):
        raise Problem(403, "is wrong", field="old")
    hashed = await secrets.hash_password(body.new)
    async with pools.identity.acquire() as conn:
        await accounts.change_password(conn, account, hashed)


async def own_account(who: Principal, pools: RolePools) -> tuple[Account, str | None]:
    found = await identity.find_account(pools.identity, who.owner) if who.kind == "session" else None
    if found is None:
        raise Problem(403, "only signed-in users may do this")
    return found
