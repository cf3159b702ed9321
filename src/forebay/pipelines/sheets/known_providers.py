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


async def check_providers(conn: Connection, settings: Settings, names: Sequence[str] | None) -> None:
    """Raises: Problem 422 with the known providers, when one of the names is unknown."""
    if not names:
        return
    known = {BUILT_IN}
    for worker in await overview.workers(conn):
        known.update(worker.shared.get("providers", {}))
    try:
        declared = await asyncio.to_thread(load_declarations, settings.of(SheetsSettings).providers)
    except ConfigError:
        return  # invalid files may declare any of them; `forebay doctor` reports what is wrong
    known.update(each.name for each in declared)
    if unknown := [name for name in names if name not in known]:
        listed = ", ".join(sorted(known))
        raise Problem(422, f"there is no provider {unknown[0]!r}; the providers are {listed}", field="providers")
