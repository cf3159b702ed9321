"""Templates of URLs and headers: values are escaped, so that they cannot change the target of a request."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from forebay.errors import DataError
from forebay.services.egress.errors import InvalidUrl
from forebay.services.egress.urls import checked_url

_PLACE = re.compile(r"\{([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)?)\}")
_SECRET = "secret."  # noqa: S105 - the prefix of placeholders of secrets
_SECRET_NAME = re.compile(r"auth|token|secret|passw|api[_-]?key|app[_-]?id|cookie|signature", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OURS = re.compile(
    r"(?:host|content-.*|transfer-encoding|connection|upgrade|te|trailer|expect|keep-alive|proxy-.*|range)"
)
_DOTS = {".", ".."}


class UrlTemplate:
    """A URL with {placeholders} in its path and query.

    Raises: ValueError, with what to fix.
    """

    def __init__(self, text: str, fields: Collection[str], secrets: Collection[str]) -> None:
        if not text.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        self.text = text
        self.names = _names(text, fields, secrets)
        if not set(self.names) & set(fields):
            raise ValueError(f"is the same for every row: use a placeholder such as {{{next(iter(fields))}}}")
        if "{" in re.split("[/?#]", text.partition("://")[2], maxsplit=1)[0]:
            raise ValueError("has a placeholder before its path: the host cannot come from a row")
        if "#" in text:
            raise ValueError("has a '#': fragments are not sent")
        self._split = len(text) if "?" not in text else text.index("?")
        if _SECRET in text[: self._split]:
            raise ValueError("has a secret in its path, which is logged: use the query or a header")
        _check_literals(text[self._split + 1 :])
        try:
            self.origin = self._checked(dict.fromkeys(self.names, "x"))[1]
        except InvalidUrl as error:
            raise ValueError(error.reason) from None

    def render(self, values: Mapping[str, str], secrets: Mapping[str, str]) -> str:
        """The URL for these values.

        Raises: DataError when they cannot be part of a URL.
        """
        named = {**values, **{f"{_SECRET}{name}": value for name, value in secrets.items()}}
        try:
            return self._checked(named)[0]
        except InvalidUrl as error:
            raise DataError(f"cannot be queried: the URL {error.reason}") from None
        except ValueError as error:
            raise DataError(f"cannot be queried: {error}") from None

    def _checked(self, named: Mapping[str, str]) -> tuple[str, str]:
        path = _fill(self.text[: self._split], named)
        # Servers that decode a path before resolving it would treat these as parent folders.
        if any(part in _DOTS for part in re.split(r"[/\\]", unquote(path))):
            raise ValueError("a part of the path would be '.' or '..'")
        url = checked_url(path + _fill(self.text[self._split :], named))
        return str(url), url.origin


class HeaderTemplate:
    """A header whose value may contain {secret.name}.

    Raises: ValueError, with what to fix.
    """

    def __init__(self, name: str, text: str, secrets: Collection[str]) -> None:
        if not _HEADER.fullmatch(name):
            raise ValueError("is not a valid header name")
        if _OURS.fullmatch(name.lower()):
            raise ValueError("is a header that the HTTP client sets")
        if not all(" " <= each <= "~" for each in text):
            raise ValueError("has characters that headers cannot have")
        if _SECRET_NAME.search(name) and f"{{{_SECRET}" not in text:
            raise ValueError("seems to be a secret: name its variable under secrets and write {secret.NAME} here")
        self.name = name.lower()
        self.text = text
        self.names = _names(text, (), secrets)

    @property
    def is_secret(self) -> bool:
        return bool(self.names)

    def render(self, secrets: Mapping[str, str]) -> str:
        """The value of the header."""
        return _PLACE.sub(lambda place: secrets[place[1].removeprefix(_SECRET)], self.text)


def _names(text: str, fields: Collection[str], secrets: Collection[str]) -> list[str]:
    known = [*fields, *(f"{_SECRET}{name}" for name in secrets)]
    if set("{}") & set(_PLACE.sub("", text)):
        raise ValueError("has a brace outside of a {placeholder}: write %7B or %7D for a brace")
    names = _PLACE.findall(text)
    for name in names:
        if name not in known:
            told = f"allowed are {', '.join(f'{{{each}}}' for each in known)}" if known else "none are allowed"
            raise ValueError(f"has the placeholder {{{name}}}; {told}")
    return names


def _fill(text: str, named: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: quote(named[place[1]], safe=""), text)


def _check_literals(query: str) -> None:
    """Secrets in declarations end up in repositories and backups."""
    for name, value in parse_qsl(urlsplit(f"?{query}").query, keep_blank_values=True):
        if _SECRET_NAME.search(name) and "{" not in value:
            raise ValueError(f"has a value for {name!r}, which seems to be a secret: name its variable under secrets")
