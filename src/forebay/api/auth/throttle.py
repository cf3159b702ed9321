"""Guessing passwords: who does it has to wait longer and longer, and keeps nobody else out."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from forebay.api.problems import Problem
from forebay.errors import Busy
from forebay.identity import db as identity
from forebay.identity import secrets

if TYPE_CHECKING:
    from forebay.db.pool import Pool

# How many may be wrong before there is a wait. One place guesses one name: few. All places together: many, or anybody
# could keep the name's own person out. One place guesses all names: more than those who share an address would mistype.
_OF_NAME_AND_PLACE, _OF_NAME, _OF_PLACE = 5, 200, 50


async def is_password(pool: Pool, name: str, address: str | None, stored: str | None, password: str) -> bool:
    """Whether it is the right password; the attempt counts before that is known, as many may come at once.

    Raises: Problem 429 for who has to wait; 503 when too many want to know something like that.
    """
    place = place_of(address)
    own, shared = [f"name {name} from {place}", f"name {name}"], f"ip {place}"
    keys = dict(zip((*own, shared), (_OF_NAME_AND_PLACE, _OF_NAME, _OF_PLACE), strict=True))
    if (wait := await identity.note_sign_in(pool, keys)) > 0:
        raise Problem(429, "too many wrong passwords: try again later", headers={"Retry-After": str(int(wait) + 1)})
    try:
        is_right = await secrets.is_password(stored, password)
    except Busy:
        await identity.take_back_sign_in(pool, keys)
        raise
    if is_right:
        # Of the address only this attempt is forgotten: else a guesser with an account of their own would begin anew.
        await identity.take_back_sign_in(pool, [shared])
        await identity.forgive_sign_in(pool, own)
    return is_right


def place_of(address: str | None) -> str:
    """Where somebody is: an address, or of version 6 the network, in which one may have as many as one likes."""
    if address is None:
        return "nowhere"
    found = ip_address(address)
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((int(found), 64), strict=False))
    return str(found)
