"""The connection to Redis, and the names that are used there.

redis://[user:password@]host[:port][/database][?prefix=name]; rediss:// with TLS
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError

from forebay.errors import DefinitionError, one_line
from forebay.fleet.port import BrokerUnavailable

if TYPE_CHECKING:
    from collections.abc import Generator

Redis: TypeAlias = Any  # a redis.asyncio.Redis, whose types are incomplete

WAIT_S = 2  # the longest time that a command waits for a job
_ANSWER_S = 10.0  # after which a server that does not answer counts as lost
_CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is, and the prefix of all keys and channels that one database uses there."""

    server: str
    prefix: str

    @classmethod
    def parse(cls, url: str) -> Address:
        """Raises: DefinitionError."""
        parts = urlsplit(url)
        asked = parse_qsl(parts.query)
        prefix = dict(asked).get("prefix", "forebay")
        if parts.scheme not in {"redis", "rediss"} or not parts.netloc or not prefix.replace("-", "_").isidentifier():
            raise DefinitionError(
                "the address of a Redis server is redis://host:6379, or redis://host:6379?prefix=name"
            )
        rest = urlencode([(name, value) for name, value in asked if name != "prefix"])
        return cls(parts._replace(query=rest).geturl(), prefix)

    def channel(self, kind: str, name: str = "") -> str:
        """The channel of messages of a kind for a dispatcher or runner."""
        return f"{self.prefix}:{kind}:{encoded(name)}" if name else f"{self.prefix}:{kind}"


def queue_of(kind: str, name: str) -> str:
    """The queue of offers of a step, or of reports for a dispatcher."""
    return f"{kind}-{encoded(name)}"


def encoded(name: str) -> str:
    """A name without colons, which separate the parts of a key."""
    return quote(name, safe="")


def connect(address: Address) -> Redis:
    """A client with a pool of connections; it connects when it is used."""
    client: Redis = redis.asyncio.Redis
    return client.from_url(
        address.server,
        decode_responses=True,
        socket_timeout=_ANSWER_S,
        socket_connect_timeout=_CONNECT_S,
        socket_keepalive=True,
        health_check_interval=_ANSWER_S,
        retry=Retry(NoBackoff(), 1),  # a connection from the pool may have been closed since
    )


@contextmanager
def reaching() -> Generator[None]:
    """Raises: BrokerUnavailable for what Redis raises when it cannot be reached or cannot write."""
    try:
        yield
    except (OSError, TimeoutError, OutOfMemoryError, ReadOnlyError) as error:
        raise BrokerUnavailable(one_line(error)) from error
    except RedisError as error:  # also of a server that is starting, or that has lost its scripts
        raise BrokerUnavailable(one_line(error)) from error
