"""robots.txt, read once a day per site."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from protego import Protego

from forebay.errors import DataError, PermanentError, TransientError
from forebay.services.cache import SingleFlightCache
from forebay.services.egress.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from forebay.services.egress.urls import Url

AGENT = "forebay"
MAX_BYTES = 512 << 10
_KEPT_S = 86400.0
_KEPT = 1024


class Robots:
    """The rules of recently used sites."""

    def __init__(
        self, read: Callable[[str], Awaitable[str | None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`read` returns the text at a URL, or None."""
        self._read = read
        self._rules: SingleFlightCache[Protego | None] = SingleFlightCache(_KEPT, _KEPT_S, clock)

    async def check(self, url: Url) -> float | None:
        """Check a URL; returns the crawl delay of the site.

        Raises: Refused by the site; TransientError when its rules cannot be read, which forbids everything meanwhile.
        """
        rules = await self._rules.get(url.origin, lambda: self._load(url))
        if rules is None:
            return None
        if not rules.can_fetch(str(url), AGENT):
            raise Refused("robots", f"robots.txt of {url.host} disallows this page for {AGENT}")
        return rules.crawl_delay(AGENT)

    async def _load(self, url: Url) -> Protego | None:
        """The rules; None: everything is allowed."""
        try:
            text = await self._read(f"{url.origin}/robots.txt")
        except (PermanentError, DataError):
            text = None  # refused, not found, or too large: as if there were none
        except TransientError as error:
            raise TransientError(f"robots.txt of {url.host} could not be read: {error}") from None
        return None if text is None else Protego.parse(text)
