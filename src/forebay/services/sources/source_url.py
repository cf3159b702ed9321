"""The URL of a source: a folder, an S3 prefix, or a folder on an FTP or SFTP server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import unquote, urlsplit

from forebay.services.egress.errors import InvalidUrl
from forebay.services.egress.urls import checked_host, checked_port
from forebay.services.sources.names import LONGEST_PATH, why_bad_name

Scheme = Literal["file", "s3", "ftp", "ftps", "sftp"]

_EXAMPLES = "file:///srv/drop, s3://bucket/prefix, ftp://host/path, ftps://host/path or sftp://user@host/path"
_PORTS = {"ftp": 21, "ftps": 21, "sftp": 22}
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class SourceUrl:
    """`path` begins with /, except for S3, and for paths relative to the home of the user: ~/path."""

    scheme: Scheme
    path: str
    host: str = ""  # for S3, the bucket
    port: int = 0
    user: str = ""

    def __str__(self) -> str:
        """For messages and logs, without the user."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port not in {0, _PORTS.get(self.scheme)} else ""
        return f"{self.scheme}://{host}{port}/{self.path.removeprefix('/')}"


def checked_place(text: str) -> SourceUrl:
    """Parse the URL of a source.

    Raises: ValueError with what to fix.
    """
    scheme = text.partition(":")[0].lower()
    if not text[len(scheme) :].startswith("://") or scheme not in {"file", "s3", *_PORTS}:
        raise ValueError(f"must be {_EXAMPLES}")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise ValueError(f"is not a URL: {error}") from None
    if parts.query or parts.fragment:
        raise ValueError("must have nothing after its path; write ? and # as %3F and %23")
    path = _path(parts.path)
    if scheme == "file":
        return _folder(parts.netloc, path)
    if scheme == "s3":
        return _bucket(parts.netloc, path)
    return _server(cast("Scheme", scheme), parts.netloc, path)


def _path(text: str) -> str:
    path = unquote(text, errors="surrogateescape").rstrip("/")
    if len(path) > LONGEST_PATH:
        raise ValueError(f"has a path of more than {LONGEST_PATH} characters")
    for part in path.split("/")[1:]:
        if why := why_bad_name(part):
            raise ValueError(f"has {part!r} in its path, which {why}")
    return path or "/"


def _folder(netloc: str, path: str) -> SourceUrl:
    if netloc not in {"", "localhost"}:
        raise ValueError("must have three slashes, as in file:///srv/drop: folders are on this machine")
    return SourceUrl("file", path)


def _bucket(netloc: str, path: str) -> SourceUrl:
    if not _BUCKET.fullmatch(netloc):
        raise ValueError("must name a bucket, as in s3://bucket/prefix; its keys belong under secrets")
    return SourceUrl("s3", path.strip("/"), netloc)


def _server(scheme: Scheme, netloc: str, path: str) -> SourceUrl:
    account, _, address = netloc.rpartition("@")
    if ":" in account:
        raise ValueError("contains a password: name its environment variable under secrets instead")
    host, colon, port = address.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = address, ""
    try:
        checked = checked_host(host), checked_port(port) if port else _PORTS[scheme]
    except InvalidUrl as error:
        raise ValueError(error.reason) from None
    user = unquote(account)
    if not user.isprintable():
        raise ValueError("has invisible characters in its user")
    return SourceUrl(scheme, path.removeprefix("/") if path.startswith("/~") else path, *checked, user)
