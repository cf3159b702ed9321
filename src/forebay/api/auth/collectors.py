"""Who may collect the numbers of the whole service: Prometheus, and autoscalers."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forebay.api.auth.authentication import address_of, authorized
from forebay.identity import secrets

if TYPE_CHECKING:
    from fastapi import Request

    from forebay.settings import Settings

_PASSED_ON = frozenset(("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"))


async def check_collector(request: Request) -> None:
    """Let programs that collect numbers in: with FOREBAY_METRICS_TOKEN, as administrator, or from this machine.

    Raises: Problem 401 or 403.
    """
    settings: Settings = request.app.state.settings
    shown, expected = request.headers.get("authorization"), settings.metrics_token
    if expected is None and shown is None and _is_here(request, settings):
        return
    if shown and expected and secrets.is_same(shown, f"Bearer {expected.get_secret_value()}"):
        return
    await authorized(request, "admin")


def _is_here(request: Request, settings: Settings) -> bool:
    """Whether the request comes from a program on this machine. A local proxy forwards requests of others and need not
    say so: the API must listen locally, without trusted proxies, and be called by a name of this machine."""
    address = address_of(request)
    return (
        settings.is_local
        and not settings.trusted_proxies.strip()
        and address is not None
        and ip_address(address).is_loopback
        and _names_this_machine(request.headers.get("host", ""))
        and _PASSED_ON.isdisjoint(request.headers.keys())
    )


def _names_this_machine(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
