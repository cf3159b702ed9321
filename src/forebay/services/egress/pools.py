"""Connection pools, one for each purpose and origin, and the translation of httpx's errors."""

from __future__ import annotations

import ssl
import time
from collections import OrderedDict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import certifi
import httpx

from forebay.errors import ConfigError, PermanentError, StepError, TransientError
from forebay.services.egress.errors import Refused, Unreachable, UrlNotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator
    from pathlib import Path

    from forebay.services.egress.grants import Grant
    from forebay.services.egress.origins import Origin
    from forebay.services.egress.urls import Url

_CONNECTIONS = httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=15.0)
_KEPT_S = 20.0  # seconds; then the proxy also closes them
_KEPT = 32  # idle pools
_MARK = "forebay-egress"


class Pools:
    """Connection pools of the origins that were used recently.

    There is one for each purpose and origin, because a common pool inspects every connection for every request.
    """

    def __init__(self, grant: Callable[[str, Origin | None], Grant], trust: ssl.SSLContext) -> None:
        self._grant_for, self._trust = grant, trust
        self._pools: OrderedDict[tuple[str, str, Origin | None], OriginPool] = OrderedDict()

    @asynccontextmanager
    async def pool(self, purpose: str, origin: str, trusted: Origin | None = None) -> AsyncGenerator[OriginPool, None]:
        """The pool of a purpose and an origin, in use within the `async with` block."""
        key = (purpose, origin, trusted)
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = OriginPool(self._grant_for(purpose, trusted), self._trust)
        self._pools.move_to_end(key)
        pool.users += 1
        try:
            await self._close_some()
            yield pool
        finally:
            pool.users -= 1
            pool.used = time.monotonic()

    async def close(self) -> None:
        while self._pools:
            await self._pools.popitem()[1].close()

    async def _close_some(self) -> None:
        """Close pools that are idle for a while, and more if there are too many; never one in use."""
        old = time.monotonic() - _KEPT_S
        for key, pool in list(self._pools.items()):
            if pool.users:
                continue
            if len(self._pools) <= _KEPT and pool.used > old:
                return  # the others were used more recently
            self._pools.pop(key, None)
            await pool.close()


class OriginPool:
    """Connections to one origin, kept alive for reuse; HTTP/2 if the server supports it.

    httpx's transport is used without its client, which would store cookies, decompress without limits and follow
    redirects.
    """

    def __init__(self, grant: Grant, trust: ssl.SSLContext) -> None:
        proxy = httpx.Proxy(f"http://{grant.host}:{grant.port}", auth=(grant.username, grant.password))
        self.users = 0
        self.used = time.monotonic()
        self._idle_s = grant.limits.idle_s
        self._transport = httpx.AsyncHTTPTransport(verify=trust, http2=True, proxy=proxy, limits=_CONNECTIONS)

    async def send(self, url: Url, request: httpx.Request, timeout: float) -> httpx.Response:
        """The response, of which only the head was read.

        Raises: Refused, UrlNotFound, TransientError, PermanentError.
        """
        idle_timeout = min(timeout, self._idle_s)
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), idle_timeout)
        if url.scheme == "http":
            # Set explicitly, because httpcore omits the brackets of IPv6.
            request.extensions["target"] = f"{url.origin}{url.target}".encode("ascii")
        try:
            response = await self._transport.handle_async_request(request)
            response.request = request
            if _MARK in response.headers:
                await self._raise_own(url, response)
        except httpx.HTTPError as error:
            raise translated(url, error, idle_timeout) from error
        return response

    async def close(self) -> None:
        await self._transport.aclose()

    async def _raise_own(self, url: Url, response: httpx.Response) -> None:
        """Raise an error if the proxy responded instead of the server."""
        try:
            reason = (await response.aread()).decode("utf-8", "replace").strip()
        finally:
            await response.aclose()
        raise guard_error(url, response.status_code, response.headers[_MARK], reason)


def guard_error(url: Url, status: int, code: str, reason: str) -> StepError:
    """The error of a response of the proxy."""
    if status == 403:
        return Refused(code, reason)
    if code == "no_such_host":
        return UrlNotFound(reason)
    return Unreachable(code, reason or f"{url.host} could not be reached")


def translated(url: Url, error: BaseException, timeout: float | None = None) -> StepError:
    """Translate an error of httpx to one of steps."""
    if isinstance(error, httpx.ProxyError):
        status, _, phrase = str(error).partition(" ")
        code, _, reason = phrase.partition(": ")
        return guard_error(url, int(status) if status.isdecimal() else 502, code, reason)
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        within = f" within {timeout:g} s" if timeout else " in time"
        return TransientError(f"{url.place} did not answer{within}")
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return PermanentError(f"{url.place} cannot be requested: {error}")
    return _tls_error(url, error) or _broken(url, error)


def _tls_error(url: Url, error: BaseException) -> PermanentError | None:
    """The error of a handshake that would fail again."""
    cause = next((cause for cause in _causes(error) if isinstance(cause, ssl.SSLError)), None)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return PermanentError(f"{url.host} has an invalid certificate: {cause.verify_message}")
    if cause is None or isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError | ssl.SSLSyscallError):
        return None
    return PermanentError(f"the TLS handshake with {url.host} failed: {_words(cause)}")


def _broken(url: Url, error: BaseException) -> TransientError:
    if isinstance(error, httpx.RemoteProtocolError):
        return TransientError(f"{url.place} closed the connection or does not speak HTTP: {error}")
    return TransientError(f"the connection to {url.host} broke{f': {error}' if str(error) else ''}")


def own_trust(ca_file: Path | None) -> ssl.SSLContext:
    """The trusted certificates: public ones, those of the machine, and those of `ca_file`.

    Raises: ConfigError when the file cannot be read.
    """
    trust = ssl.create_default_context(cafile=certifi.where())
    trust.load_default_certs()
    if ca_file is not None:
        try:
            trust.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"FOREBAY_EGRESS_CA_FILE {ca_file} cannot be read: {error.strerror or error}") from None
    return trust


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _words(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).replace("_", " ").lower()
