"""The built-in provider: catalogues in the database, without network access."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from forebay.pipelines.sheets.db import catalogues
from forebay.services.products.provider_spec import ProviderLimits
from forebay.services.products.scoring import Candidate
from forebay.services.products.strategies import NAMES
from forebay.services.products.texts import code, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from forebay.db.pool import Pool
    from forebay.services.products import Query

NAME = "catalogue"
_MOST = 20  # candidates


class CatalogueProvider:
    """The catalogues of the owner of a row, and shared ones."""

    def __init__(self, pool: Pool, most: int) -> None:
        """`most`: concurrent queries."""
        self.name = NAME
        self.strategies = NAMES
        self._pool = pool
        self.limits = ProviderLimits(concurrency=most, max_candidates=_MOST)

    async def find(self, query: Query, owner_id: int) -> Sequence[Candidate]:
        """The candidates of the catalogues for a query."""
        return [_candidate(row) for row in await self._rows(query, owner_id)]

    async def _rows(self, query: Query, owner_id: int) -> Sequence[asyncpg.Record]:
        values = query.values
        match query.strategy:
            case "gtin":
                return await catalogues.find_gtin(self._pool, owner_id, values["gtin"].zfill(14), _MOST)
            case "mpn_brand":
                return await catalogues.find_mpn(self._pool, owner_id, code(values["mpn"]), _MOST)
            case "sku":
                return await catalogues.find_sku(self._pool, owner_id, code(values["sku"]), _MOST)
            case strategy:
                is_fuzzy = strategy == "fuzzy_title"
                return await catalogues.find_text(self._pool, owner_id, words(query.text), _MOST, is_fuzzy=is_fuzzy)


def _candidate(row: asyncpg.Record) -> Candidate:
    fields: dict[Any, Any] = json.loads(row["fields"])
    return Candidate(provider=NAME, id=f"{row['catalogue']}/{row['id']}", fields=fields)
