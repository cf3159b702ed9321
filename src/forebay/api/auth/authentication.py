"""Authenticate callers by a session cookie, a bearer token, or the service token and the owner that it names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from forebay.api.auth.cookies import cookies_of
from forebay.api.batching import Batcher
from forebay.api.problems import Problem
from forebay.identity import db as identity
from forebay.identity import owners, secrets
from forebay.log import get_logger

if TYPE_CHECKING:
    from forebay.api.role_pools import RolePools
    from forebay.db.role_pool import RolePool
    from forebay.identity.db import Holder

CSRF_HEADER = "x-csrf-token"
OWNER_HEADER = "x-forebay-owner"
SCOPES = ("read", "write", "admin")
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_ASK = {"WWW-Authenticate": "Bearer"}

log = get_logger("api")


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: the owner it acts for and what it may do."""

    kind: str  # session, token or service
    owner_id: int
    owner: str
    role: str
    scopes: frozenset[str]
    account_id: int | None = None
    ip: str | None = None

    @property
    def is_admin(self) -> bool:
        return self.role == "admin" and "admin" in self.scopes

    @property
    def can_read(self) -> bool:
        return "read" in self.scopes

    @property
    def actor(self) -> str:
        """The caller's name in the audit."""
        return self.owner if self.kind != "service" else f"service for {self.owner}"


class CallerLookup:
    """Looks up tokens and owners. Nothing is cached: a revoked token is rejected from then on."""

    def __init__(self, pool: RolePool) -> None:
        self._tokens = Batcher(partial(identity.find_tokens, pool), at_once=2, most=200)
        self._owners = Batcher(partial(owners.find_all, pool), at_once=2, most=200)

    async def token(self, secret: str) -> Holder | None:
        """Who has the token."""
        return await self._tokens.call(secrets.digest(secret))

    async def owner(self, name: str) -> int | None:
        """The id of the owner."""
        return await self._owners.call(name)


async def find(request: Request, *, makes_owner: bool = False) -> Principal:
    """Find the caller. With `makes_owner`, the service may name an owner that does not exist yet.

    Raises: Problem 401 without valid credentials, 403 for a request from another site.
    """
    pools: RolePools = request.app.state.pools
    if authorization := request.headers.get("authorization"):
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise Problem(401, "Authorization must be: Bearer <token>", headers=_ASK)
        return await _by_token(pools, request, secret.strip(), makes_owner=makes_owner)
    if session := request.cookies.get(cookies_of(request).session):
        return await _by_session(pools, request, session)
    raise Problem(401, "sign in, or send a token: Authorization: Bearer <token>", headers=_ASK)


def address_of(request: Request) -> str | None:
    """The caller's address, if it is one; behind a proxy uvicorn has put the right one there."""
    return _address(request.client.host) if request.client else None


@lru_cache(10_000)
def _address(host: str) -> str | None:
    try:
        return str(ip_address(host))
    except ValueError:
        return None


async def _by_token(pools: RolePools, request: Request, secret: str, *, makes_owner: bool) -> Principal:
    callers: CallerLookup = request.app.state.callers
    holder = await callers.token(secret)
    if holder is None or holder.scopes is None:
        raise Problem(401, "this token is unknown, expired or revoked", headers=_ASK)
    if holder.account_id is None:
        return await _as_service(pools, request, holder, makes_owner=makes_owner)
    return _principal("token", holder, holder.scopes, address_of(request))


async def _as_service(pools: RolePools, request: Request, holder: Holder, *, makes_owner: bool) -> Principal:
    """The service must name the owner that it acts for; there is no default."""
    name, scopes = _named_owner(request), holder.scopes or frozenset()
    callers: CallerLookup = request.app.state.callers
    owner_id = await callers.owner(name)
    if owner_id is None and makes_owner and "write" in scopes:
        owner_id = await owners.make(pools.identity, name)
        log.info("owner_made", owner=name)
    if owner_id is None:
        raise Problem(404, f"there is no owner {name!r}", field=OWNER_HEADER)
    return Principal("service", owner_id, name, "user", scopes & scopes_of("user"), ip=address_of(request))


async def service_scopes(request: Request) -> frozenset[str] | None:
    """The scopes of the service token, if the caller sends one with the scope `write`; it need not name an owner."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret:
        return None
    callers: CallerLookup = request.app.state.callers
    holder = await callers.token(secret.strip())
    if holder is None or holder.account_id is not None or "write" not in (holder.scopes or ()):
        return None
    return frozenset(holder.scopes or ())


async def for_owner(pools: RolePools, name: str) -> Principal:
    """The service as a caller that acts for this owner.

    Raises: Problem 404.
    """
    owner_id = await owners.find(pools.identity, name)
    if owner_id is None:
        raise Problem(404, f"there is no owner {name!r}", field="userId")
    return Principal("service", owner_id, name, "user", scopes_of("user"))


def _named_owner(request: Request) -> str:
    """Raises: Problem 400."""
    try:
        name = request.headers.get(OWNER_HEADER, "").encode("latin-1").decode()  # headers are bytes; this one is UTF-8
    except UnicodeDecodeError as error:
        raise Problem(400, "must be UTF-8", field=OWNER_HEADER) from error
    if not name:
        raise Problem(400, "must name the owner that the service token acts for", field=OWNER_HEADER)
    return name


async def _by_session(pools: RolePools, request: Request, session: str) -> Principal:
    holder = await identity.find_session(pools.identity, secrets.digest(session))
    if holder is None:
        raise Problem(401, "the session has ended: sign in again", headers=_ASK)
    if request.method not in _SAFE:
        sent = request.headers.get(CSRF_HEADER, "")
        if not secrets.is_same(sent, secrets.csrf_token(session)):
            cookie = cookies_of(request).csrf
            raise Problem(403, f"must equal the cookie {cookie}", field=CSRF_HEADER)
    return _principal("session", holder, frozenset(SCOPES), address_of(request))


def _principal(kind: str, holder: Holder, scopes: frozenset[str], ip: str | None) -> Principal:
    assert holder.owner_id is not None and holder.name is not None and holder.role is not None  # noqa: S101, PT018
    may = scopes & scopes_of(holder.role)
    return Principal(kind, holder.owner_id, holder.name, holder.role, may, holder.account_id, ip)


def scopes_of(role: str) -> frozenset[str]:
    """The scopes of a role; they bound those of a token, which may be older than the role."""
    return frozenset(SCOPES if role == "admin" else SCOPES[:2])


async def authorized(request: Request, scope: str, *, makes_owner: bool = False) -> Principal:
    """Find the caller and check its scope. With `makes_owner`, the service may name an owner that does not exist yet.

    Raises: Problem 401 or 403.
    """
    who = await find(request, makes_owner=makes_owner)
    if scope == "admin" and who.role != "admin":
        raise Problem(403, "only administrators may do this")
    if scope not in who.scopes:
        raise Problem(403, f"this token has no scope {scope!r}")
    return who


async def _reader(request: Request) -> Principal:
    return await authorized(request, "read")


async def _writer(request: Request) -> Principal:
    return await authorized(request, "write")


async def _admin(request: Request) -> Principal:
    return await authorized(request, "admin")


async def _owner_maker(request: Request) -> Principal:
    return await authorized(request, "write", makes_owner=True)


Reader = Annotated[Principal, Depends(_reader)]
Writer = Annotated[Principal, Depends(_writer)]
OwnerMaker = Annotated[Principal, Depends(_owner_maker)]  # a writer; the service may name a new owner
Admin = Annotated[Principal, Depends(_admin)]
