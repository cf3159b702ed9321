"""The day of publication as htmldate finds it in what a page shows, for pages that do not tell machines."""

from __future__ import annotations

from forebay.errors import ConfigError

_MOST_TAGS = 100_000  # its time grows faster than the page


def guess_published(html: str, url: str) -> str | None:
    """A day like 2026-05-03; None for pages that show none, or would take too long.

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
