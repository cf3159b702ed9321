"""The policy of the SSRF guard: which hosts, ports and private networks the settings allow, and limits of a grant."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from forebay.services.egress.addresses import Address, Network, why_closed
from forebay.services.egress.errors import InvalidUrl, Refused
from forebay.services.egress.urls import checked_url
from forebay.setting_formats import networks, port_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.services.egress.urls import Url
    from forebay.settings import Settings


_ALLOW = "FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks"
_LOOPBACK = ip_address("127.0.0.1")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a grant: bytes, and durations of each connection; 0 bytes means no limit."""

    bytes_down: int = 2 << 30
    bytes_up: int = 64 << 20
    connect_s: float = 10.0
    idle_s: float = 60.0
    total_s: float = 3600.0
    connections: int = 256
    lookups: int = 4  # concurrent DNS lookups

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        return cls(
            bytes_down=settings.egress_max_bytes,
            connect_s=settings.egress_connect_s,
            idle_s=settings.egress_idle_s,
            total_s=settings.egress_total_s,
        )


class Hosts:
    """Names of hosts: `example.com` is that host, `*.example.com` are all its subdomains."""

    def __init__(self, text: str) -> None:
        entries = {entry.strip().lower().removesuffix(".") for entry in text.split(",") if entry.strip()}
        self._below = tuple(entry[1:] for entry in entries if entry.startswith("*."))
        self._exact = frozenset(entry for entry in entries if not entry.startswith("*."))

    def __bool__(self) -> bool:
        return bool(self._exact or self._below)

    def __contains__(self, host: str) -> bool:
        return host in self._exact or host.endswith(self._below)


@dataclass(frozen=True, slots=True)
class Policy:
    """Decides which hosts may be reached; a name is allowed only if all of its addresses are."""

    allow_hosts: Hosts
    deny_hosts: Hosts
    networks: tuple[Network, ...]
    ports: tuple[range, ...]

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        return cls(
            Hosts(settings.egress_allow_hosts),
            Hosts(settings.egress_deny_hosts),
            networks(settings.egress_allow_networks),
            port_ranges(settings.egress_ports),
        )

    def check_url(self, url: Url) -> None:
        """Check a URL as far as possible without DNS, when it is submitted.

        Raises: Refused.
        """
        self.check_host(url.host, url.port)
        address = _LOOPBACK if url.host == "localhost" or url.host.endswith(".localhost") else url.address
        if address is not None:
            self.check_addresses(url.host, [address])

    def check_host(self, host: str, port: int, *, trusted: bool = False) -> None:
        """`trusted`: the operator has configured this origin, which only the denylist overrides.

        Raises: Refused.
        """
        if host in self.deny_hosts:
            raise Refused("denied_host", f"{host} is in FOREBAY_EGRESS_DENY_HOSTS")
        if trusted:
            return
        if self.allow_hosts and host not in self.allow_hosts:
            raise Refused("host_not_allowed", f"{host} is not in FOREBAY_EGRESS_ALLOW_HOSTS")
        if not any(port in allowed for allowed in self.ports):
            raise Refused("port", f"port {port} of {host} is not in FOREBAY_EGRESS_PORTS")

    def check_addresses(self, host: str, addresses: Iterable[Address], *, trusted: bool = False) -> None:
        """One forbidden address forbids the name: real names do not mix them, DNS rebinding does.

        `trusted`: this machine and private networks are allowed, cloud metadata and the like are not.

        Raises: Refused.
        """
        for address in addresses:
            if kind := why_closed(address, self.networks, internal=trusted):
                if str(address) == host:
                    raise Refused("address", f"{host} is {kind}; {_ALLOW}")
                # Internal addresses from the DNS are not shown to users who submit URLs.
                logged = f"{host} resolves to {address}, which is {kind}"
                raise Refused("address", f"{host} has no public address; {_ALLOW}", logged)


def allowed_url(text: str, policy: Policy, field: str = "url") -> Url:
    """Check a submitted URL as far as possible without DNS.

    Raises: InvalidUrl, which names the field, the reason and the setting.
    """
    url = checked_url(text, field)
    try:
        policy.check_url(url)
    except Refused as refused:
        raise InvalidUrl(field, refused.reason) from None
    return url
