"""Sheets as the intake leaves them, and what steps have made of their rows; and exports of them, read back."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg
from openpyxl import load_workbook  # type: ignore[import-untyped]
from openpyxl.utils.escape import unescape  # type: ignore[import-untyped]

from forebay.engine.db import registry
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.services.spreadsheets import unescaped
from forebay.settings import Settings
from forebay.storage import Blobs, open_store
from forebay.testing import Testbed, testbed

ROOT = Path(__file__).parents[2]

SHEETS = {
    "name": "sheets",
    "max_input_bytes": 1 << 24,
    "steps": [
        {"name": "look_up", "after": [], "optional": False, "after_all": False, "queue": "sheets.look_up",
         "max_attempts": 3, "max_expiries": 3}
    ],
}  # fmt: skip

OURS = [
    "Found title", "Found brand", "Found GTIN", "Found SKU", "Found MPN", "Found price", "Found currency",
    "Found quantity", "Found category", "Found link", "Found image", "Provider", "Score", "Why", "Error",
]  # fmt: skip

_ADD = """insert into forebay.item (job_id, n, owner_id, pipeline_id, status, verdict, input, result, error, normalized)
select j.id, g.n, j.owner_id, j.pipeline_id, g.status::forebay.item_status,
       greatest(g.status::forebay.item_status, 'DONE'), g.input::jsonb, g.result::jsonb,
       g.error::jsonb, g.normalized::jsonb
from forebay.job j, unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
     g(n, status, input, result, error, normalized)
where j.id = $1"""


@dataclass(frozen=True)
class Line:
    """A row of a sheet, and what has become of it."""

    row: Mapping[str, Any] | None = None
    found: Mapping[str, Any] | None = None
    status: str = "DONE"
    reason: str | None = None
    image: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    read: Mapping[str, Any] | None = None

    def input(self, line: int) -> dict[str, Any]:
        given: dict[str, Any] = {"line": line, **self.more}
        if self.row is not None:
            given["row"] = dict(self.row)
        if self.image is not None:
            given["image"] = {"name": self.image, "size": 1, "fileId": "1"}
        return given


async def add_sheet(
    conn: asyncpg.Connection[Any],
    columns: Sequence[str] | None,
    lines: Sequence[Line],
    *,
    owner: str = "ann",
    name: str = "stock.csv",
    kind: str = "csv",
) -> int:
    """The job of a sheet with these rows; lines count from 2, items from 1."""
    await registry.register(conn, SHEETS)
    owner_id = await conn.fetchval("select forebay.owner_id($1)", owner)
    job_id = await conn.fetchval("select job_id from forebay.add_sheet($1, $2, 1, '{}')", owner_id, name)
    await conn.execute(
        "update forebay.sheet set columns = $2, kind = $3, read_at = now() where job_id = $1",
        job_id, None if columns is None else list(columns), kind,
    )  # fmt: skip
    ns = range(1, len(lines) + 1)
    await conn.execute(
        _ADD,
        job_id,
        list(ns),
        [line.status for line in lines],
        [_json(line.input(n + 1)) for n, line in zip(ns, lines, strict=True)],
        [None if line.found is None else json.dumps({"look_up": dict(line.found)}) for line in lines],
        [None if line.reason is None else json.dumps({"reason": line.reason}) for line in lines],
        [None if line.read is None else json.dumps(dict(line.read)) for line in lines],
    )
    await conn.execute("update forebay.job set total = $2 where id = $1", job_id, len(lines))
    return int(job_id)


def _json(value: Any) -> str:
    """Numbers that are given as decimals keep their digits."""
    text = json.dumps(value, default=lambda number: f"<number {number}>")
    return text.replace('"<number ', "").replace('>"', "") if "<number " in text else text


@dataclass
class Exports:
    """A testbed for exports."""

    bed: Testbed
    conn: asyncpg.Connection[Any]
    blobs: Blobs

    async def ask(self, job_id: int, kind: str, **options: Any) -> int:
        found = await self.conn.fetchval("select forebay.export_sheet($1, $2, $3)", job_id, kind, json.dumps(options))
        return int(found)

    async def made(self, job_id: int, kind: str, **options: Any) -> bytes:
        """The file of an export that was written."""
        export = await self.ask(job_id, kind, **options)
        await self.bed.run()
        return await self.content(export)

    async def content(self, export: int) -> bytes:
        sha = await self.conn.fetchval(
            """select encode(f.sha256, 'hex') from forebay.sheet_export e join forebay.file f on f.id = e.file_id
               where e.job_id = $1""",
            export,
        )
        assert sha is not None, await self.conn.fetchval(
            "select error::text from forebay.item where job_id = $1", export
        )
        return await self.blobs.read(sha, 1 << 30)

    async def grid(self, job_id: int, *show: str) -> tuple[list[str], list[list[str | None]]]:
        columns = await self.conn.fetchval("select names from forebay.grid_columns($1, $2)", job_id, show)
        total = await self.conn.fetchval("select total from forebay.job where id = $1", job_id)
        rows = await self.conn.fetch(
            "select cells from forebay.grid_rows($1, array(select generate_series(1, $2::int)), $3) order by n",
            job_id,
            total,
            show,
        )
        return list(columns), [list(row["cells"]) for row in rows]


@asynccontextmanager
async def exporting(dsn: str, folder: Path, **settings: Any) -> AsyncIterator[Exports]:
    chosen = Settings(data_dir=folder, **settings)
    conn = await asyncpg.connect(dsn)
    try:
        async with testbed(dsn, [sheet_exports], migrated=True, settings=chosen) as bed:
            yield Exports(bed, conn, Blobs(bed.pool, open_store(chosen)))
    finally:
        await conn.close()


@contextmanager
def export_worker(dsn: str, folder: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process of its own, which is killed in the end; its leases are short."""
    given = {"lease_floor_s": "1", "sweep_s": "0.2", "poll_s": "0.2", "log_json": "1"}
    given |= {"database_url": dsn, "data_dir": str(folder), "pipelines": "forebay.pipelines.sheets.exports"}
    env = os.environ | {f"FOREBAY_{name.upper()}": value for name, value in given.items()}
    with log.open("ab") as out:
        child = subprocess.Popen([sys.executable, "-m", "forebay", "worker"], cwd=ROOT, env=env, stdout=out, stderr=out)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


