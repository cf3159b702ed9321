"""Secrets: made here, shown once, kept as hashes."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_passwords = PasswordHasher()
# For names that do not exist: the answer must take as long as for those that do.
_NOBODY = _passwords.hash(secrets.token_hex(16))

SESSION = "fbs_"
TOKEN = "fbt_"  # noqa: S105 - how tokens begin
LINK = "fbl_"


def new_secret(kind: str) -> str:
    return kind + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """The hash of a secret that is random and long: nothing slower is needed."""
    return hashlib.sha256(secret.encode()).digest()


def csrf_token(session: str) -> str:
    """What a page must send along to show that it can read this site's cookies; follows from the session."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


async def hash_password(password: str) -> str:
    return await asyncio.to_thread(_passwords.hash, password)


async def is_password(stored: str | None, password: str) -> bool:
    """Whether it is the right one; takes its time in any case."""
    return await asyncio.to_thread(_verify, stored or _NOBODY, password) and stored is not None


def _verify(stored: str, password: str) -> bool:
    try:
        return _passwords.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
