"""Guesses the date of publication with htmldate, for pages without machine-readable dates."""

from __future__ import annotations

from forebay.errors import ConfigError

_MOST_TAGS = 100_000  # its time grows faster than linearly


def guess_published(html: str, url: str) -> str | None:
    """A date such as 2026-05-03; None if there is none, or the page is too long.

    Raises:
        ConfigError: the packages of the extra `web` are not installed.
    """
    if html.count("<") > _MOST_TAGS:
        return None
    try:
        from htmldate import find_date  # noqa: PLC0415 - an extra
    except ImportError as missing:
        raise ConfigError("pages cannot be read: pip install 'forebay[web]'") from missing
    return find_date(html, url=url, original_date=True, extensive_search=False)
