"""A million rows in and out, a large workbook and a line of a gigabyte, through an API and a worker that stay small."""

from __future__ import annotations

import base64
import csv
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import asyncpg
import httpx
import pytest
import pytest_asyncio

from forebay.engine.db import registry
from forebay.engine.declare.loading import load_pipelines
from forebay.identity import db as identity
from forebay.identity.accounts import make_token
from forebay.services.spreadsheets import CsvFile, XlsxFile
from tests.cli._run import Cli
from tests.crash._rig import Watch
from tests.crash.test_api import address_of
from tests.pipelines._peaks import Peaks, peaks_of

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

_MOST_MB = 200
_PIECE = 8 << 20
_COLUMNS = ["Name", "SKU", "Text"]
_TUS = {"tus-resumable": "1.0.0"}
_BYTES = {**_TUS, "content-type": "application/offset+octet-stream"}


@dataclass
class Service:
    """An API and a worker, as people start them, and what they need at most."""

    client: httpx.AsyncClient
    watch: Watch
    peaks: list[Peaks]

    async def upload(self, path: Path) -> int:
        """Sends a file in pieces; rows wait, as only the reading counts here. Answers their job when all are read."""
        told = {"filename": path.name, "options": '{"paused": true}'}
        metadata = ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in told.items())
        size = path.stat().st_size  # noqa: ASYNC240
        begun = await self.client.post(
            "/api/uploads", headers={**_TUS, "upload-length": str(size), "upload-metadata": metadata}
        )
        assert begun.status_code == 201, begun.text
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                headers = {**_BYTES, "upload-offset": str(file.tell() - len(piece))}
                sent = await self.client.patch(begun.headers["location"], content=piece, headers=headers)
                assert sent.status_code == 204, sent.text
        job = int(begun.json()["jobId"])
        intake = await self.watch.one("select intake_job_id from forebay.intake_file where job_id = $1", job)
        await self.watch.done([intake], seconds=3000)
        return job

    async def download(self, job: int, path: Path) -> None:
        begun = await self.client.post(f"/api/jobs/{job}/export", params={"format": "csv"})
        export = int(begun.json()["exportId"])
        await self.watch.done([export], seconds=3000)
        told = (await self.client.get(f"/api/exports/{export}")).json()
        assert told["state"] == "DONE", told
        async with self.client.stream("GET", told["url"]) as answer:
            with path.open("wb") as file:
                async for chunk in answer.aiter_bytes():
                    file.write(chunk)

    def assert_small(self) -> None:
        print(self.peaks)  # noqa: T201 - the numbers are what a soak is run for
        assert [(each.root < _MOST_MB, each.children < _MOST_MB) for each in self.peaks] == [(True, True)] * 2, (
            self.peaks
        )


@pytest_asyncio.fixture(loop_scope="session")
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with _started(dsn, tmp_path) as service:
        yield service


@asynccontextmanager
async def _started(dsn: str, folder: Path) -> AsyncIterator[Service]:
    settings = {"DATABASE_URL": dsn, "DATA_DIR": str(folder / "data"), "PIPELINES": "forebay.pipelines"}
    settings |= {"LOG_JSON": "1", "API_PORT": "0"}
    cli = Cli(folder, **{f"FOREBAY_{name}": value for name, value in settings.items()})
    async with Watch(dsn) as watch:
        token = await _token(await watch.conn())
        worker, api = cli.start("worker"), cli.start("api")
        try:
            headers = {"authorization": f"Bearer {token}"}
            async with (
                httpx.AsyncClient(base_url=address_of(api), headers=headers, timeout=600) as client,
                peaks_of(worker.pid, api.pid) as peaks,
            ):
                yield Service(client, watch, peaks)
        finally:
            worker.kill()
            api.kill()


async def _token(conn: asyncpg.Connection[Any]) -> str:
    account = await identity.add_account(conn, "ann", "user", None)
    assert account is not None
    for pipeline in load_pipelines(["forebay.pipelines"]):
        await registry.register(conn, pipeline.definition())
    return await make_token(conn, account.id, "test", ["read", "write"])


def _row(number: int) -> tuple[str, str, str]:
    return f"Thing {number}", f"S-{number}", f"text of some length, with a comma and a number: {number * 7919}"


def _write(path: Path, kind: Literal["csv", "xlsx"], count: int) -> None:
    made = CsvFile(_COLUMNS) if kind == "csv" else XlsxFile(_COLUMNS)
    with path.open("wb") as file:
        for numbers in _blocks(count):
            file.write(made.write(map(_row, numbers)))
        file.write(made.close())


def _blocks(count: int) -> Iterator[range]:
    return (range(start, min(start + 1000, count)) for start in range(0, count, 1000))


async def _count(service: Service, job: int) -> int:
    """How many rows there are, all of them with their own lines and cells."""
    return int(
        await service.watch.one(
            """select count(distinct n) from forebay.item where job_id = $1 and (input ->> 'line')::int = n + 1
               and input #>> '{row,Name}' = 'Thing ' || (n - 1) and input #>> '{row,SKU}' = 'S-' || (n - 1)""",
            job,
        )
    )


@pytest.mark.parametrize(("kind", "count"), [("csv", 1_000_000), ("xlsx", 300_000)])
async def test_many_rows_in_and_out(service: Service, tmp_path: Path, kind: Literal["csv", "xlsx"], count: int) -> None:
    _write(tmp_path / f"rows.{kind}", kind, count)
    job = await service.upload(tmp_path / f"rows.{kind}")
    assert await _count(service, job) == count
    await service.download(job, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8-sig") as file:
        number = 0
        for number, line in enumerate(csv.DictReader(file), 1):
            assert (line["Name"], line["SKU"], line["Text"]) == _row(number - 1)
        assert number == count
    service.assert_small()


async def test_a_line_of_a_gigabyte(service: Service, tmp_path: Path) -> None:
    with (tmp_path / "line.csv").open("wb") as file:
        file.write(b"Name,B\nPen,2\n")
        for _ in range(1 << 10):
            file.write(b"x" * (1 << 20))
        file.write(b"\nInk,4\n")
    job = await service.upload(tmp_path / "line.csv")
    rows = await service.watch.fetch(
        "select (input ->> 'line')::int, error ->> 'reason' from forebay.item where job_id = $1 order by n", job
    )
    assert [tuple(row) for row in rows] == [(2, None), (3, "line 3 is longer than 4 MiB"), (4, None)]
    service.assert_small()
