"""The SSRF guard: a local proxy that resolves, checks, pins and limits all requests to the network.

    async with open_egress(settings) as egress, open_http(egress) as http:
        page = await http.get("https://example.com/", purpose="notes.preview")

Needs the extra `web`, except for checking URLs.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from forebay.errors import ConfigError
from forebay.services.egress.errors import AccessDenied, InvalidUrl, Refused, Unreachable, UrlNotFound
from forebay.services.egress.origins import Origin
from forebay.services.egress.ssrf_policy import Limits, Policy, allowed_url
from forebay.services.egress.urls import Url, checked_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.services.egress.answers import Fetched, FetchRequest, Hop
    from forebay.services.egress.egress import Egress
    from forebay.services.egress.grants import Grant, Refusal
    from forebay.services.egress.http import Http
    from forebay.services.egress.politeness import Politeness
    from forebay.services.egress.resolver import Resolver
    from forebay.settings import Settings

__all__ = [
    "AccessDenied",
    "Egress",
    "FetchRequest",
    "Fetched",
    "Grant",
    "Hop",
    "Http",
    "InvalidUrl",
    "Limits",
    "Origin",
    "Policy",
    "Politeness",
    "Refusal",
    "Refused",
    "Resolver",
    "Unreachable",
    "Url",
    "UrlNotFound",
    "allowed_url",
    "checked_url",
    "open_egress",
    "open_http",
]

_LATER = {
    "Egress": "egress",
    "Fetched": "answers",
    "Hop": "answers",
    "Http": "http",
    "Grant": "grants",
    "Politeness": "politeness",
    "Refusal": "grants",
    "Resolver": "resolver",
    "FetchRequest": "answers",
}


def __getattr__(name: str) -> Any:
    """Import names that need the extra on first use: the API checks URLs without it."""
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@asynccontextmanager
async def open_egress(settings: Settings, resolver: Resolver | None = None) -> AsyncGenerator[Egress, None]:
    """Open the egress proxy; one per process is enough.

    Raises: ConfigError when the extra is missing, or child processes must be confined and cannot be.
    """
    try:
        from forebay.services.egress.egress import open_guarded  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise _missing(error) from None
    async with open_guarded(settings, resolver) as egress:
        yield egress


@asynccontextmanager
async def open_http(egress: Egress, politeness: Politeness | None = None) -> AsyncGenerator[Http, None]:
    """Open the HTTP client; one per process, so that its limits per host apply to all requests.

    Raises: ConfigError when the extra or the configured certificates are missing.
    """
    try:
        from forebay.services.egress.http import Http  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise _missing(error) from None
    http = Http(egress, politeness)
    try:
        yield http
    finally:
        await http.close()


def _missing(error: ImportError) -> ConfigError:
    return ConfigError(f"requests to the network need the package {error.name}: pip install 'forebay[web]'")
