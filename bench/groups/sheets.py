"""Sheets: how fast a file becomes rows, and a grid a file, beside what PostgreSQL and openpyxl need for the same."""

# demands: S5-109

import csv
import io
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import asyncpg
from openpyxl import Workbook  # type: ignore[import-untyped]

from bench.harness import BenchError, Context, connected
from bench.ours import Forebay

COPY_IN, PLAIN, INGEST = "limit: COPY FROM, documents", "limit: COPY FROM, plain columns", "forebay: a file into rows"
COPY, EXPORT = "limit: COPY TO", "forebay: export, CSV"
OPENPYXL, WORKBOOK = "openpyxl: workbook", "forebay: workbook"

COLUMNS = ("SKU", "Title", "Brand", "Description", "Price", "Currency", "EAN", "Stock", "Category", "Link")

# Rows as shops have them, each found at a provider.
ROWS = """
select n, jsonb_build_object('line', n + 1, 'row', jsonb_build_object(
    'SKU', 'KT-' || n, 'Title', 'Kettle of stainless steel, 1.7 l, with a wooden handle, model ' || n,
    'Brand', 'Acme & Sons',
    'Description', 'Boils a litre in three minutes. ' || repeat('Easy to clean, and quiet. ', 5) || n,
    'Price', (n % 20000 / 100.0)::numeric(10, 2)::text, 'Currency', 'EUR', 'EAN', (4000000000000 + n)::text,
    'Stock', (n % 100)::text, 'Category', 'Kitchen > Appliances > Kettles',
    'Link', 'https://shop.example/en/kitchen/appliances/kettles/stainless-steel-' || n)) as input,
jsonb_build_object('look_up', jsonb_build_object(
    'title', 'Acme Kettle, stainless steel, 1.7 l (' || n || ')', 'brand', 'Acme', 'gtin', (4000000000000 + n)::text,
    'sku', 'A-' || n, 'mpn', 'MK' || n, 'price', 19.9, 'currency', 'EUR', 'quantity', n % 7, 'category', 'Kettles',
    'url', 'https://provider.example/products/kettles/acme-stainless-steel-' || n,
    'image', 'https://images.provider.example/products/kettles/large/' || n || '.jpg',
    'provider', 'catalogue', 'id', n::text, 'score', 0.93, 'strategy', 'gtin', 'reasons', 'same GTIN; similar title'
)) as result
from generate_series(1, {count}) n
"""


class Counted:
    """A sink that keeps nothing."""

    def __init__(self) -> None:
        self.size = 0

    async def take(self, data: bytes) -> None:
        self.size += len(data)


async def run(context: Context) -> None:
    if not context.ours:
        return
    await _ingests(context, context.ours)
    await _exports(context, context.ours)
    await _workbooks(context, context.ours)


async def _ingests(context: Context, ours: Forebay) -> None:
    """A file of rows into items, beside COPY of the documents that its rows are stored as, into a table without a key;
    and, to tell what the documents cost, beside COPY of the file into plain columns."""
    dsn, count = await context.database(ours), context.sizes.sheet_rows
    path, small, documents = (context.folder / name for name in ("rows.csv", "few.csv", "documents.csv"))
    _write_csv(path, [COLUMNS, *_rows(count)])
    _write_csv(small, [COLUMNS, *_rows(10)])
    named = (
        json.dumps({"line": n, "row": dict(zip(COLUMNS, row, strict=True))}) for n, row in enumerate(_rows(count), 2)
    )
    _write_csv(documents, enumerate(named, 1))
    async with ours.intake(dsn, context.folder / "sheets") as ingest, connected(dsn) as conn:
        await conn.execute("create table documents (n int, input jsonb)")
        await conn.execute(f"create table plain ({', '.join(f'c{place} text' for place in range(len(COLUMNS)))})")
        await ingest(small, 10)  # the process that reads files has begun
        for _ in range(context.sizes.repeats):
            await _copy_in(context, conn, "documents", documents, count, COPY_IN)
            await _copy_in(context, conn, "plain", path, count, PLAIN)
            await context.settle(dsn)
            meter = context.meter()
            context.sample(INGEST, count / await ingest(path, count), "rows/s", meter)
    taken, plain = context.report.pair(INGEST, PLAIN)
    context.record_medians("sheet_ingest", INGEST, COPY_IN, f"{taken / plain:.2f} x COPY FROM into plain columns")


