"""Parses URLs once and strictly: parser differences are a way around SSRF guards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from forebay.errors import ConfigError
from forebay.services.egress.addresses import Address, parse_address
from forebay.services.egress.errors import InvalidUrl

MAX_LENGTH = 8192
DEFAULT_PORTS = {"http": 80, "https": 443}
_SHAPE = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*):(?://)?(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\uffff]")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_KEPT = "!$&'()*+,/:;=?@[]~%|"  # characters of paths and queries that are not encoded


@dataclass(frozen=True, slots=True)
class Url:
    """A URL that may be fetched, normalized."""

    scheme: str
    host: str  # lower case, ASCII; IPv6 without brackets
    port: int
    target: str  # path and query, as in a request line
    fragment: str = ""

    @property
    def address(self) -> Address | None:
        """The IP address, if the host is one."""
        return parse_address(self.host)

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port as in a Host header: the port only if it is not the default."""
        return self.host_text if self.port == DEFAULT_PORTS[self.scheme] else f"{self.host_text}:{self.port}"

    @property
    def place(self) -> str:
        """The URL without its query, for messages: queries may contain secrets."""
        path = self.target.partition("?")[0]
        return f"{self.origin}{path if len(path) < 100 else path[:100] + '...'}"

    @property
    def host_text(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    def __str__(self) -> str:
        return f"{self.origin}{self.target}" + (f"#{self.fragment}" if self.fragment else "")


def checked_url(text: str, field: str = "url") -> Url:
    """Parse a URL.

    Raises: InvalidUrl, which is a DataError and an InvalidField.
    """
    text = text.strip(" ")
    if not text:
        raise InvalidUrl(field, "is empty: use a URL such as https://example.com/")
    if len(text) > MAX_LENGTH:
        raise InvalidUrl(field, f"has {len(text)} characters; at most {MAX_LENGTH} are allowed")
    if found := _UNSEEN.search(text):
        raise InvalidUrl(field, f"contains {_name(found[0])}: remove it, or write it percent-encoded")
    if "\\" in text:
        raise InvalidUrl(field, "contains a backslash: use / between the parts, or %5C for a backslash")
    if not (shape := _SHAPE.fullmatch(text)) or shape["scheme"].lower() not in DEFAULT_PORTS:
        raise InvalidUrl(field, "must begin with http:// or https://")
    if not text[len(shape["scheme"]) :].startswith("://"):
        raise InvalidUrl(field, "must have // after http: or https:")
    return _assemble(shape, field)


def checked_host(text: str, field: str = "host") -> str:
    """Normalize the name or address of a host: lower case, ASCII, without a final dot.

    Raises: InvalidUrl.
    """
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if ":" in host:
        return _checked_ipv6(host, field)
    if not host or "%" in host:
        raise InvalidUrl(field, "has no host" if not host else "has a percent sign in its host")
    name = (host if host.isascii() else _to_ascii(host, field)).lower().removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):  # other parsers would take it for an address
        address = parse_address(name)
        if address is None:
            raise InvalidUrl(field, f"has the host {host!r}: write addresses as four decimal numbers, like 192.0.2.1")
        return str(address)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidUrl(field, f"has the host {host[:100]!r}, which cannot be the name of one")
    return name


def checked_port(text: str, field: str = "port") -> int:
    """Raises: InvalidUrl."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) <= 65535):
        raise InvalidUrl(field, f"has the port {text[:20]!r}: ports are numbers from 1 to 65535")
    return int(text)


def _assemble(shape: re.Match[str], field: str) -> Url:
    scheme = shape["scheme"].lower()
    if "@" in shape["authority"]:
        raise InvalidUrl(field, "contains a user name or password before @: remove it")
    host, port = _split(shape["authority"])
    if ":" in host and not host.startswith("["):
        raise InvalidUrl(field, "must have brackets around an IPv6 address, as in http://[2001:db8::1]/")
    rest, _, fragment = shape["rest"].partition("#")
    target = _encoded(rest, field)
    return Url(
        scheme,
        checked_host(host, field),
        checked_port(port, field) if port else DEFAULT_PORTS[scheme],
        target if target.startswith("/") else f"/{target}",
        _encoded(fragment, field),
    )


def _split(authority: str) -> tuple[str, str]:
    """Split host and port; the brackets of IPv6 stay, so that [::1]2 is rejected."""
    host, colon, port = authority.rpartition(":")
    if not colon or (authority.startswith("[") and authority.endswith("]")):
        return authority, ""
    return host, port


def _checked_ipv6(host: str, field: str) -> str:
    address = None if "%" in host else parse_address(host)
    if address is None:
        raise InvalidUrl(field, f"has the host {host[:100]!r}, which is not an IPv6 address")
    return str(address)


def _to_ascii(host: str, field: str) -> str:
    try:
        import idna  # noqa: PLC0415 - an extra, only needed for names that are not ASCII
    except ImportError:
        raise ConfigError("host names that are not ASCII need a package: pip install 'forebay[web]'") from None
    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise InvalidUrl(field, f"has the host {host[:100]!r}, which cannot be the name of one") from None


def _encoded(text: str, field: str) -> str:
    try:
        return quote(text, safe=_KEPT)
    except UnicodeError:
        raise InvalidUrl(field, "contains an invalid character (half of a surrogate pair): copy it again") from None


def _name(character: str) -> str:
    return "a space" if character == " " else f"the invisible character U+{ord(character):04X}"
