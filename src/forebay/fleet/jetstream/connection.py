"""A connection to NATS, and the names that are used there.

nats://[user:password@]host[:port][,host…][/prefix][?replicas=3]
"""

# The types of the client are incomplete.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

import nats
import nats.errors
import nats.js.errors

from forebay.errors import DefinitionError, one_line
from forebay.fleet.port import BUNDLE_BYTES, BrokerUnavailable
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from nats.aio.client import Client

log = get_logger("broker")

_CONNECT_S = 10.0
_REFUSALS = 20  # different ones that are logged for each connection
TIMEOUT_S = 5.0  # of a request to the server
_LEAST_PAYLOAD = BUNDLE_BYTES + (8 << 10)  # with the headers


@dataclass(frozen=True, slots=True)
class Address:
    """Where the servers are, and the prefix of all names that one database uses there."""

    servers: tuple[str, ...]
    prefix: str
    replicas: int | None  # None: three in a cluster, else one

    @classmethod
    def parse(cls, url: str) -> Address:
        """Raises: DefinitionError."""
        parts = urlsplit(url)
        prefix = parts.path.strip("/") or "forebay"
        if parts.scheme not in ("nats", "tls") or not parts.netloc or not prefix.replace("-", "_").isidentifier():
            raise DefinitionError("the address of a NATS server is nats://host:4222, or nats://host:4222/prefix")
        login, _, hosts = parts.netloc.rpartition("@")
        login += "@" if login else ""
        replicas = parse_qs(parts.query).get("replicas", [""])[0]
        servers = tuple(f"{parts.scheme}://{login}{host}" for host in hosts.split(","))
        return cls(servers, prefix, int(replicas) if replicas.isdecimal() else None)

    def subject(self, kind: str, name: str = "") -> str:
        """The subject of messages of a kind for a step, dispatcher or runner."""
        return f"{self.prefix}.{kind}.{encoded(name)}" if name else f"{self.prefix}.{kind}"

    def stream(self, kind: str) -> str:
        return f"{self.prefix}-{kind}"


def encoded(name: str) -> str:
    """A name as a token of a subject, or as the name of a consumer."""
    return quote(name, safe="").replace(".", "%2E").replace("~", "%7E")


@asynccontextmanager
async def translating_errors() -> AsyncGenerator[None]:
    """Raises: BrokerUnavailable for what the client raises when the server does not answer as it should."""
    try:
        yield
    except nats.errors.MaxPayloadError:  # the server would never take it
        raise
    except (nats.errors.Error, nats.js.errors.Error, TimeoutError, OSError) as error:
        raise BrokerUnavailable(one_line(error) or type(error).__name__) from error


async def connect(address: Address, name: str) -> Client:
    """Raises: BrokerUnavailable; DefinitionError for a server that takes small messages only.

    Later the client reconnects by itself, forever.
    """

    refused: set[str] = set()

    async def on_error(error: Exception) -> None:
        reason = one_line(error)
        if "permissions violation" not in reason.lower():
            log.debug("broker_error", error=reason)
        elif reason not in refused and len(refused) < _REFUSALS:  # it is refused again and again
            refused.add(reason)
            log.warning("broker_refused", client=name, reason=reason, prefix=address.prefix)

    async def on_disconnect() -> None:
        log.warning("broker_disconnected", client=name)

    async def on_reconnect() -> None:
        refused.clear()
        log.info("broker_reconnected", client=name)

    options: dict[str, Any] = {
        "allow_reconnect": True,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": 0.2,
        "connect_timeout": 2,
        "ping_interval": 5,
        "max_outstanding_pings": 2,
        "error_cb": on_error,
        "disconnected_cb": on_disconnect,
        "reconnected_cb": on_reconnect,
    }
    async with translating_errors():
        client = await asyncio.wait_for(nats.connect(list(address.servers), name=name, **options), _CONNECT_S)
    if client.max_payload < _LEAST_PAYLOAD:
        await client.close()
        raise DefinitionError(
            f"the NATS server takes messages of {client.max_payload} bytes, but a fleet needs {_LEAST_PAYLOAD}: "
            "set max_payload in its configuration"
        )
    return client
