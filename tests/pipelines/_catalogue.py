"""Catalogues loaded as the intake loads them: a sheet whose job is one of the pipeline of catalogues."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.resources import Resource, Resources, resource
from forebay.engine.declare.retry import Retry
from forebay.pipelines.sheets.catalogue_rows import CatalogueLine, catalogue_rows
from forebay.pipelines.sheets.lookup import Match, look_up
from forebay.pipelines.sheets.providers import Providers, open_providers
from forebay.pipelines.sheets.providers import providers as all_providers
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.products import Columns, normalize
from forebay.settings import Settings
from forebay.testing import ManualClock, Testbed, testbed
from forebay.types import ItemRecord, NotFound

Row = dict[str, str]


class Sought(BaseModel):
    """A row, and how it is to be looked up."""

    fields: Row
    priority: list[str] = []
    turn: int = 0
    attempts: int = 1


sought = Pipeline("sought", Sought)


@sought.step(retry=Retry(attempts=3, not_found=3, base=1.0, jitter=False), timeout=60, concurrency=(32, 100))
async def find(ctx: Context, row: Sought) -> Match | NotFound:
    """As the pipeline of sheets does, which normalizes in a step of its own."""
    fields = normalize(row.fields, Columns(fields={name: name for name in row.fields})).fields  # type: ignore[misc]
    return await look_up(ctx, fields, attempts=row.attempts, priority=row.priority, rotation=row.turn)


@asynccontextmanager
async def shopping(
    dsn: str,
    providers: Path | None = None,
    *,
    resources: dict[Resource[Any], Resource[Any]] | None = None,
    **settings: Any,
) -> AsyncGenerator[Testbed]:
    """A testbed for look-ups at the providers of a folder, which live by its clock."""
    clock = ManualClock()

    async def sleep(_seconds: float) -> None:
        """Who stands and waits does so in no time: the clock is the test's."""

    @resource
    async def opened(given: Resources) -> AsyncGenerator[Providers]:
        yield await open_providers(given, clock=clock.time, sleep=sleep)

    replaced: dict[Resource[Any], Resource[Any]] = {all_providers: opened, **(resources or {})}
    given: dict[str, Any] = {"egress_confine": False} | settings
    chosen = Settings(**given).including(SheetsSettings(providers=providers))
    async with testbed(
        dsn, [sought, catalogue_rows], migrated=True, resources=replaced, settings=chosen, clock=clock
    ) as bed:
        yield bed


async def load(
    bed: Testbed, rows: Sequence[Row], name: str = "stock", owner: str = "ann", mapping: Columns | None = None
) -> list[ItemRecord]:
    """Load rows into a catalogue; answers what became of them."""
    job = await catalogue_rows.submit_many(
        bed.pool, [CatalogueLine(line=n, row=row) for n, row in enumerate(rows, 2)], owner=owner
    )
    columns = mapping or Columns(fields={each: each for row in rows for each in row})  # type: ignore[misc]
    await bed.pool.execute(
        """insert into forebay.sheet (owner_id, job_id, name, options, mapping)
           select owner_id, id, 'stock.csv', $2, $3 from forebay.job where id = $1""",
        job.job_id,
        json.dumps({"catalogue": name}),
        columns.model_dump_json(),
    )
    await bed.run()
    return await bed.items(job)


async def seek(
    bed: Testbed, owner: str = "ann", *, turn: int = 0, priority: Sequence[str] = (), **fields: str
) -> ItemRecord:
    """Look a row up to the end."""
    row = Sought(fields=fields, turn=turn, priority=list(priority))
    job = await bed.submit(sought, row, owner=owner)
    await bed.finish()
    return await bed.item(job)
