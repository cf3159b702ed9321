"""Loads catalogues from files: each row becomes a product with which rows of sheets are matched."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.resources import resource
from forebay.errors import DataError
from forebay.pipelines.sheets.db import catalogues
from forebay.services.cache import SingleFlightCache
from forebay.services.products import Columns, FieldName, normalize
from forebay.services.products.texts import code, words
from forebay.types import Done

if TYPE_CHECKING:
    from forebay.db.pool import Pool
    from forebay.engine.declare.resources import Resources
    from forebay.services.products import Fields, Normalized

_KNOWN_S = 5.0  # seconds that a sheet is cached
_KNOWN = 100


class CatalogueLine(BaseModel):
    """A row of a file."""

    line: Annotated[int, Field(ge=1)]
    row: dict[str, Any]


class LoadCache:
    """Caches what the rows of a job share: the catalogue and the mapping of columns."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: SingleFlightCache[tuple[Columns, str]] = SingleFlightCache(_KNOWN, _KNOWN_S)

    async def of(self, job_id: int) -> tuple[Columns, str]:
        """Raises: DataError when the job was not created from a file."""
        return await self._known.get(job_id, lambda: self._load(job_id))

    async def _load(self, job_id: int) -> tuple[Columns, str]:
        mapping, catalogue = await catalogues.loading(self._pool, job_id)
        if mapping is None or not catalogue:
            raise DataError(f"job {job_id} has no sheet with a mapping and a catalogue: load one by `forebay ingest`")
        return Columns.model_validate_json(mapping), catalogue


@resource
async def loads(given: Resources) -> AsyncGenerator[LoadCache]:
    yield LoadCache(given.pool)


catalogue_rows = Pipeline(
    "catalogue_rows", CatalogueLine, internal=True, title="Catalogues", noun="product", needs_database=True
)


@catalogue_rows.step(concurrency=(1, 16))
async def store(ctx: Context, line: CatalogueLine) -> Done[dict[FieldName, str | int]]:
    """Normalize the row and store it in the catalogue; a product with the same key is replaced."""
    columns, catalogue = await (await ctx.get(loads)).of(ctx.job_id)
    read = normalize(line.row, columns)
    fields = read.fields
    if not {"title", "gtin", "sku", "mpn"} & set(fields):
        raise DataError(f"line {line.line}: {_why_nothing(read)}")
    write = catalogues.write_product(
        ctx.owner_id,
        catalogue,
        _key(fields),
        gtin=str(fields["gtin"]).zfill(14) if "gtin" in fields else None,
        sku=_code(fields, "sku"),
        mpn=_code(fields, "mpn"),
        words=words(f"{fields.get('brand', '')} {fields.get('title', '')}"),
        fields={str(name): value for name, value in fields.items()},
        row=(ctx.job_id, ctx.n),
    )
    return Done(fields, [write])


def _why_nothing(read: Normalized) -> str:
    refused = [f"{problem.field} {problem.reason}" for problem in read.problems if problem.kind == "refused"]
    return "; ".join(["has no title, gtin, sku or mpn", *refused])


def _code(fields: Fields, name: FieldName) -> str | None:
    return code(str(fields[name])) or None if name in fields else None


def _key(fields: Fields) -> str:
    """The key of a product when its catalogue is loaded again: its number, or else its name."""
    if sku := _code(fields, "sku"):
        return f"sku {sku}"
    if "gtin" in fields:
        return f"gtin {str(fields['gtin']).zfill(14)}"
    name = [" ".join(words(str(fields.get(each, "")))) for each in ("brand", "mpn", "title")]
    named = name[:2] if name[1] else name
    return f"name {hashlib.sha256(chr(0).join(named).encode()).hexdigest()}"
