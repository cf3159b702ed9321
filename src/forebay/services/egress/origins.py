"""Trusted origins: configured by the operator, they may be in a private network for their purpose."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from forebay.services.egress.urls import DEFAULT_PORTS, checked_host, checked_port, checked_url

_PORTS = {"ftp": 21, "ftps": 990, "sftp": 22}
_DATA_PORTS = range(1024, 65536)  # FTP opens a data connection per file on such a port


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a setting; never from a page, a file or a user."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str, field: str = "url") -> Origin:
        """The origin of a URL: http, https, ftp, ftps or sftp.

        Raises: InvalidUrl.
        """
        if urlsplit(url).scheme not in _PORTS:
            checked = checked_url(url, field)
            return cls(checked.scheme, checked.host, checked.port)
        parts = urlsplit(url)
        host, colon, port = parts.netloc.rpartition("@")[2].rpartition(":")
        if not colon or port.endswith("]"):
            host, port = f"{host}{colon}{port}", ""
        return cls(parts.scheme, checked_host(host, field), checked_port(port, field) if port else _PORTS[parts.scheme])

    def covers(self, host: str, port: int, *, tunnel: bool) -> bool:
        """Whether a connection leads to this origin; anything but plain HTTP goes through a tunnel."""
        if host != self.host or tunnel != (self.scheme != "http"):
            return False
        return port == self.port or (self.scheme in ("ftp", "ftps") and port in _DATA_PORTS)

    def __str__(self) -> str:
        """In the form of `Url.origin`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = (DEFAULT_PORTS | _PORTS).get(self.scheme) == self.port
        return f"{self.scheme}://{host}" + ("" if usual else f":{self.port}")
