"""What `forebay doctor` finds out about proxies in front of the API."""

from __future__ import annotations

import asyncio
from ipaddress import ip_network
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from forebay.cli import _show as show
from forebay.cli import api
from forebay.hooks import Finding

if TYPE_CHECKING:
    from pydantic import SecretStr

    from forebay.settings import Settings

_SECONDS = 5
_IGNORED = "forebay_api_forwarded_ignored_total "


async def examine(settings: Settings) -> Finding:
    """Whether those that the running API has met are trusted; it is asked for its metrics."""
    named = [name for name in map(str.strip, settings.trusted_proxies.split(",")) if name]
    if wrong := [name for name in named if name != "*" and not _is_network(name)]:
        text = f"FOREBAY_TRUSTED_PROXIES: {wrong[0]!r} is no address or network, and never met"
        return Finding("WARN", "proxies", text, "name proxies by their addresses, for example 10.0.0.5 or 10.0.0.0/24")
    place = api.place(settings)
    ignored = await asyncio.to_thread(_ignored, place, settings.metrics_token)
    if ignored is None:
        return Finding("OK", "proxies", f"no API at {place} shows us its metrics: not looked at")
    if not ignored:
        return Finding("OK", "proxies", f"the API at {place} has ignored no X-Forwarded-For")
    text = f"{show.plural(ignored, 'request')} came to {place} by a proxy that is not trusted: they count as its own"
    fix = "set FOREBAY_TRUSTED_PROXIES to its address: `forwarded_header_ignored` in the API's log names it"
    return Finding("WARN", "proxies", text, fix)


def _is_network(name: str) -> bool:
    try:
        ip_network(name)
    except ValueError:
        return False
    return True


def _ignored(place: str, token: SecretStr | None) -> int | None:
    """How many requests with X-Forwarded-For the API has not believed since it began; None when it does not say."""
    shown = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    try:
        request = Request(f"{place}/metrics", headers=shown)  # noqa: S310 - our own place
        with build_opener(ProxyHandler({})).open(request, timeout=_SECONDS) as answer:
            lines = answer.read().decode().splitlines()
    except (URLError, OSError, ValueError):
        return None
    return next((int(float(line.split()[1])) for line in lines if line.startswith(_IGNORED)), None)
