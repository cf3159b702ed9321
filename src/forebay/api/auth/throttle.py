"""Throttle failed sign-ins without locking out the account's owner."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from forebay.api.problems import Problem
from forebay.errors import Busy
from forebay.identity import db as identity
from forebay.identity import secrets

if TYPE_CHECKING:
    from forebay.db.pool import Pool

# Failures before the first wait: few from one network for one name; many for one name from all networks, or anybody
# could lock out its owner; for one network and all names, more than people who share an address would mistype.
_OF_NAME_AND_PLACE, _OF_NAME, _OF_PLACE = 5, 200, 50


async def is_password(pool: Pool, name: str, address: str | None, stored: str | None, password: str) -> bool:
    """Check a password. The attempt is counted first, because many may arrive concurrently.

    Raises: Problem 429 while the caller has to wait; 503 when too many passwords are being checked.
    """
    place = network_of(address)
    own, shared = [f"name {name} from {place}", f"name {name}"], f"ip {place}"
    keys = dict(zip((*own, shared), (_OF_NAME_AND_PLACE, _OF_NAME, _OF_PLACE), strict=True))
    if (wait := await identity.count_sign_in(pool, keys)) > 0:
        raise Problem(429, "too many wrong passwords: try again later", headers={"Retry-After": str(int(wait) + 1)})
    try:
        is_right = await secrets.is_password(stored, password)
    except Busy:
        await identity.uncount_sign_in(pool, keys)
        raise
    if is_right:
        # For the network only this attempt is removed: otherwise an attacker with an account could reset the count.
        await identity.uncount_sign_in(pool, [shared])
        await identity.reset_sign_ins(pool, own)
    return is_right


def network_of(address: str | None) -> str:
    """The address, or for IPv6 its /64 network, in which one client can have any number of addresses."""
    if address is None:
        return "nowhere"
    found = ip_address(address)
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((int(found), 64), strict=False))
    return str(found)
