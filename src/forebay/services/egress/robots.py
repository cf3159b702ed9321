"""robots.txt, for those who want it asked: read once a day for each site."""

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
    """The rules of the sites that were asked lately."""

    def __init__(
        self, read: Callable[[str], Awaitable[str | None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`read` gives back the text behind a URL, or None where there is none."""
        self._read = read
        self._rules: SingleFlightCache[Protego | None] = SingleFlightCache(_KEPT, _KEPT_S, clock)

    async def check(self, url: Url) -> float | None:
        """The pause that the site asks for between two requests.

        Raises: Refused by the site; TransientError when its rules cannot be had, which forbids everything meanwhile.
        """
        rules = await self._rules.get(url.origin, lambda: self._load(url))
        if rules is None:
            return None
        if not rules.can_fetch(str(url), AGENT):
            raise Refused("robots", f"robots.txt of {url.host} forbids this page to {AGENT}")
        return rules.crawl_delay(AGENT)

    async def _load(self, url: Url) -> Protego | None:
        """The rules; None: everything is allowed."""
        try:
            text = await self._read(f"{url.origin}/robots.txt")
        except (PermanentError, DataError):
            text = None  # refused, not found, too large: as if there were none
        except TransientError as error:
            raise TransientError(f"robots.txt of {url.host} could not be read: {error}") from None
        return None if text is None else Protego.parse(text)