# Reading back, by others than who wrote.


def csv_cells(data: bytes, *, raw: bool = False) -> list[list[str]]:
    assert data.startswith(b"\xef\xbb\xbf")
    text = io.StringIO(data[3:].decode(), newline="")
    return [[cell if raw else unescaped(cell) for cell in row] for row in csv.reader(text)]


def jsonl_cells(data: bytes) -> list[dict[str, str | None]]:
    """What people see of values of any kind: numbers with the digits that they were written with."""
    lines = data.decode().split("\n")[:-1]
    return [
        {name: _SAID.get(cell, cell) for name, cell in json.loads(line, parse_float=str, parse_int=str).items()}
        for line in lines
    ]


_SAID: dict[Any, str] = {True: "true", False: "false"}


def xlsx_cells(data: bytes) -> list[list[str]]:
    book = load_workbook(io.BytesIO(data), read_only=True)
    try:
        rows = [[_seen(cell) for cell in row] for sheet in book for row in sheet.rows]
    finally:
        book.close()
    width = len(rows[0])  # cells that are empty are not written
    return [row + [""] * (width - len(row)) for row in rows]


def _seen(cell: Any) -> str:
    """What a spreadsheet shows, by the value and the format of its number."""
    value, code = cell.value, cell.number_format
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat() if "hh" in code else value.date().isoformat()
        case int() | float() if code != "General":
            digits = len(code.partition(".")[2].rstrip("%"))
            return f"{value * 100:.{digits}f}%" if code.endswith("%") else f"{value:.{digits}f}"
        case _:
            return str(unescape(str(value)))
