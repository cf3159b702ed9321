"""One desk: what it makes of how its provider answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from forebay.pipelines.sheets.provider_gate import Desk
from forebay.services.egress import Politeness
from forebay.services.products import Candidate, Query
from forebay.services.products.provider_spec import ProviderLimits
from forebay.settings import Settings

AT_ONCE = 2  # of a provider that nothing is known of


class Shop:
    """A provider that answers when it is let."""

    name, strategies, limits = "shop", ("title",), ProviderLimits(concurrency=16)

    def __init__(self) -> None:
        self.asked, self.may_answer = asyncio.Semaphore(0), asyncio.Event()

    async def find(self, _query: Query, _owner_id: int) -> Sequence[Candidate]:
        self.asked.release()
        await self.may_answer.wait()
        return []


def _query(title: str) -> Query:
    return Query("title", {"title": title})


async def test_rows_that_are_cancelled_say_nothing_of_the_provider() -> None:
    """However many: it stays open for all others, and as many may ask it as before."""
    shop = Shop()
    desk = Desk(shop, shop.find, Politeness(Settings()), None)
    before = desk.describe()
    for title in range(5):
        asking = [asyncio.create_task(desk.find(_query(f"{title} {n}"), 1, 0)) for n in range(AT_ONCE)]
        for _ in asking:
            await shop.asked.acquire()
        for each in asking:
            each.cancel()
        ended = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended)
    after = desk.describe()
    assert after == before | {"asked": 5 * AT_ONCE}
    shop.may_answer.set()
    assert await desk.find(_query("of somebody else"), 2, 0) == []
