"""Files become items: tables and pictures, good rows and bad, once each, and whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.pipelines._sheets import Taking, table, taking


@pytest.fixture
async def take(dsn: str, tmp_path: Path) -> AsyncIterator[Taking]:
    async with taking(dsn, tmp_path) as taken:
        yield taken


async def test_a_table_becomes_items(take: Taking) -> None:
    job = await take.taken(table(["Name", "EAN", "Preis"], ["Pen", "4006381333931", "1,20 €"], ["Ink", "", "3,50 €"]))
    assert await take.job(job) == {
        "state": "DONE", "total": 2, "done": 2, "skipped": 0, "not_found": 0, "error": 0, "sealed": True, "loaded": 2,
        "pipeline": "sheets",
    }  # fmt: skip
    first, second = await take.items(job)
    assert first["input"] == {"line": 2, "row": {"Name": "Pen", "EAN": "4006381333931", "Preis": "1,20 €"}}
    assert first["normalized"]["fields"] == {
        "title": "Pen", "gtin": "4006381333931", "price": "1.20", "currency": "EUR",
    }  # fmt: skip
    assert second["input"]["line"] == 3
    sheet = await take.sheet(job)
    assert (sheet.kind, sheet.columns, sheet.problem) == ("csv", ["Name", "EAN", "Preis"], None)
    assert sheet.mapping["fields"] == {"title": "Name", "gtin": "EAN", "price": "Preis"}
