"""The known providers, so that an unknown name is rejected instead of ignored."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.api.problems import Problem
from forebay.engine.db import overview
from forebay.errors import ConfigError
from forebay.pipelines.sheets.catalogue_provider import NAME as BUILT_IN
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.products import load_declarations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection
    from forebay.settings import Settings


async def check_providers(
    conn: Connection, settings: Settings, names: Sequence[str] | None, field: str = "providers"
) -> None:
    """Raises: Problem 422 with those that there are, when one of the names is none of them."""
    if (reason := await find_unknown_provider(conn, settings, names)) is not None:
        raise Problem(422, reason, field=field)


async def find_unknown_provider(conn: Connection, settings: Settings, names: Sequence[str] | None) -> str | None:
    """A sentence about the first name that is not one of a provider; None when all are."""
    if not names:
        return None
    known = {BUILT_IN}
    for worker in await overview.workers(conn):
        known.update(worker.shared.get("providers", {}))
    try:
        declared = await asyncio.to_thread(load_declarations, settings.of(SheetsSettings).providers)
    except ConfigError:
        return None  # what cannot be read may declare any of them; `forebay doctor` tells what is wrong with it
    known.update(each.name for each in declared)
    unknown = next((name for name in names if name not in known), None)
    if unknown is None:
        return None
    return f"there is no provider {unknown!r}; the providers are {', '.join(sorted(known))}"
