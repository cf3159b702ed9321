"""`forebay export` of a sheet writes its grid, byte for byte as the service does; of other jobs a workbook, too."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from openpyxl import load_workbook  # type: ignore[import-untyped]

from tests.cli._run import Cli, Process
from tests.pipelines._sheets import OURS, Line, add_sheet, csv_cells, exporting, jsonl_cells, xlsx_cells

LINES = [
    Line(
        {"Name": "=1+1", "Note": "a\nb"},
        {"title": "Kettle", "score": 0.5},
        read={"fields": {"price": "1.50"}, "problems": [{"field": "gtin", "reason": "is no GTIN", "column": "EAN"}]},
    ),
    Line({"Name": "pan", "Note": ""}, status="NOT_FOUND", reason="nobody knows it"),
    Line({"Name": "x" * 40_000, "Note": "ü"}, status="PENDING"),
]


async def _sheet(dsn: str) -> int:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(dsn)
    try:
        return await add_sheet(conn, ["Name", "Note"], LINES)
    finally:
        await conn.close()


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
@pytest.mark.parametrize("raw", [False, True])
def test_the_grid_as_the_service_writes_it(cli: Cli, dsn: str, tmp_path: Path, kind: str, *, raw: bool) -> None:
    job = asyncio.run(_sheet(dsn))

    async def theirs() -> bytes:
        async with exporting(dsn, tmp_path / "service") as exports:
            return await exports.made(job, kind, **({"raw": True} if raw else {}))

    told = cli.run("export", str(job), "--format", kind, "--output", "out", *(["--raw"] if raw else []), "--json")
    assert told.code == 0, told.err
    data = (cli.folder / "out").read_bytes()
    assert (told.json["items"], told.json["bytes"], told.json["incomplete"]) == (3, len(data), 0)
    assert data == asyncio.run(theirs())
    cut = "1 cell too long for a workbook truncated: --format csv has the full text\n"
    assert told.err == (cut if kind == "xlsx" else "")


def test_what_is_in_it(cli: Cli, dsn: str) -> None:
    job = str(asyncio.run(_sheet(dsn)))

    def exported(*options: str) -> bytes:
        assert cli.run("export", job, "--output", "out", *options).code == 0
        return (cli.folder / "out").read_bytes()

    rows = csv_cells(exported("--format", "csv"))
    assert rows[0] == ["Line", "Status", "Name", "Note", *OURS]
    assert [row[:4] for row in rows[1:3]] == [["2", "DONE", "=1+1", "a\nb"], ["3", "NOT_FOUND", "pan", ""]]
    assert rows[3][2] == "x" * 40_000
    found = jsonl_cells(exported("--status", "not_found", "--status", "pending"))
    assert [(row["Line"], row["Error"]) for row in found] == [("3", "nobody knows it"), ("4", None)]
    book = xlsx_cells(exported("--format", "xlsx"))
    assert book[1][:5] == ["2", "DONE", "=1+1", "a\nb", "Kettle"]
    assert book[3][2].endswith("x… [cut]")
    assert len(book[3][2]) == 32_767
    more = xlsx_cells(exported("--format", "xlsx", "--with", "read", "--with", "warnings"))
    shown = dict(zip(more[0], more[1], strict=True))
    assert (shown["Read price"], shown["Warnings"]) == ("1.50", "EAN: is no GTIN")


def test_other_jobs_as_a_workbook(cli: Cli, start: Callable[..., Process]) -> None:
    start("worker").says("worker_started")
    assert cli.run("submit", "notes", "--wait", given='{"body": "fine"}\n{"body": "=1+1"}\n').code == 0
    assert cli.run("export", "1", "--format", "xlsx", "--output", "out").code == 0
    refused = cli.run("export", "1", "--with", "read")
    assert "--with: the items of job 1 (notes) have no groups of columns" in refused.err
    book = load_workbook(io.BytesIO((cli.folder / "out").read_bytes()))
    assert [list(row) for row in book.worksheets[0].values] == [
        ["id", "status", "key", "input.body", "result.size", "error"],
        [1, "DONE", None, "fine", 4, None],
        [2, "DONE", None, "=1+1", 4, None],
    ]
