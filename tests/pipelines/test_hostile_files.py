"""Two hundred files that want to do harm, through a real worker: disk, memory and time stay bounded, and others' work
goes on as before."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePath
from typing import Any, ClassVar

import asyncpg
import pytest

from forebay.engine.db import registry
from forebay.engine.declare.loading import load_pipelines
from forebay.errors import DataError
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.pipelines.bookmarks.links import looks_like_image, page_hash
from forebay.pipelines.sheets.files import FILES as SHEETS
from forebay.pipelines.sheets.reading import SheetOptions, look, read_batch, unpack_pictures
from forebay.pipelines.sheets.workbook_reading import write_out
from forebay.services.egress import checked_url
from forebay.services.spreadsheets import CsvLayout, XlsxLayout
from forebay.settings import Settings
from forebay.storage import Store, open_store
from tests.cli._run import Cli, Process
from tests.corpus.hostile import FILES, PAGES, TYPES
from tests.crash._rig import Watch
from tests.pipelines._other_owner import other_owner
from tests.pipelines._peaks import peaks_of

_MB = 1 << 20
_BESIDE, _ALONE = 20, 6  # files of another owner in a turn: beside the hostile ones, and while those are paused
_DISK_MB, _WORKER_MB, _CHILD_MB = 2048, 400, 1600  # the last is what reading text in pictures may take
_P95 = 2.0  # times that of an undisturbed run

# Each of them is read, or refused, in a moment, here, without a process of its own.
QUICK = [
    "shared-1000x500.xlsx", "deep-sheet1.xml-10000.xlsx", "doctype-laughs-sheet1.xml.xlsx",
    "doctype-network-workbook.xml.xlsx", "doctype-file-sharedStrings.xml.xlsx", "doctype-parameter-styles.xml.xlsx",
    "same-attribute.xlsx", "long-tag.xlsx", "long-attribute.xlsx", "far-away.xlsx", "backwards.xlsx", "last-cell.xlsx",
    "row-number.xlsx", "digits.xlsx", "exponent.xlsx", "not-a-number.xlsx", "no-string.xlsx", "far-date.xlsx",
    "long-time.xlsx", "brackets.xlsx", "quotes.xlsx", "zeros-format.xlsx", "decimals-format.xlsx", "formulas.xlsx",
    "outside.xlsx", "parts.xlsx", *(f"cut-{n}.xlsx" for n in (1, 5, 9)), *(f"flipped-{n}.xlsx" for n in range(12)),
    *(name for name in FILES if name.startswith("out-")), "too-many.zip", "liar.zip", "overlapping.zip", "link.zip",
    "encrypted.zip", "method-12.zip", "nested-2.zip", "nothing.zip", "folders.zip", "long-name.zip", "comment.zip",
    "cut-6.zip", "all-nul.csv", "columns-20000.csv", "names.csv", "utf-16.csv", "half-utf-16.csv", "surrogates.csv",
    "deep.jsonl", "chunk-length.png", "no-pixels.png", "size-65500x65500.jpg", "size-0x0.jpg", "cut.jpg", "size.gif",
    "nothing.gif", "larger.webp", "size.bmp", "frames.avif", "loop.pdf", "deep.html", "laughs.svg", "zeros.gz",
    "old.xls",
]  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_it_is_read_or_refused_with_a_reason(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    size = 0
    with contextlib.suppress(DataError):  # whatever else is raised is a bug
        size = _read(path, tmp_path / "rows.csv")
    assert size < 64 * _MB


def _read(path: Path, target: Path) -> int:
    """Reads a file as the intake does; answers how many bytes its rows are."""
    looked = look(path, SheetOptions())
    if looked.layout is None:
        unpacked = unpack_pictures(path, [picture.name for picture in looked.pictures[:20]])
        return sum(len(each.data) for each in unpacked)
    layout: CsvLayout | XlsxLayout = looked.layout
    if isinstance(layout, XlsxLayout):
        layout, path = write_out(path, layout, target, 64 * _MB), target
    size, place = 0, None
    while True:
        batch = read_batch(path, layout, place, 4096, 2 * _MB, [])
        size, place = size + sum(map(len, batch.data)), batch.next
        if batch.is_last:
            return size


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 200


# All of them.


class Serves(BaseHTTPRequestHandler):
    """The files as pages of a site."""

    pages: ClassVar[dict[str, bytes]] = {}  # made before the measurement

    def do_GET(self) -> None:
        name = self.path.strip("/")
        data = self.pages.get(name, b"")
        self.send_response(200 if data else 404)
        self.send_header("content-type", TYPES.get(PurePath(name).suffix, "text/plain"))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who has enough of it hangs up
            self.wfile.write(data)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - its name is given
        """Says nothing."""


@contextmanager
def _site() -> Iterator[int]:
    Serves.pages = {name: FILES[name]() for name in PAGES}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Serves)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@asynccontextmanager
async def _working(dsn: str, folder: Path) -> AsyncIterator[tuple[Process, Store]]:
    settings = {
        "DATABASE_URL": dsn, "DATA_DIR": str(folder / "data"), "PIPELINES": "forebay.pipelines", "LOG_JSON": "1",
        "POLL_S": "0.2", "SHEETS_NOT_FOUND_WAIT_S": "0", "EGRESS_ALLOW_NETWORKS": "127.0.0.0/8", "EGRESS_CONFINE": "0",
        "SANDBOX": "preferred",
    }  # fmt: skip
    worker = Cli(folder, **{f"FOREBAY_{name}": value for name, value in settings.items()}).start("worker")
    try:
        worker.says("worker_started")
        yield worker, open_store(Settings(data_dir=folder / "data"))
    finally:
        worker.kill()


def _p95(took: list[float]) -> float:
    return took[min(len(took) - 1, int(len(took) * 0.95))]


async def _disk(folder: Path, peak: list[int]) -> None:
    """How much of the disk the store and its scratch files take at most."""
    while True:
        peak[0] = max(peak[0], await asyncio.to_thread(_size, folder))
        await asyncio.sleep(0.5)


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


async def _add_page(conn: asyncpg.Connection[Any], port: int, name: str) -> int:
    url = str(checked_url(f"http://127.0.0.1:{port}/{name}"))
    owner = await conn.fetchval("select forebay.owner_id('mallory')")
    sql = "select id from forebay.add_bookmark($1, $2, $3, null, null, null, null, 0, null, $4)"
    mark = await conn.fetchval(sql, owner, url, page_hash(url), looks_like_image(url))
    return int(await conn.fetchval("select job_id from forebay.bookmark where id = $1", mark))


_MALLORYS = "forebay.job j join forebay.owner o on o.id = j.owner_id where o.name = 'mallory' and j.finished_at is null"
_ENDED = "FB005"  # the job has ended
_WORKING = "select count(*) from forebay.lease l join forebay.owner o on o.id = l.owner_id where o.name = 'mallory'"


@asynccontextmanager
async def _paused(watch: Watch) -> AsyncIterator[None]:
    """Nothing of the files runs: what the machine does besides is the same as a moment before."""
    for job in await watch.fetch(f"select j.id from {_MALLORYS}"):
        await _pause(watch, job["id"])
    try:
        await watch.until("nothing runs", f"select ({_WORKING}) = 0", seconds=300)
        yield
    finally:
        await watch.fetch(f"select forebay.resume(j.id) from {_MALLORYS}")


async def _pause(watch: Watch, job: int) -> None:
    try:
        await watch.fetch("select forebay.pause($1)", job)
    except asyncpg.PostgresError as error:
        if error.sqlstate != _ENDED:  # meanwhile
            raise


@pytest.mark.soak
async def test_two_hundred_files_harm_nobody(dsn: str, tmp_path: Path) -> None:
    peak, began = [0], time.monotonic()
    async with (
        Watch(dsn) as watch,
        _working(dsn, tmp_path) as (worker, store),
        peaks_of(worker.pid) as (memory,),
        other_owner(dsn, tmp_path / "data") as others,
    ):
        conn = await watch.conn()
        for pipeline in load_pipelines(["forebay.pipelines"]):
            await registry.register(conn, pipeline.definition())
        await others.wait_for_one()  # the processes have begun
        looking = asyncio.create_task(_disk(tmp_path / "data", peak))
        with _site() as port:
            jobs = [await _add_page(conn, port, name) for name in PAGES]
            for name, make in FILES.items():
                data = await asyncio.to_thread(make)
                new = LocalFile(NewFile(name, len(data)), data)
                jobs.append((await submit_file(SHEETS, conn, store, "mallory", new, FileTerms())).job_id)
            # A file of many rows or pictures is an ordinary long job once it is read.
            open_jobs = "select count(*) from forebay.job where id = any($1) and finished_at is null and total < 2000"
            took, alone = list[float](), list[float]()
            while await watch.one(open_jobs, jobs):
                for _ in range(_BESIDE):
                    took.append(await others.wait_for_one())
                    if not await watch.one(open_jobs, jobs):  # whatever follows would not be beside them
                        break
                async with _paused(watch):
                    alone += await others.waits(_ALONE)
        looking.cancel()
        states = await watch.fetch(
            "select j.state::text as state, count(*) from forebay.job j where j.id = any($1) group by 1", jobs
        )
    took.sort()
    alone.sort()
    told = {
        "files": len(FILES), "pages": len(PAGES), "seconds": round(time.monotonic() - began),
        "disk MB": peak[0] >> 20, "worker MB": memory.root, "children MB": memory.children,
        "undisturbed p50, p95, of": [round(alone[len(alone) // 2], 2), round(_p95(alone), 2), len(alone)],
        "beside them p50, p95, of": [round(took[len(took) // 2], 2), round(_p95(took), 2), len(took)],
        "ratio": round(_p95(took) / _p95(alone), 2), "states": {row["state"]: row["count"] for row in states},
    }  # fmt: skip
    print(json.dumps(told))  # noqa: T201 - for whoever runs it
    assert peak[0] < _DISK_MB * _MB, told
    assert memory.root < _WORKER_MB, told
    assert memory.children < _CHILD_MB, told
    assert _p95(took) <= _P95 * _p95(alone), told
