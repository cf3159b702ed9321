"""The addresses in a connection string, which may name several servers."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

_DEFAULT_PORT = 5432


class Address(NamedTuple):
    """The host and port of one server."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@lru_cache(maxsize=64)
def find_addresses(dsn: str) -> tuple[Address, ...]:
    """The addresses that a connection string names; empty if it names none by itself.

    Raises: ValueError for an invalid port, or another number of ports than of hosts.
    """
    parts = urlsplit(dsn)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if "host" in query:
        hosts = [host for host in query["host"].split(",") if host]
        ports = query.get("port", str(_DEFAULT_PORT)).split(",")
        return tuple(Address(*each) for each in _paired(hosts, ports))
    named = parts.netloc.rpartition("@")[2]
    return tuple(_address(unquote(text)) for text in named.split(",") if text)


def _address(text: str) -> Address:
    if text.startswith("["):  # IPv6
        host, _, port = text[1:].partition("]")
        return Address(host, int(port[1:] or _DEFAULT_PORT))
    host, _, port = text.partition(":")
    return Address(host, int(port or _DEFAULT_PORT))


def _paired(hosts: list[str], ports: list[str]) -> list[tuple[str, int]]:
    if len(ports) == 1:
        ports = ports * len(hosts)
    return [(host, int(port or _DEFAULT_PORT)) for host, port in zip(hosts, ports, strict=True)]


def wanted_server(dsn: str) -> dict[str, str]:
    """The option of both drivers that finds the primary among several addresses, unless the string has its own."""
    is_open = len(find_addresses(dsn)) > 1 and "target_session_attrs" not in dsn
    return {"target_session_attrs": "read-write"} if is_open else {}