def _write_csv(path: Path, rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


async def _copy_in(context: Context, conn: asyncpg.Connection, table: str, path: Path, count: int, name: str) -> None:
    await context.quiet()
    meter, began = context.meter(), time.perf_counter()
    await conn.copy_to_table(table, source=path, format="csv", header=table == "plain")
    context.sample(name, count / (time.perf_counter() - began), "rows/s", meter)
    await conn.execute(f"truncate {table}")


async def _exports(context: Context, ours: Forebay) -> None:
    dsn, count = await context.database(ours), context.sizes.sheet_rows
    async with connected(dsn) as conn:
        job = await ours.load_sheet(conn, COLUMNS, ROWS.format(count=count))
        width = len(COLUMNS) + 17
        names = ", ".join(f"c{place}" for place in range(width))
        await conn.execute(f"create table plain ({names.replace(',', ' text,')} text)")
        await conn.execute(f"insert into plain {await ours.cells_of(conn, job, count)}")
        await context.settle(dsn)
        for _ in range(context.sizes.repeats):
            copied = await _copy(context, conn, f"select {names} from plain", count)
            await _export(context, ours, conn, job, count, copied)
    context.record_medians("sheet_export_csv", EXPORT, COPY)


async def _copy(context: Context, conn: asyncpg.Connection, sql: str, count: int) -> int:
    await context.quiet()
    sink, meter, began = Counted(), context.meter(), time.perf_counter()
    await conn.copy_from_query(sql, output=sink.take, format="csv")
    context.sample(COPY, count / (time.perf_counter() - began), "rows/s", meter)
    return sink.size


async def _export(context: Context, ours: Forebay, conn: asyncpg.Connection, job: int, count: int, copied: int) -> None:
    await context.quiet()
    sink, meter, began = Counted(), context.meter(), time.perf_counter()
    rows = await ours.export_csv(conn, job, sink.take)
    context.sample(EXPORT, count / (time.perf_counter() - began), "rows/s", meter)
    if rows != count or not copied < sink.size < copied + 1000:  # a header, and a mark before it
        raise BenchError(f"{rows} of {count} rows with {sink.size} bytes were exported; COPY wrote {copied}")


async def _workbooks(context: Context, ours: Forebay) -> None:
    count = context.sizes.workbook_rows
    rows = list(_rows(count))
    for _ in range(context.sizes.repeats):
        await context.quiet()
        meter, began = context.meter(), time.perf_counter()
        _write_by_openpyxl(rows)
        context.sample(OPENPYXL, count / (time.perf_counter() - began), "rows/s", meter)
        meter, began = context.meter(), time.perf_counter()
        ours.write_workbook(COLUMNS, rows)
        context.sample(WORKBOOK, count / (time.perf_counter() - began), "rows/s", meter)
    context.record_medians("workbook", WORKBOOK, OPENPYXL)


def _rows(count: int) -> Iterator[Sequence[str]]:
    for n in range(count):
        title = f"Kettle of stainless steel, 1.7 l, with a wooden handle, model {n}"
        link = f"https://shop.example/en/kitchen/appliances/kettles/stainless-steel-{n}"
        note = "Boils a litre in three minutes, and switches itself off. "
        price, ean, stock = f"{n / 100:.2f}", str(4 * 10**12 + n), str(n % 100)
        yield f"KT-{n}", title, "Acme & Sons", f"{note}{n}", price, "EUR", ean, stock, "Kitchen > Appliances", link


def _write_by_openpyxl(rows: list[Sequence[str]]) -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(COLUMNS)
    for row in rows:
        sheet.append(row)
    book.save(io.BytesIO())
