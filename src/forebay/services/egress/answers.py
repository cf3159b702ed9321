"""Requests, responses and redirects of the HTTP client."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from email.message import Message
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin

import httpx

from forebay.errors import DataError, PermanentError
from forebay.services.egress.inflating import ACCEPTED, Inflater
from forebay.services.egress.pools import translated
from forebay.services.egress.time_budget import TimeBudgetSpent
from forebay.services.egress.urls import Url, checked_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from forebay.services.egress.origins import Origin
    from forebay.services.egress.time_budget import TimeBudget

MAX_REDIRECTS = 10
_PRIVATE = ("authorization", "cookie", "proxy-authorization", "x-api-key")
_REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect: its URL and status."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A request with its limits."""

    url: str
    purpose: str
    max_bytes: int
    timeout: float
    etag: str | None = None
    modified: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cookies: bool = False
    method: str = "GET"
    body: bytes | None = None
    raise_for_status: bool = True
    secret_headers: frozenset[str] = frozenset()  # in small letters; they stay with their origin, as credentials do
    trusted: Origin | None = None  # of a setting: may be in the operator's own network, until a redirect leads away
    robots: bool = True  # false: robots.txt is not asked, as for robots.txt itself and wherever that leads
    polite: bool = True  # false: the caller sees to it itself that the host is not asked too much
    times_reader: bool = True  # false: `timeout` bounds the waits for the host only, not what is done between reads

    def first(self, url: Url, agent: str) -> OutgoingRequest:
        """The first request."""
        headers = {"user-agent": agent, "accept": "*/*", "accept-encoding": ACCEPTED}
        headers |= {"if-none-match": self.etag} if self.etag else {}
        headers |= {"if-modified-since": self.modified} if self.modified else {}
        headers |= {name.lower(): value for name, value in self.headers.items()}
        if "range" in headers:
            headers["accept-encoding"] = "identity"  # a part of compressed content is useless
        cookies = httpx.Cookies() if self.cookies else None
        trusted = self.trusted if self.trusted is not None and str(self.trusted) == url.origin else None
        return OutgoingRequest(self.method.upper(), url, headers, self.body, cookies, self.secret_headers, trusted)


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """One request of a redirect chain; cookies, if enabled, live as long as the chain."""

    method: str
    url: Url
    headers: Mapping[str, str]
    body: bytes | None
    cookies: httpx.Cookies | None
    secret_headers: frozenset[str] = frozenset()
    trusted: Origin | None = None

    def message(self) -> httpx.Request:
        url = httpx.URL(
            scheme=self.url.scheme, host=self.url.host, port=self.url.port, raw_path=self.url.target.encode("ascii")
        )
        message = httpx.Request(self.method, url, headers=dict(self.headers), content=self.body)
        if self.cookies is not None:
            self.cookies.set_cookie_header(message)
        return message


def is_redirect(response: httpx.Response) -> bool:
    return response.status_code in _REDIRECTS and "location" in response.headers


