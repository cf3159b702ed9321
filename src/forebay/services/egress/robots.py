"""robots.txt, for those who want it asked: read once a day for each site."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protego import Protego

from forebay.errors import DataError, PermanentError, TransientError
from forebay.services.egress.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from forebay.services.egress.urls import Url

AGENT = "forebay"
MAX_BYTES = 512 << 10
_KEPT_S = 86400.0
_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Rules:
    """What a site says; no parser: everything is allowed."""

    until: float
    parser: Protego | None


class Robots:
    """The rules of the sites that were asked lately."""

    def __init__(
        self, read: Callable[[str], Awaitable[str | None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`read` gives back the text behind a URL, or None where there is none."""
        self._read, self._clock = read, clock
        self._rules: OrderedDict[str, Rules] = OrderedDict()

    async def check(self, url: Url) -> float | None:
        """The pause that the site asks for between two requests.

        Raises: Refused by the site; TransientError when its rules cannot be had, which forbids everything meanwhile.
        """
        rules = self._rules.get(url.origin)
        if rules is None or rules.until <= self._clock():
            rules = await self._ask(url)
        if rules.parser is None:
            return None
        if not rules.parser.can_fetch(str(url), AGENT):
            raise Refused("robots", f"robots.txt of {url.host} forbids this page to {AGENT}")
        return rules.parser.crawl_delay(AGENT)

    async def _ask(self, url: Url) -> Rules:
        try:
            text = await self._read(f"{url.origin}/robots.txt")
        except (PermanentError, DataError):
            text = None  # refused, not found, too large: as if there were none
        except TransientError as error:
            raise TransientError(f"robots.txt of {url.host} could not be read: {error}") from None
        rules = Rules(self._clock() + _KEPT_S, None if text is None else Protego.parse(text))
        self._rules[url.origin] = rules
        self._rules.move_to_end(url.origin)
        while len(self._rules) > _KEPT:
            self._rules.popitem(last=False)
        return rules
