"""Creates and hashes secrets."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from forebay.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_passwords = PasswordHasher()

SESSION = "fbs_"
TOKEN = "fbt_"  # noqa: S105 - the prefix of tokens
LINK = "fbl_"


def new_secret(kind: str) -> str:
    return kind + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """The hash of a random, long secret, which needs no slow hash."""
    return hashlib.sha256(secret.encode()).digest()


def csrf_token(session: str) -> str:
    """Derived from the session; a page that sends it proves that it can read this site's cookies."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


class PasswordThreads:
    """Hashing a password takes much time and memory by design: few run, few wait, others are rejected."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="passwords")
        self._most = at_once + waiting
        self._here = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Raises: Busy when too many are waiting."""
        if self._here >= self._most:
            raise Busy("too many users are signing in")
        self._here += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._here -= 1


_threads = PasswordThreads(at_once=2, waiting=30)


async def hash_password(password: str) -> str:
    return await _threads.run(lambda: _passwords.hash(password))


async def is_password(stored: str | None, password: str) -> bool:
    """Check a password; takes the same time when there is none."""

    def verify() -> bool:
        dummy = _dummy_hash()  # in both cases, because the first call takes longer
        return _verify(stored or dummy, password)

    return await _threads.run(verify) and stored is not None


@cache
def _dummy_hash() -> str:
    """For unknown names, so that the response takes as long as for known ones."""
    return _passwords.hash(secrets.token_hex(16))


def _verify(stored: str, password: str) -> bool:
    try:
        return _passwords.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