def redirected(request: OutgoingRequest, response: httpx.Response, chain: Sequence[Hop]) -> OutgoingRequest:
    """The request that follows a redirect; `chain` has all redirects, including this one.

    https → http is followed: it is as safe as requesting that URL directly, and credentials are not sent.

    Raises: InvalidUrl, PermanentError.
    """
    if request.cookies is not None:
        response.request = request.message()
        request.cookies.extract_cookies(response)
    location = response.headers["location"].strip().replace(" ", "%20")
    url = checked_url(urljoin(str(request.url), location), "redirect")
    if len(chain) > MAX_REDIRECTS:
        raise PermanentError(f"{chain[0].url} redirects more than {MAX_REDIRECTS} times")
    if request.cookies is None and any(hop.url == str(url) for hop in chain):
        raise PermanentError(f"{url.place} redirects in a circle")
    headers = dict(request.headers)
    if url.origin != request.url.origin:
        headers = {name: value for name, value in headers.items() if name not in request.secret_headers.union(_PRIVATE)}
    # Trust is not restored when a chain returns to the origin: the other origin chose the URL.
    trusted = request.trusted if url.origin == request.url.origin else None
    method, body = request.method, request.body
    if response.status_code == 303 or (response.status_code in (301, 302) and method == "POST"):
        method, body = ("HEAD" if method == "HEAD" else "GET"), None
        headers = {name: value for name, value in headers.items() if not name.startswith("content-")}
    return replace(request, method=method, url=url, headers=headers, body=body, trusted=trusted)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched response, in memory."""

    url: str
    chain: tuple[Hop, ...]
    status: int
    headers: Mapping[str, str]
    media_type: str
    charset: str | None
    content: bytes
    size: int
    is_cut: bool = False

    @property
    def is_unchanged(self) -> bool:
        """Whether the content is unchanged since `etag` or `modified`."""
        return self.status == 304

    @property
    def etag(self) -> str | None:
        return self.headers.get("etag")

    @property
    def modified(self) -> str | None:
        return self.headers.get("last-modified")


class Response:
    """A response whose head was received."""

    def __init__(
        self,
        url: Url,
        chain: tuple[Hop, ...],
        response: httpx.Response,
        max_bytes: int,
        budget: TimeBudget | None = None,
    ) -> None:
        """`budget`: bounds the reads; None: the caller bounds them."""
        self.url, self.chain, self._response, self._max_bytes, self._budget = url, chain, response, max_bytes, budget
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.media_type, self.charset = media_type_and_charset(response.headers.get("content-type", ""))

    async def chunks(self, *, declared: bool = True) -> AsyncGenerator[bytes]:
        """Stream the decompressed body; `declared`: reject a body whose Content-Length is too large.

        Raises: DataError when it is too large; TransientError when the connection breaks.
        """
        if declared:
            self._check_declared()
        inflater = Inflater(self.headers.get("content-encoding", ""), self._max_bytes, self.url.place)
        try:
            async with aclosing(cast("AsyncGenerator[bytes, None]", self._response.aiter_raw())) as arriving:
                while (data := await self._read_one(arriving)) is not None:
                    for piece in inflater.feed(data):
                        yield piece
        except httpx.HTTPError as error:
            raise translated(self.url, error) from error
        inflater.finish()

    async def _read_one(self, arriving: AsyncGenerator[bytes]) -> bytes | None:
        """The next bytes; None at the end."""
        if self._budget is None:
            return await anext(arriving, None)
        try:
            async with self._budget.spend():
                return await anext(arriving, None)
        except TimeBudgetSpent:
            raise translated(self.url, TimeoutError(), self._budget.seconds) from None

    async def read(self) -> Fetched:
        """The whole body, in memory.

        Raises: the same.
        """
        async with aclosing(self.chunks()) as pieces:
            content = b"".join([piece async for piece in pieces])
        return self._fetched(content, len(content))

    async def read_beginning(self, most: int, seconds: float) -> Fetched:
        """The first bytes of the body, at least `most`, or what arrived within `seconds`: for endless streams.

        Raises: the same, for these bytes.
        """
        pieces: list[bytes] = []
        is_cut = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds), aclosing(self.chunks(declared=False)) as chunks:
                size = 0
                async for piece in chunks:
                    pieces.append(piece)
                    size += len(piece)
                    if size >= most:
                        break
                else:
                    is_cut = False
        content = b"".join(pieces)
        return replace(self._fetched(content, len(content)), is_cut=is_cut)

    def _check_declared(self) -> None:
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self._max_bytes and self._response.request.method != "HEAD":
            raise DataError(f"{self.url.place} has {declared} bytes; at most {self._max_bytes} are allowed")

    def _fetched(self, content: bytes, size: int) -> Fetched:
        return Fetched(
            str(self.url), self.chain, self.status, self.headers, self.media_type, self.charset, content, size
        )


def media_type_and_charset(content_type: str) -> tuple[str, str | None]:
    """Media type and charset of a Content-Type; application/octet-stream if there is none."""
    parsed = Message()
    parsed["content-type"] = content_type or "application/octet-stream"
    charset = parsed.get_param("charset")
    return parsed.get_content_type(), charset.strip().lower() or None if isinstance(charset, str) else None
