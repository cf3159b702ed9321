"""Connects to pinned addresses: those that the SSRF guard has checked, without another DNS lookup."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
from typing import TYPE_CHECKING

from forebay.services.egress.addresses import parse_address
from forebay.services.egress.errors import Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from forebay.services.egress.addresses import Address
    from forebay.services.egress.resolver import Resolver
    from forebay.services.egress.ssrf_policy import Policy

_HEAD_START = 0.25  # seconds before the next address is tried in parallel (happy eyeballs)
_MOST = 8  # addresses of one host that are tried


class Dialer:
    """Resolves a name, checks its addresses, and connects to one of them."""

    def __init__(self, policy: Policy, resolver: Resolver) -> None:
        self.policy = policy
        self._resolver = resolver
        self.own_port = 0  # the proxy itself: loops are refused

    async def dial(
        self,
        host: str,
        port: int,
        timeout_s: float,
        *,
        trusted: bool = False,
        lookups: asyncio.Semaphore | None = None,
    ) -> socket.socket:
        """Connect a socket; `trusted`: the operator has configured this origin; `lookups`: see `Resolver`.

        Raises: Refused by the policy; Unreachable.
        """
        self.policy.check_host(host, port, trusted=trusted)
        literal = parse_address(host)
        addresses = [literal] if literal else await self._resolver.resolve(host, lookups)
        self.policy.check_addresses(host, addresses, trusted=trusted)
        if port == self.own_port and any(address.is_loopback for address in addresses):
            raise Refused("address", f"{host} is the egress proxy itself")
        try:
            async with asyncio.timeout(timeout_s):
                return await connect_first(list(_alternating(addresses))[:_MOST], port)
        except TimeoutError:
            raise Unreachable("timeout", f"{host} did not accept a connection within {timeout_s:g} s") from None
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise Unreachable("connect", f"{host} could not be connected to: {why}") from None


async def connect_first(addresses: Sequence[Address], port: int) -> socket.socket:
    """Connect to the address that accepts first; each has a head start before the next (happy eyeballs).

    Raises: OSError, the first one, when none accepts.
    """
    waiting = list(addresses)
    running: set[asyncio.Task[socket.socket]] = set()
    failures: list[OSError] = []
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(_connect(waiting.pop(0), port)))
            done, running = await asyncio.wait(
                running, timeout=_HEAD_START if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                error = task.exception()
                if error is None:
                    running |= done - {task}
                    return task.result()
                failures.append(error if isinstance(error, OSError) else OSError(str(error)))
    finally:
        await _give_up(running)
    raise failures[0]


async def _connect(address: Address, port: int) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, (str(address), port))
    except BaseException:
        sock.close()
        raise
    return sock


async def _give_up(running: set[asyncio.Task[socket.socket]]) -> None:
    """End the other attempts; close one that has connected meanwhile."""
    for task in running:
        task.cancel()
    for ended in await asyncio.gather(*running, return_exceptions=True):
        if isinstance(ended, socket.socket):
            ended.close()


def _alternating(addresses: Sequence[Address]) -> Iterator[Address]:
    """IPv6 and IPv4 alternating, in the given order, so that a broken family costs one head start."""
    first = addresses[0].version
    mine = [address for address in addresses if address.version == first]
    others = [address for address in addresses if address.version != first]
    for pair in itertools.zip_longest(mine, others):
        yield from (address for address in pair if address is not None)
