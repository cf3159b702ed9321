"""The demo: its sheet is found in its catalogue, as it should be."""

from __future__ import annotations

import csv
import io

from forebay.pipelines.sheets.demo import demo_catalogue, demo_sheet
from forebay.pipelines.sheets.demo_files.write import demo_files
from forebay.services.products import Columns, choose_columns, normalize
from tests.pipelines._catalogue import Sought, load, shopping, sought


def _table(data: bytes, delimiter: str) -> tuple[list[dict[str, str]], Columns]:
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))
    return rows, choose_columns(list(rows[0]), rows)


async def test_the_sheet_is_found_in_the_catalogue(dsn: str) -> None:
    stock, stock_columns = _table(demo_catalogue(), ",")
    rows, columns = _table(demo_sheet(), ";")
    assert (len(stock), len(rows)) == (200, 60)
    assert set(columns.fields) == {"title", "brand", "gtin", "price"}
    async with shopping(dsn) as bed:
        items = await load(bed, stock, mapping=stock_columns)
        assert {item.status for item in items} == {"DONE"}
        asked = [{str(name): str(value) for name, value in normalize(row, columns).fields.items()} for row in rows]
        job = await sought.submit_many(bed.pool, [Sought(fields=fields) for fields in asked], owner="ann")
        await bed.finish()
        found = await bed.items(job)
        missing = [row["Name"] for row, item in zip(rows, found, strict=True) if item.status != "DONE"]
        assert missing == ["Garden gnome with lantern 40 cm", "Ukulele soprano mahogany", "???"]
        used = {item.result["find"]["strategy"] for item in found if item.status == "DONE"}
        assert used >= {"gtin", "title_brand"}


def test_the_files_are_those_that_the_program_writes() -> None:
    assert demo_files() == {"catalogue.csv": demo_catalogue(), "sheet.csv": demo_sheet()}
