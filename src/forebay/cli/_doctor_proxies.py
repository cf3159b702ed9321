"""Proxies in front of the API in `forebay doctor`."""

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
    """Whether the running API trusts its proxies; read from its metrics."""
    named = [name for name in map(str.strip, settings.trusted_proxies.split(",")) if name]
    if wrong := [name for name in named if name != "*" and not _is_network(name)]:
        text = f"FOREBAY_TRUSTED_PROXIES: {wrong[0]!r} is not an address or network, so it matches no proxy"
        return Finding("WARN", "proxies", text, "use the addresses of the proxies, for example 10.0.0.5 or 10.0.0.0/24")
    place = api.base_url(settings)
    ignored = await asyncio.to_thread(_ignored, place, settings.metrics_token)
    if ignored is None:
        return Finding("OK", "proxies", f"no API at {place} serves its metrics: not checked")
    if not ignored:
        return Finding("OK", "proxies", f"the API at {place} has ignored no X-Forwarded-For")
    text = f"{show.plural(ignored, 'request')} reached {place} through an untrusted proxy and count as the proxy's"
    fix = "set FOREBAY_TRUSTED_PROXIES to its address: `forwarded_header_ignored` in the API's log names it"
    return Finding("WARN", "proxies", text, fix)


def _is_network(name: str) -> bool:
    try:
        ip_network(name)
    except ValueError:
        return False
    return True


def _ignored(place: str, token: SecretStr | None) -> int | None:
    """The number of requests whose X-Forwarded-For the API has ignored since it started; None when unknown."""
    shown = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    try:
        request = Request(f"{place}/metrics", headers=shown)  # noqa: S310 - the address of our API
        with build_opener(ProxyHandler({})).open(request, timeout=_SECONDS) as answer:
            lines = answer.read().decode().splitlines()
    except (URLError, OSError, ValueError):
        return None
    return next((int(float(line.split()[1])) for line in lines if line.startswith(_IGNORED)), None)
